// For tests of engines on devices: networks with every option, data for them, and what is held against the
// CPU.
#pragma once

#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/engine/check.hpp"
#include "occam/engine/cpu.hpp"

namespace occam::testing_support {

struct EngineCase {
  std::string name;
  nlohmann::json options;
  Optimiser optimiser = Optimiser::adam;
  Link link = Link::exp;
  double lambda = 0;
  std::int64_t parameters = 0;
  double plain_within = 0;  // standard deviations
  std::int64_t channels = 2;
  bool robust = false;      // columns transformed, local, in waves and levels, as their data ask for
  bool missing = false;     // values of the first column
  bool large = false;       // slow in plain loops
  bool ordered = false;     // with statistics of series
  bool related = false;     // with statistics of what columns say of each other
  std::int64_t labels = 0;  // of the last columns say which rows belong together
  std::int64_t models = 3;
  std::int64_t sets = 12;
  std::int64_t largest = 40;  // observations of a data set
};

inline void PrintTo(const EngineCase& c, std::ostream* out) {
  *out << c.name;
}

// The rival heads on a body, with the options that are special to one of them in turn.
inline void add_head_cases(const std::string& prefix, const nlohmann::json& body,
                           std::vector<EngineCase>& cases) {
  using nlohmann::json;
  const auto add = [&](const char* name, json more) -> EngineCase& {
    json options = body;
    options.update(more);
    cases.push_back({prefix + name, std::move(options)});
    return cases.back();
  };
  const json encoder = {{"encoder_width", 19}, {"latent_weight", 0.4}};
  const auto with = [&](json more) {
    more.update(encoder);
    return more;
  };
  add("mc_dropout", {{"head", "mc-dropout"}, {"dropout_samples", 90}}).parameters = 2;
  add("mc_dropout_deep", {{"head", "mc-dropout"}, {"dropout_rate", 0.2}, {"post_layers", 4}}).optimiser =
      Optimiser::muon;
  add("mc_dropout_no_summary", {{"head", "mc-dropout"}, {"post_layers", 1}, {"summary", 0}}).parameters = 2;
  add("vae", with({{"head", "vae"}})).parameters = 2;
  add("vae_no_post", with({{"head", "vae"}, {"post_layers", 0}, {"latents", 20}}));
  add("vae_no_summary", with({{"head", "vae"}, {"summary", 0}, {"encoder_layers", 1}})).optimiser =
      Optimiser::muon;
  // Small bundles, one of a single data set, and several of different sizes.
  EngineCase& mmd = add("mmd_vae", with({{"head", "mmd-vae"}}));
  mmd.parameters = 2;
  add("mmd_vae_alone", with({{"head", "mmd-vae"}})).sets = 1;
  EngineCase& many = add("mmd_vae_bundles", with({{"head", "mmd-vae"}, {"latents", 17}}));
  many.sets = 90;
  many.largest = 60;
  many.optimiser = Optimiser::muon;
}

// LSTM and convolutions alone and together, series shorter than the windows among them.
inline void add_sequence_cases(std::vector<EngineCase>& cases) {
  using nlohmann::json;
  const json small = {{"architecture", "sequence"},
                      {"lstm", 20},
                      {"filters", {12, 18, 9}},
                      {"kernels", {3, 4, 2}},
                      {"strides", {1, 3, 2}},
                      {"post_width", 18},
                      {"summary", 7}};
  const auto add = [&](std::string name, json more) -> EngineCase& {
    json options = small;
    options.update(more);
    cases.push_back({"sequence_" + std::move(name), std::move(options)});
    return cases.back();
  };
  const auto without = [](json more) {
    more.update({{"filters", json::array()}, {"kernels", json::array()}, {"strides", json::array()}});
    return more;
  };
  add("small", json::object()).parameters = 2;
  add("mean", {{"pooling", "mean"}});
  add("muon", json::object()).optimiser = Optimiser::muon;
  add("lstm", without(json::object()));
  add("lstm_one_unit", without({{"lstm", 1}, {"log_n", false}}));
  add("lstm_of_64", without({{"lstm", 64}}));
  add("lstm_of_100", without({{"lstm", 100}}));
  add("lstm_of_128", {{"lstm", 128}});
  add("lstm_of_140", without({{"lstm", 140}}));
  add("convolutions", {{"lstm", 0}});
  add("one_convolution",
      {{"lstm", 0}, {"filters", {16}}, {"kernels", {5}}, {"strides", {7}}, {"log_n", false}});
  add("wide_windows", {{"filters", {5, 32}}, {"kernels", {9, 7}}, {"strides", {1, 1}}});
  add("no_post", {{"post_layers", 0}, {"summary", 0}, {"window", 0}}).parameters = 2;
  add("no_windows", {{"window", 0}});
  add("windows_of_four", {{"lstm", 0}, {"window", 4}, {"window_layers", 1}}).optimiser = Optimiser::muon;
  add("windows_without_moments", {{"window", 3}, {"moments", 0}});
  add("softmax", {{"head", "softmax"}, {"growth", false}});
  add_head_cases("sequence_", small, cases);
  EngineCase& dropout = add("statistics_mc_dropout", {{"head", "mc-dropout"}});
  dropout.ordered = dropout.robust = true;
  EngineCase& vae = add("bare_statistics_mmd_vae", {{"head", "mmd-vae"}, {"post_layers", 0}});
  vae.ordered = vae.robust = true;
  EngineCase& statistics = add("statistics", json::object());
  statistics.ordered = statistics.robust = true;
  statistics.channels = 3;
  EngineCase& in_pieces = add("statistics_in_pieces", json::object());
  in_pieces.ordered = in_pieces.robust = true;
  in_pieces.channels = 12;
  in_pieces.optimiser = Optimiser::muon;
  EngineCase& direct = add("direct_statistics", {{"post_layers", 3}});
  direct.ordered = direct.robust = true;
  direct.parameters = 2;
  EngineCase& not_direct = add("statistics_not_direct", {{"post_layers", 3}, {"direct", false}});
  not_direct.ordered = not_direct.robust = true;
  EngineCase& no_summary = add("statistics_no_summary", {{"summary", 0}, {"direct", false}});
  no_summary.ordered = no_summary.robust = true;
  EngineCase& bare = add("bare_statistics", {{"post_layers", 0}});
  bare.ordered = bare.robust = bare.missing = true;
  bare.optimiser = Optimiser::muon;
  EngineCase& neuron = add("neuron", {{"lstm", 64},
                                      {"filters", {64, 64, 128, 128, 128}},
                                      {"kernels", {5, 5, 3, 3, 2}},
                                      {"strides", {2, 3, 2, 3, 2}},
                                      {"growth", false}});
  neuron.channels = 1;
  neuron.sets = 5;
  neuron.largest = 150;
  for (const int units : {64, 128}) {
    EngineCase& long_series = add("long_of_" + std::to_string(units), {{"lstm", units}});
    long_series.large = true;
    long_series.sets = 5;
    long_series.largest = 3000;
  }
  EngineCase& many = add("many", json::object());
  many.large = true;
  many.sets = 700;
}

inline std::vector<EngineCase> engine_cases() {
  using nlohmann::json;
  const json small = {
      {"inv_width", 20}, {"after_width", 24}, {"equiv_width", 12}, {"post_width", 18}, {"summary", 7}};
  const auto with = [&](json more) {
    json options = small;
    options.update(more);
    return options;
  };
  std::vector<EngineCase> cases;
  const auto add = [&](std::string name, json options) -> EngineCase& {
    cases.push_back({std::move(name), std::move(options)});
    return cases.back();
  };
  add("default", json::object()).parameters = 3;
  add("default_muon", json::object()).optimiser = Optimiser::muon;
  for (const char* pooling : {"mean", "sum", "mean+sum", "max", "attention"}) {
    add(std::string("pooling_") + (pooling == std::string("mean+sum") ? "mean_sum" : pooling),
        with({{"pooling", pooling}, {"moments", 0}}));
  }
  add("one_module", with({{"modules", 1}}));
  add("two_modules_attention", with({{"modules", 2}, {"pooling", "attention"}, {"moments", 0}}));
  add("three_modules", with({{"modules", 3}, {"pooling", "attention"}, {"moments", 5}, {"equiv_layers", 3}}));
  add("short_module", with({{"modules", 2}, {"equiv_layers", 1}, {"inv_layers", 1}, {"after_layers", 1}}));
  add("modules_muon", with({{"modules", 1}})).optimiser = Optimiser::muon;
  add("no_post", with({{"post_layers", 0}, {"summary", 0}, {"factor", false}})).parameters = 2;
  add("no_summary", with({{"summary", 0}, {"log_n", false}, {"direct", false}}));
  add("summary_alone", with({{"post_layers", 0}}));
  add("no_factor", with({{"factor", false}}));
  add("no_gains", with({{"gains", false}}));
  add("not_direct", with({{"direct", false}, {"modules", 1}}));
  add("blocks", with({{"moments", 6}, {"moment_blocks", 5}})).optimiser = Optimiser::muon;
  add("pairs", with({{"moments", 2}, {"moment_blocks", 24}}));
  add("no_growth", with({{"growth", false}}));
  add("softmax", with({{"head", "softmax"}})).parameters = 2;
  add_head_cases("", small, cases);
  EngineCase& softplus = add("softplus", small);
  softplus.link = Link::softplus;
  softplus.lambda = 0.1;
  EngineCase& relu = add("relu", small);
  relu.link = Link::relu;
  relu.lambda = 0.01;
  add("kl", small).lambda = 0.3;
  EngineCase& robust = add("robust", small);
  robust.robust = true;
  robust.channels = 3;
  EngineCase& far_out = add("far_out", small);
  far_out.robust = true;
  far_out.plain_within = 0.5;
  EngineCase& series = add("set_of_ordered_data", with({{"modules", 1}, {"direct", false}}));
  series.ordered = series.robust = true;
  EngineCase& related = add("set_statistics", with({{"direct", true}}));
  related.related = related.robust = true;
  related.channels = 3;
  for (const std::int64_t labels : {1, 2}) {
    EngineCase& grouped = add(labels == 1 ? "labels" : "two_labels",
                              labels == 1 ? with({{"labels", 24}})
                                          : with({{"labels", 20}, {"modules", 1}, {"pooling", "attention"}}));
    grouped.labels = labels;
    grouped.robust = true;
    grouped.channels = 2 + labels;
    if (labels == 1) grouped.optimiser = Optimiser::muon;
  }
  EngineCase& missing = add("missing", small);
  missing.robust = missing.missing = true;
  missing.channels = 3;
  EngineCase& many = add("many_models", small);
  many.models = 70;
  many.sets = 40;
  EngineCase& wide =
      add("wide", {{"inv_width", 144}, {"after_width", 300}, {"modules", 1}, {"pooling", "attention"}});
  wide.optimiser = Optimiser::muon;
  wide.large = true;
  EngineCase& long_sets = add("long_sets", with({{"modules", 1}, {"pooling", "attention"}}));
  long_sets.large = true;
  long_sets.sets = 5;
  long_sets.largest = 3000;
  add_sequence_cases(cases);
  return cases;
}

// Values of a normal, a heavy-tailed (where inputs are robust, in a quarter of the rows 0) and a discrete
// column in turn, with ragged sizes.
inline void fill_batch(const EngineCase& c, std::uint64_t item, Batch& batch) {
  batch.reset(c.channels, c.parameters, c.models);
  Rng rng(7, Purpose::test, item);
  for (std::int64_t b = 0; b < c.sets; ++b) {
    const auto model = static_cast<std::int32_t>(b % c.models);
    const auto n = 1 + static_cast<std::int64_t>(rng.uniform(0, static_cast<double>(c.largest)));
    batch.append(model, n, n);
    std::span<float> data = batch.mutable_data(b);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::size_t column = i % static_cast<std::size_t>(c.channels);
      const double z = rng.normal() + 0.3 * model;
      data[i] =
          static_cast<float>(column % 3 == 0   ? z
                             : column % 3 == 1 ? (c.robust && rng.uniform() < 0.25 ? 0 : std::exp(2 * z))
                                               : std::floor(rng.uniform(0, 4)));
      if (c.missing && column == 0 && rng.uniform(0, 1) < 0.2)
        data[i] = std::numeric_limits<float>::quiet_NaN();
      if (static_cast<std::int64_t>(column) >= c.channels - c.labels)
        data[i] = static_cast<float>(1 + std::floor(rng.uniform(0, 6)));
    }
    for (double& theta : batch.mutable_parameters(b)) theta = rng.normal() + model;
  }
}

