// A hidden Markov model of two states against a hidden normal process with the same first two moments.
// Exact: forward algorithm or Kalman filter, quadrature over one or two parameters.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double height = p.has("height") ? p["height"] : 0, stay = p.has("stay") ? p["stay"] : 0;
  const double kept = 2 * stay - 1;
  double behind = p.is("states") ? (rng.bernoulli(0.5) ? 1 : -1) : rng.normal();
  for (long i = 0; i < out.n(); ++i) {
    if (i > 0 && p.is("states") && !rng.bernoulli(stay)) behind = -behind;
    if (i > 0 && p.is("drift")) behind = kept * behind + std::sqrt(1 - kept * kept) * rng.normal();
    const double x =
        p.is("noise") ? p["spread"] * (p["level"] + rng.normal()) : height * behind + rng.normal();
    out(i, 0) = static_cast<float>(x);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  std::vector<double> x(data.n());
  double total = 0, squares = 0;
  for (long i = 0; i < data.n(); ++i) {
    x[i] = data(i, 0);
    total += x[i];
    squares += x[i] * x[i];
  }
  // Without the constants of normal densities.
  if (p.is("noise")) {
    const double rest = squares - total * total / (n + 1 / 0.16);
    return log_integral_around<1>({0.5 * std::log(squares / n)}, [&](std::array<double, 1> at) {
      return log_normal(at[0], 0.4, 0.3) - 0.5 * rest * std::exp(-2 * at[0]) - 0.5 * std::log1p(0.16 * n) -
             n * at[0];
    });
  }
  const auto log_f = [&](std::array<double, 2> at) {
    const double height = std::exp(at[0]), stay = logistic(at[1]);
    double sum = log_normal(at[0], 0.2, 0.4) + log_beta_logit(at[1], 8, 2);
    if (p.is("states")) {
      // `up` is the chance of the upper state before each reading.
      double up = 0.5, product = 1;
      sum -= 0.5 * (squares + n * height * height);
      for (const double one : x) {
        const double ratio = std::exp(std::clamp(height * one, -200.0, 200.0));
        const double from_up = up * ratio, from_down = (1 - up) / ratio, both = from_up + from_down;
        up = (stay * from_up + (1 - stay) * from_down) / both;
        product *= both;
        if (product < 1e-100 || product > 1e100) sum += std::log(product), product = 1;
      }
      return sum + std::log(product);
    }
    const double kept = 2 * stay - 1, always = height * height;
    double mean = 0, variance = always;
    for (const double one : x) {
      const double error = one - mean, whole = variance + 1, gain = variance / whole;
      sum -= 0.5 * (std::log(whole) + error * error / whole);
      mean = kept * (mean + gain * error);
      variance = kept * kept * gain + (1 - kept * kept) * always;
    }
    return sum;
  };
  return log_integral_around<2>({0.2, 1.4}, log_f, 0.4);
}
