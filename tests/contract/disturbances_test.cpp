// What every disturbance of every problem promises. One added to a family is tested here without another
// line.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

constexpr std::int64_t kSets = 24;

class EveryDisturbance : public testing::TestWithParam<std::string> {
 protected:
  Batch disturbed(const std::string& name, double strength, int threads, std::int64_t first = 0) const {
    ThreadPool pool(threads);
    DisturbedRange range;
    range.seed = 3;
    range.first = first;
    range.count = kSets;
    range.n = std::min<std::int64_t>(problem_.size().high(), 120);
    return disturb(problem_, {name, strength}, range, pool);
  }

  Problem problem_ = builtin_problem(GetParam());
};

bool same_data(const Batch& a, const Batch& b) {
  return std::ranges::equal(a.data(), b.data()) && std::ranges::equal(a.offsets(), b.offsets());
}

TEST_P(EveryDisturbance, StrengthZeroOfATransformationChangesNoBit) {
  ThreadPool pool(2);
  SimulatorOptions options;
  options.n = std::min<std::int64_t>(problem_.size().high(), 120);
  Batch plain;
  Simulator(problem_, 3, Purpose::test, options).simulate_range(0, kSets, pool, plain);
  for (const Disturbance& one : disturbances(problem_)) {
    if (one.transform) {
      EXPECT_TRUE(same_data(plain, disturbed(one.name, 0, 2))) << one.name;
    }
    // What is strong must show, or it disturbs nothing.
    EXPECT_FALSE(same_data(plain, disturbed(one.name, one.to, 2))) << one.name;
  }
}

TEST_P(EveryDisturbance, DataStayFiniteUpToTheStrongest) {
  for (const Disturbance& one : disturbances(problem_)) {
    for (const double part : {0.0, 0.5, 1.0}) {
      const Batch batch = disturbed(one.name, one.from + part * (one.to - one.from), 2);
      EXPECT_EQ(batch.size(), kSets);
      EXPECT_TRUE(std::ranges::all_of(batch.data(), [](float x) { return std::isfinite(x); })) << one.name;
    }
  }
}

TEST_P(EveryDisturbance, SameBitsOnAnyNumberOfThreadsAndFromAnyFirst) {
  for (const Disturbance& one : disturbances(problem_)) {
    const Batch a = disturbed(one.name, one.to, 1);
    EXPECT_TRUE(same_data(a, disturbed(one.name, one.to, 7))) << one.name;
    if (problem_.one_n_per_batch()) continue;
    const Batch later = disturbed(one.name, one.to, 2, 5);
    EXPECT_TRUE(std::ranges::equal(a[7].values(), later[2].values())) << one.name;
  }
}

TEST_P(EveryDisturbance, IsDescribedForPeople) {
  std::set<std::string> names;
  for (const Disturbance& one : disturbances(problem_)) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.description.empty()) << one.name;
    EXPECT_NE(one.from, one.to) << one.name;
    EXPECT_NE(bool(one.transform), bool(one.replace)) << one.name << ": exactly one";
    if (one.transform) {
      EXPECT_EQ(one.from, 0) << one.name;
    }
  }
  EXPECT_FALSE(names.empty()) << GetParam() << " offers no disturbance";
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryDisturbance, testing::ValuesIn(catalogue().problem_names()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
                               '_');
                           return name;
                         });

TEST(DisturbanceRequest, ReadsNameAndStrength) {
  const DisturbanceRequest request = DisturbanceRequest::parse("shift=2.5");
  EXPECT_EQ(request.name, "shift");
  EXPECT_EQ(request.strength, 2.5);
  for (const char* text : {"", "shift", "shift=", "shift=x", "shift=1x", "shift=inf", "shift=nan"}) {
    EXPECT_THROW(DisturbanceRequest::parse(text), Error) << text;
  }
}

TEST(DisturbanceRequest, UnknownOnesAndImpossibleStrengthsAreRefused) {
  const Problem coins = builtin_problem("beta-binomial");
  const Problem neuron = builtin_problem("neuron");
  ThreadPool pool(1);
  const auto message = [&](const Problem& problem, const char* name, double strength) -> std::string {
    try {
      disturb(problem, {name, strength}, {.count = 1}, pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(coins, "autocorelation", 0.5).find("did you mean 'autocorrelation'?"), std::string::npos);
  EXPECT_NE(message(coins, "autocorrelation", -1).find("at least 0"), std::string::npos);
  EXPECT_NE(message(neuron, "g_K_low", -1).find("g_K"), std::string::npos);
}

// Known effects, data set by data set.
TEST(Disturb, ShiftFlipAndReplacementDoWhatTheySay) {
  ThreadPool pool(2);
  const Problem problem = builtin_problem("decision-making");
  const DisturbedRange range{.count = 8, .n = 50};
  const Batch plain = disturb(problem, {"shift", 0}, range, pool);
  const Batch shifted = disturb(problem, {"shift", 2}, range, pool);
  const Batch flipped = disturb(problem, {"flip", 1}, range, pool);
  for (std::int64_t b = 0; b < plain.size(); ++b) {
    for (std::int64_t i = 0; i < plain[b].n; ++i) {
      EXPECT_FLOAT_EQ(shifted[b].at(i, 2), plain[b].at(i, 2) + 2.0f);
      EXPECT_EQ(shifted[b].at(i, 1), plain[b].at(i, 1));
      EXPECT_EQ(flipped[b].at(i, 1), 1.0f - plain[b].at(i, 1));
      EXPECT_EQ(flipped[b].at(i, 2), plain[b].at(i, 2));
    }
  }
  // With drifts of 14 and boundaries at most 3 apart nearly every response is right.
  const Batch fast = disturb(problem, {"fast_drift", 14}, range, pool);
  double right = 0;
  double all = 0;
  for (std::int64_t b = 0; b < fast.size(); ++b) {
    for (std::int64_t i = 0; i < fast[b].n; ++i, ++all)
      right += (fast[b].at(i, 0) == 1.0f) == (fast[b].at(i, 1) == 1.0f);
  }
  EXPECT_GT(right / all, 0.9);
}

}  // namespace
}  // namespace occam
