// The data of a training: the batches it learns from, those that judge it, and a sample from which all scales
// are learned; simulated, or from a table.
#pragma once

#include <memory>

#include "occam/core/progress.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/train/options.hpp"
#include "occam/train/source.hpp"

namespace occam {

struct TrainingData {
  Batch sample, validation;
  std::unique_ptr<BatchSource> source;
  std::int64_t pass = 0;  // steps after which data sets come again; 0: they never do
};

// `seed` is that of the training batches; sample and validation are those of `run_seed`, the same for all
// members of an ensemble. Where options.batch is 0 it is settled here. With a table, a tenth of it judges the
// run.
TrainingData open_training_data(const Problem& problem, std::shared_ptr<const ReferenceTable> table,
                                std::uint64_t run_seed, std::uint64_t seed, TrainOptions& options,
                                ThreadPool& pool, ProgressSink& progress);

}  // namespace occam
