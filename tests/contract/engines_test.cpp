// What every registered engine promises: it computes what the CPU computes in double.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "network_support.hpp"
#include "occam/engine/check.hpp"
#include "occam/engine/cpu.hpp"
#include "occam/nn/muon.hpp"

namespace occam {
namespace {

using nlohmann::json;
using namespace testing_support;

// Two batches in turn: data sets of three models, the last of which lacks the second parameter.
class Feed final : public BatchFeed {
 public:
  Feed() {
    Rng rng(3, Purpose::test, 0);
    for (Batch& batch : batches_) {
      batch.reset(2, 2, 3);
      for (const std::int64_t n : kSizes) {
        const auto model = static_cast<std::int32_t>(rng.uniform_int(0, 2));
        const std::int64_t b = batch.append(model, n, n);
        for (float& x : batch.mutable_data(b)) x = static_cast<float>(rng.normal());
        for (double& theta : batch.mutable_parameters(b)) theta = rng.normal();
        if (model == 2) batch.mutable_parameters(b)[1] = NAN;
      }
      batch.mutable_failed_draws()[1] = 2;
    }
  }
  const Batch& batch(std::int64_t step) override { return batches_[step % 2]; }
  SideTasks begin_next(std::int64_t) override { return {}; }
  void end_next() override {}
  bool first_use(std::int64_t step) const override { return step < 2; }

