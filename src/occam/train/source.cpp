#include "occam/train/source.hpp"

#include <algorithm>

namespace occam {
namespace {

// Ranks share out one batch at a time.
std::int64_t batches_together(const Problem& problem, std::int64_t batch, const ThreadPool& pool) {
  constexpr std::int64_t kBatches = 16, kDataSets = 4096;  // at least
  const auto on_device = [](const Model& model) { return model.family().has_device_code(); };
  const bool any = std::any_of(problem.models().begin(), problem.models().end(), on_device);
  if (!any || pool.loop_device() == nullptr || !pool.ranks().is_alone()) return 1;
  return std::max(kBatches, kDataSets / batch);
}

}  // namespace

SimulatedSource::SimulatedSource(const Problem& problem, std::uint64_t seed, Purpose purpose,
                                 std::int64_t batch, const ThreadPool& pool)
    : simulators_(static_cast<std::size_t>(batches_together(problem, batch, pool)),
                  Simulator(problem, seed, purpose, {.batch = batch})),
      pool_(pool) {}

void SimulatedSource::prepare(std::int64_t batch_number, Batch& out) {
  Simulator& next = simulators_[prepared_++];
  next.prepare(batch_number, pool_, out);
  tasks_ += next.task_count();
}

void SimulatedSource::run_task(std::int64_t task) {
  for (std::size_t i = 0; i < prepared_; ++i) {
    const std::int64_t own = simulators_[i].task_count();
    if (task < own) return simulators_[i].run_task(task);
    task -= own;
  }
}

void SimulatedSource::finish() {
  for (std::size_t i = 0; i < prepared_; ++i) simulators_[i].finish();
}

TableSource::TableSource(std::shared_ptr<const ReferenceTable> table, std::vector<std::int64_t> rows,
                         std::int64_t models, std::uint64_t seed, std::int64_t batch)
    : table_(std::move(table)), rows_(std::move(rows)), models_(models), seed_(seed), batch_(batch) {}

void TableSource::shuffle(std::int64_t pass) {
  order_ = rows_;
  Rng rng(seed_, Purpose::train, static_cast<std::uint64_t>(pass));
  for (std::size_t i = order_.size() - 1; i > 0; --i) {
    std::swap(order_[i], order_[static_cast<std::size_t>(rng.uniform_int(0, static_cast<std::int64_t>(i)))]);
  }
  pass_ = pass;
}

void TableSource::prepare(std::int64_t batch_number, Batch& out) {
  const auto count = static_cast<std::int64_t>(rows_.size());
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = batch_number * batch_; i < (batch_number + 1) * batch_; ++i) {
    if (i / count != pass_) shuffle(i / count);
    chosen.push_back(order_[static_cast<std::size_t>(i % count)]);
  }
  gather(table_->all(), chosen, models_, out);
}

}  // namespace occam
