// Tests of draws against distributions. Seeds are fixed, so a test that passes keeps passing; each check
// would raise a false alarm on correct code with probability kFalseAlarm, should a seed or the order of draws
// change.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/chi_squared.hpp>

namespace occam {

inline constexpr double kFalseAlarm = 1e-6;
inline constexpr double kSigmas = 4.9;  // two-sided normal tail of about kFalseAlarm

// p-value of the Kolmogorov-Smirnov test of `draws` against a continuous distribution function. The
// asymptotic series; the bound is conservative for the sample sizes here (thousands).
template <class Cdf>
double kolmogorov_smirnov(std::vector<double> draws, Cdf&& cdf) {
  std::sort(draws.begin(), draws.end());
  const double n = static_cast<double>(draws.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double f = cdf(draws[i]);
    distance = std::max({distance, f - static_cast<double>(i) / n, (static_cast<double>(i) + 1.0) / n - f});
  }
  const double x = (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n)) * distance;
  if (x < 0.3) return 1.0;
  double p = 0.0;
  for (int k = 1; k < 100; ++k) p += (k % 2 == 1 ? 2.0 : -2.0) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(p, 0.0, 1.0);
}

// p-value of Pearson's chi-square test of counts against expected counts. Cells with fewer than 10 expected
// are pooled with their neighbours.
inline double chi_square(const std::vector<double>& counts, const std::vector<double>& expected) {
  double statistic = 0.0;
  double count = 0.0;
  double mass = 0.0;
  int cells = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    count += counts[i];
    mass += expected[i];
    if (mass < 10.0 && i + 1 < counts.size()) continue;
    if (mass > 0.0) statistic += (count - mass) * (count - mass) / mass;
    ++cells;
    count = mass = 0.0;
  }
  return boost::math::cdf(
      boost::math::complement(boost::math::chi_squared(std::max(1, cells - 1)), statistic));
}

}  // namespace occam
