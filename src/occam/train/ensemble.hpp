// Ensembles: K networks of one kind, trained one after the other from different initial weights and different
// data, in one file. Their mixture answers; how much they differ tells how far a probability can be trusted.
#pragma once

#include "occam/train/trainer.hpp"

namespace occam {

// As one Trainer does for a single network; options.ensemble says how many. Finished members keep their
// checkpoints until forget_checkpoints, so that a run interrupted and resumed trains none of them twice.
NetworkFile train_ensemble(const Problem& problem, const nlohmann::json& network_options,
                           const TrainOptions& options, const TrainRun& run, ThreadPool& pool,
                           ProgressSink& progress);

// Whether an interrupted run left anything under this name; and its removal.
bool has_checkpoint(const std::string& path);
void forget_checkpoints(const std::string& path, std::int64_t members);

}  // namespace occam
