// How long a wait for another process may last: until its time is over, or until the user has asked the
// program to stop and a moment has passed, in which a healthy process answers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

#include "occam/core/stop.hpp"

namespace occam {

class Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}

  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double left_s() const { return std::max(0.0, seconds_ - elapsed_s()); }
  bool stopped() const { return seconds_since_stop() > kGrace_s; }
  bool passed() const { return left_s() <= 0 || stopped(); }
  // For poll(): in slices, so that a wish to stop is noticed.
  int slice_ms() const { return static_cast<int>(std::ceil(1e3 * std::min(left_s(), kSlice_s))); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kGrace_s = 1.0;
  static constexpr double kSlice_s = 0.1;

  double seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace occam
