// What a series of numbers or symbols shows at a glance: how strong waves of different lengths are, how far
// back values and symbols remember, and where mean or spread may have changed. Networks for ordered data read
// these, and `check` looks for them in what was missed.
#pragma once

#include <cstddef>
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
// The same of waves that make k turns in 2 kFineWaves observations: as fine as series of a hundred can tell.
inline constexpr int kFineWaves = 60;
void fine_wave_strengths(std::span<const double> values, std::span<double, kFineWaves> out);

// Partial autocorrelations: what x_t and x_{t-k} share beyond what lies between them, for k = 1, 2, ... (0
// where the series is too short), by the recurrence of Durbin and Levinson. Values should have mean 0;
// missing ones count as that.
inline constexpr std::size_t kPartialLags = 10;
void partial_autocorrelations(std::span<const double> values, std::span<double, kPartialLags> out);

// By how much a change of the mean, at a place equally probable to be any, explains a series better than none
// does: log of the mean over places of the ratio of the likelihoods (normal, both fitted), at least 0. Values
// should have mean 0; missing ones count as that.
double change_evidence(std::span<const double> values);
// The same of a change of the spread.
double spread_change_evidence(std::span<const double> values);

// Symbols 0 .. symbols - 1 in their order, -1: missing. The logarithm of the probability of all from the
// third on, where each depends on the `back` (0, 1 or 2) before it, and all shares are equally probable
// beforehand. `counts` (symbols^3) is overwritten.
double memory_evidence(std::span<const std::int64_t> codes, std::int64_t symbols, int back,
                       std::span<double> counts);

}  // namespace occam
