// Markov chains on three symbols. After every context the next symbol has probabilities of its own, with a flat
// Dirichlet prior; the first two symbols are drawn from all alike. Exact: Dirichlet priors are conjugate.
#include <occam/simulator.h>

#include "exact.h"

// The number of the context of symbol i: its last `order` symbols.
template <class Rows>
int context(Rows& rows, long i, int order) {
  int number = 0;
  for (int back = 1; back <= order; ++back) number = 3 * number + static_cast<int>(rows(i - back, 0));
  return number;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const int order = static_cast<int>(p["order"]);
  double weight[9][3];
  for (auto& weights : weight) {
    for (double& w : weights) w = rng.gamma(1);
  }
  for (long i = 0; i < out.n(); ++i) {
    if (i < 2) {
      out(i, 0) = rng.integer(0, 2);
      continue;
    }
    const double* w = weight[context(out, i, order)];
    const double u = rng.uniform() * (w[0] + w[1] + w[2]);
    out(i, 0) = u < w[0] ? 0 : u < w[0] + w[1] ? 1 : 2;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const int order = static_cast<int>(p["order"]);
  double count[9][3] = {};
  for (long i = 2; i < data.n(); ++i) ++count[context(data, i, order)][static_cast<int>(data(i, 0))];
  double sum = -2 * std::log(3.0);
  for (const auto& c : count) {
    sum += std::lgamma(3.0) - std::lgamma(3 + c[0] + c[1] + c[2]);
    for (const double one : c) sum += std::lgamma(1 + one);
  }
  return sum;
}
