// An Ornstein-Uhlenbeck process at whole times, y_t = keep y_(t-1) + e, with its two limits. Exact by quadrature.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double y = 0;
  for (long i = 0; i < out.n(); ++i) out(i, 0) = y = p["keep"] * y + rng.normal();
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double squares = 0, products = 0, before = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double y = data(i, 0);
    squares += y * y;
    if (i == 0) continue;
    products += y * data(i - 1, 0);
    before += double(data(i - 1, 0)) * data(i - 1, 0);
  }
  const auto log_likelihood = [&](double keep) {
    return -0.5 * (squares - 2 * keep * products + keep * keep * before) - data.n() / 2.0 * std::log(2 * kPi);
  };
  if (p.is("pulled")) return log_integral(0, 1, 60, log_likelihood);
  return log_likelihood(p["keep"]);
}
