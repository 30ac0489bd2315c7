// The decision model as one would write it first: one trial after the other, doubles, the C library's
// functions, no skipping. The reference that the SIMD version is tested and timed against.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace occam {

struct ScalarTrial {
  double steps = 0.0;
  bool upper = false;
  bool decided = false;
};

class ScalarAccumulator {
 public:
  explicit ScalarAccumulator(std::uint64_t seed) : engine_(static_cast<std::mt19937::result_type>(seed)) {}

  double uniform() { return (static_cast<double>(engine_()) + 0.5) * 0x1p-32; }

  // Chambers, Mallows & Stuck 1976; alpha = 2 has variance 2.
  double stable(double alpha) {
    if (alpha == 2.0) return std::numbers::sqrt2 * normal_(engine_);
    const double u = std::numbers::pi * (uniform() - 0.5);
    const double w = -std::log(uniform());
    return std::sin(alpha * u) / std::pow(std::cos(u), 1.0 / alpha) *
           std::pow(std::cos((1.0 - alpha) * u) / w, (1.0 - alpha) / alpha);
  }

  ScalarTrial trial(double v, double a, double zr, double alpha, double dt, std::int64_t max_steps) {
    const double scale = std::pow(dt, 1.0 / alpha) / std::numbers::sqrt2;
    double x = a * zr;
    std::int64_t steps = 0;
    while (x > 0.0 && x < a && steps < max_steps) {
      x += v * dt + scale * stable(alpha);
      ++steps;
    }
    return {static_cast<double>(steps), x >= a, x <= 0.0 || x >= a};
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
};

}  // namespace occam