inline NetworkConfig config_of(const EngineCase& c) {
  NetworkConfig config;
  config.channels = c.channels;
  config.models = c.models;
  config.parameters = c.parameters;
  config.set_options(c.options, "test");
  if (c.missing) config.missing = {0};
  if (!c.robust) config.options.inputs = "plain";
  Batch batch;
  fill_batch(c, 1000, batch);
  config.options.statistics = c.ordered || c.related || c.labels > 0;
  LabelGroups labels;
  for (std::int64_t i = c.labels; i > 0; --i) labels.push_back({c.channels - i});
  config.learn_input(batch.view(), c.ordered, labels);
  if (c.plain_within > 0) config.standardisation.plain_within = c.plain_within;
  return config;
}

inline LearningPlan plan_of(const EngineCase& c) {
  LearningPlan plan;
  plan.link = c.link;
  plan.optimiser = c.optimiser;
  plan.average = 0.99;
  plan.clip = 0.5;
  plan.seed = 11;
  const auto P = static_cast<std::size_t>(c.parameters);
  plan.targets.inputs.resize(P);
  plan.targets.mean.assign(P, 0.1);
  plan.targets.scale.assign(P, 1.5);
  for (std::int64_t j = 0; j < c.models; ++j) {
    plan.targets.masks.emplace_back(P, 1);
    if (P > 1 && j == 1) plan.targets.masks.back()[0] = 0;
  }
  return plan;
}

