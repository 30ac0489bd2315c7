#include "occam/data/series.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

TEST(Series, WavesAreThoseOfTheirSum) {
  Rng rng(1, Purpose::test, 0);
  for (const std::size_t n : {1, 2, 7, 500}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(i % 5 == 3 ? NAN : rng.normal());
    std::array<double, kWaveLengths> found;
    wave_strengths(values, found);
    for (int k = 1; k <= kWaveLengths; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / wave_period(k);
        if (!std::isnan(values[i])) sum += values[i] * std::complex(std::cos(angle), std::sin(angle));
      }
      EXPECT_NEAR(found[static_cast<std::size_t>(k - 1)], std::norm(sum), 1e-9 * (1 + std::norm(sum)))
          << n << " values, wave " << k;
    }
  }
}

// Of an autoregression of order two the second is its second coefficient, and nothing comes after.
TEST(Series, PartialAutocorrelationsEndWithTheOrder) {
  Rng rng(4, Purpose::test, 1);
  std::vector<double> x = {0, 0};
  for (int t = 0; t < 20000; ++t) x.push_back(0.3 * x[x.size() - 1] - 0.5 * x[x.size() - 2] + rng.normal());
  std::array<double, kPartialLags> found;
  partial_autocorrelations(x, found);
  EXPECT_NEAR(found[0], 0.3 / 1.5, 0.03);  // the correlation at lag one
  EXPECT_NEAR(found[1], -0.5, 0.03);
  for (std::size_t k = 2; k < found.size(); ++k) EXPECT_NEAR(found[k], 0, 0.03) << k;
  partial_autocorrelations(std::vector<double>{1, -1}, found);
  for (const double each : found) EXPECT_EQ(each, 0);
}

TEST(Series, InnovationsAreWhatTheValueBeforeDoesNotSay) {
  // 8 + 2 + 1 of 16 + 4 + 1 and the last: kept 10 / 21.
  const std::vector<double> x = {4, 2, 1, NAN};
  std::vector<double> out(4);
  innovations(x, out);
  EXPECT_DOUBLE_EQ(out[0], 4);
  EXPECT_NEAR(out[1], 2 - 4 * 10.0 / 21, 1e-12);
  EXPECT_NEAR(out[2], 1 - 2 * 10.0 / 21, 1e-12);
  EXPECT_NEAR(out[3], 0 - 10.0 / 21, 1e-12);
  std::vector<double> in_place = {4, 2, 1, 0};
  innovations(in_place, in_place);
  EXPECT_EQ(in_place, out);
}

TEST(Series, DelayedCorrelationsAreThoseWithRowsBefore) {
  const std::vector<double> a = {1, -2, 3, -1, 0.5}, b = {0, 0, 1, -2, 3};
  std::array<double, 6> out;
  delayed_correlations(a, b, out);
  EXPECT_NEAR(out[2], 1, 1e-12);
  EXPECT_NEAR(out[0], (3 + 2 + 1.5) / std::sqrt((1 + 4 + 9 + 1 + 0.25) * 14), 1e-12);
  EXPECT_NEAR(out[3], (-2 - 6) / std::sqrt((1 + 4) * (4 + 9.0)), 1e-12);
  EXPECT_EQ(out[5], 0);  // longer than the series
}

TEST(Series, EvidenceOfAChangeIsTheMeanOverPlaces) {
  const std::vector<double> x = {-1.1, -0.9, -1.2, 1.3, 0.9, 1.0};
  const double n = 6;
  const auto left = [&](std::size_t first, std::size_t last) {
    double mean = 0, sum = 0;
    for (std::size_t i = first; i < last; ++i) mean += x[i] / static_cast<double>(last - first);
    for (std::size_t i = first; i < last; ++i) sum += (x[i] - mean) * (x[i] - mean);
    return sum;
  };
  double sum = 0;
  for (std::size_t c = 1; c < 6; ++c) sum += std::pow(left(0, 6) / (left(0, c) + left(c, 6)), n / 2) / 5;
  EXPECT_NEAR(change_evidence(x), std::log(sum), 1e-9);
  const auto spread = [&](std::size_t first, std::size_t last) {
    double squares = 0;
    for (std::size_t i = first; i < last; ++i) squares += x[i] * x[i] / static_cast<double>(last - first);
    return std::pow(squares, -0.5 * static_cast<double>(last - first));
  };
  double of_spread = 0;
  for (std::size_t c = 2; c < 5; ++c) of_spread += spread(0, c) * spread(c, 6) / spread(0, 6) / 3;
  EXPECT_NEAR(spread_change_evidence(x), std::log(of_spread), 1e-9);
  EXPECT_EQ(spread_change_evidence(std::vector<double>{0, 0, 0, 0}), 0);
  EXPECT_TRUE(std::isfinite(spread_change_evidence(std::vector<double>{0, 0, 0, 1, 2})));
  EXPECT_EQ(change_evidence(std::vector<double>{0, 0, 0, 0}), 0);
  EXPECT_TRUE(std::isfinite(change_evidence(std::vector<double>{-1, -1, 1, 1})));
}

// By hand: of 0 1 0 1 1, the last three are looked at. Shares of two symbols with a flat prior give
// k! l! / (k + l + 1)! for k of one and l of the other.
TEST(Series, EvidenceOfMemory) {
  const std::vector<std::int64_t> codes = {0, 1, 0, 1, 1};
  std::vector<double> counts(8);
  EXPECT_NEAR(std::exp(memory_evidence(codes, 2, 0, counts)), 2.0 / 24, 1e-12);  // 0 1 1
  EXPECT_NEAR(std::exp(memory_evidence(codes, 2, 1, counts)), 1.0 / 6 * 1.0 / 2,
              1e-12);  // after 1: 0 1; after 0: 1
  EXPECT_NEAR(std::exp(memory_evidence(codes, 2, 2, counts)), 1.0 / 2 * 1.0 / 6,
              1e-12);  // after 01: 0 1; after 10: 1
}

