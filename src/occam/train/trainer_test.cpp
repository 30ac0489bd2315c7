#include "occam/train/trainer.hpp"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/problem_file.hpp"
#include "occam/train/training_data.hpp"

namespace occam {
namespace {

using nlohmann::json;

Problem coins_with(int models) {
  std::string text = "name = \"coins\"\nn = 10\nfamily = \"bernoulli\"\n";
  for (int j = 1; j <= models; ++j)
    text += "[model.m" + std::to_string(j) + "]\ntheta = " + std::to_string(j / (models + 1.0)) + "\n";
  return read_problem(text, "coins");
}

json options_for(int models, const json& options = json::object()) {
  const NetworkConfig config = network_for(coins_with(models), options);
  json all = config.body;
  all.update(config.json().at("options"));
  return all;
}

TEST(NetworkFor, ManyModelsGetAWiderSummaryAndMoreBlocks) {
  EXPECT_EQ(options_for(2), options_for(16));
  const json few = options_for(16), many = options_for(40);
  EXPECT_EQ(many["summary"], 48);
  EXPECT_EQ(many["post_width"], 96);
  EXPECT_EQ(many["moment_blocks"], 8);
  EXPECT_EQ(few["waves"], 4);
  EXPECT_EQ(many["waves"], 6);
  EXPECT_LT(few["summary"], 48);
  EXPECT_EQ(options_for(300)["summary"], 256);
}

TEST(NetworkFor, WhatIsAskedForGoesBeforeTheWidthsForManyModels) {
  const json wide = options_for(40, {{"summary", 8}});
  EXPECT_EQ(wide["summary"], 8);
  EXPECT_EQ(wide["post_width"], 96);
}

// N times the summary in the outputs made long trainings go astray where statistics are many (bench/unseen).
TEST(NetworkFor, OutputsForSeriesDoNotGrowWithNUnlessAskedTo) {
  EXPECT_EQ(options_for(2)["growth"], true);
  const Problem series =
      read_problem("name = \"s\"\ncolumns = [\"x\"]\nordered = true\n[model.a]\n[model.b]\n", "series");
  EXPECT_FALSE(network_for(series, json::object()).options.growth);
  EXPECT_TRUE(network_for(series, {{"growth", true}}).options.growth);
}

// Simulations before the first step may take minutes, in which a training must not look dead.
TEST(TrainingData, SaysHowFarItsSimulationsAre) {
  struct Sink : SilentProgress {
    void update_before(std::int64_t done, std::int64_t total, std::string_view units) override {
      heard[std::string(units)].emplace_back(done, total);
    }
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> heard;
  } sink;
  TrainOptions options;
  options.validation_datasets = 300;
  ThreadPool pool(1);
  open_training_data(coins_with(2), nullptr, 1, 1, options, pool, sink);
  ASSERT_EQ(sink.heard.size(), 2u);
  const auto& validation = sink.heard["validation data sets"];
  ASSERT_GT(validation.size(), 3u);
  EXPECT_EQ(validation.front(), (std::pair<std::int64_t, std::int64_t>(0, 300)));
  EXPECT_EQ(validation.back(), (std::pair<std::int64_t, std::int64_t>(300, 300)));
  EXPECT_EQ(sink.heard["first data sets"].back().first, 1000);
}

}  // namespace
}  // namespace occam
