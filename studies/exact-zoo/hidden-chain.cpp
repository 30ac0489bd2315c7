// Two hidden states with signals of mean -1 and 1 and unit noise; the state is new each time, or a Markov chain.
// Exact: forward algorithm, and quadrature over the probability of staying.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double stay = p.is("persistent") ? p["stay"] : 0.5;
  bool up = rng.bernoulli(0.5);
  for (long i = 0; i < out.n(); ++i) {
    if (i > 0 && !rng.bernoulli(stay)) up = !up;
    out(i, 0) = rng.normal(up ? 1 : -1, 1);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  // Densities relative to that of mean 0: exp(+-y - 1/2).
  double base = 0;
  std::vector<double> ratio;  // of the density up over that down
  for (long i = 0; i < data.n(); ++i) {
    ratio.push_back(std::exp(2.0 * data(i, 0)));
    base += log_normal(data(i, 0), -1, 1);
  }
  const auto log_likelihood = [&](double stay) {
    double up = 0.5;  // probability of the state before the signal is seen
    double product = 1, sum = base;
    for (const double r : ratio) {
      const double density = up * r + 1 - up;
      product *= density;
      if (product > 1e200 || product < 1e-200) {
        sum += std::log(product);
        product = 1;
      }
      const double seen = up * r / density;
      up = seen * stay + (1 - seen) * (1 - stay);
    }
    return sum + std::log(product);
  };
  if (p.is("independent")) return log_likelihood(0.5);
  return log_integral(0.5, 1, 6, log_likelihood) + std::log(2.0);
}
