#include "occam/train/training_data.hpp"

#include <algorithm>

#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr std::int64_t kSampleSets = 1000;
constexpr std::int64_t kSetsPerSize = 20;
// Data sets that judge a run of given length; those that find out its end, which needs smaller errors; and
// the values they may hold at most, since they stay in memory.
constexpr std::int64_t kFewestValidationSets = 2000;
constexpr std::int64_t kEndSets = 16000;
constexpr double kMostValidationValues = 2e7;
// Steps of about so many rows make good use of the time: larger ones learn from more data sets than they need
// to, in smaller ones the optimiser costs as much as the gradient.
constexpr double kRowsPerStep = 32768;
constexpr std::int64_t kDearBatch = 128;

double mean_rows(const Batch& sample) {
  return static_cast<double>(sample.view().x.rows) /
         static_cast<double>(std::max<std::int64_t>(sample.size(), 1));
}

// A power of two.
std::int64_t batch_for_rows(double rows) {
  std::int64_t batch = 64;
  while (batch < 512 && static_cast<double>(2 * batch) * rows <= 1.5 * kRowsPerStep) batch *= 2;
  return batch;
}

// From a table, where the same data sets come again and again, and from programs, which take most of the
// time, more at once would only be fewer steps. (How long a simulation takes must not decide it: then the
// same command would not give the same network.)
std::int64_t batch_for(const Problem& problem, bool table, const Batch& sample) {
  const std::int64_t batch = batch_for_rows(mean_rows(sample));
  const auto dear = [](const Model& model) { return model.family().dear(); };
  const bool few = table || std::any_of(problem.models().begin(), problem.models().end(), dear);
  return few ? std::min(batch, kDearBatch) : batch;
}

// How many data sets judge a run; `sample` says how large they are.
std::int64_t validation_sets(const TrainOptions& options, const Batch& sample) {
  if (options.validation_datasets > 0) return options.validation_datasets;
  if (!options.automatic()) return kFewestValidationSets;
  const double values = mean_rows(sample) * static_cast<double>(sample.columns());
  return std::clamp(static_cast<std::int64_t>(kMostValidationValues / values), kFewestValidationSets,
                    kEndSets);
}

// Where a whole batch shares one N, sizes must vary within these data sets all the same: small batches.
Batch simulated(const Problem& problem, std::uint64_t seed, Purpose purpose, std::int64_t count,
                ThreadPool& pool, ProgressSink& progress) {
  const std::string_view units = purpose == Purpose::validate ? "validation data sets" : "first data sets";
  Batch batch;
  progress.update_before(0, count, units);
  Simulator(problem, seed, purpose, {.batch = kSetsPerSize})
      .simulate_range(0, count, pool, batch,
                      [&](std::int64_t done) { progress.update_before(done, count, units); });
  return batch;
}

TrainingData from_table(std::shared_ptr<const ReferenceTable> table, const Problem& problem,
                        std::uint64_t seed, TrainOptions& options) {
  const std::int64_t size = table->size();
  if (size < 20) throw Error(ErrorKind::bad_data, "a table of {} data sets is too small to train from", size);
  TrainingData data;
  std::vector<std::int64_t> kept, aside;
  for (std::int64_t k = 0; k < size; ++k) (ReferenceTable::held_out(k) ? aside : kept).push_back(k);
  gather(table->all(), aside, problem.J(), data.validation);
  const auto first = std::min<std::int64_t>(kSampleSets, static_cast<std::int64_t>(kept.size()));
  gather(table->all(), std::span(kept).first(static_cast<std::size_t>(first)), problem.J(), data.sample);
  if (options.batch == 0) options.batch = batch_for(problem, true, data.sample);
  data.pass = (static_cast<std::int64_t>(kept.size()) + options.batch - 1) / options.batch;
  data.source =
      std::make_unique<TableSource>(std::move(table), std::move(kept), problem.J(), seed, options.batch);
  return data;
}

}  // namespace

TrainingData open_training_data(const Problem& problem, std::shared_ptr<const ReferenceTable> table,
                                std::uint64_t run_seed, std::uint64_t seed, TrainOptions& options,
                                ThreadPool& pool, ProgressSink& progress) {
  if (table) return from_table(std::move(table), problem, seed, options);
  TrainingData data;
  data.sample = simulated(problem, run_seed, Purpose::standardise, kSampleSets, pool, progress);
  if (options.batch == 0) options.batch = batch_for(problem, false, data.sample);
  data.source = std::make_unique<SimulatedSource>(problem, seed, Purpose::train, options.batch, pool);
  data.validation =
      simulated(problem, run_seed, Purpose::validate, validation_sets(options, data.sample), pool, progress);
  return data;
}

}  // namespace occam
