#include "occam/data/places.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

double near(const Placed& a, const Placed& b, double reach) {
  double squares = 0;
  for (std::size_t d = 0; d < kMostDimensions; ++d) squares += std::pow(a.at[d] - b.at[d], 2);
  return std::exp(-std::sqrt(squares) / reach);
}

// Lower triangular root of the correlations of patches.
std::vector<std::vector<double>> root_of(const std::vector<Placed>& values, double reach, double share) {
  const std::size_t n = values.size();
  std::vector<std::vector<double>> l(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1 : share * near(values[i], values[j], reach);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  }
  return l;
}

std::vector<Placed> strewn(std::size_t n, std::size_t dimensions, Rng& rng, double share = 0,
                           double reach = 0.4) {
  std::vector<Placed> values(n);
  for (Placed& p : values) {
    for (std::size_t d = 0; d < dimensions; ++d) p.at[d] = 3.4 * rng.uniform();
  }
  const auto l = root_of(values, reach, share);
  std::vector<double> noise(n);
  for (double& x : noise) x = rng.normal();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) values[i].value += l[i][j] * noise[j];
  }
  return values;
}

// Gains by the whole covariance matrix, around a level.
double exact_gain(const std::vector<Placed>& values, double reach, double share) {
  const auto fit = [&](double part) {
    const auto l = root_of(values, reach, part);
    const std::size_t n = values.size();
    std::vector<double> one(n, 1.0), y(n);
    double log_det = 0, oo = 0, oy = 0, yy = 0;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = values[i].value;
      for (std::size_t j = 0; j < i; ++j) {
        one[i] -= l[i][j] * one[j];
        y[i] -= l[i][j] * y[j];
      }
      one[i] /= l[i][i];
      y[i] /= l[i][i];
      log_det += 2 * std::log(l[i][i]);
      oo += one[i] * one[i];
      oy += one[i] * y[i];
      yy += y[i] * y[i];
    }
    return -0.5 * static_cast<double>(n) * std::log(yy - oy * oy / oo) - 0.5 * log_det;
  };
  return fit(share) - fit(0);
}

// Seven values: each has all those before it as neighbours.
TEST(Patches, OfFewAreExact) {
  for (const std::size_t dimensions : {1, 2, 3}) {
    Rng rng(3, Purpose::test, dimensions);
    std::vector<Placed> values = strewn(7, dimensions, rng, 0.9);
    std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    const std::vector<Placed> before = values;
    const Patches found = find_patches(values, dimensions);
    for (std::size_t k = 0; k < kPatches; ++k) {
      const double reach = patch_reach(k / kPatchShares.size()),
                   share = kPatchShares[k % kPatchShares.size()];
      EXPECT_NEAR(found.level[k], exact_gain(before, reach, share), 1e-6) << reach << " " << share;
    }
  }
}

TEST(Patches, OfManyAreNearlyExact) {
  Rng rng(3, Purpose::test, 9);
  for (int round = 0; round < 5; ++round) {
    const std::vector<Placed> values = strewn(60, 2, rng, 0.6);
    std::vector<Placed> room = values;
    const Patches found = find_patches(room, 2);
    for (std::size_t k = 0; k < kPatches; ++k) {
      const double reach = patch_reach(k / kPatchShares.size()),
                   share = kPatchShares[k % kPatchShares.size()];
      EXPECT_NEAR(found.level[k], exact_gain(values, reach, share), 1.5) << reach << " " << share;
    }
  }
}

// A Kalman filter, however many there are, two of them at one place.
TEST(Patches, AlongOneScaleAreExact) {
  Rng rng(3, Purpose::test, 10);
  std::vector<Placed> values = strewn(60, 1, rng, 0.6);
  values[7].at = values[30].at;
  std::vector<Placed> room = values;
  const Patches found = find_patches(room, 1);
  for (std::size_t k = 0; k < kPatches; ++k) {
    const double reach = patch_reach(k / kPatchShares.size()), share = kPatchShares[k % kPatchShares.size()];
    EXPECT_NEAR(found.level[k], exact_gain(values, reach, share), 1e-6) << reach << " " << share;
  }
}

