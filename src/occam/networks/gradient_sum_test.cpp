#include "occam/networks/gradient_sum.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/parallel/test_support.hpp"

namespace occam::testing_support {
namespace {

constexpr std::int64_t kWeights = 10000;  // several chunks, the last not whole

std::vector<std::vector<float>> random_sums(std::int64_t groups) {
  std::vector<std::vector<float>> sums(static_cast<std::size_t>(groups));
  for (std::int64_t group = 0; group < groups; ++group) {
    Rng rng(1, Purpose::test, static_cast<std::uint64_t>(group));
    for (std::int64_t i = 0; i < kWeights; ++i)
      sums[static_cast<std::size_t>(group)].push_back(static_cast<float>(rng.uniform() - 0.3));
  }
  return sums;
}

// A rank knows the sums of its own groups alone.
std::vector<float> gradient(Communicator& ranks, std::int64_t groups, double& squared_norm) {
  ThreadPool pool(2, ranks);
  GradientSum<float> sum(pool);
  auto sums = random_sums(groups);
  for (std::int64_t group = 0; group < groups; ++group) {
    if (group < sum.first_group(groups, ranks.rank()) || group >= sum.first_group(groups, ranks.rank() + 1))
      std::fill(sums[static_cast<std::size_t>(group)].begin(), sums[static_cast<std::size_t>(group)].end(),
                NAN);
  }
  std::vector<float> out(static_cast<std::size_t>(kWeights));
  sum.add(sums, groups, 0.125f, out);
  squared_norm = sum.squared_norm();
  return out;
}

TEST(GradientSumThreaded, IsTheSameBitsOnAnyNumberOfRanks) {
  for (const std::int64_t groups : {1, 2, 3, 7, 8, 21, 32}) {
    double norm = 0;
    const std::vector<float> expected = gradient(alone(), groups, norm);
    for (const int ranks : {2, 3, 4, 5}) {
      on_ranks(ranks, [&](Communicator& own) {
        double own_norm = 0;
        EXPECT_EQ(gradient(own, groups, own_norm), expected) << groups << " groups, " << ranks << " ranks";
        EXPECT_EQ(own_norm, norm);
      });
    }
  }
}

TEST(GradientSum, IsTheSum) {
  for (const std::int64_t groups : {1, 5, 32}) {
    double norm = 0;
    const std::vector<float> found = gradient(alone(), groups, norm);
    const auto sums = random_sums(groups);
    double squares = 0;
    for (std::int64_t i = 0; i < kWeights; ++i) {
      double expected = 0;
      for (const auto& one : sums) expected += 0.125 * one[static_cast<std::size_t>(i)];
      EXPECT_NEAR(found[static_cast<std::size_t>(i)], expected, 1e-5);
      squares += expected * expected;
    }
    EXPECT_NEAR(norm, squares, 1e-4 * squares);
  }
}

TEST(GradientSum, RanksCoverTheTreeWithFewNodes) {
  std::vector<SumNode> nodes;
  cover({0, 32}, 8, 16, nodes);
  EXPECT_EQ(nodes, (std::vector<SumNode>{{8, 16}}));
  nodes.clear();
  cover({0, 32}, 10, 21, nodes);
  EXPECT_EQ(nodes, (std::vector<SumNode>{{10, 12}, {12, 16}, {16, 20}, {20, 21}}));
  nodes.clear();
  cover({0, 7}, 0, 7, nodes);
  EXPECT_EQ(nodes, (std::vector<SumNode>{{0, 7}}));
}

}  // namespace
}  // namespace occam::testing_support
