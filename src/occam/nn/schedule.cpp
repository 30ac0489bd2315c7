#include "occam/nn/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace occam {
double progress(std::int64_t step, std::int64_t warmup, std::int64_t total) {
  if (step <= warmup) return 0;
  return std::min(1.0, static_cast<double>(step - warmup) /
                           static_cast<double>(std::max<std::int64_t>(total - warmup, 1)));
}

double Schedule::at(std::int64_t step, std::int64_t total) const {
  if (step < warmup) return rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
  switch (kind) {
    case ScheduleKind::constant:
      return rate;
    case ScheduleKind::staircase:
      return rate * std::pow(decay, std::floor(static_cast<double>(step) / static_cast<double>(decay_steps)));
    case ScheduleKind::cosine: {
      const double share = 0.5 * (1 + std::cos(std::numbers::pi * progress(step, warmup, total)));
      return rate * (floor + (1 - floor) * share);
    }
    case ScheduleKind::open: {
      const double falling =
          step <= even ? 1 : std::sqrt(static_cast<double>(even) / static_cast<double>(step));
      const double from = kOpenShare * static_cast<double>(total);
      const double left = (static_cast<double>(total - step)) / (static_cast<double>(total) - from);
      return rate * falling * (total == 0 ? 1 : floor + (1 - floor) * std::min(1.0, left));
    }
  }
  return rate;
}

}  // namespace occam
