// Trainer: simulate, compare the network's answer with the true model, improve the weights; again and again.
// An Engine makes the steps, Batches have the data, the Course says how long; this is what they meet in.
// Everything a step does follows from the problem, the options, the seed and the step number, so a run
// interrupted and resumed ends with the same bits as one that was not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "occam/core/progress.hpp"
#include "occam/engine/engine.hpp"
#include "occam/networks/network_file.hpp"
#include "occam/train/options.hpp"
#include "occam/train/source.hpp"

namespace occam {

// One line of the training log.
struct TrainEvent {
  std::int64_t step = 0, total = 0;
  double loss = 0;             // mean over the steps since the last event
  double validation_loss = 0;  // NaN until the first validation
  double data_sets_per_s = 0;
  double seconds = 0;
  std::int64_t member = 0;  // of an ensemble, from 1; 0: there is none
};

struct TrainRun {
  std::uint64_t seed = 1;
  std::string device = kDefaultEngine;  // what makes the steps; a run may be resumed on another
  std::int64_t member = 0;        // of an ensemble: members differ in initial weights and training data only
  std::string checkpoint;         // path; empty: none
  double checkpoint_minutes = 5;  // between two checkpoints
  bool resume = false;            // continue from the checkpoint if it exists
  bool keep_checkpoint = false;   // also at the end, so that a later --resume finds the run finished
  bool record_timing = false;     // puts wall time into the file, which then differs from run to run
  std::shared_ptr<const ReferenceTable> table;  // train from it instead of simulating
  std::shared_ptr<const NetworkFile> start;     // begin with what this network knows (see warm_start.hpp)
  std::function<void(const TrainEvent&)> log;   // at every validation
};

// The network that the problem's options and then these describe, as far as they go: what is learned from
// simulations is not in it yet.
NetworkConfig network_for(const Problem& problem, const nlohmann::json& options);

// The log-loss of answering with the model prior.
double chance_loss(const Problem& problem);

class Trainer {
 public:
  // Builds the network that the problem's options describe and learns the standardisation of its input; with
  // run.start, both are those of that network, grown where the problem has more models or parameters.
  Trainer(Problem problem, nlohmann::json network_options, TrainOptions options, TrainRun run,
          ThreadPool& pool, ProgressSink& progress);
  ~Trainer();

  // Trains to the end and returns the network. When the sink asks to stop: saves a checkpoint and throws
  // Error(interrupted), or Error(io) where there could be none; in between, a checkpoint that cannot be
  // written is a warning. A loss that is not finite is Error(internal) that names the step; what was good
  // until then is in the checkpoint.
  NetworkFile train();

  const TrainOptions& options() const { return options_; }

 private:
  struct State;

  void build_network(const nlohmann::json& network_options);
  void warn_of_lost_digits() const;
  void check_head_options() const;
  void begin();
  void begin_attempt(std::int64_t attempt);
  void load_checkpoint();
  void stop_if_asked();
  void step();
  // What the engine has to report goes into the progress.
  void take_report();
  void end_at_fault();
  std::int64_t judged_sets() const;
  double validate();
  std::vector<double> validation_losses(const std::vector<float>& weights, std::int64_t sets);
  // False when the run is over.
  bool judge();
  bool judge_length(double loss);
  void go_back();
  void settle_total();
  void show_progress();
  std::string doubt() const;
  void report_failures();
  bool checkpoint_is_due();
  // False, after a warning, where it cannot be written.
  bool try_checkpoint();
  std::string after_checkpoint(bool saved) const;
  NetworkFile finished();

  Problem problem_;
  TrainOptions options_;
  TrainRun run_;
  ThreadPool& pool_;
  ProgressSink& progress_;
  std::unique_ptr<State> s_;
};

}  // namespace occam
