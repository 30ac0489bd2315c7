// Counts in four categories. Exact: beta and Dirichlet priors are conjugate.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double w[4] = {1, 1, 1, 1};
  if (p.is("any")) {
    const char* names[] = {"w0", "w1", "w2", "w3"};
    for (int k = 0; k < 4; ++k) w[k] = p[names[k]];
  } else if (!p.is("equal")) {
    const double first = p["first"];
    const double second = p.is("two_bits") ? p["second"] : 0.5;
    for (int k = 0; k < 4; ++k) w[k] = (k & 1 ? first : 1 - first) * (k & 2 ? second : 1 - second);
  }
  const double total = w[0] + w[1] + w[2] + w[3];
  for (long i = 0; i < out.n(); ++i) {
    double u = rng.uniform() * total;
    int k = 0;
    while (k < 3 && u >= w[k]) u -= w[k++];
    out(i, 0) = k;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double count[4] = {};
  const double n = data.n();
  for (long i = 0; i < data.n(); ++i) ++count[static_cast<int>(data(i, 0))];
  const auto bit = [&](int of) {
    double ones = 0;
    for (int k = 0; k < 4; ++k) ones += k & of ? count[k] : 0;
    return log_beta(1 + ones, 1 + n - ones);
  };
  if (p.is("two_bits")) return bit(1) + bit(2);
  if (p.is("one_bit")) return bit(1) - n * std::log(2.0);
  if (p.is("equal")) return -n * std::log(4.0);
  double sum = std::lgamma(4.0) - std::lgamma(4 + n);
  for (const double one : count) sum += std::lgamma(1 + one);
  return sum;
}
