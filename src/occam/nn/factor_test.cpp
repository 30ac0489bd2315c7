#include "occam/nn/factor.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/nn/pool.hpp"

namespace occam {
namespace {

constexpr std::int64_t kColumns = 5, kBlocks = 3, kSets = 4;
constexpr std::int64_t kWidth = kBlocks * product_columns(kColumns);

// Mean products of ragged data sets, one of them of a single row, in blocks.
struct Products {
  Workspace workspace;
  std::vector<std::int64_t> offsets = {0, 1, 4, 20, 50};
  Matrix<double> u = workspace.zeros<double>(50, kBlocks * kColumns);
  Matrix<double> moments = workspace.zeros<double>(kSets, kWidth);

  Products() {
    Rng rng(5, Purpose::test, 1);
    for (std::int64_t r = 0; r < u.rows; ++r) {
      for (std::int64_t c = 0; c < u.columns; ++c) u.row(r)[c] = rng.normal() + 0.5 * (c % 3);
    }
    mean_products<double>({u, offsets.data(), kSets}, kBlocks, moments, workspace);
  }
  double n(std::int64_t set) const { return static_cast<double>(offsets[set + 1] - offsets[set]); }
};

std::int64_t place(int a, int b, std::int64_t h) {
  return pair_at(a, b) * kBlocks + h;
}

TEST(Factor, BlocksAreProductsOfTheirOwnColumns) {
  Products p;
  for (std::int64_t set = 0; set < kSets; ++set) {
    for (std::int64_t h = 0; h < kBlocks; ++h) {
      for (int a = 0; a < kColumns; ++a) {
        for (int b = 0; b <= a; ++b) {
          double sum = 0;
          for (std::int64_t r = p.offsets[set]; r < p.offsets[set + 1]; ++r)
            sum += p.u.row(r)[a * kBlocks + h] * p.u.row(r)[b * kBlocks + h];
          EXPECT_NEAR(p.moments.row(set)[place(a, b, h)], sum / p.n(set), 1e-12);
        }
      }
    }
  }
}

TEST(Factor, TimesItsTransposeIsWhatItCameFrom) {
  Products p;
  const Matrix<double> out = p.workspace.zeros<double>(kSets, kWidth);
  factor<double>(kColumns, kBlocks, p.moments, p.offsets.data(), out, p.workspace);
  for (std::int64_t set = 0; set < kSets; ++set) {
    for (std::int64_t h = 0; h < kBlocks; ++h) {
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

TEST(Factor, GradientsAreThoseOfDifferences) {
  Products p;
  Rng rng(6, Purpose::test, 2);
  const Matrix<double> out = p.workspace.zeros<double>(kSets, kWidth);
  const Matrix<double> d_out = p.workspace.zeros<double>(kSets, kWidth);
  const Matrix<double> d_moments = p.workspace.zeros<double>(kSets, kWidth);
  for (std::int64_t i = 0; i < kSets; ++i) {
    for (std::int64_t c = 0; c < kWidth; ++c) d_out.row(i)[c] = rng.normal();
    d_moments.row(i)[0] = 7;  // is added to
  }
  const auto value = [&] {
    factor<double>(kColumns, kBlocks, p.moments, p.offsets.data(), out, p.workspace);
    double sum = 0;
    for (std::int64_t i = 0; i < kSets; ++i) {
      for (std::int64_t c = 0; c < kWidth; ++c) sum += d_out.row(i)[c] * out.row(i)[c];
    }
    return sum;
  };
  value();
  factor_back<double>(kColumns, kBlocks, p.moments, p.offsets.data(), out, d_out, d_moments, p.workspace);
  for (std::int64_t i = 0; i < kSets; ++i) {
    for (std::int64_t c = 0; c < kWidth; ++c) {
      double& at = p.moments.row(i)[c];
      const double step = 1e-6, before = at;
      at = before + step;
      const double above = value();
      at = before - step;
      const double below = value();
      at = before;
      EXPECT_NEAR(d_moments.row(i)[c] - (c == 0 ? 7 : 0), (above - below) / (2 * step), 2e-6) << i << ' ' << c;
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
  factor<float>(2, 1, {moments.data(), 1, 3, 3}, offsets, {out.data(), 1, 3, 3}, workspace);
  EXPECT_NEAR(out[2], 0.5 * std::log(1e4 * kLeastPivot), 1e-3);
  factor_back<float>(2, 1, {moments.data(), 1, 3, 3}, offsets, {out.data(), 1, 3, 3},
                     {d_out.data(), 1, 3, 3}, {d_moments.data(), 1, 3, 3}, workspace);
  EXPECT_EQ(d_moments[2], 0);
  for (const float each : d_moments) EXPECT_TRUE(std::isfinite(each));
}

}  // namespace
}  // namespace occam
