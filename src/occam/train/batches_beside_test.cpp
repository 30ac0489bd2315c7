#include "occam/train/batches_beside.hpp"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

namespace occam {
namespace {

struct SourceNotes {
  std::vector<std::int64_t> made;  // batches, in the order in which they were asked for
  std::atomic<int> failures{0};    // so many times, the first task fails
};

// The number of a batch is the size of its one data set.
class NumberedSource final : public BatchSource {
 public:
  NumberedSource(SourceNotes& notes, std::int64_t at_once) : notes_(notes), at_once_(at_once) {}
  std::int64_t at_once() const override { return at_once_; }
  void begin() override { tasks_ = 0; }
  void prepare(std::int64_t number, Batch& out) override {
    out.reset(1, 0, 2);
    out.append(0, number + 1, number + 1);
    notes_.made.push_back(number);
    ++tasks_;
  }
  std::int64_t task_count() const override { return tasks_; }
  void run_task(std::int64_t task) override {
    if (task == 0 && notes_.failures > 0) {
      --notes_.failures;
      throw std::runtime_error("no data");
    }
  }
  void finish() override {}

 private:
  SourceNotes& notes_;
  std::int64_t at_once_, tasks_ = 0;
};

std::vector<std::int64_t> numbers_from(BatchesBeside& batches, std::int64_t first, std::int64_t steps) {
  std::vector<std::int64_t> used;
  for (std::int64_t step = first; step < first + steps; ++step) {
    const Batch& own = batches.batch(step);
    used.push_back(own[0].n - 1);
    EXPECT_EQ(batches.begin_next(step).count, 0);
    batches.end_next();
    EXPECT_EQ(&batches.batch(step), &own);
    EXPECT_EQ(own[0].n - 1, used.back()) << "the batch in use was touched";
  }
  return used;
}

TEST(BatchesBesideThreaded, EachIsMadeOnceAndUsedInItsStep) {
  SourceNotes notes;
  {
    BatchesBeside batches(std::make_unique<NumberedSource>(notes, 3), 2);
    EXPECT_EQ(numbers_from(batches, 0, 7), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  }
  EXPECT_EQ(notes.made, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}))
      << "each once, and the block ahead";
}

// A training that goes on begins anywhere; one that goes back is given what it was given before.
TEST(BatchesBesideThreaded, AnyStepMayBeTheNext) {
  SourceNotes notes;
  BatchesBeside batches(std::make_unique<NumberedSource>(notes, 4), 2);
  EXPECT_EQ(numbers_from(batches, 10, 3), (std::vector<std::int64_t>{10, 11, 12}));
  EXPECT_EQ(numbers_from(batches, 1, 4), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(numbers_from(batches, 101, 2), (std::vector<std::int64_t>{101, 102}));
}

TEST(BatchesBesideThreaded, AFailureIsThrownWhereTheBatchIsNeededAndTheBlockIsMadeAgain) {
  SourceNotes notes;
  BatchesBeside batches(std::make_unique<NumberedSource>(notes, 2), 2);
  numbers_from(batches, 0, 1);
  EXPECT_EQ(batches.batch(1)[0].n, 2);
  EXPECT_EQ(batches.batch(2)[0].n, 3);
  notes.failures = 1;
  batches.begin_next(2);
  EXPECT_EQ(batches.batch(3)[0].n, 4) << "what is there can be used";
  EXPECT_THROW(batches.batch(4), std::runtime_error);
  EXPECT_EQ(batches.batch(4)[0].n, 5);
}

}  // namespace
}  // namespace occam
