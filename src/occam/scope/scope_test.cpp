// The scope reference of a network from a stranger: every part of it is held against the others and against
// the network before it is used. tests/data/networks/version1.occam has one, of 100 data sets.
#include "occam/scope/scope.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/test_support.hpp"
#include "occam/networks/test_support.hpp"

namespace occam {
namespace {

using nlohmann::json;
using testing::with_element;
using testing::with_json;
using testing::with_tensor;
using testing::without_tensor;

Safetensors example() {
  const NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
  return network_to_safetensors(file);
}

// "accepted", or what was said; the file is named, and the code is that of network files.
std::string refusal(const Safetensors& contents) {
  const auto error = testing::error_of([&] { scope_of(network_from_safetensors(contents, "n.occam")); });
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
           {"/sketch/columns", json::array({"x", "y"})},  // heap overflow in Sketch::dependence
           {"/sketch/columns", json::array({"z"})},
           {"/sketch/ordered", true},  // heap overflow in Sketch::ordered
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

// A network of another summary width took what lay behind the summary for a part of it, and answered.
TEST(ScopeOf, TheSummaryIsThatOfTheNetwork) {
  const Safetensors good = example();
  NetworkFile file = network_from_safetensors(good, "n.occam");
  NetworkFile other = testing::example_network();  // whose summary has three numbers, not two
  other.scope = file.scope;
  other.scope_tensors = file.scope_tensors;
  other.path = "n.occam";
  EXPECT_EQ(testing::error_of([&] { scope_of(other); })->kind(), ErrorKind::bad_config);
}

}  // namespace
}  // namespace occam