 private:
  Batch batches_[2];
};

LearningPlan plan() {
  LearningPlan plan;
  plan.targets = {std::vector<ColumnInput>(2), {0, 0.5}, {1, 2}, {{1, 1}, {1, 1}, {1, 0}}};
  return plan;
}

StepSettings settings(std::int64_t step) {
  return {.step = step, .rate = 1e-3, .lambda = 0.1, .parameter_weight = 0.3};
}

LearningState begin_with(const NetworkConfig& config) {
  return fresh_state(initial(Network<float>(config)), Optimiser::muon);
}

std::vector<NetworkConfig> networks() {
  std::vector<NetworkConfig> all;
  for (const json& options : all_options()) all.push_back(small(options));
  for (const std::string& head : heads().names()) {
    all.push_back(small({{"architecture", "set"}, {"inv_width", 6}, {"head", head}}));
  }
  return all;
}

StepSettings settings_for(const NetworkConfig& config, std::int64_t step) {
  StepSettings own = settings(step);
  if (!config.head_kind().concentrations) own.lambda = 0;
  return own;
}

// Null where this build or this machine has no such engine, or where it does not know the network.
std::unique_ptr<Engine> engine_here(const std::string& name, const NetworkConfig& config, ThreadPool& pool) {
  try {
    return make_engine(name, config, pool);
  } catch (const Error& error) {
    if (name == kDefaultEngine || error.kind() != ErrorKind::usage) throw;
    return nullptr;
  }
}

TEST(Engines, StepsAndAnswersAreThoseOfTheCpuInDouble) {
  ThreadPool pool(2);
  for (const std::string& name : engines().names()) {
    for (const NetworkConfig& config : networks()) {
      SCOPED_TRACE(name + " " + config.json().dump());
      auto tested = engine_here(name, config, pool);
      if (tested == nullptr) continue;
      CheckEngine engine(std::move(tested), std::make_unique<CpuEngine<double>>(config, pool));
      Feed feed;
      engine.learn(plan(), begin_with(config), 0);
      for (std::int64_t step = 0; step < 4; ++step) engine.step(feed, settings_for(config, step));
      const StepReport& report = engine.take_report();
      EXPECT_EQ(report.losses.size(), 4u);
      EXPECT_EQ(report.failed, (std::vector<std::int64_t>{0, 4, 0}));
      EXPECT_FALSE(report.fault);
      NetworkAnswers answers;
      engine.answer(engine.state().average, feed.batch(0).view(), 50, answers);
      EXPECT_EQ(answers.models.size(), kSizes.size() * 3);
      EXPECT_GT(engine.differences().gradient, 0) << "float and double never agree to the last bit";
      EXPECT_LT(engine.differences().gradient, 1e-3);
      // Losses are near 1 in the beginning, sums over thousands of floats: 1.2e-5 was seen where outputs grow
      // with N.
      EXPECT_LT(engine.differences().loss, 3e-5);
      EXPECT_LT(engine.differences().answers, 1e-4);
    }
  }
}

TEST(Engines, WhatOneLearnedAnotherGoesOnFrom) {
  ThreadPool pool(2);
  for (const std::string& name : engines().names()) {
    const NetworkConfig config = small({{"architecture", "set"}, {"inv_width", 6}});
    Feed feed;
    const auto whole = engine_here(name, config, pool);
    if (whole == nullptr) continue;
    whole->learn(plan(), begin_with(config), 0);
    for (std::int64_t step = 0; step < 6; ++step) whole->step(feed, settings(step));
    const auto first = make_engine(name, config, pool);
    first->learn(plan(), begin_with(config), 0);
    for (std::int64_t step = 0; step < 3; ++step) first->step(feed, settings(step));
    const auto second = make_engine(name, config, pool);
    second->learn(plan(), first->state(), 3);
    for (std::int64_t step = 3; step < 6; ++step) second->step(feed, settings(step));
    EXPECT_EQ(whole->state().weights, second->state().weights) << name;
    EXPECT_EQ(whole->state().average, second->state().average) << name;
    EXPECT_EQ(whole->state().first_moment, second->state().first_moment) << name;
    EXPECT_EQ(whole->state().second_moment, second->state().second_moment) << name;
    EXPECT_EQ(whole->state().momentum, second->state().momentum) << name;
  }
}

TEST(Engines, AStepThatIsNotFiniteChangesNothing) {
  ThreadPool pool(1);
  for (const std::string& name : engines().names()) {
    const NetworkConfig config = small({{"architecture", "set"}, {"inv_width", 6}});
    Feed feed;
    const auto engine = engine_here(name, config, pool);
    if (engine == nullptr) continue;
    engine->learn(plan(), begin_with(config), 0);
    engine->step(feed, settings(0));
    LearningState state = engine->state();
    state.weights.back() = INFINITY;
    engine->learn(plan(), state, 1);
    for (std::int64_t step = 1; step < 4; ++step) engine->step(feed, settings(step));
    EXPECT_EQ(engine->take_report().fault, 1) << name;
    EXPECT_TRUE(engine->take_report().losses.empty()) << name;
    EXPECT_EQ(engine->state().weights, state.weights) << name;
    EXPECT_EQ(engine->state().second_moment, state.second_moment) << name;
  }
}

// Numbers too small for the normal format make arithmetic a hundred times slower: what the optimiser
// remembers of weights that stopped learning ends at zero.
TEST(Engines, WhatFadedAwayIsZero) {
  ThreadPool pool(2);
  const NetworkConfig config = small({{"architecture", "set"}, {"inv_width", 6}});
  LearningState state = begin_with(config);
  const Network<float> network(config);
  for (const Tensor& tensor : network.layout().tensors()) {  // nothing below the outputs has a gradient then
    if (tensor.name != "head.weight" && tensor.name != "parameters.weight") continue;
    std::fill_n(state.weights.begin() + tensor.offset, tensor.size, 0.0f);
  }
  std::fill(state.first_moment.begin(), state.first_moment.end(), 2e-39f);
  for (const MuonPlace& place : muon_places(network.layout())) {
    std::fill_n(state.momentum.begin() + place.first, place.rows * place.columns, 2e-39f);
  }
  CpuEngine<float> engine(config, pool);
  engine.learn(plan(), state, 0);
  Feed feed;
  engine.step(feed, settings(0));
  std::size_t faded = 0;
  for (const auto* moment : {&engine.state().momentum, &engine.state().first_moment}) {
    for (const float m : *moment) {
      EXPECT_NE(std::fpclassify(m), FP_SUBNORMAL);
      faded += m == 0;
    }
  }
  EXPECT_GT(faded, state.momentum.size());  // the most of both
}

// One that steps with another loss than it is told.
class Wrong final : public Engine {
 public:
  explicit Wrong(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  void learn(LearningPlan plan, LearningState state, std::int64_t step) override {
    engine_->learn(std::move(plan), std::move(state), step);
  }
  void step(BatchFeed& batches, const StepSettings& settings) override {
    StepSettings wrong = settings;
    wrong.parameter_weight *= 1.1;
    engine_->step(batches, wrong);
  }
  const StepReport& take_report() override { return engine_->take_report(); }
  const LearningState& state() override { return engine_->state(); }
  void answer(const std::vector<float>& weights, Ragged<const float> data, std::int64_t most_samples,
              NetworkAnswers& out) override {
    engine_->answer(weights, data, most_samples, out);
    out.summary[0] += 0.1f;
  }

 private:
  std::unique_ptr<Engine> engine_;
};

TEST(Engines, CheckNoticesASlightlyWrongOne) {
  ThreadPool pool(1);
  const NetworkConfig config = small({{"architecture", "set"}, {"inv_width", 6}});
  Feed feed;
  CheckEngine engine(std::make_unique<Wrong>(make_engine("cpu", config, pool)),
                     make_engine("cpu", config, pool));
  engine.learn(plan(), begin_with(config), 0);
  EXPECT_THROW(engine.step(feed, settings(0)), Error);
  NetworkAnswers answers;
  EXPECT_THROW(engine.answer(begin_with(config).weights, feed.batch(0).view(), 50, answers), Error);
}

TEST(Engines, ATrialNoticesASlightlyWrongOne) {
  ThreadPool pool(1);
  const NetworkConfig config = small({{"architecture", "set"}, {"inv_width", 6}});
  Feed feed;
  TrialEngine engine("new", std::make_unique<Wrong>(make_engine("cpu", config, pool)), config, pool);
  engine.learn(plan(), begin_with(config), 0);
  EXPECT_THROW(engine.step(feed, settings(0)), Error);
  NetworkAnswers answers;
  EXPECT_THROW(engine.answer(begin_with(config).weights, feed.batch(0).view(), 50, answers), Error);
}

TEST(Engines, ATrialLeavesARightOneAsItIs) {
  ThreadPool pool(2);
  const NetworkConfig config = small({{"architecture", "sequence"}});
  Feed feed;
  TrialEngine tried("new", make_engine("cpu", config, pool), config, pool);
  const auto alone = make_engine("cpu", config, pool);
  for (Engine* engine : {static_cast<Engine*>(&tried), alone.get()}) {
    engine->learn(plan(), begin_with(config), 0);
    for (std::int64_t step = 0; step < 3; ++step) engine->step(feed, settings(step));
  }
  EXPECT_EQ(tried.state().weights, alone->state().weights);
  EXPECT_EQ(tried.state().momentum, alone->state().momentum);
  EXPECT_EQ(tried.take_report().losses, alone->take_report().losses);
  EXPECT_EQ(tried.take_report().failed, alone->take_report().failed);
  NetworkAnswers ours, theirs;
  tried.answer(tried.state().weights, feed.batch(0).view(), 50, ours);
  alone->answer(tried.state().weights, feed.batch(0).view(), 50, theirs);
  EXPECT_EQ(ours.models, theirs.models);
}

}  // namespace
}  // namespace occam
