#include "occam/data/periods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

struct Observed {
  std::vector<double> times, values;

  // n irregular times over 100, and noise.
  explicit Observed(std::size_t n, std::uint64_t item = 0) : times(n), values(n) {
    Rng rng(3, Purpose::test, item);
    for (double& t : times) t = 100 * rng.uniform();
    std::sort(times.begin(), times.end());
    for (double& x : values) x = rng.normal();
  }
  void add_wave(double size, double period) {
    for (std::size_t i = 0; i < times.size(); ++i)
      values[i] += size * std::sin(2 * std::numbers::pi * times[i] / period + 1);
  }
  Periods found(double gap = 2) const {
    std::vector<double> room(6 * values.size());
    return find_periods(times, values, gap, room);
  }
};

// What sine, cosine and a level explain, by elimination on the normal equations.
double explained(const Observed& o, double period) {
  double a[3][4] = {};
  double mean = 0, squares = 0;
  for (const double y : o.values) mean += y / static_cast<double>(o.values.size());
  for (std::size_t i = 0; i < o.times.size(); ++i) {
    const double angle = 2 * std::numbers::pi * o.times[i] / period;
    const double x[3] = {1, std::cos(angle), std::sin(angle)}, y = o.values[i] - mean;
    squares += y * y;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) a[r][c] += x[r] * x[c];
      a[r][3] += x[r] * y;
    }
  }
  double left = squares;
  for (int k = 0; k < 3; ++k) {
    left -= a[k][3] * a[k][3] / a[k][k];
    for (int r = k + 1; r < 3; ++r) {
      const double part = a[r][k] / a[k][k];
      for (int c = k; c < 4; ++c) a[r][c] -= part * a[k][c];
    }
  }
  return -0.5 * static_cast<double>(o.values.size()) * std::log(left / squares);
}

TEST(Periods, AreThoseOfRegressions) {
  Observed o(40);
  o.add_wave(1, 13);
  const Periods found = o.found();
  const double period = 2 * std::exp2(found.best_octave);
  EXPECT_NEAR(period, 13, 1);
  EXPECT_NEAR(found.best, explained(o, period), 1e-6);
  for (double other = 3; other < 90; other *= 1.07) EXPECT_LT(explained(o, other), found.best + 0.7) << other;
}

TEST(Periods, AreFoundInTheirOctave) {
  for (const double period : {3.0, 5.0, 12.0, 25.0, 40.0}) {
    Observed o(60);
    o.add_wave(2, period);
    const Periods found = o.found();
    const auto octave = static_cast<std::size_t>(std::log2(period / 2));
    EXPECT_EQ(std::max_element(found.octaves.begin(), found.octaves.end()) - found.octaves.begin(),
              static_cast<std::ptrdiff_t>(octave))
        << period;
    EXPECT_GT(found.any(), 8) << period;
  }
}

// In the mean over data sets of noise what evidence says is exp(0) but for what was fitted.
TEST(Periods, OfNoiseAreNone) {
  int clear = 0;
  for (std::uint64_t item = 0; item < 200; ++item) clear += Observed(40, item).found().any() > 4;
  EXPECT_LE(clear, 10);
}

TEST(Periods, DoNotDependOnOriginUnitOrWhatIsMissing) {
  Observed o(50);
  o.add_wave(1, 7);
  const Periods here = o.found();
  Observed other = o;
  for (double& t : other.times) t = 60 * t + 1e6;
  for (double& x : other.values) x = 1e-3 * x - 40;
  EXPECT_NEAR(other.found(120).any(), here.any(), 1e-5);
  other = o;
  other.times.insert(other.times.begin() + 20, other.times[20]);
  other.values.insert(other.values.begin() + 20, NAN);
  EXPECT_EQ(other.found().any(), here.any());
}

TEST(Periods, OfTooLittleAreNone) {
  for (const std::size_t n : {0, 1, 4}) EXPECT_EQ(Observed(n).found().any(), 0) << n;
  Observed constant(20);
  std::fill(constant.values.begin(), constant.values.end(), 3);
  EXPECT_EQ(constant.found().any(), 0);
  Observed at_once(20);
  std::fill(at_once.times.begin(), at_once.times.end(), 3);
  EXPECT_EQ(at_once.found().any(), 0);
}

// Evenly spaced: a wave of so many values in noise.
std::vector<double> even_wave(std::size_t n, double height, double period, std::uint64_t item) {
  Rng rng(8, Purpose::test, item);
  std::vector<double> values;
  for (std::size_t t = 0; t < n; ++t)
    values.push_back(5 + height * std::sin(6.283185307179586 * static_cast<double>(t) / period + 1) +
                     rng.normal());
  return values;
}

Periods even(const std::vector<double>& values) {
  std::vector<double> room(even_room(values.size()), NAN);
  return find_even_periods(values, room);
}

// By the other way to find them, where every frequency of the one is also looked at by the other.
TEST(Periods, EvenlySpacedAreThoseOfLeastSquares) {
  for (const std::size_t n : {20, 85, 171}) {
    const std::vector<double> values = even_wave(n, 1, 6.4, n);
    const Periods got = even(values);
    // A sine and a cosine beside a level, at the best frequency.
    const double w = 6.283185307179586 / std::exp2(got.best_octave);
    double a[4][4] = {};
    for (std::size_t t = 0; t < n; ++t) {
      const double angle = w * static_cast<double>(t);
      const double row[] = {1, std::cos(angle), std::sin(angle), values[t] - 5};
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) a[i][j] += row[i] * row[j];
      }
    }
    double of_level = 0;
    for (int k = 0; k < 3; ++k) {
      for (int i = k + 1; i < 4; ++i) {
        const double factor = a[i][k] / a[k][k];
        for (int j = k; j < 4; ++j) a[i][j] -= factor * a[k][j];
      }
      if (k == 0) of_level = a[3][3];
    }
    EXPECT_NEAR(got.best, 0.5 * static_cast<double>(n) * std::log(of_level / a[3][3]), 1e-6) << n;
    EXPECT_NEAR(std::exp2(got.best_octave), 6.4, 0.5) << n;
  }
}

TEST(Periods, EvenlySpacedAreFoundWhateverTheyAre) {
  for (const double period : {2.3, 7.0, 31.0, 150.0})
    EXPECT_GT(even(even_wave(300, 0.6, period, 3)).any(), 6) << period;
  EXPECT_GT(even(even_wave(20000, 0.1, 41.5, 4)).any(), 20) << "long";
  int clear = 0;
  for (std::uint64_t item = 0; item < 200; ++item) clear += even(even_wave(60, 0, 5, 100 + item)).any() > 4;
  EXPECT_LE(clear, 10);
}

TEST(Periods, EvenlySpacedOfTooLittleAreNone) {
  for (const std::size_t n : {0, 1, 4}) EXPECT_EQ(even(std::vector<double>(n, 2)).any(), 0);
  EXPECT_EQ(even(std::vector<double>(30, 7)).any(), 0);
  std::vector<double> some = even_wave(60, 1, 9, 5);
  some[7] = some[31] = NAN;
  EXPECT_GT(even(some).any(), 3);
  some[8] = HUGE_VAL;
  EXPECT_EQ(even(some).any(), 0);
}

}  // namespace
}  // namespace occam
