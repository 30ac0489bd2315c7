#include "occam/parallel/shared_loop.hpp"

#include <gtest/gtest.h>

#include "occam/parallel/dry_run.hpp"
#include "occam/parallel/test_support.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam::testing_support {
namespace {

// The squares of 0..tasks-1, as each rank has them in the end.
std::vector<std::int64_t> squares(Communicator& ranks, std::int64_t tasks, bool handed_out, int threads = 2) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(tasks), -1);
  ThreadPool pool(threads, ranks);
  SharedLoop loop;
  loop.begin(ranks, tasks, handed_out);
  pool.for_each(loop.calls(), [&](std::int64_t call, int) {
    loop.run(call, [&](std::int64_t task) { out[static_cast<std::size_t>(task)] = task * task; });
  });
  loop.finish([&](std::int64_t task, ByteWriter& to) { to.put(out[static_cast<std::size_t>(task)]); },
              [&](std::int64_t task, ByteReader& from) {
                out[static_cast<std::size_t>(task)] = from.take<std::int64_t>();
              });
  return out;
}

TEST(SharedLoopThreaded, AllRanksHaveAllResults) {
  for (const int ranks : {1, 2, 3, 5}) {
    for (const std::int64_t tasks : {0, 1, 4, 100}) {
      on_ranks(ranks, [&](Communicator& own) {
        const std::vector<std::int64_t> expected = squares(alone(), tasks, false, 1);
        EXPECT_EQ(squares(own, tasks, false), expected);
        EXPECT_EQ(squares(own, tasks, true), expected);
      });
    }
  }
}

TEST(SharedLoopThreaded, TheErrorOfTheLowestTaskIsThrownOnAllRanks) {
  for (const bool handed_out : {false, true}) {
    on_ranks(3, [&](Communicator& own) {
      SharedLoop loop;
      loop.begin(own, 9, handed_out);
      for (std::int64_t call = 0; call < loop.calls(); ++call) {
        loop.run(call, [](std::int64_t task) {
          if (task < 6) throw Error(ErrorKind::bad_data, "task {}", task).with_detail("said so");
        });
      }
      try {
        loop.finish([](std::int64_t, ByteWriter&) {}, [](std::int64_t, ByteReader&) {});
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::bad_data);
        EXPECT_STREQ(error.what(), "task 0");
        EXPECT_EQ(error.detail(), "said so");
      }
    });
  }
}

TEST(SharedLoop, ADryRunDoesAllAndCountsItsShare) {
  DryRun ranks(1, 4);
  EXPECT_EQ(squares(ranks, 40, true, 1), squares(alone(), 40, false, 1));
  // Ten tasks of sixteen bytes each, and eight that say that nothing failed; eight of the pool.
  EXPECT_EQ(ranks.traffic().sent, 10 * 16 + 8 + 8);
}

}  // namespace
}  // namespace occam::testing_support
