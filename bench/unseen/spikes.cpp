// Intervals between spikes. Exact: gamma priors of rates are conjugate; quadrature over the shape, and the
// integral over the pause is known.
#include <occam/simulator.h>

#include "more.h"

constexpr float kShort = 15;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double shape = p.has("shape") ? p["shape"] : 1, pause = p.has("pause") ? p["pause"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    const bool burst = p.has("burst_rate") && i > 0 && out(i - 1, 0) < kShort;
    const double rate = burst ? p["burst_rate"] : p["rate"];
    out(i, 0) = pause + rng.gamma(shape, 1 / (shape * rate));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  double sum = 0, logs = 0, least = 1e9, bursts = 0, in_bursts = 0;
  for (long i = 0; i < data.n(); ++i) {
    const double t = data(i, 0);
    sum += t;
    logs += std::log(std::max(t, 1e-30));
    least = std::min(least, t);
    if (i > 0 && data(i - 1, 0) < kShort) {
      ++bursts;
      in_bursts += t;
    }
  }
  const auto rate = [](double events, double time, double scale) {
    return std::lgamma(3 + events) - std::lgamma(3.0) - 3 * std::log(scale) -
           (3 + events) * std::log(time + 1 / scale);
  };
  if (p.is("poisson")) return rate(n, sum, 0.007);
  if (p.is("bursting")) return rate(n - bursts, sum - in_bursts, 0.007) + rate(bursts, in_bursts, 0.02);
  if (p.is("regular")) {
    return log_integral_around<1>({0.6}, [&](std::array<double, 1> x) {
      const double k = std::exp(x[0]);
      return log_normal(x[0], 0.6, 0.5) + n * (k * x[0] - std::lgamma(k)) + (k - 1) * logs +
             std::lgamma(3 + n * k) - std::lgamma(3.0) - 3 * std::log(0.007) -
             (3 + n * k) * std::log(k * sum + 1 / 0.007);
    });
  }
  if (least <= 1) return -INFINITY;
  const double most = std::min(least, 8.0), power = n + 2;  // of 1 / time, after the integral
  const double late = -power * std::log(sum - n * most + 1 / 0.007),
               early = -power * std::log(sum - n + 1 / 0.007);
  return std::lgamma(3 + n) - std::lgamma(3.0) - 3 * std::log(0.007) + late +
         std::log(-std::expm1(early - late)) - std::log(n * power) - std::log(7.0);
}
