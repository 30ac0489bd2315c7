// Counts of insects on plots with one of six sprays. Exact: rates are conjugate while plots do not scatter;
// else quadrature over the rate of each spray, given how much they do.
#include <occam/simulator.h>

#include "../unseen/more.h"

constexpr int kSprays = 6;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double rate[kSprays];
  const double common = rng.gamma(p["shape"], p["scale"]);
  for (double& one : rate) one = p.is("same") ? common : rng.gamma(p["shape"], p["scale"]);
  for (long i = 0; i < out.n(); ++i) {
    double mean = rate[static_cast<int>(out.design(i, "spray")) - 1];
    if (p.is("scatter")) {
      const double square = p["cv"] * p["cv"];
      if (square > 1e-9) mean *= rng.gamma(1 / square, square);
    }
    out(i, "count") = static_cast<float>(rng.poisson(mean));
  }
  return true;
}

// Without the factorials of the counts.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double n[kSprays] = {}, sum[kSprays] = {}, all = 0;
  std::vector<double> at_least;  // plots with more than j insects
  for (long i = 0; i < data.n(); ++i) {
    const int k = static_cast<int>(data(i, "spray")) - 1;
    const auto count = static_cast<std::size_t>(data(i, "count"));
    ++n[k];
    sum[k] += static_cast<double>(count);
    all += static_cast<double>(count);
    if (at_least.size() < count) at_least.resize(count);
    for (std::size_t j = 0; j < count; ++j) ++at_least[j];
  }
  const double shape = p["shape"], scale = p["scale"];
  if (p.is("same")) return log_rate_evidence(static_cast<double>(data.n()), all, shape, scale);
  if (p.is("sprays")) {
    double total = 0;
    for (int k = 0; k < kSprays; ++k) total += log_rate_evidence(n[k], sum[k], shape, scale);
    return total;
  }
  return log_integral(0, 2.4, 12 * FINE, [&](double cv) {
    const double square = cv * cv;
    double total = log_half_normal(cv, 0.4);
    for (std::size_t j = 0; j < at_least.size(); ++j)
      total += at_least[j] * std::log1p(static_cast<double>(j) * square);
    for (int k = 0; k < kSprays; ++k) {
      if (n[k] == 0) continue;
      total += log_integral_around<1>({std::log((sum[k] + 1) / n[k])}, [&](std::array<double, 1> x) {
        return log_gamma_log(x[0], shape, scale) + sum[k] * x[0] -
               (n[k] / square + sum[k]) * std::log1p(std::exp(x[0]) * square);
      });
    }
    return total;
  });
}
