#include "occam/nn/factor.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/nn/pool.hpp"

namespace occam {
namespace {

constexpr std::int64_t kColumns = 5, kFactorBlocks = 3, kSets = 4;
constexpr std::int64_t kWidth = kFactorBlocks * product_columns(kColumns);
constexpr std::int64_t kGains = kFactorBlocks * gain_columns(kColumns);

// Mean products of ragged data sets, one of them of a single row, in blocks.
struct Products {
  Workspace workspace;
  std::vector<std::int64_t> offsets = {0, 1, 4, 20, 50};
  Matrix<double> u = workspace.zeros<double>(50, kFactorBlocks* kColumns);
  Matrix<double> moments = workspace.zeros<double>(kSets, kWidth);

  Products() {
    Rng rng(5, Purpose::test, 1);
    for (std::int64_t r = 0; r < u.rows; ++r) {
      for (std::int64_t c = 0; c < u.columns; ++c) u.row(r)[c] = rng.normal() + 0.5 * (c % 3);
    }
    mean_products<double>({u, offsets.data(), kSets}, kFactorBlocks, moments, workspace);
  }
  double n(std::int64_t set) const { return static_cast<double>(offsets[set + 1] - offsets[set]); }

  // What the first `by` columns of a block leave of column i, by elimination.
  double unexplained(std::int64_t set, std::int64_t h, int i, int by) const {
    double m[kColumns][kColumns];
    for (int a = 0; a < kColumns; ++a) {
      for (int b = 0; b < kColumns; ++b) {
        const double mean = moments.row(set)[h * product_columns(kColumns) + pair_at(a, b)];
        m[a][b] = mean + (a == b ? 1 / n(set) : 0);
      }
    }
    for (int p = 0; p < by; ++p) {
      for (int a = p + 1; a < kColumns; ++a) {
        const double share = m[a][p] / m[p][p];
        for (int b = 0; b < kColumns; ++b) m[a][b] -= share * m[p][b];
      }
    }
    return m[i][i];
  }
};

std::int64_t place(int a, int b, std::int64_t h) {
  return h * product_columns(kColumns) + pair_at(a, b);
}

TEST(Factor, BlocksAreProductsOfTheirOwnColumns) {
  Products p;
  for (std::int64_t set = 0; set < kSets; ++set) {
    for (std::int64_t h = 0; h < kFactorBlocks; ++h) {
      for (int a = 0; a < kColumns; ++a) {
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          for (std::int64_t r = p.offsets[set]; r < p.offsets[set + 1]; ++r)
            sum += p.u.row(r)[h * kColumns + a] * p.u.row(r)[h * kColumns + b];
          EXPECT_NEAR(p.moments.row(set)[place(a, b, h)], sum / p.n(set), 1e-12);
        }
      }
    }
  }
}

TEST(Factor, TimesItsTransposeIsWhatItCameFrom) {
  Products p;
  const Matrix<double> out = p.workspace.zeros<double>(kSets, kWidth);
  factor<double>(kColumns, kFactorBlocks, p.moments, p.offsets.data(), out, {}, p.workspace);
  for (std::int64_t set = 0; set < kSets; ++set) {
    for (std::int64_t h = 0; h < kFactorBlocks; ++h) {
      const auto l = [&](int a, int b) {
        const double value = out.row(set)[place(a, b, h)];
        return a == b ? std::exp(value) : value;
      };
      for (int a = 0; a < kColumns; ++a) {
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          for (int q = 0; q <= b; ++q) sum += l(a, q) * l(b, q);
          EXPECT_NEAR(sum, p.moments.row(set)[place(a, b, h)] + (a == b ? 1 / p.n(set) : 0), 1e-12);
        }
      }
    }
  }
}

// The gain of j for i is that of the regression of u_i on the columns up to j over that on those before j.
TEST(Factor, GainsAreThoseOfNestedRegressions) {
  Products p;
  const Matrix<double> out = p.workspace.zeros<double>(kSets, kWidth);
  const Matrix<double> gains = p.workspace.zeros<double>(kSets, kGains);
  factor<double>(kColumns, kFactorBlocks, p.moments, p.offsets.data(), out, gains, p.workspace);
  for (std::int64_t set = 0; set < kSets; ++set) {
    for (std::int64_t h = 0; h < kFactorBlocks; ++h) {
      for (int i = 1; i < kColumns; ++i) {
        for (int j = 0; j < i; ++j) {
          const double gain =
              p.n(set) * std::log(p.unexplained(set, h, i, j) / p.unexplained(set, h, i, j + 1));
          EXPECT_NEAR(gains.row(set)[h * gain_columns(kColumns) + gain_at(i, j)],
                      kGainWeight * std::log1p(gain / kTameGain), 1e-10);
        }
      }
    }
  }
}

// A data set comes out the same with any others beside it.
TEST(Factor, OtherDataSetsDoNotMatter) {
  Products p;
  const Matrix<double> out = p.workspace.zeros<double>(kSets, kWidth),
                       alone = p.workspace.zeros<double>(1, kWidth);
  const Matrix<double> gains = p.workspace.zeros<double>(kSets, kGains),
                       own = p.workspace.zeros<double>(1, kGains);
  factor<double>(kColumns, kFactorBlocks, p.moments, p.offsets.data(), out, gains, p.workspace);
  for (std::int64_t set = 0; set < kSets; ++set) {
    factor<double>(kColumns, kFactorBlocks, p.moments.rows_from(set, 1), p.offsets.data() + set, alone, own,
                   p.workspace);
    EXPECT_TRUE(std::equal(alone.row(0), alone.row(0) + kWidth, out.row(set)));
    EXPECT_TRUE(std::equal(own.row(0), own.row(0) + kGains, gains.row(set)));
  }
}

