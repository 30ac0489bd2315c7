// Whole numbers over many orders of magnitude. Exact: quadrature over one or two parameters; what is above
// kFar is summed up by its logarithms, where a cell of the log-normal is as good as its density.
#include <map>
#include <occam/simulator.h>

#include "more.h"

constexpr double kFar = 1000;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double k = 1;
    if (p.is("lognormal")) {
      k = std::ceil(std::exp(rng.normal(p["middle"], p["spread"])));
    } else if (p.is("waring")) {
      // Trials up to the first success of chance c; -log(1 - c) from gammas, for very small c.
      const double yes = rng.gamma(p["tail"]), no = rng.gamma(p["start"]);
      k = 1 + std::floor(rng.exponential() / std::log1p(yes / no));
    } else {
      // Rejection from the whole part of a Pareto distribution, which has too few ones.
      const double tail = p["tail"], least = 1 - std::exp2(-tail);
      double accept;
      do {
        k = std::floor(std::pow(rng.uniform(), -1 / tail));
        accept = least / k / -std::expm1(-tail * std::log1p(1 / k));
      } while (rng.uniform() > accept);
    }
    out(i, 0) = static_cast<float>(k);
  }
  return true;
}

// Sum of k^-s: nine terms, and Euler-Maclaurin from ten on.
static double log_zeta(double s) {
  double sum = 0;
  for (int k = 1; k < 10; ++k) sum += std::pow(k, -s);
  const double end = std::pow(10, -s);
  return std::log(sum + end * (10 / (s - 1) + 0.5 + s / 120 - s * (s + 1) * (s + 2) / 720e3));
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::map<double, double> near;  // how often each number is there
  std::vector<double> far;
  const double n = static_cast<double>(data.n());
  double logs = 0, far_logs = 0, far_squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double k = data(i, 0);
    logs += std::log(k);
    if (k <= kFar) {
      ++near[k];
    } else {
      const double middle = std::log(k - 0.5);
      far.push_back(k);
      far_logs += middle;
      far_squares += middle * middle;
    }
  }
  if (p.is("power_law")) {
    return log_integral_around<1>({-0.2}, [&](std::array<double, 1> at) {
      const double s = 1 + std::exp(at[0]);
      return log_normal(at[0], -0.2, 0.35) - s * logs - n * log_zeta(s);
    });
  }
  const double count = static_cast<double>(far.size());
  if (p.is("lognormal")) {
    return log_integral_around<2>({logs / n, 0.5}, [&](std::array<double, 2> at) {
      const double per = std::exp(-at[1]);
      double sum = log_normal(at[0], 1.2, 0.7) + log_normal(at[1], 0.5, 0.3);
      sum -= 0.5 * (far_squares - 2 * at[0] * far_logs + count * at[0] * at[0]) * per * per + far_logs +
             count * (at[1] + 0.5 * std::log(2 * kPi));
      for (const auto& [k, times] : near) {
        // The tail that is the smaller one.
        const double high = (std::log(k) - at[0]) * per, low = k > 1 ? (std::log(k - 1) - at[0]) * per : -40;
        const double sign = low > 0 ? std::sqrt(0.5) : -std::sqrt(0.5);
        sum += times * std::log(0.5 * std::abs(std::erfc(sign * low) - std::erfc(sign * high)) + 1e-300);
      }
      return sum;
    });
  }
  return log_integral_around<2>({-0.2, 0.7}, [&](std::array<double, 2> at) {
    const double tail = std::exp(at[0]), start = std::exp(at[1]);
    double sum = log_normal(at[0], -0.2, 0.35) + log_normal(at[1], 0.7, 0.7);
    sum += n * (std::lgamma(tail + 1) - log_beta(tail, start));
    for (const auto& [k, times] : near)
      sum += times * (std::lgamma(start + k - 1) - std::lgamma(start + tail + k));
    // The ratio of two such gamma functions, but for the square of 1 / k.
    for (const double k : far) sum -= (tail + 1) * std::log(k + start - 1 + tail / 2);
    return sum;
  });
}
