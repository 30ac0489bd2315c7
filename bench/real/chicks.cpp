// Weights by feed. Exact: means of feeds are conjugate given the variances, the mean of all and how much they
// differ; quadrature over the rest.
#include <occam/simulator.h>

#include "../unseen/more.h"

constexpr std::size_t kFeeds = 6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double mean[kFeeds], sd[kFeeds];
  const double common = std::sqrt(p["scale"] / rng.gamma(p["shape"]));
  for (std::size_t k = 0; k < kFeeds; ++k) {
    mean[k] = p["mean"] + (p.is("same") ? 0 : p["between"] * rng.normal());
    sd[k] = p.is("both") ? std::sqrt(p["scale"] / rng.gamma(p["shape"])) : common;
  }
  for (long i = 0; i < out.n(); ++i) {
    const auto k = static_cast<std::size_t>(out.design(i, "feed")) - 1;
    out(i, "weight") = static_cast<float>(rng.normal(mean[k], sd[k]));
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
  // Given the variance: what does not depend on the mean.
  double within(double v) const {
    return -0.5 * squares / v - 0.5 * (n - 1) * std::log(2 * kPi * v) - 0.5 * std::log(n);
  }
};

}  // namespace

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  Group all, own[kFeeds];
  for (long i = 0; i < data.n(); ++i) {
    const double x = data(i, "weight");
    all.add(x);
    own[static_cast<std::size_t>(data(i, "feed")) - 1].add(x);
  }
  std::vector<Group> feeds;
  for (const Group& one : own) {
    if (one.n > 0) feeds.push_back(one);
  }
  const double shape = p["shape"], scale = p["scale"];
  const auto log_prior = [&](double log_v) {
    return shape * std::log(scale) - std::lgamma(shape) - shape * log_v - scale * std::exp(-log_v);
  };
  const double start = std::log(scale / shape);
  if (p.is("same")) {
    return log_integral_around<1>({start}, [&](std::array<double, 1> x) {
      const double v = std::exp(x[0]);
      return log_prior(x[0]) + all.within(v) + log_normal(all.mean, 300, std::sqrt(v / all.n + 1e4));
    });
  }
  const auto over_between = [&](auto f) {
    return log_integral(0, 360, 8 * FINE,
                        [&](double between) { return log_half_normal(between, 60) + f(between); });
  };
  if (p.is("means")) {
    return over_between([&](double between) {
      return log_integral_around<1>({start}, [&](std::array<double, 1> x) {
        // Means of feeds given the variance: independent about a mean ~ normal(300, 100).
        const double v = std::exp(x[0]);
        double sum = log_prior(x[0]), precision = 1e-4, weighted = 0;
        for (const Group& one : feeds) {
          const double variance = v / one.n + between * between, d = one.mean - 300;
          sum += one.within(v) - 0.5 * std::log(2 * kPi * variance) - 0.5 * d * d / variance;
          precision += 1 / variance;
          weighted += d / variance;
        }
        return sum + 0.5 * weighted * weighted / precision - 0.5 * std::log(precision * 1e4);
      });
    });
  }
  // Nodes of variances, trapezoidal in their logarithm, with all that depends on neither mean nor `between`.
  const double low = std::log(scale) - 4.5, high = std::log(scale) + 3, step = 0.1 / FINE;
  std::vector<double> v, weight[kFeeds];
  for (double x = low; x < high; x += step) v.push_back(std::exp(x));
  double constant = 0;
  for (std::size_t k = 0; k < feeds.size(); ++k) {
    std::vector<double> logs;
    for (const double one : v)
      logs.push_back(std::log(step) + log_prior(std::log(one)) + feeds[k].within(one));
    const double largest = *std::max_element(logs.begin(), logs.end());
    constant += largest;
    for (const double one : logs) weight[k].push_back(std::exp(one - largest));
  }
  return constant + over_between([&](double between) {
           return log_integral_around<1>({(all.mean - 300) / 100}, [&](std::array<double, 1> x) {
             double sum = log_normal(x[0], 0, 1);
             for (std::size_t k = 0; k < feeds.size(); ++k) {
               const double d = feeds[k].mean - 300 - 100 * x[0];
               double f = 0;
               for (std::size_t j = 0; j < v.size(); ++j) {
                 if (weight[k][j] < 1e-14) continue;
                 const double variance = v[j] / feeds[k].n + between * between;
                 f += weight[k][j] * std::exp(-0.5 * d * d / variance) / std::sqrt(2 * kPi * variance);
               }
               sum += std::log(f + 1e-300);
             }
             return sum;
           });
         });
}
