// Trainings small enough for the test run, and a listener to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/simulate/problem_file.hpp"
#include "occam/train/trainer.hpp"

namespace occam::testing_support {

// Notes what the trainer says; can ask it to stop at a step.
struct Listener : ProgressSink {
  std::int64_t stop_at = -1;
  std::int64_t step = 0;
  std::vector<std::string> said;
  void update(std::int64_t done, std::int64_t, std::string_view) override { step = done; }
  void say(std::string_view message) override { said.emplace_back(message); }
  bool stop_requested() override { return stop_at >= 0 && step >= stop_at; }
};

inline TrainOptions quick(std::int64_t iterations) {
  TrainOptions options;
  options.iterations = iterations;
  options.batch = 32;
  options.learning_rate = 3e-3;
  options.warmup = 50;
  options.validate_every = 100;
  options.validation_datasets = 200;
  return options;
}

inline const nlohmann::json kTiny = {{"inv_width", 16}, {"after_width", 16}, {"equiv_width", 16},
                                     {"modules", 1},    {"post_width", 16},  {"summary", 8}};

inline std::string trained_bytes(int threads, const TrainOptions& options, const TrainRun& run,
                                 Listener& listener, const std::string& problem = "one-sample",
                                 const nlohmann::json& network = kTiny) {
  ThreadPool pool(threads);
  Trainer trainer(load_problem(problem), network, options, run, pool, listener);
  return safetensors_bytes(network_to_safetensors(trainer.train()));
}

}  // namespace occam::testing_support
