// Velocities over 100 days. Exact: conjugate regression, with quadrature over the period.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  std::vector<double> night(static_cast<std::size_t>(out.n()));
  for (double& one : night) one = rng.uniform(0, 100);
  std::sort(night.begin(), night.end());
  const double sd = std::sqrt(p["variance"]), first = night[0];
  for (long i = 0; i < out.n(); ++i) {
    const auto t = static_cast<float>(night[static_cast<std::size_t>(i)] - first);
    double signal = p.is("drift") ? p["slope"] * t / 100 : 0;
    if (p.is("planet")) {
      const double phase = 2 * kPi * t / p["period"];
      signal = p["along"] * std::cos(phase) + p["across"] * std::sin(phase);
    }
    out(i, "night") = t;
    out(i, "velocity") = static_cast<float>(sd * (p["level"] + signal + rng.normal()));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (!p.is("planet")) {
    MixedSums sums(2);
    for (long i = 0; i < data.n(); ++i) sums.add({{0, 1.0}, {1, data(i, 0) / 100.0}}, data(i, 1));
    return sums.evidence({2, p.is("drift") ? 1.5 : 0}, 4, 30);
  }
  // Over frequencies, which 100 days tell apart alike anywhere; the prior is even in their logarithm.
  const double low = 1 / 60.0, high = 1 / 3.0;
  return log_integral(low, high, 240 * FINE, [&](double frequency) {
    MixedSums sums(3);
    const double w = 2 * kPi * frequency;
    for (long i = 0; i < data.n(); ++i) {
      const double phase = w * data(i, 0);
      sums.add({{0, 1.0}, {1, std::cos(phase)}, {2, std::sin(phase)}}, data(i, 1));
    }
    return sums.evidence({2, 1, 1}, 4, 30) - std::log(frequency * std::log(high / low));
  });
}
