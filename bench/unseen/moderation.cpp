// A product of two design columns. Exact: regression.
#include <occam/simulator.h>

#include "more.h"

static double stress_of(double x) {
  return (x - 5) / 2.9;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto of = [&](const char* name) { return p.has(name) ? p[name] : 0.0; };
  for (long i = 0; i < out.n(); ++i) {
    const double stress = stress_of(out(i, "stress")), coffee = out(i, "coffee");
    out(i, "sleep") =
        7 + std::sqrt(p["variance"]) * (p["level"] + of("of_stress") * stress + of("of_coffee") * coffee +
                                        of("of_product") * stress * coffee + rng.normal());
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const bool stress = p.is("stress") || p.is("both") || p.is("moderation");
  const bool coffee = p.is("coffee") || p.is("both") || p.is("moderation");
  std::vector<double> sd = {1};
  if (stress) sd.push_back(0.5);
  if (coffee) sd.push_back(0.5);
  if (p.is("moderation")) sd.push_back(0.5);
  Regression regression(std::vector<double>(sd.size(), 0.0), sd);
  for (long i = 0; i < data.n(); ++i) {
    std::vector<double> x = {1};
    const double s = stress_of(data(i, "stress")), c = data(i, "coffee");
    if (stress) x.push_back(s);
    if (coffee) x.push_back(c);
    if (p.is("moderation")) x.push_back(s * c);
    regression.add(x, data(i, "sleep") - 7);
  }
  return regression.with_variance_prior(4, 4);
}
