// Yearly maxima: Gumbel, Frechet (a generalised extreme value law of positive shape) or normal. Exact:
// quadrature.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double z;
    if (p.is("normal")) {
      z = rng.normal();
    } else {
      const double e = rng.exponential(1);
      z = p.has("shape") ? std::expm1(-p["shape"] * std::log(e)) / p["shape"] : -std::log(e);
    }
    out(i, "level") = p["place"] + p["scale"] * z;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  double mean = 0, squares = 0;
  for (long i = 0; i < data.n(); ++i) mean += data(i, "level") / n;
  for (long i = 0; i < data.n(); ++i) squares += (data(i, "level") - mean) * (data(i, "level") - mean) / n;
  const double sd = std::max(1e-3, std::sqrt(squares));
  // The place in units of 40 cm.
  const auto prior = [&](double place, double log_scale) {
    return std::log(40.0) + log_normal(place, 300, 80) + log_normal(log_scale, 3.5, 0.5);
  };
  if (p.is("normal")) {
    return log_integral_around<2>({mean / 40, std::log(sd)}, [&](std::array<double, 2> x) {
      const double s = std::exp(x[1]), d = mean - 40 * x[0];
      return prior(40 * x[0], x[1]) - n * (x[1] + 0.5 * std::log(2 * kPi)) -
             0.5 * n * (squares + d * d) / (s * s);
    });
  }
  const double place = (mean - 0.45 * sd) / 40, log_scale = std::log(0.78 * sd);
  if (p.is("gumbel")) {
    return log_integral_around<2>({place, log_scale}, [&](std::array<double, 2> x) {
      const double s = std::exp(-x[1]);
      double sum = prior(40 * x[0], x[1]) - n * x[1];
      for (long i = 0; i < data.n(); ++i) {
        const double z = (data(i, "level") - 40 * x[0]) * s;
        sum -= z + std::exp(-z);
      }
      return sum;
    });
  }
  return log_integral_around<3>({place, log_scale - 0.1, -3.0}, [&](std::array<double, 3> x) {
    const double s = std::exp(-x[1]), shape = std::exp(x[2]);
    double sum = prior(40 * x[0], x[1]) + log_normal(x[2], -1.6, 0.4) - n * x[1];
    for (long i = 0; i < data.n(); ++i) {
      const double inner = 1 + shape * (data(i, "level") - 40 * x[0]) * s;
      if (inner <= 0) return -1e300;
      const double z = std::log(inner) / shape;
      sum -= (1 + shape) * z + std::exp(-z);
    }
    return sum;
  });
}
