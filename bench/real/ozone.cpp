// Ozone by temperature, wind and sun, for the complete rows of R's airquality. Exact: conjugate regressions.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    double mean = p["level"] + p["by_temp"] * (out.design(i, "temp") - 75) / 10;
    if (p.has("by_wind")) mean += p["by_wind"] * (out.design(i, "wind") - 10) / 4;
    if (p.has("by_solar")) mean += p["by_solar"] * (out.design(i, "solar") - 200) / 100;
    out(i, "ozone") = static_cast<float>(std::exp(3.5 + sd * (mean + rng.normal())));
  }
  return true;
}

// The density of ozone itself instead of its logarithm is a factor that all models have.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  MixedSums sums(4);
  for (long i = 0; i < data.n(); ++i)
    sums.add({{0, 1.0},
              {1, (data(i, "temp") - 75.0) / 10},
              {2, (data(i, "wind") - 10.0) / 4},
              {3, (data(i, "solar") - 200.0) / 100}},
             std::log(static_cast<double>(data(i, "ozone"))) - 3.5);
  return sums.evidence({2, 1, p.has("by_wind") ? 1.0 : 0.0, p.has("by_solar") ? 1.0 : 0.0}, 3, 1);
}
