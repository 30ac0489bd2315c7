// Sizes above 1 whose logarithm is exponential (Pareto) or the sum of two exponentials. Exact by quadrature over alpha.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double stages = p.is("pareto") ? 1 : 2;
  for (long i = 0; i < out.n(); ++i) out(i, 0) = std::exp(rng.gamma(stages, 1 / p["alpha"]));
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  const double stages = p.is("pareto") ? 1 : 2;
  double sum = 0, log_sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double t = std::log(double(data(i, 0)));
    sum += t;
    log_sum += std::log(t);
  }
  const double log_f = (stages - 1) * log_sum - sum;
  return log_f + log_integral(0.5, 3, 12, [&](double alpha) {
           return stages * n * std::log(alpha) - alpha * sum - std::log(2.5);
         });
}
