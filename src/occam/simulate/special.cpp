#include "occam/simulate/special.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <boost/math/special_functions/gamma.hpp>

namespace occam {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

}  // namespace

double log_gamma(double x) {
  return boost::math::lgamma(x);
}

double log_beta(double a, double b) {
  if (a > b) std::swap(a, b);
  if (b < 100.0) return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  // For large b the difference of two large log-gammas would cancel. With Stirling's series for both,
  // log G(b) - log G(a + b) = a - a log(a + b) - (b - 1/2) log(1 + a/b) + corrections; where a is large as
  // well, for log G(a) too.
  const auto correction = [](double x) {
    return (1.0 / 12 - (1.0 / 360 - 1.0 / (1260 * x * x)) / (x * x)) / x;
  };
  const double rest = correction(b) - correction(a + b) - (b - 0.5) * std::log1p(a / b);
  if (a < 100.0) return log_gamma(a) + a - a * std::log(a + b) + rest;
  return a * std::log(a / (a + b)) - 0.5 * std::log(a) + kHalfLogTwoPi + correction(a) + rest;
}

double log_normal_cdf(double z) {
  if (z > -30.0) {
    const double tail = 0.5 * std::erfc(std::fabs(z) / std::numbers::sqrt2);
    return z > 0.0 ? std::log1p(-tail) : std::log(tail);
  }
  // Asymptotic series of Mills' ratio; at z = -30 its first neglected term is below 1e-13.
  const double r = 1.0 / (z * z);
  const double series = 1.0 - r * (1.0 - 3.0 * r * (1.0 - 5.0 * r * (1.0 - 7.0 * r)));
  return -0.5 * z * z - std::log(-z) - kHalfLogTwoPi + std::log(series);
}

double log_normal_interval(double low, double high) {
  if (low > 0.0) return log_normal_interval(-high, -low);  // where the distribution function is not near 1
  const double log_high = log_normal_cdf(high);
  if (low == -std::numeric_limits<double>::infinity()) return log_high;
  const double width = high - low;
  // A narrow interval is its width times the density at its middle; the difference would cancel.
  if (width * (1.0 + std::fabs(low)) < 1e-5) {
    const double middle = low + 0.5 * width;
    return std::log(width) - 0.5 * middle * middle - kHalfLogTwoPi;
  }
  return log_high + std::log(-std::expm1(log_normal_cdf(low) - log_high));
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  if (b == -std::numeric_limits<double>::infinity()) return a;
  return a + std::log1p(std::exp(b - a));
}

}  // namespace occam