TEST(Patches, AreNoSlope) {
  Rng rng(3, Purpose::test, 5);
  std::vector<Placed> values = strewn(80, 2, rng);
  for (Placed& p : values) p.value += 1e3 + 2 * p.at[0];
  const Patches found = find_patches(values, 2);
  EXPECT_GT(found.slope_alone, 20);
  EXPECT_LT(Patches::any(found.slope) - found.slope_alone, 1);
}

// To the bit, also where only some of the values are looked at.
TEST(Patches, DoNotDependOnTheOrderOfRows) {
  Rng rng(3, Purpose::test, 6);
  for (const std::size_t n : {40, 700}) {
    std::vector<Placed> values = strewn(n, 2, rng, 0.6), other(values.rbegin(), values.rend());
    values[3].at = values[5].at;  // two at one place
    other[n - 4].at = other[n - 6].at;
    EXPECT_EQ(find_patches(values, 2).level, find_patches(other, 2).level) << n;
  }
}

TEST(Patches, OfTooLittleAreNone) {
  Rng rng(3, Purpose::test, 7);
  for (const std::size_t n : {0, 1, 5}) {
    std::vector<Placed> values = strewn(n, 2, rng);
    EXPECT_EQ(Patches::any(find_patches(values, 2).level), 0) << n;
  }
  std::vector<Placed> constant(20), one_place(20);
  EXPECT_EQ(Patches::any(find_patches(constant, 2).level), 0);
  for (Placed& p : one_place) p.value = rng.normal();
  for (const double gain : find_patches(one_place, 2).level) EXPECT_TRUE(std::isfinite(gain));
}

// 300 data sets of 40 rows: two places, a value, a number of the row's tenth.
std::vector<float> rows_of(double share, double curve, std::vector<std::int64_t>& offsets, double step = 0) {
  std::vector<float> rows;
  offsets = {0};
  for (std::uint64_t set = 0; set < 300; ++set) {
    Rng rng(5, Purpose::test, set);
    std::vector<Placed> values = strewn(40, 2, rng, set % 2 == 0 ? share : 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto& [at, value] = values[i];
      value += curve * at[0] * at[1];
      if (step > 0) {
        for (double& x : at) x = step * std::floor(x / step);
      }
      for (const double x : {at[0], at[1], value, static_cast<double>(i / 10)})
        rows.push_back(static_cast<float>(x));
    }
    offsets.push_back(offsets.back() + 40);
  }
  return rows;
}

TEST(Places, AreWhereValuesAreAlike) {
  std::vector<std::int64_t> offsets;
  const auto found = [&](std::vector<float> rows, std::vector<std::int64_t> candidates,
                         std::vector<std::int64_t> labels = {}) {
    return find_places({{rows.data(), offsets.back(), 4, 4}, offsets.data(), 300}, candidates, labels)
        .columns;
  };
  const std::vector<std::int64_t> both = {0, 1}, none;
  EXPECT_EQ(found(rows_of(0.6, 0, offsets), both), both);
  EXPECT_EQ(found(rows_of(0.6, 0, offsets), {0, 1, 3}), both) << "a column with few values is no place";
  EXPECT_EQ(found(rows_of(0.6, 0, offsets), {}), none) << "nobody said so";
  EXPECT_EQ(found(rows_of(0.6, 0, offsets), both, {0, 1}), none) << "labels";
  EXPECT_EQ(found(rows_of(0, 0, offsets), both), none) << "nothing is alike";
  EXPECT_EQ(found(rows_of(0, 2, offsets), both), none) << "only a surface";
  EXPECT_EQ(found(rows_of(0.6, 0, offsets, 1.7), both), none) << "a few places, each with many rows";
}

}  // namespace
}  // namespace occam