TEST(Series, MissingSymbolsSayNothing) {
  std::vector<double> counts(27);
  const std::vector<std::int64_t> codes = {0, 1, -1, 2, 0, -1, 1};
  EXPECT_EQ(memory_evidence(codes, 3, 2, counts), 0);
  EXPECT_EQ(memory_evidence({}, 3, 0, counts), 0);
}

// Minus twice the log-likelihood, but for a constant, of values with mean X b, fitted, and correlations
// exp(-distance / memory): log det R + n log of what is left, by elimination of [R | X y].
double fitted(const std::vector<double>& t, const std::vector<double>& y, double memory, bool line) {
  const std::size_t n = t.size(), width = n + 3;
  std::vector<double> a(n * width);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      a[i * width + j] = i == j ? 1 : memory == 0 ? 0 : std::exp(-std::abs(t[i] - t[j]) / memory);
    a[i * width + n] = 1;
    a[i * width + n + 1] = t[i];
    a[i * width + n + 2] = y[i];
  }
  const std::vector<double> before = a;
  double log_det = 0;
  for (std::size_t k = 0; k < n; ++k) {
    log_det += std::log(a[k * width + k]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i * width + k] / a[k * width + k];
      for (std::size_t j = k; j < width; ++j) a[i * width + j] -= factor * a[k * width + j];
    }
  }
  const auto product = [&](std::size_t p, std::size_t q) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += before[i * width + n + p] * a[i * width + n + q] / a[i * width + i];
    return sum;
  };
  double left = product(2, 2) - product(0, 2) * product(0, 2) / product(0, 0);
  if (line) {
    const double along = product(1, 2) - product(0, 2) * product(0, 1) / product(0, 0);
    left -= along * along / (product(1, 1) - product(0, 1) * product(0, 1) / product(0, 0));
  }
  return log_det + static_cast<double>(n) * std::log(left);
}

TEST(Series, FadingMemoryIsTheLikelihoodOfAnOrnsteinUhlenbeckProcess) {
  const std::vector<double> t = {100, 101, 101.5, 104, 104.2, 107, 109, 109.1};
  const std::vector<double> y = {3, 3.4, 3.1, 5, 5.3, 4.1, 7, 6.6};
  const double gap = 1.3, none = fitted(t, y, 0, false);
  const FadingMemory got = fading_memory(t, y, gap);
  EXPECT_NEAR(got.line_alone, 0.5 * (none - fitted(t, y, 0, true)), 1e-6);
  double mean = 0;
  for (std::size_t k = 0; k < kMemories; ++k) {
    EXPECT_NEAR(got.level[k], 0.5 * (none - fitted(t, y, gap * memory_of(k), false)), 1e-6) << k;
    EXPECT_NEAR(got.line[k], 0.5 * (none - fitted(t, y, gap * memory_of(k), true)), 1e-6) << k;
    mean += std::exp(got.level[k]) / kMemories;
  }
  EXPECT_NEAR(FadingMemory::any(got.level), std::log(mean), 1e-12);
  // A value that is missing is a row that is not there.
  std::vector<double> gappy_t = t, gappy_y = y;
  gappy_t.insert(gappy_t.begin() + 3, 102);
  gappy_y.insert(gappy_y.begin() + 3, NAN);
  EXPECT_EQ(fading_memory(gappy_t, gappy_y, gap).level, got.level);
}

TEST(Series, FadingMemoryIsFiniteWhateverTheData) {
  const double huge = std::numeric_limits<double>::max();
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> cases = {
      {{1}, {2}},
      {{1, 2, 3, 4, 5}, {7, 7, 7, 7, 7}},
      {{1, 1, 1, 1, 1}, {1, 2, 3, 4, 6}},
      {{5, 4, 3, 2, 1}, {1, 2, 3, 4, 5}},
      {{0, 1e30, 2e30, 3e30, 4e30}, {1, 2, 1, 2, 1}},
      {{0, 1, 2, 3, 4}, {huge, -huge, huge, 0, 1}},
      {{0, 1, 2, 3, 4}, {NAN, NAN, NAN, NAN, NAN}}};
  for (const auto& [t, y] : cases) {
    const FadingMemory got = fading_memory(t, y, 1);
    for (const double gain : got.level) EXPECT_TRUE(std::isfinite(gain)) << t[0];
    for (const double gain : got.line) EXPECT_TRUE(std::isfinite(gain)) << t[0];
  }
}

TEST(Series, TheColumnThatSaysWhenIncreasesInEveryDataSet) {
  const std::vector<std::int64_t> offsets = {0, 3, 5};
  const std::vector<float> with = {1, 5, 2, 6, 1, 9, 7, 0, 3, 2};
  const TimeColumn time = find_time({{with.data(), 5, 2, 2}, offsets.data(), 2});
  EXPECT_EQ(time.column, 1);
  EXPECT_DOUBLE_EQ(time.gap, 2);
  const std::vector<float> without = {1, 5, 2, 6, 1, 6, 7, 0, 3, 2};
  EXPECT_EQ(find_time({{without.data(), 5, 2, 2}, offsets.data(), 2}).column, -1);
  const std::vector<std::int64_t> alone = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(find_time({{with.data(), 5, 2, 2}, alone.data(), 5}).column, -1);
}

}  // namespace
}  // namespace occam
