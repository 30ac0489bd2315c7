// What a series of numbers or symbols shows at a glance: how strong waves of different lengths are, and how
// far back symbols remember. Networks for ordered data read both, and `check` looks for both in what was
// missed.
#pragma once

#include <cstdint>
#include <span>

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

// Symbols 0 .. symbols - 1 in their order, -1: missing. The logarithm of the probability of all from the
// third on, where each depends on the `back` (0, 1 or 2) before it, and all shares are equally probable
// beforehand. `counts` (symbols^3) is overwritten.
double memory_evidence(std::span<const std::int64_t> codes, std::int64_t symbols, int back,
                       std::span<double> counts);

}  // namespace occam
