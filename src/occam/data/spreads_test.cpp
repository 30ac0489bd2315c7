#include "occam/data/spreads.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

struct Feeds {
  std::vector<std::int32_t> groups;
  std::vector<double> values;

  // Means of labels differ; logarithms of standard deviations by `spread`.
  Feeds(std::size_t rows, int labels, double spread, std::uint64_t item) {
    Rng rng(3, Purpose::test, item);
    std::vector<double> mean, sd;
    for (int k = 0; k < labels; ++k) {
      mean.push_back(300 + 50 * rng.normal());
      sd.push_back(60 * std::exp(spread * rng.normal()));
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const auto k = static_cast<std::size_t>(rng.uniform(0, labels));
      groups.push_back(static_cast<std::int32_t>(k));
      values.push_back(mean[k] + sd[k] * rng.normal());
    }
  }
  SpreadsBetween spreads(std::size_t labels) const {
    std::vector<LabelSums> room(labels);
    return spreads_between(groups, values, room);
  }
};

// By quadrature over the logarithm of the variance of each label.
TEST(Spreads, GainsAreThoseOfInverseGammaVariances) {
  Feeds feeds(40, 4, 0.5, 1);
  feeds.values[7] = NAN;
  feeds.groups[8] = -1;
  std::vector<double> n(6), mean(6), squares(6);  // two labels without rows, too
  const auto there = [&](std::size_t i) { return feeds.groups[i] >= 0 && !std::isnan(feeds.values[i]); };
  for (std::size_t i = 0; i < 40; ++i) {
    if (!there(i)) continue;
    ++n[static_cast<std::size_t>(feeds.groups[i])];
    mean[static_cast<std::size_t>(feeds.groups[i])] += feeds.values[i];
  }
  double within = 0, freedom = 0;
  for (std::size_t k = 0; k < 4; ++k) mean[k] /= n[k];
  for (std::size_t i = 0; i < 40; ++i) {
    if (!there(i)) continue;
    const auto k = static_cast<std::size_t>(feeds.groups[i]);
    squares[k] += (feeds.values[i] - mean[k]) * (feeds.values[i] - mean[k]);
  }
  for (std::size_t k = 0; k < 4; ++k) {
    within += squares[k];
    freedom += n[k] - 1;
  }
  const double pooled = within / freedom;
  const SpreadsBetween got = feeds.spreads(6);
  for (std::size_t a = 0; a < kShapesOfSpreads.size(); ++a) {
    const double shape = kShapesOfSpreads[a];
    double expected = 0;
    for (const double factor : kScalesOfSpreads) {
      const double scale = shape * factor * pooled;
      double gain = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        double integral = 0;
        for (double u = -12; u < 12; u += 0.01) {  // log(variance / pooled)
          const double v = pooled * std::exp(u);
          const double prior = shape * std::log(scale / v) - std::lgamma(shape) - scale / v;
          const double of_rows = -0.5 * (n[k] - 1) * u - squares[k] / (2 * v);
          integral += 0.01 * std::exp(prior + of_rows);
        }
        gain += std::log(integral) + squares[k] / (2 * pooled);
      }
      expected += std::exp(gain) / kScalesOfSpreads.size();
    }
    EXPECT_NEAR(got.shapes[a], std::log(expected), 1e-6) << shape;
  }
}

TEST(Spreads, AreSeenWhereTheyDiffer) {
  double alike = 0, apart = 0;
  for (std::uint64_t item = 0; item < 200; ++item) {
    alike += Feeds(80, 6, 0, 2 + item).spreads(6).any() / 200;
    apart += Feeds(80, 6, 0.7, 2 + item).spreads(6).any() / 200;
  }
  EXPECT_LT(alike, 0);
  EXPECT_GT(apart, 3);
}

TEST(Spreads, OfNothingAreNone) {
  const std::vector<std::int32_t> groups = {0, 1, 2, 0};
  std::vector<LabelSums> room(3);
  for (const std::vector<double>& values :
       {std::vector<double>{1, 2, 3, 4}, {5, 5, 5, 5}, {NAN, NAN, NAN, NAN}, {1e300, -1e300, 1e300, 2}}) {
    EXPECT_EQ(spreads_between(groups, values, room).any(), 0);
  }
  EXPECT_EQ(spreads_between({}, {}, {}).any(), 0);
}

}  // namespace
}  // namespace occam
