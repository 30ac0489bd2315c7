// Learning rate as a function of the step, from 0 to total - 1: a linear warm-up, then constant, an
// exponential staircase rate0 * decay^floor(step / decay_steps), or half a cosine down to a fraction of
// rate0. `open` needs no total before its last part: the rate falls with the root of the step, and from
// kOpenShare of the training on in a straight line to that fraction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace occam {

enum class ScheduleKind { constant, staircase, cosine, open };

inline const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = {"constant", "staircase", "cosine", "open"};
  return names;
}

// Share of the training that is done, counted from the end of the warm-up: 0 to 1.
double progress(std::int64_t step, std::int64_t warmup, std::int64_t total);

inline constexpr double kOpenShare = 0.6;

struct Schedule {
  ScheduleKind kind = ScheduleKind::cosine;
  double rate = 1e-3;
  std::int64_t warmup = 0;
  double decay = 0.95;              // staircase: factor
  std::int64_t decay_steps = 1000;  // staircase: every so many steps
  double floor = 0.01;              // cosine, open: fraction of the rate that is left at the end
  std::int64_t even = 500;          // open: steps before the rate begins to fall

  // `total` is not looked at by `open` where it is 0: not known yet.
  double at(std::int64_t step, std::int64_t total) const;
};

}  // namespace occam
