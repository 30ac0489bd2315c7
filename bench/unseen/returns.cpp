// Heavy tails of two origins. Exact: quadrature over one or two parameters. The first variance is the mean
// one.
#include <occam/simulator.h>

#include "more.h"

constexpr double kKept = 0.6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double variance = 1;
  for (long i = 0; i < out.n(); ++i) {
    double z = rng.normal();
    if (p.has("freedom")) z /= std::sqrt(rng.gamma(p["freedom"] / 2) * 2 / p["freedom"]);
    z *= std::sqrt(variance);
    if (p.has("reaction")) {
      const double reaction = p["reaction"] / 3;
      variance = 1 - reaction - kKept + reaction * z * z + kKept * variance;
    }
    out(i, "percent") = p["scale"] * z;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<double> x(n);
  double squares = 0;
  for (long i = 0; i < n; ++i) squares += (x[i] = data(i, 0)) * x[i];
  const double start = 0.5 * std::log(squares / static_cast<double>(n));
  if (p.is("calm")) {
    return log_integral_around<1>({start}, [&](std::array<double, 1> at) {
      return log_normal(at[0], 0, 0.5) - 0.5 * squares * std::exp(-2 * at[0]) -
             static_cast<double>(n) * (at[0] + 0.5 * std::log(2 * kPi));
    });
  }
  if (p.is("wild_days")) {
    return log_integral_around<2>({start - 0.3, 1.4}, [&](std::array<double, 2> at) {
      const double freedom = std::exp(at[1]);
      double sum = log_normal(at[0], 0, 0.5) + log_normal(at[1], 1.4, 0.4);
      sum += static_cast<double>(n) * (std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2) -
                                       0.5 * std::log(freedom * kPi) - at[0]);
      const double per = std::exp(-2 * at[0]) / freedom;
      for (const double one : x) sum -= (freedom + 1) / 2 * std::log1p(one * one * per);
      return sum;
    });
  }
  return log_integral_around<2>({start, 0}, [&](std::array<double, 2> at) {
    const double reaction = logistic(at[1]) / 3, per = std::exp(-2 * at[0]);
    double sum = log_normal(at[0], 0, 0.5) + log_beta_logit(at[1], 2, 2), variance = 1;
    for (const double one : x) {
      const double z2 = one * one * per;
      sum -= 0.5 * (std::log(2 * kPi * variance) + z2 / variance) + at[0];
      variance = 1 - reaction - kKept + reaction * z2 + kKept * variance;
    }
    return sum;
  });
}
