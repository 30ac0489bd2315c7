// Whether values at irregular times come back: what a sine and a cosine of any period explain of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace occam {

// Periods from one gap (a typical step of time) on, by octaves; those beyond the last belong to it.
inline constexpr std::size_t kOctaves = 8;

// Gains in log-likelihood over a level alone, everything fitted but the period.
struct Periods {
  std::array<double, kOctaves> octaves{};  // of a period that is equally probable to be any of this octave
  double best = 0;                         // of the best one
  double best_octave = 0;                  // log2 of it in gaps

  double any() const;  // of one from any octave
};

// Values that are missing (NaN) are passed over; times should increase. `room`: six numbers for each value.
Periods find_periods(std::span<const double> times, std::span<const double> values, double gap,
                     std::span<double> room);

}  // namespace occam