class FactorGradients : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Gains, FactorGradients, testing::Bool());

TEST_P(FactorGradients, AreThoseOfDifferences) {
  Products p;
  Rng rng(6, Purpose::test, 2);
  const Matrix<double> out = p.workspace.zeros<double>(kSets, kWidth);
  const Matrix<double> d_out = p.workspace.zeros<double>(kSets, kWidth);
  const Matrix<double> gains = GetParam() ? p.workspace.zeros<double>(kSets, kGains) : Matrix<double>{};
  const Matrix<double> d_gains = GetParam() ? p.workspace.zeros<double>(kSets, kGains) : Matrix<double>{};
  const Matrix<double> d_moments = p.workspace.zeros<double>(kSets, kWidth);
  for (std::int64_t i = 0; i < kSets; ++i) {
    for (std::int64_t c = 0; c < kWidth; ++c) d_out.row(i)[c] = rng.normal();
    for (std::int64_t c = 0; c < gains.columns; ++c) d_gains.row(i)[c] = rng.normal();
    d_moments.row(i)[0] = 7;  // is added to
  }
  const auto value = [&] {
    factor<double>(kColumns, kFactorBlocks, p.moments, p.offsets.data(), out, gains, p.workspace);
    double sum = 0;
    for (std::int64_t i = 0; i < kSets; ++i) {
      for (std::int64_t c = 0; c < kWidth; ++c) sum += d_out.row(i)[c] * out.row(i)[c];
      for (std::int64_t c = 0; c < gains.columns; ++c) sum += d_gains.row(i)[c] * gains.row(i)[c];
    }
    return sum;
  };
  value();
  factor_back<double>(kColumns, kFactorBlocks, p.moments, p.offsets.data(), out, d_out, d_gains, d_moments,
                      p.workspace);
  for (std::int64_t i = 0; i < kSets; ++i) {
    for (std::int64_t c = 0; c < kWidth; ++c) {
      double& at = p.moments.row(i)[c];
      const double step = 1e-6, before = at;
      at = before + step;
      const double above = value();
      at = before - step;
      const double below = value();
      at = before;
      const double slope = (above - below) / (2 * step);
      EXPECT_NEAR(d_moments.row(i)[c] - (c == 0 ? 7 : 0), slope, 2e-6 * (1 + std::abs(slope)))
          << i << ' ' << c;
    }
  }
}

// Columns that repeat each other in so many rows that only rounding is left between them.
TEST(Factor, WhatOnlyRoundingLeavesIsBounded) {
  const std::vector<float> moments = {1e4f, 1e4f, 1e4f * (1 - 1e-6f)};
  const std::int64_t offsets[] = {0, 3'000'000};
  std::vector<float> out(3), d_moments(3);
  const std::vector<float> d_out = {1, 1, 1};
  Workspace workspace;
  factor<float>(2, 1, {moments.data(), 1, 3, 3}, offsets, {out.data(), 1, 3, 3}, {}, workspace);
  EXPECT_NEAR(out[2], 0.5 * std::log(1e4 * kLeastLeft), 1e-3);
  factor_back<float>(2, 1, {moments.data(), 1, 3, 3}, offsets, {out.data(), 1, 3, 3}, {d_out.data(), 1, 3, 3},
                     {}, {d_moments.data(), 1, 3, 3}, workspace);
  EXPECT_EQ(d_moments[2], 0);
  for (const float each : d_moments) EXPECT_TRUE(std::isfinite(each));
}

// Features of observations that take two values only: eight of ten columns are explained by the others, up to
// the rounding of long sums.
TEST(Factor, RoundingIsNotBlownUp) {
  Rng rng(9, Purpose::test, 3);
  constexpr int k = 10, pairs = k * (k + 1) / 2;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<float> moments(pairs), out(pairs), d_out(pairs), d_moments(pairs);
    std::vector<float> gains(gain_columns(k)), d_gains(gain_columns(k), 1.0f);
    std::vector<double> often(k), rare(k), scratch(pairs), left(pairs);
    for (int a = 0; a < k; ++a) {
      often[a] = 10 * rng.normal();
      rare[a] = 10 * rng.normal();
      for (int b = 0; b <= a; ++b) {
        const double mean = 0.99 * often[a] * often[b] + 0.01 * rare[a] * rare[b];
        moments[pair_at(a, b)] = static_cast<float>(mean * (1 + 1e-5 * rng.normal()));
        d_out[pair_at(a, b)] = static_cast<float>(rng.normal());
      }
    }
    factor_block(OneCaller{}, k, moments.data(), 5000.0, scratch.data(), out.data());
    gain_block(OneCaller{}, k, out.data(), 5000.0, gains.data());
    factor_block_back(OneCaller{}, k, moments.data(), 5000.0, out.data(), d_out.data(), d_gains.data(),
                      scratch.data(), left.data(), d_moments.data());
    for (const float gain : gains) EXPECT_LT(std::abs(gain), 10);
    for (int t = 0; t < pairs; ++t) {
      EXPECT_LT(std::abs(out[t]), 100);
      EXPECT_LT(std::abs(d_moments[t]), 1e8);
    }
  }
}

}  // namespace
}  // namespace occam
