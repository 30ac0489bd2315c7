// Learning rate as a function of the step, from 0 to total - 1: a linear warm-up, then constant, an
// exponential staircase rate0 * decay^floor(step / decay_steps), or half a cosine down to a fraction of
// rate0. `cycles` needs no total: cycles end at F, 2 F, 4 F, ... steps, and in the last part of each the rate
// falls to that fraction, so that a training can end, and be judged, at the end of any of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace occam {

enum class ScheduleKind { constant, staircase, cosine, cycles };

inline const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = {"constant", "staircase", "cosine", "cycles"};
  return names;
}

// Share of the training that is done, counted from the end of the warm-up: 0 to 1.
double progress(std::int64_t step, std::int64_t warmup, std::int64_t total);

// The cycle that a step belongs to: steps first .. last - 1.
struct Cycle {
  std::int64_t first, last;
};
Cycle cycle_of(std::int64_t step, std::int64_t first_cycle);

struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double rate = 1e-3;
  std::int64_t warmup = 0;
  double decay = 0.95;              // staircase: factor
  std::int64_t decay_steps = 1000;  // staircase: every so many steps
  double floor = 0.01;              // cosine, cycles: fraction of the rate that is left at the end
  std::int64_t first_cycle = 2000;  // cycles: F

  double at(std::int64_t step, std::int64_t total) const;
};

}  // namespace occam
