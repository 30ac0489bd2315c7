// The communicator of MPI, started by mpirun: `mpirun -n 3 ranks`. A program of its own, small enough to be
// compiled for the address sanitizer, too. Every rank runs all tests; the exit code is that of the worst.
#include <numeric>

#include <gtest/gtest.h>

#include "occam/networks/gradient_sum.hpp"
#include "occam/parallel/mpi_communicator.hpp"
#include "occam/parallel/shared_loop.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

Communicator* ranks = nullptr;

std::int64_t own() {
  return ranks->rank();
}

TEST(Ranks, KnowWhoTheyAre) {
  EXPECT_GE(own(), 0);
  EXPECT_LT(own(), ranks->size());
  EXPECT_EQ(ranks->local_size(), ranks->size());
  EXPECT_EQ(ranks->sum(own()), ranks->size() * (ranks->size() - 1) / 2);
  EXPECT_EQ(ranks->any(own() == ranks->size() - 1), true);
  EXPECT_EQ(ranks->any(false), false);
}

TEST(Ranks, AllGetWhatTheFirstHas) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100000}}) {
    std::vector<double> values(size, own() == 0 ? 3.5 : 0.0);
    ranks->broadcast_values(std::span(values));
    EXPECT_EQ(values, std::vector<double>(size, 3.5));
  }
}

TEST(Ranks, GatherBytesOfAnyLength) {
  // Rank r has r bytes of value r: the first none at all.
  const std::vector<std::byte> bytes(static_cast<std::size_t>(own()), static_cast<std::byte>(own()));
  std::vector<std::byte> all;
  std::vector<std::int64_t> ends;
  ranks->gather(bytes, all, ends);
  ASSERT_EQ(ends.size(), static_cast<std::size_t>(ranks->size()));
  std::int64_t at = 0;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    EXPECT_EQ(ends[static_cast<std::size_t>(rank)], at + rank);
    for (; at < ends[static_cast<std::size_t>(rank)]; ++at)
      EXPECT_EQ(all[static_cast<std::size_t>(at)], static_cast<std::byte>(rank));
  }
}

TEST(Ranks, CompleteWhatEachHasAPartOf) {
  std::vector<std::int64_t> ends;
  for (int rank = 0; rank < ranks->size(); ++rank) ends.push_back(part(1000, rank + 1, ranks->size()));
  std::vector<std::int64_t> values(1000, -1), expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  for (std::int64_t i = part(1000, own(), ranks->size()); i < part(1000, own() + 1, ranks->size()); ++i)
    values[static_cast<std::size_t>(i)] = i;
  ranks->complete_values(values, ends);
  EXPECT_EQ(values, expected);
}

// The sum over all ranks has the bits of that of one.
TEST(Ranks, GradientsAreAddedAsByOne) {
  constexpr std::int64_t kGroups = 13, kWeights = 20000;
  std::vector<std::vector<float>> sums;
  for (std::int64_t group = 0; group < kGroups; ++group) {
    auto& sum = sums.emplace_back();
    for (std::int64_t i = 0; i < kWeights; ++i)
      sum.push_back(1.0F / static_cast<float>(1 + group * 7919 % 101 + i % 1009));
  }
  auto copy = sums;
  std::vector<float> expected(kWeights), gradient(kWeights);
  ThreadPool one(1);
  GradientSum<float> by_one(one);
  by_one.add(copy, kGroups, 0.5F, expected);
  ThreadPool pool(2, *ranks);
  GradientSum<float> by_all(pool);
  by_all.add(sums, kGroups, 0.5F, gradient);
  EXPECT_EQ(gradient, expected);
  EXPECT_EQ(by_all.squared_norm(), by_one.squared_norm());
}

TEST(Ranks, TasksAreHandedOutOnceEach) {
  ThreadPool pool(2, *ranks);
  SharedLoop loop;
  for (int round = 0; round < 50; ++round) {  // more often than there are counters
    std::vector<std::int64_t> out(40, -1);
    loop.begin(*ranks, 40, round % 2 == 0);
    pool.for_each(loop.calls(), [&](std::int64_t call, int) {
      loop.run(call, [&](std::int64_t task) { out[static_cast<std::size_t>(task)] += 1 + task * round; });
    });
    loop.finish([&](std::int64_t task, ByteWriter& to) { to.put(out[static_cast<std::size_t>(task)]); },
                [&](std::int64_t task, ByteReader& from) {
                  EXPECT_EQ(out[static_cast<std::size_t>(task)], -1) << "done by two";
                  out[static_cast<std::size_t>(task)] = from.take<std::int64_t>();
                });
    for (std::int64_t task = 0; task < 40; ++task)
      EXPECT_EQ(out[static_cast<std::size_t>(task)], task * round);
  }
}

void fail_in_two_tasks(bool handed_out) {
  SharedLoop loop;
  loop.begin(*ranks, 30, handed_out);
  for (std::int64_t call = 0; call < loop.calls(); ++call) {
    loop.run(call, [](std::int64_t task) {
      if (task < 2) throw Error(ErrorKind::bad_data, "task {}", task);
    });
  }
  loop.finish([](std::int64_t, ByteWriter&) {}, [](std::int64_t, ByteReader&) {});
}

TEST(Ranks, FailTogether) {
  EXPECT_THROW(fail_in_two_tasks(false), Error);
  EXPECT_THROW(fail_in_two_tasks(true), Error);
}

}  // namespace
}  // namespace occam

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  const auto joined = occam::join_mpi();
  occam::ranks = joined.get();
  return joined->leave(RUN_ALL_TESTS());
}
