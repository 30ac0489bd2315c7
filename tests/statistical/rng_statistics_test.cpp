// Every draw of Rng against its distribution: 20 Kolmogorov-Smirnov checks, 11 chi-square checks and 9
// counts, each with false-alarm probability 1e-6.
#include <array>
#include <cmath>
#include <vector>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/exponential.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

constexpr int kDraws = 40000;       // where a distribution function is costly
constexpr int kManyDraws = 400000;  // elsewhere

template <class Draw>
std::vector<double> draws_of(std::uint64_t item, Draw&& draw, int count = kDraws) {
  Rng rng(2024, Purpose::test, item);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = draw(rng);
  return values;
}

TEST(RngStatistics, Uniform) {
  const auto draws = draws_of(
      1, [](Rng& rng) { return rng.uniform(); }, 200000);
  EXPECT_GT(kolmogorov_smirnov(draws, [](double x) { return x; }), kFalseAlarm);
}

TEST(RngStatistics, Normal) {
  const boost::math::normal normal;
  const auto draws = draws_of(
      2, [](Rng& rng) { return rng.normal(); }, kManyDraws);
  EXPECT_GT(kolmogorov_smirnov(draws, [&](double x) { return cdf(normal, x); }), kFalseAlarm);
}

// The tail beyond the ziggurat's base layer (3.654) is its own algorithm, and rare: of 8 million draws about
// 2000 lie there. Their number is Poisson, their distances follow the normal tail.
TEST(RngStatistics, NormalTail) {
  constexpr double kStart = 3.6541528853610088;
  constexpr int kMany = 80'000'000;
  Rng rng(2024, Purpose::test, 3);
  std::vector<double> tail;
  for (int i = 0; i < kMany; ++i) {
    const double x = std::fabs(rng.normal());
    if (x > kStart) tail.push_back(x);
  }
  const boost::math::normal normal;
  const double beyond = 2.0 * cdf(complement(normal, kStart));
  const double expected = kMany * beyond;
  EXPECT_NEAR(static_cast<double>(tail.size()), expected, kSigmas * std::sqrt(expected));
  EXPECT_GT(
      kolmogorov_smirnov(tail, [&](double x) { return 1.0 - 2.0 * cdf(complement(normal, x)) / beyond; }),
      kFalseAlarm);
}

// Cells a hundredth wide see errors of single layers that a Kolmogorov-Smirnov test would smooth over.
TEST(RngStatistics, NormalCellByCell) {
  constexpr int kCells = 800;
  constexpr int kMany = 10'000'000;
  Rng rng(2024, Purpose::test, 4);
  std::vector<double> counts(kCells, 0.0);
  for (int i = 0; i < kMany; ++i) {
    const double cell = std::floor(rng.normal() * 100.0) + kCells / 2;
    if (cell >= 0 && cell < kCells) ++counts[static_cast<std::size_t>(cell)];
  }
  const boost::math::normal normal;
  std::vector<double> expected;
  for (int i = 0; i < kCells; ++i) {
    const double left = (i - kCells / 2) / 100.0;
    expected.push_back(kMany * (cdf(normal, left + 0.01) - cdf(normal, left)));
  }
  EXPECT_GT(chi_square(counts, expected), kFalseAlarm);
}

TEST(RngStatistics, Exponential) {
  const auto draws = draws_of(
      5, [](Rng& rng) { return rng.exponential(); }, kManyDraws);
  EXPECT_GT(kolmogorov_smirnov(draws, [](double x) { return -std::expm1(-x); }), kFalseAlarm);
}

TEST(RngStatistics, Gamma) {
  std::uint64_t item = 100;
  for (const double shape : {0.05, 0.5, 0.99, 1.0, 1.5, 3.0, 30.0, 1e4}) {
    const boost::math::gamma_distribution<> gamma(shape);
    const auto draws = draws_of(++item, [&](Rng& rng) { return rng.gamma(shape); });
    EXPECT_GT(kolmogorov_smirnov(draws, [&](double x) { return cdf(gamma, x); }), kFalseAlarm) << shape;
  }
}

