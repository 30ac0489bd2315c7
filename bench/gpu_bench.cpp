// One training step on a device, by the networks of engine_bench and the default one: what a step takes when
// many follow each other, simulation left out. And batches of the problems that simulate there (trials,
// series), by all threads with the device, beside nothing else. Prints one JSON object per line.
//   gpu_bench [--device cuda|cpu] [--steps N] [--only CASE,...]
//   cases: a, b, c, neuron, default, muon, decisions, as_run, large, trials, series
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "occam/core/rng.hpp"
#include "occam/engine/engine.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"
#include "occam/simulate/simulator.hpp"
#include "occam/train/source.hpp"
#include "study_networks.hpp"

namespace {

using namespace occam;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

struct Case {
  std::string name;
  std::int64_t sets, n, channels, models;
  json options;
  Optimiser optimiser = Optimiser::adam;
};

// Of decision-making:as_run.
json as_run_network() {
  return {{"modules", 2},      {"inv_width", 96}, {"after_width", 96},
          {"equiv_width", 64}, {"moments", 0},    {"post_width", 128},
          {"post_layers", 2},  {"summary", 32},   {"pooling", "mean+sum"}};
}

std::vector<Case> cases() {
  return {{"a", 64, 50, 1, 2, study_network(64, 32, 2)},
          {"b", 64, 150, 3, 6, study_network(128, 64, 3)},
          {"c", 32, 1101, 1, 3, series_network(128, 256)},
          {"neuron", 32, 250, 1, 3, series_network(64, 128)},
          {"default", 64, 100, 2, 3, json::object()},
          {"muon", 64, 100, 2, 3, json::object(), Optimiser::muon},
          {"decisions", 128, 300, 2, 6, json::object(), Optimiser::muon},
          {"as_run", 128, 300, 3, 6, as_run_network()},
          {"large", 512, 500, 3, 6, study_network(128, 64, 3)}};
}

// The same two batches over and over.
class SameFeed final : public BatchFeed {
 public:
  explicit SameFeed(const Case& c) {
    Rng rng(1, Purpose::test, 0);
    for (Batch& batch : batches_) {
      batch.reset(c.channels, 0, c.models);
      for (std::int64_t b = 0; b < c.sets; ++b) {
        batch.append(static_cast<std::int32_t>(b % c.models), c.n, c.n);
        for (float& x : batch.mutable_data(b)) x = static_cast<float>(rng.normal());
      }
    }
  }
  const Batch& batch(std::int64_t step) override { return batches_[step % 2]; }
  SideTasks begin_next(std::int64_t) override { return {}; }
  void end_next() override {}
  bool first_use(std::int64_t) const override { return false; }

 private:
  Batch batches_[2];
};

void run(const Case& c, const std::string& device, std::int64_t steps) {
  NetworkConfig config;
  config.channels = c.channels;
  config.models = c.models;
  config.standardisation.mean.assign(static_cast<std::size_t>(c.channels), 0.0);
  config.standardisation.scale.assign(static_cast<std::size_t>(c.channels), 1.0);
  config.set_options(c.options, "bench");
  const Network<float> network(config);
  std::vector<float> weights(static_cast<std::size_t>(network.weight_count()));
  network.layout().initialise<float>(weights, 1, 0);
  ThreadPool pool;
  const auto engine = make_engine(device, config, pool);
  LearningPlan plan;
  plan.optimiser = c.optimiser;
  engine->learn(plan, fresh_state(weights, c.optimiser), 0);
  SameFeed feed(c);
  std::int64_t step = 0;
  const auto go = [&](std::int64_t count) {
    const auto start = Clock::now();
    for (std::int64_t i = 0; i < count; ++i, ++step) engine->step(feed, {step, 1e-4, 0, 0});
    engine->take_report();
    return 1e3 * std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(count);
  };
  go(std::min<std::int64_t>(steps, 20));
  std::vector<double> times;
  for (int repeat = 0; repeat < 9; ++repeat) times.push_back(go(steps));
  std::sort(times.begin(), times.end());
  NetworkAnswers answers;
  const Batch& batch = feed.batch(0);
  std::vector<double> answering;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const auto start = Clock::now();
    engine->answer(weights, batch.view(), 1, answers);
    answering.push_back(1e3 * std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(answering.begin(), answering.end());
  const json line = {{"device", device},          {"case", c.name},
                     {"ms_median", times[4]},     {"ms_min", times[0]},
                     {"answer_ms", answering[4]}, {"weights", network.weight_count()}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// Batches as a training asks for them, many together; times are of one. `unit` names the items that run at
// once: trials or series.
void simulate(const std::string& unit, const std::string& problem, std::int64_t sets,
              const std::string& device) {
  constexpr int kRepeats = 9, kBlocks = 4;
  ThreadPool pool;
  simulate_beside(device, pool);
  SimulatedSource source(builtin_problem(problem), 1, Purpose::train, sets, pool);
  std::vector<Batch> batches(static_cast<std::size_t>(source.at_once()));
  std::int64_t number = 0;
  double rows = 0;
  const auto make_block = [&] {
    source.begin();
    for (Batch& batch : batches) source.prepare(number++, batch);
    pool.for_each(source.task_count(), [&](std::int64_t task, int) { source.run_task(task); });
    source.finish();
    for (const Batch& batch : batches) rows += static_cast<double>(batch.view().x.rows);
  };
  for (int k = 0; k < 2; ++k) make_block();
  std::vector<double> times;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto start = Clock::now();
    for (int k = 0; k < kBlocks; ++k) make_block();
    times.push_back(1e3 * std::chrono::duration<double>(Clock::now() - start).count() /
                    static_cast<double>(kBlocks * source.at_once()));
  }
  std::sort(times.begin(), times.end());
  const double of_batch = unit == "series" ? static_cast<double>(sets) : rows / static_cast<double>(number);
  const json line = {{"device", device},      {"case", unit},
                     {"problem", problem},    {"threads", pool.threads()},
                     {"ms_median", times[4]}, {"ms_min", times[0]},
                     {"per_batch", of_batch}, {"per_s", 1e3 * of_batch / times[4]}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string device = "cuda", only = "a,b,c,neuron,default,muon,decisions,as_run,large,trials,series";
  std::int64_t steps = 200;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--device") device = argv[i + 1];
    if (key == "--only") only = argv[i + 1];
    if (key == "--steps") steps = std::stoll(argv[i + 1]);
  }
  const auto chosen = [&](const std::string& name) {
    return ("," + only + ",").find("," + name + ",") != std::string::npos;
  };
  for (const Case& c : cases()) {
    if (chosen(c.name)) run(c, device, steps);
  }
  if (chosen("trials")) simulate("trials", "decision-making:as_run", 128, device);
  if (chosen("series")) simulate("series", "neuron", 32, device);
}
