// The batches of a training where a device simulates: blocks of many, each made on threads of its own while
// the steps before it run, because a device takes about as long for many batches as for one. A batch depends
// on its number alone.
#pragma once

#include <future>
#include <memory>
#include <vector>

#include "occam/engine/engine.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/train/even_order.hpp"
#include "occam/train/source.hpp"

namespace occam {

class BatchesBeside final : public BatchFeed {
 public:
  BatchesBeside(std::unique_ptr<BatchSource> source, int threads);
  ~BatchesBeside() override;
  BatchesBeside(const BatchesBeside&) = delete;
  BatchesBeside& operator=(const BatchesBeside&) = delete;

  // What went wrong while its block was made is thrown here.
  const Batch& batch(std::int64_t step) override;
  SideTasks begin_next(std::int64_t step) override;
  void end_next() override {}
  bool first_use(std::int64_t) const override { return true; }

 private:
  struct Block {
    std::int64_t number = -1;  // -1: none, or one that is not whole
    std::vector<Batch> batches;
  };
  Block& place_of(std::int64_t block) { return blocks_[block % 2]; }
  void begin(std::int64_t block);
  void make(std::int64_t block, std::vector<Batch>& out);

  std::unique_ptr<BatchSource> source_;
  std::int64_t size_;  // of a block
  ThreadPool pool_;
  std::vector<EvenOrder> even_orders_;  // one for each thread
  Block blocks_[2];                     // the one in use and the next
  std::int64_t making_ = -1;            // the block in the making, or -1
  std::future<void> made_;
};

}  // namespace occam
