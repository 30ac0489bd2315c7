// Whether values come back: what a sine and a cosine of any period explain of them, at irregular times or
// evenly spaced.
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

// Of values one gap after the other, by a Fourier transform; those that are missing count as the mean. The
// first octave is that of periods from two gaps on. `room`: even_room(values) numbers.
std::size_t even_room(std::size_t values);
Periods find_even_periods(std::span<const double> values, std::span<double> room);

}  // namespace occam
