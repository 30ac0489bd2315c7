// y_t = a1 y_(t-1) + a2 y_(t-2) + sigma e, or a random walk with a drift. Lags are of the values as they are stored,
// single precision, so that rounding adds to a step only what it adds to its result. Exact: linear regression on the
// lags; sigma^2 by quadrature where the coefficients are not in units of sigma.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sigma = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const double last = i > 0 ? out(i - 1, 0) : 0;
    const double before = i > 1 ? out(i - 2, 0) : 0;
    double y = sigma * rng.normal();
    if (p.is("walk")) y += last + sigma * p["drift"];
    if (p.is("one_lag")) y += p["a1"] * last;
    if (p.is("two_lags")) y += p["a1"] * last + p["a2"] * before;
    out(i, 0) = y;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto lag = [&](long i, long by) { return i >= by ? double(data(i - by, 0)) : 0.0; };
  if (p.is("walk")) {
    Regression drift({0}, {0.5});
    for (long i = 0; i < data.n(); ++i) drift.add({1}, data(i, 0) - lag(i, 1));
    return drift.with_variance_prior(3, 2);
  }
  const bool one = p.is("one_lag");
  Regression lags(one ? std::vector{0.75} : std::vector{0.5, 0.25}, std::vector(one ? 1 : 2, 0.2));
  for (long i = 0; i < data.n(); ++i)
    lags.add(one ? std::vector{lag(i, 1)} : std::vector{lag(i, 1), lag(i, 2)}, data(i, 0));
  // Over t = log sigma^2, by the trapezoidal rule; variance ~ inverse_gamma(3, 2).
  const double step = 0.1;
  LogSum sum;
  for (double t = -5; t < 12; t += step) {
    sum.add(std::log(step) + 3 * std::log(2.0) - std::lgamma(3.0) - 3 * t - 2 * std::exp(-t) +
            lags.with_sigma(std::exp(t / 2)));
  }
  return sum.value();
}
