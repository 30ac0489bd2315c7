#include "occam/train/source.hpp"

#include <algorithm>

namespace occam {

SimulatedSource::SimulatedSource(const Problem& problem, std::uint64_t seed, Purpose purpose,
                                 std::int64_t batch, const ThreadPool& pool)
    : simulator_(problem, seed, purpose, {.batch = batch}), pool_(pool) {}

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
