// Levels, lines and steps at irregular times. Exact: conjugate regressions, summed over the visit of the
// step.
#include <occam/simulator.h>

#include "more.h"

// The step is before visit 1 + floor(share (n - 1)): each but the first with the same probability.
bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  const long step = p.has("share") ? 1 + long(p["share"] * (out.n() - 1)) : out.n();
  for (long i = 0; i < out.n(); ++i) {
    out(i, "month") = i == 0 ? 0 : out(i - 1, "month") + std::exp(0.5 + 0.9 * rng.normal());
    double mean = p["level"];
    if (p.has("slope")) mean += p["slope"] * double(out(i, "month")) / 60;
    if (i >= step) mean += p["jump"];
    out(i, "egfr") = 60 + sd * (mean + rng.normal());
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  const auto with = [&](long step) {
    std::vector<double> sd = {3};
    if (!p.is("steady")) sd.push_back(2);
    Regression regression(std::vector<double>(sd.size(), 0.0), sd);
    std::vector<double> x(sd.size(), 1.0);
    for (long i = 0; i < n; ++i) {
      if (p.is("declining")) x[1] = double(data(i, 0)) / 60;
      if (p.is("injury")) x[1] = i >= step;
      regression.add(x, data(i, 1) - 60.0);
    }
    return regression.with_variance_prior(4, 75);
  };
  if (!p.is("injury")) return with(n);
  LogSum sum;
  for (long step = 1; step < n; ++step) sum.add(with(step) - std::log(double(n - 1)));
  return sum.value();
}
