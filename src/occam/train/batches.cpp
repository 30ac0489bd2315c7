#include "occam/train/batches.hpp"

#include <utility>

namespace occam {
namespace {

// Batches kept for replay: each is used again only after the others, not at once.
constexpr std::int64_t kReplayRing = 16;

}  // namespace

Batches::Batches(std::unique_ptr<BatchSource> source, std::int64_t replay, ThreadPool& pool)
    : source_(std::move(source)),
      replay_(replay),
      pool_(pool),
      ring_(static_cast<std::size_t>(replay > 1 ? kReplayRing : source_->at_once() + 1)) {}

std::int64_t Batches::number(std::int64_t step) const {
  if (replay_ <= 1) return step;
  const std::int64_t block = step / (kReplayRing * replay_);
  return block * kReplayRing + step % kReplayRing;
}

bool Batches::first_use(std::int64_t step) const {
  return replay_ <= 1 || step / kReplayRing % replay_ == 0;
}

const Batch& Batches::batch(std::int64_t step) {
  const std::int64_t wanted = number(step);
  Slot& own = slot(wanted);
  if (own.number != wanted) {
    source_->begin();
    source_->prepare(wanted, own.batch);
    pool_.for_each(source_->task_count(), [&](std::int64_t task, int) { source_->run_task(task); });
    finish(wanted, 1);
  }
  return own.batch;
}

SideTasks Batches::begin_next(std::int64_t step) {
  next_ = -1;
  const std::int64_t wanted = number(step + 1);
  Slot& own = slot(wanted);
  if (own.number == wanted || &own == &slot(number(step))) return {};
  next_ = wanted;
  making_ = replay_ > 1 ? 1 : source_->at_once();
  source_->begin();
  for (std::int64_t i = 0; i < making_; ++i) {
    slot(wanted + i).number = -1;
    source_->prepare(wanted + i, slot(wanted + i).batch);
  }
  return {source_->task_count(), [this](std::int64_t task) { source_->run_task(task); }};
}

void Batches::end_next() {
  if (next_ < 0) return;
  finish(next_, making_);
  next_ = -1;
}

void Batches::finish(std::int64_t first, std::int64_t count) {
  source_->finish();
  for (std::int64_t number = first; number < first + count; ++number) {
    even_order_.apply(slot(number).batch);
    slot(number).number = number;
  }
}

}  // namespace occam
