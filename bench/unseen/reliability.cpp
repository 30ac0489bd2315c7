// Repeated measurements of 5 to 20 people, some of them more often than others. Exact: a conjugate normal
// model given the ratio of the standard deviations, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const int people = static_cast<int>(rng.integer(5, 20));
  const double sd = std::sqrt(p["variance"]);
  std::vector<double> weight(people), own(people);
  double sum = 0;
  for (int k = 0; k < people; ++k) {
    sum += weight[k] = rng.gamma(3);
    own[k] = p.has("spread") ? p["spread"] * rng.normal() : 0;
  }
  for (long i = 0; i < out.n(); ++i) {
    double u = rng.uniform() * sum;
    int k = 0;
    while (k < people - 1 && u > weight[k]) u -= weight[k++];
    out(i, "subject") = k + 1;
    out(i, "grip") = 38 + sd * (p["level"] + own[k] + rng.normal());
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double count[21] = {}, sum[21] = {}, squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double y = data(i, "grip") - 38.0;
    const int k = static_cast<int>(data(i, "subject"));
    ++count[k];
    sum[k] += y;
    squares += y * y;
  }
  // Covariance, in units of the variance: I + spread^2 within people + 4 everywhere.
  const auto with = [&](double spread) {
    double w = 0, wy = 0, rest = squares, log_det = 0;
    const double v = spread * spread;
    for (int k = 1; k <= 20; ++k) {
      const double shrink = 1 + v * count[k];
      w += count[k] / shrink;
      wy += sum[k] / shrink;
      rest -= v * sum[k] * sum[k] / shrink;
      log_det += std::log(shrink);
    }
    rest -= 4 * wy * wy / (1 + 4 * w);
    log_det += std::log(1 + 4 * w);
    return -0.5 * log_det + log_variance_evidence(data.n(), rest, 3, 60);
  };
  if (p.is("alike")) return with(0);
  return log_integral(
      0, 4.2, 14, [&](double spread) { return std::log(2.0) + log_normal(spread, 0, 0.6) + with(spread); });
}
