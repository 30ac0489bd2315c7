// Levels of a lake, for R's LakeHuron: autoregressions of order one around a line. Exact: conjugate given
// what carries over, quadrature over that.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]), carry = p.has("carry") ? p["carry"] : 0,
               slope = p.has("slope") ? p["slope"] : 0, middle = 0.5 * static_cast<double>(out.n() - 1);
  double e = rng.normal();
  for (long i = 0; i < out.n(); ++i) {
    if (i > 0) e = carry * e + std::sqrt(1 - carry * carry) * rng.normal();
    const double t = (static_cast<double>(i) - middle) / 100;
    out(i, 0) = static_cast<float>(580 + sd * (p["mean"] + slope * t + e));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double middle = 0.5 * static_cast<double>(data.n() - 1);
  const auto with = [&](double carry) {
    MixedSums sums(2);
    const double scale = 1 / std::sqrt(1 - carry * carry);
    for (long i = 0; i < data.n(); ++i) {
      const double t = (static_cast<double>(i) - middle) / 100, y = data(i, 0) - 580.0;
      if (i == 0)
        sums.add({{0, 1.0}, {1, t}}, y);
      else
        sums.add({{0, scale * (1 - carry)}, {1, scale * (t - carry * (t - 0.01))}},
                 scale * (y - carry * (data(i - 1, 0) - 580.0)));
    }
    return sums.evidence({3, p.has("slope") ? 2.0 : 0.0}, 3, 3) +
           static_cast<double>(data.n() - 1) * std::log(scale);
  };
  if (!p.has("carry")) return with(0);
  return log_integral(-9, 9, 25 * FINE,
                      [&](double x) { return log_beta_logit(x, 1, 1) + with(logistic(x)); });
}
