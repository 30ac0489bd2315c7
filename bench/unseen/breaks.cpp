// Regressions with a square, a hinge or a step. Exact: conjugate, quadrature over the place of a hinge and a
// sum over the gaps where a step may be.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const double t = out(i, "temperature"), x = (t - 20) / 10;
    double mean = p["level"] + p["slope"] * x;
    if (p.is("curve")) mean += p["curvature"] * x * x;
    if (p.is("bend")) mean += p["change"] * std::max(0.0, (t - p["where"]) / 10);
    if (p.is("step") && t > p["where"]) mean += p["height"];
    out(i, "growth") = static_cast<float>(5 + sd * (mean + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto with = [&](double sd, auto third) {
    MixedSums sums(3);
    for (long i = 0; i < data.n(); ++i)
      sums.add({{0, 1.0}, {1, (data(i, 0) - 20.0) / 10}, {2, third(data(i, 0))}}, data(i, 1) - 5.0);
    return sums.evidence({2, 1, sd}, 4, 3);
  };
  const double low = 8, high = 32;
  if (p.is("line")) return with(0, [](double) { return 0.0; });
  if (p.is("curve")) return with(1, [](double t) { return (t - 20) * (t - 20) / 100; });
  if (p.is("bend")) {
    return log_integral(low, high, 60 * FINE,
                        [&](double where) {
                          return with(2, [&](double t) { return std::max(0.0, (t - where) / 10); });
                        }) -
           std::log(high - low);
  }
  std::vector<double> edges = {low, high};
  for (long i = 0; i < data.n(); ++i) {
    if (data(i, 0) > low && data(i, 0) < high) edges.push_back(data(i, 0));
  }
  std::sort(edges.begin(), edges.end());
  LogSum sum;
  for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
    if (edges[k + 1] <= edges[k]) continue;
    sum.add(std::log((edges[k + 1] - edges[k]) / (high - low)) +
            with(1.5, [&](double t) { return t > edges[k] ? 1.0 : 0.0; }));
  }
  return sum.value();
}
