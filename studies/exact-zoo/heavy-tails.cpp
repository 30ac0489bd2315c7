// Symmetric errors of unknown scale s. Exact by the trapezoidal rule over log s, whose prior is standard normal:
// the error falls exponentially once the step is below the width of the posterior, here at most two thirds of it.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double x = 0;
    if (p.is("normal")) x = rng.normal();
    if (p.is("laplace")) x = rng.exponential() * (rng.bernoulli(0.5) ? 1 : -1);
    if (p.is("cauchy")) x = std::tan(kPi * (rng.uniform() - 0.5));
    out(i, 0) = p["scale"] * x;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  double squares = 0, sizes = 0;
  std::vector<double> square;
  for (long i = 0; i < data.n(); ++i) {
    square.push_back(double(data(i, 0)) * data(i, 0));
    squares += square.back();
    sizes += std::fabs(data(i, 0));
  }
  const double step = 0.05;
  LogSum sum;
  for (double t = -6.5; t < 6.5; t += step) {
    const double s = std::exp(t);
    double log_likelihood = -n * t;
    if (p.is("normal")) log_likelihood -= squares / (2 * s * s) + n / 2 * std::log(2 * kPi);
    if (p.is("laplace")) log_likelihood -= sizes / s + n * std::log(2.0);
    if (p.is("cauchy")) {
      // Products of a few factors at a time: logarithms are dear.
      double product = 1;
      for (std::size_t i = 0; i < square.size(); ++i) {
        product *= 1 + square[i] / (s * s);
        if (product > 1e150 || i + 1 == square.size()) {
          log_likelihood -= std::log(product);
          product = 1;
        }
      }
      log_likelihood -= n * std::log(kPi);
    }
    sum.add(std::log(step) + log_normal(t, 0, 1) + log_likelihood);
  }
  return sum.value();
}
