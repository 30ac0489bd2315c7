// Draws of every prior against its distribution function: 16 Kolmogorov-Smirnov and 2 chi-square checks, each
// with false-alarm probability 1e-6.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/inverse_gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <gtest/gtest.h>

#include "occam/simulate/prior.hpp"
#include "occam/simulate/size_distribution.hpp"
#include "occam/simulate/special.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

using DistributionFunction = std::function<double(double)>;

template <class Distribution>
DistributionFunction cdf_of(Distribution distribution) {
  return [distribution](double x) { return cdf(distribution, x); };
}

// Of a normal cut to low..high, by logarithms of interval probabilities: exact in the far tails too.
DistributionFunction truncated_cdf(double mean, double sd, double low, double high) {
  return [=](double x) {
    if (x <= low) return 0.0;
    return std::exp(log_normal_interval((low - mean) / sd, (x - mean) / sd) -
                    log_normal_interval((low - mean) / sd, (high - mean) / sd));
  };
}

TEST(PriorStatistics, DrawsFollowTheirDistribution) {
  namespace bm = boost::math;
  const double inf = INFINITY;
  const std::vector<std::pair<std::string, DistributionFunction>> cases = {
      {"uniform(-2, 3)", [](double x) { return (x + 2.0) / 5.0; }},
      {"normal(1, 2)", cdf_of(bm::normal(1, 2))},
      {"half_normal(2)", [](double x) { return std::erf(x / 2.0 / std::sqrt(2.0)); }},
      {"lognormal(0.5, 1.5)", cdf_of(bm::lognormal(0.5, 1.5))},
      {"log_uniform(1e-4, 20)", [](double x) { return std::log(x / 1e-4) / std::log(20 / 1e-4); }},
      {"exponential(4)", [](double x) { return -std::expm1(-4.0 * x); }},
      {"gamma(0.7, 3)", cdf_of(bm::gamma_distribution<>(0.7, 3))},
      {"inverse_gamma(1.5, 2)", cdf_of(bm::inverse_gamma_distribution<>(1.5, 2))},
      {"beta(0.4, 3)", cdf_of(bm::beta_distribution<>(0.4, 3))},
      {"truncated_normal(0, 1, -1, 2)", truncated_cdf(0, 1, -1, 2)},          // uniform or normal proposals
      {"truncated_normal(1, 2, -0.5, 1.5)", truncated_cdf(1, 2, -0.5, 1.5)},  // narrow, around the mean
      {"truncated_normal(0, 1, 0.5, inf)", truncated_cdf(0, 1, 0.5, inf)},    // right tail
      {"truncated_normal(0, 1, 2, 2.1)", truncated_cdf(0, 1, 2, 2.1)},        // narrow, in the tail
      {"truncated_normal(3, 0.1, -inf, 2)", truncated_cdf(3, 0.1, -inf, 2)},  // ten sigma to the left
      {"truncated_normal(0, 1, 35, 36)", truncated_cdf(0, 1, 35, 36)},        // no probability in doubles
      {"truncated_normal(0, 1, 8, 8.2)", truncated_cdf(0, 1, 8, 8.2)},
      {"truncated_normal(0, 1, -inf, inf)", cdf_of(bm::normal(0, 1))},
  };
  std::uint64_t item = 0;
  for (const auto& [text, distribution] : cases) {
    const Prior prior = Prior::parse(text);
    Rng rng(31, Purpose::test, ++item);
    std::vector<double> draws(20000);
    for (double& x : draws) x = prior.sample(rng);
    EXPECT_GT(kolmogorov_smirnov(draws, distribution), kFalseAlarm) << text;
  }
}

TEST(PriorStatistics, DiscreteUniform) {
  Rng rng(31, Purpose::test, 100);
  const Prior prior = Prior::discrete_uniform(-2, 4);
  std::vector<double> counts(7, 0.0);
  for (int i = 0; i < 20000; ++i) ++counts[static_cast<std::size_t>(prior.sample(rng) + 2.0)];
  EXPECT_GT(chi_square(counts, std::vector<double>(7, 20000.0 / 7.0)), kFalseAlarm);
}

TEST(PriorStatistics, LogUniformSizes) {
  Rng rng(31, Purpose::test, 101);
  const SizeDistribution sizes = SizeDistribution::log_uniform(2, 60);
  std::vector<double> counts(61, 0.0);
  std::vector<double> expected(61, 0.0);
  for (int i = 0; i < 40000; ++i) ++counts[static_cast<std::size_t>(sizes.sample(rng))];
  for (int n = 2; n <= 60; ++n) {
    expected[static_cast<std::size_t>(n)] = 40000.0 * std::log((n + 1.0) / n) / std::log(61.0 / 2.0);
  }
  EXPECT_GT(chi_square(counts, expected), kFalseAlarm);
}

}  // namespace
}  // namespace occam
