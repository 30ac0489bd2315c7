// A regression on the logarithm of a dose, a condition, and their product. Exact: conjugate.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  const double juice = p.has("juice") ? p["juice"] : 0, change = p.has("change") ? p["change"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const double x = std::log2(out.design(i, "dose")), z = out.design(i, "supp") - 0.5;
    const double mean = p["level"] + p["slope"] * x + (juice + change * x) * z;
    out(i, "len") = static_cast<float>(20 + sd * (mean + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  MixedSums sums(4);
  for (long i = 0; i < data.n(); ++i) {
    const double x = std::log2(data(i, "dose")), z = data(i, "supp") - 0.5;
    sums.add({{0, 1.0}, {1, x}, {2, z}, {3, x * z}}, data(i, "len") - 20.0);
  }
  return sums.evidence({2, 2, p.has("juice") ? 1.0 : 0.0, p.has("change") ? 1.0 : 0.0}, 4, 60);
}
