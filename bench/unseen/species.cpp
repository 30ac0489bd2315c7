// Lengths of three species, of which a column says which. Exact: variances are conjugate given the means,
// means are given the variances; quadrature over the rest.
#include <occam/simulator.h>
#include <string>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double mean[3], sd[3];
  for (int k = 0; k < 3; ++k) {
    const std::string own = std::to_string(k);
    mean[k] = p.has("mean") ? p["mean"] : p["mean_" + own];
    sd[k] = std::sqrt(p.has("variance") ? p["variance"] : p["variance_" + own]);
  }
  for (long i = 0; i < out.n(); ++i) {
    const auto k = static_cast<int>(rng.uniform(0, 3));
    out(i, "species") = k;
    out(i, "length") = std::exp(mean[k] + sd[k] * rng.normal());
  }
  return true;
}

namespace {

struct Group {
  double n = 0, mean = 0, squares = 0;  // about the mean
  void add(double x) {
    ++n;
    const double d = x - mean;
    mean += d / n;
    squares += d * (x - mean);
  }
  double about(double m) const { return squares + n * (mean - m) * (mean - m); }
  // Without prior and constant of the variance; mean ~ normal(3, .3).
  double given(double v) const {
    if (n == 0) return 0;
    const double t = v / n + 0.09;
    return log_normal(mean, 3, std::sqrt(t)) - 0.5 * squares / v - 0.5 * (n - 1) * std::log(2 * kPi * v) -
           0.5 * std::log(n);
  }
};

double log_prior(double log_v) {  // of the log of a variance ~ inverse_gamma(4, .2)
  return 4 * std::log(0.2) - std::lgamma(4) - 4 * log_v - 0.2 * std::exp(-log_v);
}

}  // namespace

// The density of x itself instead of log x is a factor that all models have.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Group all, own[3];
  for (long i = 0; i < data.n(); ++i) {
    const double x = std::log(data(i, "length"));
    all.add(x);
    own[static_cast<int>(data(i, "species"))].add(x);
  }
  const auto one = [](const Group& g) {
    return log_integral_around<1>(
        {-2.7}, [&](std::array<double, 1> x) { return log_prior(x[0]) + g.given(std::exp(x[0])); });
  };
  if (p.is("same")) return one(all);
  if (p.is("both")) return one(own[0]) + one(own[1]) + one(own[2]);
  if (p.is("means")) {
    return log_integral_around<1>({-2.7}, [&](std::array<double, 1> x) {
      double sum = log_prior(x[0]);
      for (const Group& g : own) sum += g.given(std::exp(x[0]));
      return sum;
    });
  }
  return log_integral_around<1>(
      {all.mean},
      [&](std::array<double, 1> x) {
        double sum = log_normal(x[0], 3, 0.3);
        for (const Group& g : own) sum += log_variance_evidence(g.n, g.about(x[0]), 4, 0.2);
        return sum;
      },
      0.25);
}
