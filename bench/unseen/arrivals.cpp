// Times within a day, of densities 1, 1 + slope (2 t - 1) and 1 + depth cos(4 pi (t - shift)). Exact:
// quadrature.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double t = 0, density = 0;
    do {
      t = rng.uniform();
      density = 1;
      if (p.is("more")) density += p["slope"] * (2 * t - 1);
      if (p.is("busy")) density += p["depth"] * std::cos(4 * kPi * (t - p["shift"] / 24));
    } while (rng.uniform(0, 2) > density);
    out(i, "hour") = 24 * t;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("even")) return 0;
  if (p.is("more")) {
    return log_integral(-1, 1, 25 * FINE, [&](double slope) {
      double sum = std::log(0.5);
      for (long i = 0; i < data.n(); ++i) sum += std::log1p(slope * (data(i, "hour") / 12 - 1));
      return sum;
    });
  }
  // The shift is on a circle, where equal steps are exact.
  LogSum all;
  const int steps = 64 * FINE;
  for (int k = 0; k < steps; ++k) {
    std::vector<double> wave(static_cast<std::size_t>(data.n()));
    for (long i = 0; i < data.n(); ++i) {
      wave[static_cast<std::size_t>(i)] = std::cos(4 * kPi * data(i, "hour") / 24 - 2 * kPi * k / steps);
    }
    all.add(-std::log(steps) + log_integral(0, 1, 10 * FINE, [&](double depth) {
      double sum = 0, product = 1;
      for (std::size_t i = 0; i < wave.size(); ++i) {
        product *= 1 + depth * wave[i];
        if (i % 16 == 15 || i + 1 == wave.size()) {
          sum += std::log(product);
          product = 1;
        }
      }
      return sum;
    }));
  }
  return all.value();
}