// Batches of a case by the number of the step.
class CaseFeed final : public BatchFeed {
 public:
  explicit CaseFeed(const EngineCase& c) : case_(c) {}
  const Batch& batch(std::int64_t step) override {
    fill_batch(case_, static_cast<std::uint64_t>(step), batch_);
    return batch_;
  }
  SideTasks begin_next(std::int64_t) override { return {}; }
  void end_next() override {}
  bool first_use(std::int64_t) const override { return true; }

 private:
  const EngineCase& case_;
  Batch batch_;
};

inline LearningState first_state(const NetworkConfig& config, const EngineCase& c) {
  const Network<float> network(config);
  std::vector<float> weights(static_cast<std::size_t>(network.weight_count()));
  network.layout().initialise<float>(weights, 3, 0);
  return fresh_state(std::move(weights), c.optimiser);
}

inline StepSettings settings_of(const EngineCase& c, std::int64_t step) {
  return {step, 1e-3, c.lambda, 0.3};
}

// A few steps and answers, each beside the CPU in double.
inline EngineDifferences differences_from_cpu(const EngineCase& c, std::unique_ptr<Engine> engine,
                                              EngineDifferences tolerance) {
  ThreadPool pool(1);
  const NetworkConfig config = config_of(c);
  CheckEngine check(std::move(engine), std::make_unique<CpuEngine<double>>(config, pool), tolerance);
  check.learn(plan_of(c), first_state(config, c), 0);
  CaseFeed feed(c);
  for (std::int64_t step = 0; step < 4; ++step) check.step(feed, settings_of(c, step));
  NetworkAnswers answers;
  const Batch& batch = feed.batch(77);
  const std::vector<float> weights = check.state().weights;
  check.answer(weights, batch.view(), 100, answers);
  return check.differences();
}

// How far the weights of two engines are apart after some steps, beside how far they went.
inline double distance_after(const EngineCase& c, Engine& one, Engine& other, std::int64_t steps) {
  const NetworkConfig config = config_of(c);
  const LearningState begin = first_state(config, c);
  double apart = 0, went = 0;
  CaseFeed feed(c);
  for (Engine* engine : {&one, &other}) {
    engine->learn(plan_of(c), begin, 0);
    for (std::int64_t step = 0; step < steps; ++step) engine->step(feed, settings_of(c, step));
  }
  const LearningState a = one.state();
  const LearningState b = other.state();
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    apart += std::pow(a.weights[i] - b.weights[i], 2) + std::pow(a.average[i] - b.average[i], 2);
    went += std::pow(a.weights[i] - begin.weights[i], 2) + std::pow(a.average[i] - begin.average[i], 2);
  }
  return std::sqrt(apart / went);
}

}  // namespace occam::testing_support
