// Ages at failures of two kinds, of machines that were last seen at an age of 1 to 15 years. Exact: rates
// have gamma priors; quadrature over the shape, or over what maintenance leaves of a rate.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const bool maintained = out.design(i, "maintained") > 0.5;
    const double seen = rng.uniform(1, 15), shape = p.is("wear") ? p["shape"] : 1;
    double first = rng.exponential(p["bearings"]), second = rng.exponential(p["electronics"]);
    if (maintained && p.is("bearings")) first /= p["left"];
    if (maintained && p.is("electronics")) second /= p["left"];
    first = 5 * std::pow(first * shape / 5, 1 / shape);
    const double failure = std::min(first, second);
    out(i, "age") = static_cast<float>(std::min(failure, seen));
    out(i, "cause") = failure > seen ? 0 : first < second ? 1 : 2;
  }
  return true;
}

// The density of ages when last seen is the same for all models.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double failures[2] = {}, of_maintained[2] = {}, years = 0, maintained_years = 0, logs = 0;
  for (long i = 0; i < data.n(); ++i) {
    const bool maintained = data(i, 0) > 0.5;
    const double age = data(i, 1);
    const int cause = static_cast<int>(data(i, 2));
    years += age;
    if (maintained) maintained_years += age;
    if (cause > 0) {
      ++failures[cause - 1];
      if (maintained) ++of_maintained[cause - 1];
    }
    if (cause == 1) logs += std::log(age / 5);
  }
  const auto rate = [&](int cause, double exposure) {
    return log_rate_evidence(exposure, failures[cause], 4, 0.04);
  };
  if (p.is("chance")) return rate(0, years) + rate(1, years);
  if (p.is("wear")) {
    return rate(1, years) +
           log_integral(1, 2.5, 6 * FINE,
                        [&](double shape) {
                          double exposure = 0;
                          for (long i = 0; i < data.n(); ++i)
                            exposure += 5 / shape * std::pow(data(i, 1) / 5, shape);
                          return (shape - 1) * logs + rate(0, exposure);
                        }) -
           std::log(1.5);
  }
  const int cause = p.is("bearings") ? 0 : 1;
  return rate(1 - cause, years) + log_integral_around<1>({0}, [&](std::array<double, 1> x) {
           const double left = logistic(x[0]), prevented = logistic(-x[0]);
           return log_beta_logit(x[0], 1, 1) + of_maintained[cause] * std::log(left) +
                  rate(cause, years - prevented * maintained_years);
         });
}
