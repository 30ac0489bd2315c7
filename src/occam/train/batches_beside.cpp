#include "occam/train/batches_beside.hpp"

#include <utility>

namespace occam {

BatchesBeside::BatchesBeside(std::unique_ptr<BatchSource> source, int threads)
    : source_(std::move(source)),
      size_(source_->at_once()),
      pool_(threads),
      even_orders_(static_cast<std::size_t>(pool_.threads())) {
  for (Block& block : blocks_) block.batches.resize(static_cast<std::size_t>(size_));
}

BatchesBeside::~BatchesBeside() {
  if (made_.valid()) made_.wait();
}

const Batch& BatchesBeside::batch(std::int64_t step) {
  const std::int64_t block = step / size_;
  Block& own = place_of(block);
  if (own.number != block) {
    if (making_ != block) begin(block);
    making_ = -1;
    made_.get();
    own.number = block;
  }
  return own.batches[static_cast<std::size_t>(step % size_)];
}

SideTasks BatchesBeside::begin_next(std::int64_t step) {
  const std::int64_t next = step / size_ + 1;
  if (place_of(next).number != next && making_ != next) begin(next);
  return {};
}

void BatchesBeside::begin(std::int64_t block) {
  if (made_.valid()) made_.wait();  // one that nobody asks for any more
  Block& own = place_of(block);
  own.number = -1;
  made_ = std::async(std::launch::async, [this, block, &own] { make(block, own.batches); });
  making_ = block;
}

void BatchesBeside::make(std::int64_t block, std::vector<Batch>& out) {
  source_->begin();
  for (std::int64_t i = 0; i < size_; ++i) {
    source_->prepare(block * size_ + i, out[static_cast<std::size_t>(i)]);
  }
  pool_.for_each(source_->task_count(), [&](std::int64_t task, int) { source_->run_task(task); });
  source_->finish();
  pool_.for_each(size_, [&](std::int64_t i, int worker) {
    even_orders_[static_cast<std::size_t>(worker)].apply(out[static_cast<std::size_t>(i)]);
  });
}

}  // namespace occam
