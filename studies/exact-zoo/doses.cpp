// Effects of doses with noise of 8 mmHg. Exact: normal priors, and quadrature over the dose of half the effect.
#include <occam/simulator.h>

#include "exact.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const double dose = out.design(i, "dose");
    double mean = p["placebo"];
    if (p.is("linear")) mean += p["slope"] * dose;
    if (p.is("saturating")) mean += p["most"] * dose / (dose + p["half"]);
    out(i, "effect") = rng.normal(mean, 8);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto with = [&](double sd, auto shape) {
    Regression regression({0, 0}, {5, sd});
    for (long i = 0; i < data.n(); ++i) regression.add({1, shape(data(i, 0))}, data(i, 1));
    return regression.with_sigma(8);
  };
  if (p.is("none")) return with(1, [](double) { return 0.0; });
  if (p.is("linear")) return with(0.4, [](double dose) { return dose; });
  return log_integral(1, 15, 3, [&](double half) {
    return with(15, [half](double dose) { return dose / (dose + half); }) - std::log(14.0);
  });
}
