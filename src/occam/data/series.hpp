// What a series of numbers or symbols shows at a glance: how strong waves of different lengths are, how far
// back values and symbols remember, and where mean or spread may have changed. Networks for ordered data read
// these, and `check` looks for them in what was missed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "occam/data/matrix.hpp"

namespace occam {

// Wave k = 1 .. kWaveLengths makes k turns in 2 kWaveLengths observations: the longest lasts 48 of them, the
// shortest two.
inline constexpr int kWaveLengths = 24;
inline double wave_period(int k) {
  return 2.0 * kWaveLengths / k;
}
// |sum over t of x_t exp(i w t)|^2 for every wave. Values should have mean 0; missing ones (NaN) count as
// that.
void wave_strengths(std::span<const double> values, std::span<double, kWaveLengths> out);
// The same of waves that make k turns in 2 kFineWaves observations: as fine as series of a hundred can tell.
inline constexpr int kFineWaves = 60;
void fine_wave_strengths(std::span<const double> values, std::span<double, kFineWaves> out);

// Partial autocorrelations: what x_t and x_{t-k} share beyond what lies between them, for k = 1, 2, ... (0
// where the series is too short), by the recurrence of Durbin and Levinson. Values should have mean 0;
// missing ones count as that.
inline constexpr std::size_t kPartialLags = 10;
void partial_autocorrelations(std::span<const double> values, std::span<double, kPartialLags> out);

// What is new in each value beyond what the one before it says (the first: all of it). Values should have
// mean 0; missing ones count as that. `out` may be `values`.
void innovations(std::span<const double> values, std::span<double> out);
// Correlations of b with a so many steps before, for 0, 1, ... steps. Of innovations these tell what follows
// on what, and how late, whatever each remembers of itself.
void delayed_correlations(std::span<const double> a, std::span<const double> b, std::span<double> out);

// By how much a change of the mean, at a place equally probable to be any, explains a series better than none
// does: log of the mean over places of the ratio of the likelihoods (normal, both fitted), at least 0. Values
// should have mean 0; missing ones count as that.
double change_evidence(std::span<const double> values);
// The same of a change of the spread.
double spread_change_evidence(std::span<const double> values);

// The column that says when, and its typical step; -1: there is none.
struct TimeColumn {
  std::int64_t column = -1;
  double gap = 1;
};
// The first whose values increase in every data set.
TimeColumn find_time(Ragged<const float> data);

// By how much a memory that fades with time explains values better than none does, where times may be
// irregular: what is left of a value after a time d is exp(-d / memory) of it (an Ornstein-Uhlenbeck process
// around a level, or around a straight line). Gains in log-likelihood over a level without memory, everything
// fitted but the memory. Values that are missing are passed over. Times should increase.
inline constexpr std::size_t kMemories = 8;
inline double memory_of(std::size_t k) {  // in gaps
  return static_cast<double>(std::size_t{1} << k) / 4;
}
struct FadingMemory {
  std::array<double, kMemories> level{}, line{};  // for each memory
  double line_alone = 0;                          // without memory

  // Of a memory that is equally probable to be any of these.
  static double any(const std::array<double, kMemories>& gains);
};
FadingMemory fading_memory(std::span<const double> times, std::span<const double> values, double gap);

// Symbols 0 .. symbols - 1 in their order, -1: missing. The logarithm of the probability of all from the
// third on, where each depends on the `back` (0, 1 or 2) before it, and all shares are equally probable
// beforehand. `counts` (symbols^3) is overwritten.
double memory_evidence(std::span<const std::int64_t> codes, std::int64_t symbols, int back,
                       std::span<double> counts);

}  // namespace occam
