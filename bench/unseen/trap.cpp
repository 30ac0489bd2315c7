// Two columns that say something together only: the distance from the origin. Exact: quadrature over the
// spread, with the drift in closed form, or over radius and width of the ring.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    if (p.is("ring")) {
      const double r = p["radius"] * std::exp(p["width"] * rng.normal()), angle = rng.uniform(0, 2 * kPi);
      out(i, "east") = r * std::cos(angle);
      out(i, "north") = r * std::sin(angle);
    } else {
      out(i, "east") = (p.has("east_drift") ? p["east_drift"] : 0) + p["spread"] * rng.normal();
      out(i, "north") = (p.has("north_drift") ? p["north_drift"] : 0) + p["spread"] * rng.normal();
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  double east = 0, north = 0, squares = 0, logs = 0, log_squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, "east"), y = data(i, "north"), r2 = std::max(x * x + y * y, 1e-300);
    east += x;
    north += y;
    squares += r2;
    logs += 0.5 * std::log(r2);
    log_squares += 0.25 * std::log(r2) * std::log(r2);
  }
  if (p.is("ring")) {  // density of a place: that of log r, over 2 pi r^2
    return log_integral_around<2>({logs / n, -1}, [&](std::array<double, 2> at) {
      const double m = at[0], w = std::exp(at[1]);
      const double sum = log_squares - 2 * m * logs + n * m * m;
      return log_normal(m, 0.5, 0.5) + log_normal(at[1], -1, 0.5) - 0.5 * sum / (w * w) -
             n * (at[1] + 1.5 * std::log(2 * kPi)) - 2 * logs;
    });
  }
  const bool drift = p.is("drift");
  return log_integral_around<1>({0.5 * std::log(squares / (2 * n))}, [&](std::array<double, 1> at) {
    const double v = std::exp(2 * at[0]), prior = 0.49;
    double value = log_normal(at[0], 0, 0.7) - n * std::log(2 * kPi * v) - 0.5 * squares / v;
    if (drift) {
      const double precision = n / v + 1 / prior;
      for (const double sum : {east, north})
        value += 0.5 * (sum / v) * (sum / v) / precision - 0.5 * std::log(precision * prior);
    }
    return value;
  });
}
