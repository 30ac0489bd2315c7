// The scope reference of a network from a stranger: every part of it is held against the others and against
// the network before it is used. tests/data/networks/version1.occam has one, of 100 data sets.
#include "occam/scope/scope.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"
#include "occam/io/test_support.hpp"
#include "occam/networks/test_support.hpp"

namespace occam {
namespace {

using nlohmann::json;
using testing_support::with_element;
using testing_support::with_json;
using testing_support::with_tensor;
using testing_support::without_tensor;

Safetensors example() {
  const NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
  return network_to_safetensors(file);
}

// "accepted", or what was said; the file is named, and the code is that of network files.
std::string refusal(const Safetensors& contents) {
  const auto error =
      testing_support::error_of([&] { scope_of(network_from_safetensors(contents, "n.occam")); });
  if (!error) return "accepted";
  EXPECT_EQ(error->kind(), ErrorKind::bad_config) << error->what();
  EXPECT_TRUE(std::string(error->what()).starts_with("n.occam: ")) << error->what();
  return error->what();
}

TEST(ScopeOf, HostileDescriptionsAreRefused) {
  const Safetensors good = example();
  ASSERT_EQ(refusal(good), "accepted");
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, json>>{
           {"", 3},
           {"", json::array()},
           {"/models", 1},
           {"/models", 3},
           {"/models", 1000000},
           {"/models", "two"},
           {"/sketch", "none"},
           {"/sketch/columns", json::array({"x", "y"})},
           {"/sketch/columns", json::array({"z"})},
           {"/sketch/ordered", true},
           {"/sketch/time", true},
           {"/sketch/levels", json::array({json::array({0, 1, 2})})},
           {"/sketch/levels", json::array({json::array({1, 0})})},
           {"/sketch/levels", json::array()},
           {"/sketch/cross", json::array({json::array({0, 1})})},
           {"/sketch/cross", json::array({json::array({0, 1, nullptr})})},
           {"/summary_scale", json::array()},
           {"/summary_scale/log_rows", json::array()},
           {"/summary_scale/mean", json::array({1})},
           {"/sketch_scale/spread/0", 0},
           {"/sketch_scale/spread/0", 1e300},
           {"/sketch_scale/log_rows/0", 100}}) {
    EXPECT_NE(refusal(with_json(good, "scope", pointer, value)), "accepted") << pointer << " " << value;
  }
}

TEST(ScopeOf, TensorsOfOtherSizesAreRefused) {
  const Safetensors good = example();
  int tried = 0;
  for (const auto& [name, array] : good.tensors) {
    if (!name.starts_with("scope.")) continue;
    EXPECT_NE(refusal(without_tensor(good, name)), "accepted") << name;
    EXPECT_NE(refusal(with_tensor(good, name, {array.dtype, {0}, {}})), "accepted") << name;
    // One row less, one row more, and the same bytes in another shape.
    for (const int change : {-1, 1}) {
      NdArray other = array;
      const std::size_t row = array.bytes.size() / static_cast<std::size_t>(array.shape[0]);
      other.shape[0] += change;
      other.bytes.resize(row * static_cast<std::size_t>(other.shape[0]));
      // A calibration may have any number of rows, and bands are free where their ranges agree.
      if (name != "scope.calibration") {
        EXPECT_NE(refusal(with_tensor(good, name, other)), "accepted") << name;
      }
    }
    NdArray flat = array;
    flat.shape = {static_cast<std::int64_t>(array.size()), 1};
    EXPECT_NE(refusal(with_tensor(good, name, flat)), "accepted") << name;
    ++tried;
  }
  EXPECT_GE(tried, 15);
}

TEST(ScopeOf, NumbersThatCannotBeAreRefused) {
  const Safetensors good = example();
  for (const auto& [name, array] : good.tensors) {
    if (!name.starts_with("scope.") || array.dtype != DType::float32) continue;
    for (const float value : {INFINITY, NAN, 3e38f}) {
      if (value == 3e38f && name != "scope.sketch.unit" && name != "scope.summary.unit") continue;
      EXPECT_NE(refusal(with_element(good, name, 0, value)), "accepted") << name << " " << value;
    }
  }
  EXPECT_NE(refusal(with_element(good, "scope.calibration", 3, 2)), "accepted");   // the favoured model
  EXPECT_NE(refusal(with_element(good, "scope.calibration", 4, -1)), "accepted");  // the true one
  EXPECT_NE(refusal(with_element(good, "scope.calibration", 4, 0.5f)), "accepted");
  EXPECT_NE(refusal(with_element(good, "scope.calibration", 4, 1e30f)), "accepted");
  EXPECT_NE(refusal(with_element(good, "scope.calibration", 0, 0)), "accepted");   // rows
  EXPECT_NE(refusal(with_element(good, "scope.band_rows", 0, 1e9f)), "accepted");  // not in order
  EXPECT_NE(refusal(with_element(good, "scope.ranges", 0, 1e9f)), "accepted");
  EXPECT_NE(refusal(with_element(good, "scope.sketch.scale", 0, -1)), "accepted");
  NdArray model = good.at("scope.model");
  model.bytes[0] = std::byte{2};
  EXPECT_NE(refusal(with_tensor(good, "scope.model", model)), "accepted");
}

// A sound reference, but for data sets of these columns and a network of this kind.
struct Kind {
  std::vector<std::string> columns = {"x", "y"};
  bool ordered = false;
  bool time = false;
  std::int64_t models = 3;
  std::size_t summary = 3;
};

ScopeReference reference_for(const Kind& kind) {
  const auto D = static_cast<std::int64_t>(kind.columns.size());
  constexpr std::int64_t kRows = 20;
  const auto data = [&](std::uint64_t item) {
    Rng rng(1, Purpose::test, item);
    std::vector<float> values;
    for (std::int64_t i = 0; i < kRows * D; ++i) values.push_back(static_cast<float>(rng.normal()));
    return values;
  };
  const std::vector<float> sample = data(0);
  const std::int64_t offsets[] = {0, kRows};
  const Sketch sketch =
      Sketch::learn({{sample.data(), kRows, D, D}, offsets, 1}, kind.columns, kind.ordered, kind.time);
  std::vector<ScopePoint> points;
  for (std::uint64_t k = 0; k < 150; ++k) {
    const std::vector<float> values = data(k);
    ScopePoint point;
    point.rows = kRows;
    point.best = point.model = static_cast<std::int32_t>(k % static_cast<std::uint64_t>(kind.models));
    point.summary.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kind.summary));
    point.sketch.resize(static_cast<std::size_t>(sketch.size()));
    sketch.of({values.data(), kRows, D, D}, point.sketch);
    points.push_back(std::move(point));
  }
  ScopeReference scope(sketch, kind.models, points);
  for (std::int64_t block = 0; block < scope.blocks(); ++block) scope.measure_density(block);
  scope.calibrate(points, scope.scores(points));
  return scope;
}

