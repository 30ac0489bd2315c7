#include "occam/train/batches.hpp"

#include <utility>

#include "occam/train/batches_beside.hpp"

namespace occam {
namespace {

// Batches kept for replay: each is used again only after the others, not at once.
constexpr std::int64_t kReplayRing = 16;

}  // namespace

Batches::Batches(std::unique_ptr<BatchSource> source, std::int64_t replay, ThreadPool& pool)
    : source_(std::move(source)),
      replay_(replay),
      pool_(pool),
      ring_(static_cast<std::size_t>(replay > 1 ? kReplayRing : 2)) {}

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
    finish(wanted);
  }
  return own.batch;
}

SideTasks Batches::begin_next(std::int64_t step) {
  next_ = -1;
  const std::int64_t wanted = number(step + 1);
  Slot& own = slot(wanted);
  if (own.number == wanted || &own == &slot(number(step))) return {};
  next_ = wanted;
  own.number = -1;
  source_->begin();
  source_->prepare(wanted, own.batch);
  return {source_->task_count(), [this](std::int64_t task) { source_->run_task(task); }};
}

void Batches::end_next() {
  if (next_ < 0) return;
  finish(next_);
  next_ = -1;
}

void Batches::finish(std::int64_t number) {
  source_->finish();
  even_order_.apply(slot(number).batch);
  slot(number).number = number;
}

std::unique_ptr<BatchFeed> make_batches(std::unique_ptr<BatchSource> source, std::int64_t replay,
                                        ThreadPool& pool) {
  if (replay <= 1 && source->at_once() > 1) {
    return std::make_unique<BatchesBeside>(std::move(source), pool.threads());
  }
  return std::make_unique<Batches>(std::move(source), replay, pool);
}

}  // namespace occam
