// The batches of a training by step: one is used while the next is made; with replay, blocks of batches are
// passed through several times.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "occam/engine/engine.hpp"
#include "occam/train/even_order.hpp"
#include "occam/train/source.hpp"

namespace occam {

class Batches final : public BatchFeed {
 public:
  Batches(std::unique_ptr<BatchSource> source, std::int64_t replay, ThreadPool& pool);

  const Batch& batch(std::int64_t step) override;
  SideTasks begin_next(std::int64_t step) override;
  void end_next() override;
  bool first_use(std::int64_t step) const override;

 private:
  struct Slot {
    std::int64_t number = -1;  // of its batch; -1: none, or one that is not whole
    Batch batch;
  };
  std::int64_t number(std::int64_t step) const;
  void finish(std::int64_t number);
  Slot& slot(std::int64_t number) { return ring_[static_cast<std::size_t>(number) % ring_.size()]; }

  std::unique_ptr<BatchSource> source_;
  std::int64_t replay_;
  ThreadPool& pool_;
  std::vector<Slot> ring_;
  std::int64_t next_ = -1;  // the batch in the making, or -1
  EvenOrder even_order_;
};

// As suits the source.
std::unique_ptr<BatchFeed> make_batches(std::unique_ptr<BatchSource> source, std::int64_t replay,
                                        ThreadPool& pool);

}  // namespace occam
