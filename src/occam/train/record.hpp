// What is written down of a training: the network file with all that a reader needs to know, and the identity
// of a run, by which a checkpoint knows its own.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "occam/networks/network_file.hpp"
#include "occam/train/checkpoint.hpp"
#include "occam/train/trainer.hpp"
#include "occam/train/training_data.hpp"

namespace occam {

// Where more members are wanted than there are to start from, they share them.
std::size_t start_member(const TrainRun& run);

nlohmann::json run_identity(const Problem& problem, const TrainOptions& options, const TrainRun& run,
                            const NetworkConfig& config);

// The network with the best weights of the run. `doubt`: why its answers mean nothing, or nothing.
NetworkFile trained_network(const Problem& problem, const TrainOptions& options, const TrainRun& run,
                            const NetworkConfig& config, const LearningPlan& plan, const TrainingData& data,
                            const TrainingProgress& at, const std::string& doubt);

}  // namespace occam