TEST(RngStatistics, Beta) {
  std::uint64_t item = 200;
  const std::vector<std::array<double, 2>> cases = {{0.05, 0.07}, {0.5, 0.5}, {1, 1},     {0.3, 4},
                                                    {2, 5},       {30, 30},   {1e4, 3e4}, {0.01, 50}};
  for (const auto& [a, b] : cases) {
    const boost::math::beta_distribution<> beta(a, b);
    const auto draws = draws_of(++item, [&, a = a, b = b](Rng& rng) { return rng.beta(a, b); });
    const auto below = [&](double x) { return x <= 0.0 ? 0.0 : x >= 1.0 ? 1.0 : cdf(beta, x); };
    // A tiny a or b puts visible mass on the doubles 0 and 1 themselves; the distance is then taken beside
    // them.
    std::vector<double> inside;
    for (const double x : draws) {
      if (x > 1e-300 && x < 1.0 - 1e-15) inside.push_back(x);
    }
    const double low = below(1e-300);
    const double high = below(1.0 - 1e-15);
    const double share = high - low;
    EXPECT_NEAR(static_cast<double>(inside.size()), kDraws * share,
                kSigmas * std::sqrt(kDraws * share * (1.0 - share)) + 1e-6)
        << a << " " << b;
    EXPECT_GT(kolmogorov_smirnov(inside, [&](double x) { return (below(x) - low) / share; }), kFalseAlarm)
        << a << " " << b;
  }
}

TEST(RngStatistics, Poisson) {
  std::uint64_t item = 300;
  for (const double mean : {0.1, 3.0, 9.99, 10.0, 31.4, 1000.0}) {
    const boost::math::poisson poisson(mean);
    const auto top = static_cast<std::size_t>(mean + 12.0 * std::sqrt(mean) + 20.0);
    std::vector<double> counts(top + 1, 0.0);
    for (const double k : draws_of(
             ++item, [&](Rng& rng) { return static_cast<double>(rng.poisson(mean)); }, kManyDraws)) {
      ++counts[std::min(static_cast<std::size_t>(k), top)];
    }
    std::vector<double> expected;
    for (std::size_t k = 0; k <= top; ++k)
      expected.push_back(kManyDraws * pdf(poisson, static_cast<double>(k)));
    EXPECT_GT(chi_square(counts, expected), kFalseAlarm) << mean;
  }
}

TEST(RngStatistics, UniformInt) {
  std::uint64_t item = 400;
  for (const std::int64_t high : {6, 100}) {
    std::vector<double> counts(static_cast<std::size_t>(high), 0.0);
    for (const double k : draws_of(
             ++item, [&](Rng& rng) { return static_cast<double>(rng.uniform_int(1, high)); }, kManyDraws)) {
      ++counts[static_cast<std::size_t>(k) - 1];
    }
    const std::vector<double> expected(counts.size(), kManyDraws / static_cast<double>(high));
    EXPECT_GT(chi_square(counts, expected), kFalseAlarm) << high;
  }
  // Three quarters of the 64-bit range: taking bits modulo the range would make the first third twice as
  // likely.
  const std::int64_t last = (std::int64_t{1} << 62) - 1;
  std::vector<double> counts(3, 0.0);
  for (const double x : draws_of(++item, [&](Rng& rng) {
         return static_cast<double>(rng.uniform_int(INT64_MIN, last)) / 0x1p62;
       })) {
    ++counts[static_cast<std::size_t>(std::clamp(x + 2.0, 0.0, 2.5))];
  }
  EXPECT_GT(chi_square(counts, {kDraws / 3.0, kDraws / 3.0, kDraws / 3.0}), kFalseAlarm);
}

TEST(RngStatistics, Categorical) {
  const std::vector<double> weights = {0.5, 2.0, 0.01, 4.0, 1.0};
  std::vector<double> counts(weights.size(), 0.0);
  for (const double k : draws_of(
           500, [&](Rng& rng) { return static_cast<double>(rng.categorical(weights)); }, kManyDraws)) {
    ++counts[static_cast<std::size_t>(k)];
  }
  std::vector<double> expected;
  for (const double weight : weights) expected.push_back(kManyDraws * weight / 7.51);
  EXPECT_GT(chi_square(counts, expected), kFalseAlarm);
}

}  // namespace
}  // namespace occam
