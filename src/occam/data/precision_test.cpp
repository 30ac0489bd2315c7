#include "occam/data/precision.hpp"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

std::vector<CoarseColumn> coarse(const std::function<double(Rng&)>& value) {
  Rng rng(1, Purpose::test, 1);
  std::vector<float> data;
  std::vector<std::int64_t> offsets = {0};
  for (int set = 0; set < 30; ++set) {
    for (int row = 0; row < 20; ++row) data.push_back(static_cast<float>(value(rng)));
    offsets.push_back(static_cast<std::int64_t>(data.size()));
  }
  return coarse_columns({{data.data(), offsets.back(), 1, 1}, offsets.data(), 30});
}

TEST(Precision, SecondsSince1970AreKeptInStepsOfTwoMinutes) {
  const auto found = coarse([](Rng& rng) { return 1.7e9 + 3600 * rng.uniform(); });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].column, 0);
  EXPECT_EQ(found[0].step, 128);
}

// Differences of less than a step leave the same value in all rows, or two of them.
TEST(Precision, DifferencesThatAreLostAreNoticed) {
  EXPECT_EQ(coarse([](Rng& rng) { return 1.6e9 + rng.normal(); }).size(), 1u);
  EXPECT_EQ(coarse([](Rng& rng) { return 1.6e9 + 20 * rng.normal(); }).size(), 1u);
  EXPECT_EQ(coarse([](Rng& rng) { return 1000 + 1.4e-5 * rng.normal(); }).size(), 1u);
}

TEST(Precision, OtherNumbersAreKeptWellEnough) {
  EXPECT_TRUE(coarse([](Rng& rng) { return 1e9 + 1e6 * rng.uniform(); }).empty()) << "seven digits are there";
  EXPECT_TRUE(coarse([](Rng& rng) { return 1e-9 * rng.uniform(); }).empty());
  EXPECT_TRUE(coarse([](Rng& rng) { return std::floor(1e6 * rng.uniform()); }).empty());
  EXPECT_TRUE(coarse([](Rng&) { return 3.0; }).empty()) << "a constant";
  EXPECT_TRUE(coarse([](Rng&) { return NAN; }).empty());
}

}  // namespace
}  // namespace occam
