// Twenty columns, of which five or twice five have something in common. Exact: the sum of five genes has a
// variance of 1 + 5 ratio times that of all other directions; quadrature over the ratio.
#include <occam/simulator.h>

#include "more.h"

constexpr int kGenes = 20, kTogether = 5;

static int groups_of(const occam::Parameters& p) {
  return p.is("two") ? 2 : p.is("one") ? 1 : 0;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const int groups = groups_of(p);
  const double sd = std::sqrt(p["variance"]), common = groups > 0 ? sd * std::sqrt(p["ratio"]) : 0;
  for (long i = 0; i < out.n(); ++i) {
    const double shared[2] = {common * rng.normal(), common * rng.normal()};
    for (int g = 0; g < kGenes; ++g) {
      out(i, g) = sd * rng.normal() + (g / kTogether < groups ? shared[g / kTogether] : 0);
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const int groups = groups_of(p);
  double squares = 0, of_sums = 0;
  for (long i = 0; i < data.n(); ++i) {
    double sum[2] = {};
    for (int g = 0; g < kGenes; ++g) {
      squares += data(i, g) * data(i, g);
      if (g / kTogether < groups) sum[g / kTogether] += data(i, g);
    }
    of_sums += (sum[0] * sum[0] + sum[1] * sum[1]) / kTogether;
  }
  const double n = static_cast<double>(data.n());
  const auto given = [&](double ratio) {
    const double factor = 1 + kTogether * ratio;
    return log_variance_evidence(n * kGenes, squares - of_sums + of_sums / factor, 3, 1) -
           0.5 * n * groups * std::log(factor);
  };
  if (groups == 0) return given(0);
  return log_integral(0, 1, 60 * FINE, [&](double r) { return std::log(4 * std::pow(1 - r, 3)) + given(r); });
}
