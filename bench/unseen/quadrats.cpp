// Twelve columns of counts. Exact: rates are conjugate given the mean; quadrature over it.
#include <occam/simulator.h>

#include "more.h"

constexpr int kSpecies = 12;
constexpr double kShape = 6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double species[kSpecies];
  for (double& each : species) each = p.is("species") ? rng.gamma(kShape, 1 / kShape) : 1;
  for (long i = 0; i < out.n(); ++i) {
    const double place = p.is("places") ? rng.gamma(kShape, 1 / kShape) : 1;
    for (int k = 0; k < kSpecies; ++k)
      out(i, k) = static_cast<double>(rng.poisson(p["mean"] * species[k] * place));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  std::vector<double> sums, counts;
  if (p.is("even")) {
    sums = {0}, counts = {n * kSpecies};
  } else if (p.is("species")) {
    sums.assign(kSpecies, 0), counts.assign(kSpecies, n);
  } else {
    sums.assign(static_cast<std::size_t>(data.n()), 0), counts.assign(sums.size(), kSpecies);
  }
  for (long i = 0; i < data.n(); ++i) {
    for (int k = 0; k < kSpecies; ++k) {
      const auto at = static_cast<std::size_t>(p.is("even") ? 0 : p.is("species") ? k : i);
      sums[at] += data(i, k);
    }
  }
  return log_integral_around<1>({0}, [&](std::array<double, 1> x) {
    const double mean = std::exp(x[0]);
    double sum = log_gamma_log(x[0], 2, 0.6);
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sum += p.is("even") ? sums[j] * x[0] - counts[j] * mean
                          : sums[j] * x[0] + log_rate_evidence(counts[j] * mean, sums[j], kShape, 1 / kShape);
    }
    return sum;
  });
}
