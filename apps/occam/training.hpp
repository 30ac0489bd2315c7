// What `train` and `extend` have in common: options of a run, the log, checkpoints, and the last line.
#pragma once

#include <string>

#include "occam/core/fields.hpp"
#include "occam/io/csv_dialect.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/problem.hpp"
#include "occam/train/trainer.hpp"
#include "verb.hpp"

namespace occam {

struct TrainingCommand {
  TrainOptions train;
  ScopeOptions scope;
  std::string log, table;
  CsvFormat csv;  // of the table
  bool resume = false;
  bool record_timing = false;
  double checkpoint_minutes = 5;
};

Fields run_fields(TrainingCommand& o);

// Where the checkpoint of a training lies whose network goes to `output`.
std::string checkpoint_of(const std::string& output);

// A problem's link and lambda are for networks whose head has concentrations; others leave them out. On the
// command line they are an Error(usage).
void settle_head(const NetworkConfig& config, const Call& call, TrainOptions& options,
                 ProgressSink& progress);

// Trains, adds a scope reference, and returns the network, which the caller writes to `output`;
// forget_checkpoint() then removes what an interrupted run would have gone on from. `network` are options of
// the network, `start` one to begin from.
NetworkFile run_training(const TrainingCommand& o, const Problem& problem, const nlohmann::json& network,
                         std::shared_ptr<const NetworkFile> start, const std::string& output,
                         const Call& call, ThreadPool& pool, ProgressSink& progress);
void forget_checkpoint(const TrainingCommand& o, const std::string& output);

}  // namespace occam
