#include "occam/train/batches.hpp"

#include <gtest/gtest.h>

namespace occam {
namespace {

// Notes which batches were asked for; the number of a batch is the size of its one data set.
class Noted final : public BatchSource {
 public:
  explicit Noted(std::vector<std::int64_t>& made) : made_(made) {}
  void prepare(std::int64_t number, Batch& out) override {
    out.reset(1, 0, 2);
    out.append(0, number + 1, number + 1);
    made_.push_back(number);
  }
  std::int64_t task_count() const override { return 1; }
  void run_task(std::int64_t) override {}
  void finish() override {}

 private:
  std::vector<std::int64_t>& made_;
};

std::vector<std::int64_t> numbers_used(Batches& batches, std::int64_t steps) {
  std::vector<std::int64_t> used;
  for (std::int64_t step = 0; step < steps; ++step) {
    used.push_back(batches.batch(step)[0].n - 1);
    const SideTasks next = batches.begin_next(step);
    for (std::int64_t task = 0; task < next.count; ++task) next.run(task);
    batches.end_next();
    EXPECT_EQ(batches.batch(step)[0].n - 1, used.back()) << "the batch in use was touched";
  }
  return used;
}

TEST(Batches, EachIsMadeOnceAndUsedInItsStep) {
  ThreadPool pool(1);
  std::vector<std::int64_t> made;
  Batches batches(std::make_unique<Noted>(made), 1, pool);
  EXPECT_EQ(numbers_used(batches, 5), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(made, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(batches.first_use(4));
}

TEST(Batches, ReplayPassesThroughBlocksSeveralTimes) {
  ThreadPool pool(1);
  std::vector<std::int64_t> made;
  Batches batches(std::make_unique<Noted>(made), 2, pool);
  const std::vector<std::int64_t> used = numbers_used(batches, 64);
  std::vector<std::int64_t> expected;
  for (const std::int64_t block : {0, 0, 16, 16}) {
    for (std::int64_t k = 0; k < 16; ++k) expected.push_back(block + k);
  }
  EXPECT_EQ(used, expected);
  EXPECT_EQ(made.size(), 33u) << "each once, and the one ahead";
  EXPECT_TRUE(batches.first_use(15));
  EXPECT_FALSE(batches.first_use(16));
  EXPECT_TRUE(batches.first_use(32));
}

// A simulator that failed leaves a batch that is not whole: it is made again.
TEST(Batches, OneThatWasNotFinishedIsMadeAgain) {
  ThreadPool pool(1);
  std::vector<std::int64_t> made;
  Batches batches(std::make_unique<Noted>(made), 1, pool);
  batches.batch(0);
  batches.begin_next(0);  // and no end
  EXPECT_EQ(batches.batch(1)[0].n, 2);
  EXPECT_EQ(made, (std::vector<std::int64_t>{0, 1, 1}));
}

}  // namespace
}  // namespace occam
