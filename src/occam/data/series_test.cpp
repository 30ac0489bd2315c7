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

}  // namespace
}  // namespace occam
