#include "occam/data/partial_correlations.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

constexpr int kRows = 60;
using Column = std::vector<double>;

double dot(const Column& a, const Column& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Each depends on those before it.
std::vector<Column> dependent_columns(int count) {
  Rng rng(5, Purpose::test, 2);
  std::vector<Column> columns;
  for (int c = 0; c < count; ++c) {
    Column x(kRows);
    double mean = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = rng.normal();
      for (const Column& other : columns) x[i] += 0.5 * other[i];
      mean += x[i] / kRows;
    }
    for (double& value : x) value -= mean;
    columns.push_back(std::move(x));
  }
  return columns;
}

std::vector<double> correlations_of(const std::vector<Column>& columns) {
  std::vector<double> r;
  for (const Column& a : columns) {
    for (const Column& b : columns) r.push_back(dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)));
  }
  return r;
}

// What a regression on the given columns leaves, by taking directions away one after the other.
Column residual(Column x, const std::vector<Column>& columns, std::uint32_t given) {
  std::vector<Column> directions;
  const auto take_away = [&](Column& from) {
    for (const Column& d : directions) {
      const double along = dot(from, d);
      for (std::size_t i = 0; i < from.size(); ++i) from[i] -= along * d[i];
    }
  };
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if ((given >> k & 1) == 0) continue;
    Column d = columns[k];
    take_away(d);
    const double length = std::sqrt(dot(d, d));
    for (double& value : d) value /= length;
    directions.push_back(std::move(d));
  }
  take_away(x);
  return x;
}

TEST(PartialCorrelations, AreThoseOfTheResidualsOfRegressions) {
  const std::vector<Column> columns = dependent_columns(5);
  const auto list = partial_correlations(5, 5, 96);
  EXPECT_EQ(list.size(), 80u);  // 10 pairs, each given any of 8 sets of the others
  std::vector<double> got(list.size());
  partial_correlations_of(list, 5, correlations_of(columns), got);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Column a = residual(columns[static_cast<std::size_t>(list[i].a)], columns, list[i].given);
    const Column b = residual(columns[static_cast<std::size_t>(list[i].b)], columns, list[i].given);
    EXPECT_NEAR(got[i], dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)), 1e-10)
        << list[i].a << " " << list[i].b << " given " << list[i].given;
  }
}

TEST(PartialCorrelations, OfManyColumnsAreTheFirstAndTheLast) {
  const auto count = [](int columns, int first_aside) {
    return partial_correlations(columns, first_aside, 96).size();
  };
  EXPECT_EQ(count(1, 1), 0u);
  EXPECT_EQ(count(2, 2), 1u);
  EXPECT_EQ(count(3, 3), 6u);
  EXPECT_EQ(count(6, 6), 90u);    // given nothing, all others, one
  EXPECT_EQ(count(9, 9), 72u);    // given nothing, all others
  EXPECT_EQ(count(14, 14), 91u);  // given nothing
  EXPECT_EQ(count(15, 15), 0u);
  EXPECT_EQ(count(17, 17), 0u);
  // Two columns and the same a step before: not what these say of each other.
  for (const PartialCorrelation& each : partial_correlations(4, 2, 96)) EXPECT_LT(each.a, 2);
  EXPECT_EQ(count(4, 2), 20u);
}

TEST(PartialCorrelations, ColumnsThatOthersDetermineCorrelateWithNothing) {
  std::vector<Column> columns = dependent_columns(3);
  columns.push_back(columns[0]);
  for (std::size_t i = 0; i < kRows; ++i) columns[3][i] = columns[0][i] - 2 * columns[1][i];
  const auto list = partial_correlations(4, 4, 96);
  std::vector<double> got(list.size());
  partial_correlations_of(list, 4, correlations_of(columns), got);
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_TRUE(std::isfinite(got[i]));
    if (list[i].given == 0b0011 && list[i].b == 3) {
      EXPECT_EQ(got[i], 0);
    }
  }
  // A constant column.
  std::vector<double> r = {0, 0, 0, 0, 1, 0.5, 0, 0.5, 1};
  const auto three = partial_correlations(3, 3, 96);
  got.resize(three.size());
  partial_correlations_of(three, 3, r, got);
  for (std::size_t i = 0; i < three.size(); ++i) EXPECT_EQ(got[i], three[i].a == 1 ? 0.5 : 0);
}

}  // namespace
}  // namespace occam
