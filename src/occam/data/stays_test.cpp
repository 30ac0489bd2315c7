#include "occam/data/stays.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace occam {
namespace {

std::vector<Stays> stays_of(const std::vector<std::int64_t>& codes, std::size_t symbols = 2) {
  std::vector<Stays> stays(symbols);
  find_stays(codes, stays);
  return stays;
}

TEST(Stays, CountRowsByAge) {
  // 0 for three rows, 1 for one, 0 for two, missing, 1 for two: the last stays of both are cut off.
  const std::vector<Stays> stays = stays_of({0, 0, 0, 1, 0, 0, -1, 1, 1});
  EXPECT_EQ(stays[0].left, (std::array<double, kAges>{0, 0, 1}));
  EXPECT_EQ(stays[0].stayed, (std::array<double, kAges>{2, 1, 0}));
  EXPECT_EQ(stays[1].left, (std::array<double, kAges>{1, 0, 0}));
  EXPECT_EQ(stays[1].stayed, (std::array<double, kAges>{1, 0, 0}));
  EXPECT_EQ(stays[0].count, 1);
  EXPECT_EQ(stays[0].rows, 3);
  EXPECT_DOUBLE_EQ(stays[0].logs, std::log(3));
}

TEST(Stays, AgesAreClassesThatDouble) {
  std::vector<std::int64_t> codes(200, 0);
  codes.push_back(1);
  const Stays all = stays_of(codes)[0];
  EXPECT_EQ(all.stayed, (std::array<double, kAges>{1, 1, 2, 4, 8, 16, 32, 135}));
  EXPECT_EQ(all.left.back(), 1);
}

// By hand: B(2, 1) B(1, 2) / B(2, 2), ages of one left and one stayed row.
TEST(Stays, AgeingIsARatioOfEvidences) {
  Stays stays;
  stays.left = {1, 0};
  stays.stayed = {0, 1};
  EXPECT_NEAR(stays.ageing(), std::log((1.0 / 2) * (1.0 / 2) / (1.0 / 6)), 1e-12);
  EXPECT_NEAR(stays.own_chance(0), std::log(2), 1e-12);
  EXPECT_NEAR(stays.own_chance(1), -std::log(2), 1e-12);
  EXPECT_EQ(stays.own_chance(2), 0);
  EXPECT_EQ(Stays{}.ageing(), 0);
}

// A chain that forgets, and one that has to pass a second stage before it leaves.
TEST(Stays, TellStagesFromForgetting) {
  std::mt19937 random(1);
  std::bernoulli_distribution leave(0.2);
  const auto ageing = [&](int stages) {
    std::vector<std::int64_t> codes;
    for (std::int64_t state = 0, stage = 1; codes.size() < 10000;) {
      codes.push_back(state);
      if (!leave(random)) continue;
      if (stage++ < stages) continue;
      state = 1 - state;
      stage = 1;
    }
    return stays_of(codes)[0].ageing();
  };
  EXPECT_LT(ageing(1), 0);
  EXPECT_GT(ageing(2), 20);
}

}  // namespace
}  // namespace occam
