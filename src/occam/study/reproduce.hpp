// Reproduce a study: train its networks, or take those that an earlier run left, make its experiments, and
// hold the figures against the published ones.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "occam/check/finding.hpp"
#include "occam/core/progress.hpp"
#include "occam/engine/engine.hpp"
#include "occam/networks/network_file.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/study/study.hpp"
#include "occam/train/options.hpp"

namespace occam {

// What is to be trained.
struct TrainingPlan {
  StudyNetwork network;
  Problem problem;
  TrainOptions options;  // defaults, over them the problem's [train], over them the study's
  std::uint64_t seed = 1;
  std::shared_ptr<const NetworkFile> start;
  std::string path;  // where the file goes
};

TrainingPlan plan_training(const Study& study, const StudyNetwork& network, std::uint64_t seed,
                           const std::string& folder);
// Whether the file is what the plan would train: same problem, options, seed and start.
bool is_trained(const NetworkFile& file, const TrainingPlan& plan);

// Trains as planned and writes the network to plan.path, with its wall time in the record.
using TrainNetwork = std::function<void(const TrainingPlan& plan)>;

// Networks are in folder/networks/NAME.occam. Throws Error(interrupted) when the user wants to stop; what was
// trained stays there, and the next run takes it. Networks answer on the device named.
Report reproduce(const Study& study, const std::string& folder, std::uint64_t seed, const TrainNetwork& train,
                 ThreadPool& pool, ProgressSink& progress, const std::string& device = kDefaultEngine);

}  // namespace occam
