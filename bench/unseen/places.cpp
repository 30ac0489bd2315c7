// Points in a square. Exact: quadrature over two parameters.
#include <occam/simulator.h>

#include "more.h"

constexpr double kCrowd = 0.3, kWide = 0.08;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double x = rng.uniform(), y = rng.uniform();
    if (p.is("slope")) {
      while (2 * rng.uniform() > 1 + p["to_east"] * (x - 0.5) + p["to_north"] * (y - 0.5)) {
        x = rng.uniform();
        y = rng.uniform();
      }
    }
    if (p.is("crowd") && rng.uniform() < kCrowd) {
      do {
        x = rng.normal(p["east_of"], kWide);
        y = rng.normal(p["north_of"], kWide);
      } while (x < 0 || x > 1 || y < 0 || y > 1);
    }
    out(i, "east") = x;
    out(i, "north") = y;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  if (p.is("anywhere")) return 0;
  if (p.is("slope")) {
    return log_integral(-0.9, 0.9, 2 * FINE,
                        [&](double a) {
                          return log_integral(-0.9, 0.9, 2 * FINE, [&](double b) {
                            double sum = 0;
                            for (long i = 0; i < n; ++i)
                              sum += std::log(1 + a * (data(i, "east") - 0.5) + b * (data(i, "north") - 0.5));
                            return sum;
                          });
                        }) -
           2 * std::log(1.8);
  }
  // Of each point and each centre that the quadrature asks for, in either direction: the density within the
  // square.
  constexpr int kPanels = 12 * FINE;
  std::vector<float> east, north;
  log_integral(0.2, 0.8, kPanels, [&](double centre) {
    const double root = kWide * std::sqrt(2.0);
    const double within = 0.5 * (std::erf((1 - centre) / root) + std::erf(centre / root));
    for (long i = 0; i < n; ++i) {
      east.push_back(static_cast<float>(std::exp(log_normal(data(i, "east"), centre, kWide)) / within));
      north.push_back(
          static_cast<float>(kCrowd * std::exp(log_normal(data(i, "north"), centre, kWide)) / within));
    }
    return 0.0;
  });
  const float* x = east.data();
  return log_integral(0.2, 0.8, kPanels,
                      [&](double) {
                        const float* y = north.data();
                        const double inner = log_integral(0.2, 0.8, kPanels, [&](double) {
                          // Logarithms of products of a few, which stay within what a double holds.
                          double logs = 0, product = 1;
                          for (long i = 0; i < n; ++i) {
                            product *= 1 - kCrowd + static_cast<double>(x[i]) * y[i];
                            if (i % 32 == 31) logs += std::log(product), product = 1;
                          }
                          y += n;
                          return logs + std::log(product);
                        });
                        x += n;
                        return inner;
                      }) -
         2 * std::log(0.6);
}
