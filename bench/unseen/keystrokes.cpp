// Intervals that begin behind a least time, and depend on the time or on the interval before. Exact: the rate
// is conjugate, the integral over the least time known; quadrature over what is left.
#include <occam/simulator.h>

#include "more.h"

constexpr double kShort = 150;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double rate = p["rate"];
    if (p.has("slope")) rate *= std::exp(-p["slope"] * i / out.n());
    if (p.has("boost") && i > 0 && out(i - 1, 0) < kShort) rate *= p["boost"];
    out(i, 0) = static_cast<float>(p["reach"] + rng.exponential(rate));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = data.n();
  double least = 1e30;
  for (long i = 0; i < data.n(); ++i) least = std::min<double>(least, data(i, 0));
  if (least <= 20) return -INFINITY;
  const double latest = std::min(least, 100.0), power = n + 3;  // of 1 / time, after the integral
  // The rate of row i is exp(change(i)) times that of the start.
  const auto given = [&](const auto& change) {
    double time = 1 / 0.0015, weights = 0, logs = 0;
    for (long i = 0; i < data.n(); ++i) {
      const double weight = std::exp(change(i));
      time += weight * data(i, 0);
      weights += weight;
      logs += change(i);
    }
    const double late = -power * std::log(time - weights * latest),
                 early = -power * std::log(time - weights * 20);
    return logs + std::lgamma(4 + n) - std::lgamma(4.0) - 4 * std::log(0.0015) + late +
           std::log(-std::expm1(early - late)) - std::log(power * weights) - std::log(80.0);
  };
  if (p.is("steady")) return given([](long) { return 0.0; });
  return log_integral_around<1>({0.3}, [&](std::array<double, 1> at) {
    if (p.is("tiring")) return log_normal(at[0], 0, 0.8) + given([&](long i) { return -at[0] * i / n; });
    return log_normal(at[0], 0.5, 0.4) +
           given([&](long i) { return i > 0 && data(i - 1, 0) < kShort ? at[0] : 0.0; });
  });
}
