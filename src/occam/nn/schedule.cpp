#include "occam/nn/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace occam {

double Schedule::at(std::int64_t step, std::int64_t total) const {
  const double warm = step < warmup ? static_cast<double>(step + 1) / static_cast<double>(warmup) : 1;
  switch (kind) {
    case ScheduleKind::constant:
      return rate * warm;
    case ScheduleKind::staircase:
      return rate * warm *
             std::pow(decay, std::floor(static_cast<double>(step) / static_cast<double>(decay_steps)));
    case ScheduleKind::cosine: {
      const double done = static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(total, 1));
      const double share = 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)));
      return rate * warm * (floor + (1 - floor) * share);
    }
  }
  return rate;
}

}  // namespace occam
