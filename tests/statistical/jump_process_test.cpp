// Paths of the jump process against closed forms. Every check allows kSigmas = 4.9 Monte-Carlo standard
// errors: false-alarm probability 1e-6 each, 12 checks.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

// The count of species `s` (0 for the first) at time t: that of the last event before.
double count_at(const std::vector<float>& path, std::int64_t rows, std::int64_t D, std::int64_t s, double t) {
  std::int64_t row = 0;
  while (row + 1 < rows && path[static_cast<std::size_t>((row + 1) * D)] <= t) ++row;
  return path[static_cast<std::size_t>(row * D + s + 1)];
}

// z -> y: each of the 40 is left at time t with probability exp(-theta t), independently.
TEST(JumpProcessStatistics, ConversionLeavesABinomialNumber) {
  const auto family = make_family("jump-process", {{"reactions", "theta: z -> y"}}, "test");
  constexpr int kPaths = 20000;
  std::vector<float> path(41 * 3);
  for (const double theta : {2.0, 30.0}) {
    std::vector<double> counts(41, 0.0);
    std::array<double, 2> sums{};
    for (int i = 0; i < kPaths; ++i) {
      Rng rng(11, Purpose::test, static_cast<std::uint64_t>(i));
      const std::int64_t rows = family->simulate({&theta, 1}, 41, rng, path);
      sums[0] += count_at(path, rows, 3, 0, 0.05);
      const double last = count_at(path, rows, 3, 0, 0.1);
      sums[1] += last;
      ++counts[static_cast<std::size_t>(last)];
    }
    for (const int k : {0, 1}) {
      const double p = std::exp(-theta * (k == 0 ? 0.05 : 0.1));
      EXPECT_NEAR(sums[k] / kPaths, 40.0 * p, kSigmas * std::sqrt(40.0 * p * (1.0 - p) / kPaths))
          << "theta " << theta;
    }
    const double p = std::exp(-theta * 0.1);
    std::vector<double> expected(41);
    double mass = std::pow(1.0 - p, 40) * kPaths;
    for (std::size_t k = 0; k <= 40; ++k) {
      expected[k] = mass;
      mass *= (40.0 - static_cast<double>(k)) / (static_cast<double>(k) + 1.0) * p / (1.0 - p);
    }
    EXPECT_GT(chi_square(counts, expected), kFalseAlarm) << "theta " << theta;
  }
}

// z + y -> 2 y: the time of event i is a sum of exponentials with rates theta z y.
TEST(JumpProcessStatistics, AutocatalysisWaitsForMeetings) {
  const auto family = make_family("jump-process", {{"time_limit", 1e6}}, "test");
  constexpr int kPaths = 20000;
  const double theta = 2.0;
  std::vector<float> path(41 * 3);
  std::vector<double> first;
  double sum = 0.0;
  for (int i = 0; i < kPaths; ++i) {
    Rng rng(12, Purpose::test, static_cast<std::uint64_t>(i));
    ASSERT_EQ(family->simulate({&theta, 1}, 41, rng, path), 41);
    first.push_back(path[3]);
    sum += path[120];
  }
  EXPECT_GT(kolmogorov_smirnov(first, [](double t) { return -std::expm1(-240.0 * t); }), kFalseAlarm);
  double mean = 0.0;
  double variance = 0.0;
  for (int k = 0; k < 40; ++k) {
    const double wait = 1.0 / (theta * (40.0 - k) * (3.0 + k));
    mean += wait;
    variance += wait * wait;
  }
  EXPECT_NEAR(sum / kPaths, mean, kSigmas * std::sqrt(variance / kPaths));
}

// Birth and death with two rates: the count goes to a Poisson distribution of mean birth / death. Pairs that
// bind for good: among 3 there are 3 pairs, so the one event comes at rate 3 k.
TEST(JumpProcessStatistics, OtherNetworks) {
  const auto births =
      make_family("jump-process",
                  {{"initial", "x = 0"}, {"reactions", "b: 0 -> x; d: x -> 0"}, {"time_limit", 6.0}}, "test");
  constexpr int kPaths = 4000;
  std::vector<float> path(400 * 2);
  std::vector<double> counts(40, 0.0);
  for (int i = 0; i < kPaths; ++i) {
    Rng rng(13, Purpose::test, static_cast<std::uint64_t>(i));
    const std::array<double, 2> theta = {10.0, 2.0};
    const std::int64_t rows = births->simulate(theta, 400, rng, path);
    ASSERT_GT(rows, 0);
    ++counts[static_cast<std::size_t>(count_at(path, rows, 2, 0, 6.0))];
  }
  std::vector<double> expected(40);
  const double mean = 5.0 * -std::expm1(-12.0);
  double mass = std::exp(-mean) * kPaths;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    expected[k] = mass;
    mass *= mean / (static_cast<double>(k) + 1.0);
  }
  EXPECT_GT(chi_square(counts, expected), kFalseAlarm);

  const auto pairs =
      make_family("jump-process",
                  {{"initial", "a = 3, c = 0"}, {"reactions", "k: 2 a -> c"}, {"time_limit", 1e6}}, "test");
  std::vector<double> times;
  for (int i = 0; i < kPaths; ++i) {
    Rng rng(14, Purpose::test, static_cast<std::uint64_t>(i));
    const double k = 0.5;
    ASSERT_EQ(pairs->simulate({&k, 1}, 10, rng, path), 2);
    times.push_back(path[3]);
  }
  EXPECT_GT(kolmogorov_smirnov(times, [](double t) { return -std::expm1(-1.5 * t); }), kFalseAlarm);
}

// Data of the first model with theta = 2: independently computed quantiles of its exact posterior probability
// (median .9995, 5th percentile .27, rounded). A quantile q holds when the share below it is q, within
// Monte-Carlo error.
TEST(JumpProcessStatistics, OneDataSetSaysLittle) {
  const Problem problem = builtin_problem("jump-process");
  constexpr int kPaths = 4000;
  const std::array<double, 1> theta = {2.0};
  std::vector<float> path(41 * 3);
  std::vector<double> p;
  for (int i = 0; i < kPaths; ++i) {
    Rng rng(15, Purpose::test, static_cast<std::uint64_t>(i));
    const std::int64_t rows = problem.models()[0].family().simulate(theta, 41, rng, path);
    p.push_back(std::exp((*problem.exact_log_posterior({path.data(), rows, 3}))[0]));
  }
  const auto share_below = [&](double value) {
    return static_cast<double>(std::count_if(p.begin(), p.end(), [&](double x) { return x < value; })) /
           kPaths;
  };
  const auto error = [&](double q) { return kSigmas * std::sqrt(q * (1.0 - q) / kPaths); };
  EXPECT_LT(share_below(0.99945), 0.50 + error(0.5));
  EXPECT_GT(share_below(0.99955), 0.50 - error(0.5));
  EXPECT_LT(share_below(0.265), 0.05 + error(0.05));
  EXPECT_GT(share_below(0.275), 0.05 - error(0.05));
}

}  // namespace
}  // namespace occam
