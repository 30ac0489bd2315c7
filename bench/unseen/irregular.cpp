// An Ornstein-Uhlenbeck process at irregular times. Exact: its innovations are a conjugate regression;
// quadrature over the memory.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  double state = rng.normal();
  for (long i = 0; i < out.n(); ++i) {
    out(i, "time") = i == 0 ? 0 : out(i - 1, "time") + rng.gamma(1.5, 1);
    if (i > 0) {
      const double gap = double(out(i, "time")) - out(i - 1, "time");
      const double rho = p.has("memory") ? std::exp(-gap / p["memory"]) : 0;
      state = rho * state + std::sqrt(1 - rho * rho) * rng.normal();
    }
    const double slope = p.has("slope") ? p["slope"] : 0;
    out(i, "glucose") = 110 + sd * (p["level"] + slope * out(i, "time") / 24 + state);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  const bool drifts = p.has("slope");
  const auto with = [&](double memory) {
    std::vector<double> sd = {2};
    if (drifts) sd.push_back(1);
    Regression regression(std::vector<double>(sd.size(), 0.0), sd);
    std::vector<double> x(sd.size());
    double jacobian = 0;
    for (long i = 0; i < n; ++i) {
      double rho = 0, before_y = 0, before_t = 0;
      if (i > 0 && memory > 0) {
        rho = std::exp(-(double(data(i, 0)) - data(i - 1, 0)) / memory);
        before_y = data(i - 1, 1) - 110.0;
        before_t = data(i - 1, 0) / 24.0;
      }
      const double scale = 1 / std::sqrt(1 - rho * rho);
      x[0] = (1 - rho) * scale;
      if (drifts) x[1] = (data(i, 0) / 24.0 - rho * before_t) * scale;
      regression.add(x, (data(i, 1) - 110.0 - rho * before_y) * scale);
      jacobian += std::log(scale);
    }
    return regression.with_variance_prior(3, 500) + jacobian;
  };
  if (p.is("noise")) return with(0);
  return log_integral_around<1>(
      {1}, [&](std::array<double, 1> x) { return log_normal(x[0], 1, 0.8) + with(std::exp(x[0])); });
}
