#include "occam/scope/sketch.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"
#include "occam/io/test_support.hpp"

namespace occam {
namespace {

// One data set of two columns: a group (1 or 2) and a value.
std::vector<float> grouped(std::int64_t n, Rng& rng) {
  std::vector<float> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    const float group = i % 2 == 0 ? 1.0f : 2.0f;
    rows.push_back(group);
    rows.push_back(static_cast<float>(rng.normal()) + 10 * group);
  }
  return rows;
}

Sketch learned(const std::vector<float>& rows, std::int64_t D, std::vector<std::string> names, bool ordered) {
  const std::int64_t n = static_cast<std::int64_t>(rows.size()) / D;
  const std::int64_t offsets[] = {0, n};
  return Sketch::learn({{rows.data(), n, D, D}, offsets, 1}, names, ordered);
}

std::vector<float> statistics(const Sketch& sketch, const std::vector<float>& rows, std::int64_t D) {
  std::vector<float> out(static_cast<std::size_t>(sketch.size()), NAN);
  sketch.of({rows.data(), static_cast<std::int64_t>(rows.size()) / D, D, D}, out);
  return out;
}

float named(const Sketch& sketch, const std::vector<float>& values, const std::string& name) {
  const auto found = std::find(sketch.names().begin(), sketch.names().end(), name);
  EXPECT_NE(found, sketch.names().end()) << name;
  return found == sketch.names().end() ? NAN
                                       : values[static_cast<std::size_t>(found - sketch.names().begin())];
}

TEST(Sketch, DescribesGroupsByQuantilesSharesAndSpread) {
  Rng rng(1, Purpose::test, 0);
  const Sketch sketch = learned(grouped(200, rng), 2, {"condition", "rt"}, false);
  const std::vector<float> rows = {1, 3, 1, 5, 1, 4, 2, 100};
  const std::vector<float> values = statistics(sketch, rows, 2);
  EXPECT_FLOAT_EQ(named(sketch, values, "number of rows"), std::log(4.0f));
  EXPECT_FLOAT_EQ(named(sketch, values, "share of observations where condition = 1"), 0.75f);
  EXPECT_FLOAT_EQ(named(sketch, values, "median rt where condition = 1"), 4);
  EXPECT_FLOAT_EQ(named(sketch, values, "median rt"), 4.5f);
  EXPECT_FLOAT_EQ(named(sketch, values, "smallest rt where condition = 1"), 3);
  EXPECT_FLOAT_EQ(named(sketch, values, "largest rt where condition = 2"), 100);
  EXPECT_FLOAT_EQ(named(sketch, values, "lower quartile of rt where condition = 1"), 3.5f);
  EXPECT_FLOAT_EQ(named(sketch, values, "standard deviation of rt where condition = 1"), std::sqrt(2.0f / 3));
  // A group without observations says what all together say.
  const std::vector<float> one_group = {1, 3, 1, 5};
  EXPECT_FLOAT_EQ(named(sketch, statistics(sketch, one_group, 2), "median rt where condition = 2"), 4);
}

TEST(Sketch, DoesNotDependOnTheOrderOfExchangeableRows) {
  Rng rng(1, Purpose::test, 1);
  const std::vector<float> rows = grouped(50, rng);
  const Sketch sketch = learned(rows, 2, {"c", "x"}, false);
  std::vector<float> reversed;
  for (std::size_t i = rows.size(); i > 0; i -= 2)
    reversed.insert(reversed.end(), {rows[i - 2], rows[i - 1]});
  const auto a = statistics(sketch, rows, 2);
  const auto b = statistics(sketch, reversed, 2);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << sketch.names()[i];
}

TEST(Sketch, CorrelatesColumnsThatTakeManyValues) {
  Rng rng(1, Purpose::test, 2);
  std::vector<float> rows;
  for (int i = 0; i < 100; ++i) {
    const auto x = static_cast<float>(rng.normal());
    rows.insert(rows.end(), {x, -2 * x + 1});
  }
  const Sketch sketch = learned(rows, 2, {"x", "y"}, false);
  EXPECT_NEAR(named(sketch, statistics(sketch, rows, 2), "correlation of x and y"), -1, 1e-5);
}

TEST(Sketch, SeesTimeInSeries) {
  Rng rng(1, Purpose::test, 3);
  std::vector<float> noise, hum, ramp;
  for (int i = 0; i < 1000; ++i) {
    noise.push_back(static_cast<float>(rng.normal()));
    hum.push_back(noise.back() + 3 * std::sin(0.0625f * static_cast<float>(i)));  // 0.00995 cycles per row
    ramp.push_back(noise.back() + 0.01f * static_cast<float>(i));
  }
  const Sketch sketch = learned(noise, 1, {"v"}, true);
  const auto plain = statistics(sketch, noise, 1);
  const auto with_hum = statistics(sketch, hum, 1);
  const std::string band = "power of v at 0.008 to 0.012 cycles per row";
  EXPECT_GT(named(sketch, with_hum, band), named(sketch, plain, band) + 3);
  EXPECT_NEAR(named(sketch, with_hum, "power of v at 0.250 to 0.500 cycles per row"),
              named(sketch, plain, "power of v at 0.250 to 0.500 cycles per row"), 0.01);
  EXPECT_NEAR(named(sketch, statistics(sketch, ramp, 1), "trend of v"), 10, 0.5);
  EXPECT_NEAR(named(sketch, plain, "autocorrelation of v at lag 1"), 0, 0.15);
  EXPECT_GT(named(sketch, with_hum, "autocorrelation of v at lag 5"), 0.6);
  EXPECT_NEAR(named(sketch, plain, "standard deviation of the steps of v"), std::sqrt(2.0), 0.2);
}

Sketch again(const Sketch& sketch, const std::vector<std::string>& columns, bool ordered) {
  return Sketch::from_json(sketch.json(), columns, ordered, {}, static_cast<std::size_t>(sketch.size()));
}

TEST(Sketch, LooksAtTimeInExchangeableDataOnlyWhereAsked) {
  std::vector<float> alternating, half;
  for (int i = 0; i < 100; ++i) {
    alternating.push_back(static_cast<float>(i % 2));
    half.push_back(i < 50 ? 0.0f : 1.0f);
  }
  const std::int64_t offsets[] = {0, 100};
  const Sketch sketch = Sketch::learn({{alternating.data(), 100, 1, 1}, offsets, 1}, {"x"}, false, true);
  const auto first = statistics(sketch, alternating, 1);
  const auto second = statistics(sketch, half, 1);
  EXPECT_NEAR(named(sketch, first, "autocorrelation of x at lag 1"), -9.9, 0.01);  // in units of 1 / sqrt(n)
  EXPECT_NEAR(named(sketch, second, "autocorrelation of x at lag 1"), 9.7, 0.1);
  EXPECT_NEAR(named(sketch, first, "trend of x"), 0, 1);
  EXPECT_GT(named(sketch, second, "trend of x"), 20);
  EXPECT_EQ(again(sketch, {"x"}, false).names(), sketch.names());
  const Sketch without = learned(alternating, 1, {"x"}, false);
  EXPECT_EQ(without.size(), sketch.size() - 4);
}

TEST(Sketch, IsFiniteForTheSmallestData) {
  Rng rng(1, Purpose::test, 4);
  const Sketch sets = learned(grouped(20, rng), 2, {"c", "x"}, false);
  for (const float value : statistics(sets, {1, 5}, 2)) EXPECT_TRUE(std::isfinite(value));
  const Sketch series = learned({1, 2, 3, 4}, 1, {"v"}, true);
  for (const float value : statistics(series, {7}, 1)) EXPECT_TRUE(std::isfinite(value));
}

TEST(Sketch, RoundTripsAndRefusesNonsense) {
  Rng rng(1, Purpose::test, 5);
  const std::vector<float> rows = grouped(60, rng);
  const Sketch sketch = learned(rows, 2, {"c", "x"}, false);
  const Sketch read = again(sketch, {"c", "x"}, false);
  EXPECT_EQ(read.names(), sketch.names());
  EXPECT_EQ(statistics(read, rows, 2), statistics(sketch, rows, 2));
  const Sketch series = learned(rows, 2, {"c", "x"}, true);
  EXPECT_EQ(again(series, {"c", "x"}, true).names(), series.names());
  const auto refused = [&](const char* pointer, const nlohmann::json& value) {
    auto broken = sketch.json();
    broken[nlohmann::json::json_pointer(pointer)] = value;
    return testing_support::error_of([&] {
             Sketch::from_json(broken, {"c", "x"}, false, {}, static_cast<std::size_t>(sketch.size()));
           })
        .has_value();
  };
  EXPECT_TRUE(refused("/levels", nlohmann::json::array()));
  EXPECT_TRUE(refused("/levels/0", {2, 1}));  // not in order
  EXPECT_TRUE(refused("/levels/1", {1, 2}));  // another number of statistics than there are
  EXPECT_TRUE(refused("/cross/1", {1, 2}));
  EXPECT_TRUE(refused("/cross/1", {1, 2, 1e300}));
  EXPECT_TRUE(refused("/time", true));
  // Columns and order are those of the network: otherwise rows are read beyond their end.
  EXPECT_TRUE(refused("/columns", {"c", "x", "y"}));
  EXPECT_TRUE(refused("/ordered", true));
  EXPECT_FALSE(refused("/time", false));
}

TEST(Sketch, MissingValuesAreLeftOut) {
  Rng rng(1, Purpose::test, 0);
  const Sketch sketch = learned(grouped(200, rng), 2, {"condition", "rt"}, false);
  const std::vector<float> whole = {1, 3, 1, 5, 1, 4, 2, 20};
  std::vector<float> some = whole;
  for (const float x : {1.0f, NAN, NAN, NAN, NAN, 4.0f}) some.push_back(x);
  const std::vector<float> values = statistics(sketch, some, 2);
  const std::vector<float> expected = statistics(sketch, whole, 2);
  for (const float x : values) EXPECT_TRUE(std::isfinite(x));
  EXPECT_EQ(named(sketch, values, "median rt where condition = 1"),
            named(sketch, expected, "median rt where condition = 1"));
  EXPECT_FLOAT_EQ(named(sketch, values, "share of observations where condition = 1"), 0.8f);  // 4 of 5
  // Nothing there at all: what is typical stands in.
  const std::vector<float> none = statistics(sketch, {NAN, NAN, NAN, NAN}, 2);
  for (const float x : none) EXPECT_TRUE(std::isfinite(x));
  EXPECT_FLOAT_EQ(named(sketch, none, "share of observations where condition = 2"), 0.5f);
  EXPECT_GT(named(sketch, none, "median rt"), 5);
  // A group without values takes those of all.
  const std::vector<float> half = statistics(sketch, {1, 11, 1, 13, 2, NAN}, 2);
  EXPECT_FLOAT_EQ(named(sketch, half, "median rt where condition = 2"), 12);
}

TEST(Sketch, SeriesWithMissingValuesAreFinite) {
  Rng rng(1, Purpose::test, 0);
  std::vector<float> rows;
  for (int i = 0; i < 300; ++i) rows.push_back(static_cast<float>(rng.normal()));
  const Sketch sketch = learned(rows, 1, {"v"}, true);
  for (std::size_t i = 0; i < rows.size(); i += 3) rows[i] = NAN;
  for (const float x : statistics(sketch, rows, 1)) EXPECT_TRUE(std::isfinite(x));
  for (const float x : statistics(sketch, {NAN, NAN}, 1)) EXPECT_TRUE(std::isfinite(x));
}

}  // namespace
}  // namespace occam
