// From a problem to a network file, as `train`, `extend` and `reproduce` do it: the lock, the log,
// checkpoints, the scope reference, and what is kept where something fails.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "occam/core/fields.hpp"
#include "occam/io/csv_dialect.hpp"
#include "occam/scope/build_scope.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/problem.hpp"
#include "occam/train/trainer.hpp"

namespace occam {

struct TrainingCommand {
  std::string output;  // where the network goes
  std::uint64_t seed = 1;
  std::string device = kDefaultEngine;
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

// Options of a training where the user gives none: those of the problem; of a network that begins from `old`
// (null: from nothing) its link and members, and a third of the steps.
void settle_defaults(const Problem& problem, const NetworkFile* old, TrainOptions& options);

// A problem's link and lambda are for networks whose head has concentrations; others leave them out. Where
// the user `given` them by name, they are an Error(usage).
void settle_head(const NetworkConfig& config, const std::function<bool(const char*)>& given,
                 TrainOptions& options, ProgressSink& progress);

// What a verb has to add to a network that was trained.
struct AfterTraining {
  nlohmann::json record;                      // goes into the network's record
  std::function<void(NetworkFile&)> measure;  // looks at the network and completes the record
};

// Trains and writes the network to its output: first as it was trained, then, when they are made, with what
// is measured and a scope reference; so what goes wrong after a training does not cost it. The checkpoint
// goes last. `network` are options of the network, `start` one to begin from. Error(io) when another run is
// working on the output, or, at the very end, when the log could not be written.
void run_training(const TrainingCommand& o, const Problem& problem, const nlohmann::json& network,
                  std::shared_ptr<const NetworkFile> start, ThreadPool& pool, ProgressSink& progress,
                  const AfterTraining& after = {});

}  // namespace occam
