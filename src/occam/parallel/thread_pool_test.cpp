#include "occam/parallel/thread_pool.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace occam {
namespace {

TEST(ThreadPool, RunsEveryItemOnceOnAnyNumberOfThreads) {
  for (const int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> hits(100, 0);
      pool.for_each(100, [&](std::int64_t item, int worker) {
        ASSERT_LT(worker, threads);
        ++hits[item];
      });
      EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), 0), 100);
      EXPECT_EQ(*std::max_element(hits.begin(), hits.end()), 1);
    }
  }
}

TEST(ThreadPool, RethrowsAndStaysUsable) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    try {
      pool.for_each(64, [](std::int64_t item, int) {
        if (item == 0) throw std::runtime_error("item 0");
      });
      ADD_FAILURE();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "item 0");
    }
    std::atomic<int> count{0};
    pool.for_each(10, [&](std::int64_t, int) { ++count; });
    EXPECT_EQ(count, 10);
  }
}

TEST(ThreadPool, NoItemsIsNoWork) {
  ThreadPool pool(2);
  pool.for_each(0, [](std::int64_t, int) { FAIL(); });
}

}  // namespace
}  // namespace occam
