#include "occam/train/warm_start.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/simulate/problem_file.hpp"

namespace occam {
namespace {

std::string coins(const std::string& models) {
  return "name = \"coins\"\nn = 10\nfamily = \"bernoulli\"\n" + models;
}

const std::string kFlat = "[model.flat]\ntheta = \"beta(1, 1)\"\n";
const std::string kFair = "[model.fair]\ntheta = 0.5\n";
const std::string kNew = "[model.new]\ntheta = \"beta(8, 3)\"\n";

NetworkFile network_for(const Problem& problem) {
  NetworkFile file;
  file.config.models = problem.J();
  file.config.parameters = problem.P();
  file.config.body = {{"inv_width", 4}, {"equiv_width", 4}};
  file.config.standardisation.mean = {0.5};
  file.config.standardisation.scale = {0.5};
  file.columns = {"x"};
  file.model_names = problem.model_names();
  file.parameter_names = problem.parameter_names();
  file.parameter_mean = {0.25};
  file.parameter_scale = {4};
  const Network<float> network(file.config);
  file.members.emplace_back(static_cast<std::size_t>(network.weight_count()));
  std::iota(file.members[0].begin(), file.members[0].end(), 1.0f);
  return file;
}

TEST(WarmStart, KnownModelsKeepTheirWeightsInAnyOrderAndNewOnesBeginAsTheirMean) {
  const NetworkFile from = network_for(read_problem(coins(kFlat + kFair), "two"));
  const Problem problem = read_problem(coins(kNew + kFair + kFlat), "three");
  NetworkConfig config = from.config;
  config.models = 3;
  const Network<float> network(config), old(from.config);
  std::vector<float> weights(static_cast<std::size_t>(network.weight_count()), 0.5f);
  grow_weights(from, 0, problem, network, weights);
  for (const Tensor& tensor : network.layout().tensors()) {
    const Tensor& source = *old.layout().find(tensor.name);
    const float* is = weights.data() + tensor.offset;
    const float* was = from.members[0].data() + source.offset;
    if (!tensor.name.starts_with("head.")) {
      EXPECT_TRUE(std::equal(is, is + tensor.size, was)) << tensor.name;
      continue;
    }
    for (std::int64_t r = 0; r < tensor.size / 3; ++r) {  // flat was 0 and is 2, fair stayed 1
      EXPECT_EQ(is[3 * r + 2], was[2 * r]) << tensor.name;
      EXPECT_EQ(is[3 * r + 1], was[2 * r + 1]) << tensor.name;
      EXPECT_FLOAT_EQ(is[3 * r], 0.5f * (was[2 * r] + was[2 * r + 1]) + 0.05f) << tensor.name;
    }
  }
  ParameterTargets targets{{{Transformation::asinh, 1, 1, false, {}, 0}}, {7}, {7}, {}};
  keep_scales(from, problem, targets);
  EXPECT_EQ(targets.mean[0], 0.25);
  EXPECT_EQ(targets.scale[0], 4);
  EXPECT_EQ(targets.inputs[0], ColumnInput{});
  NetworkFile tamed = from;
  tamed.parameter_inputs = {{Transformation::log, 0.5, 1, false, {}, 0}};
  keep_scales(tamed, problem, targets);
  EXPECT_EQ(targets.inputs, tamed.parameter_inputs);
}

std::string refusal(const NetworkFile& from, const Problem& problem) {
  try {
    check_warm_start(from, problem);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(WarmStart, RefusesOtherDataAndForeignModels) {
  const Problem two = read_problem(coins(kFlat + kFair), "two");
  NetworkFile from = network_for(two);
  EXPECT_EQ(refusal(from, two), "");
  from.columns = {"y"};
  EXPECT_NE(refusal(from, two).find("columns y, but 'coins' has x"), std::string::npos);
  from.columns = {"x"};
  from.ordered = true;
  EXPECT_NE(refusal(from, two).find("ordered"), std::string::npos);
  from.ordered = false;
  from.model_names = {"a", "b"};
  EXPECT_NE(refusal(from, two).find("none of the models"), std::string::npos);
}

TEST(WarmStart, ChecksumDependsOnEveryWeight) {
  std::vector<float> weights = {1, 2, 3};
  const std::string before = weight_checksum(weights);
  weights[1] = 2.0000002f;
  EXPECT_NE(weight_checksum(weights), before);
  EXPECT_EQ(before.size(), 16u);
}

}  // namespace
}  // namespace occam