std::string refusal_of(const Kind& kind) {
  NetworkFile file = testing_support::example_network();
  put_scope(reference_for(kind), file);
  return refusal(network_to_safetensors(file));
}

// Each is sound in itself. Taken for a reference of the network, those with other columns wrote or read
// beyond the sketch (Sketch::ordered, Sketch::dependence), and the one with another summary gave wrong
// answers.
TEST(ScopeOf, TheReferenceIsThatOfTheNetwork) {
  EXPECT_EQ(refusal_of({}), "accepted");
  EXPECT_EQ(refusal_of({.time = true}), "accepted");
  EXPECT_NE(refusal_of({.columns = {"x"}, .ordered = true}), "accepted");
  EXPECT_NE(refusal_of({.columns = {"x"}, .time = true}), "accepted");
  EXPECT_NE(refusal_of({.columns = {"x", "y", "z"}}), "accepted");
  EXPECT_NE(refusal_of({.columns = {"y", "x"}}), "accepted");
  EXPECT_NE(refusal_of({.ordered = true}), "accepted");
  EXPECT_NE(refusal_of({.models = 2}), "accepted");
  EXPECT_NE(refusal_of({.models = 4}), "accepted");
  EXPECT_NE(refusal_of({.summary = 2}), "accepted");
  EXPECT_NE(refusal_of({.summary = 4}), "accepted");
}

}  // namespace
}  // namespace occam
