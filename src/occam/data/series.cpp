#include "occam/data/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace occam {

// Goertzel's recurrence, one product for each value and wave; all waves side by side, as in a register.
void wave_strengths(std::span<const double> values, std::span<double, kWaveLengths> out) {
  std::array<double, kWaveLengths> turn, last{}, before{};
  for (std::size_t k = 0; k < kWaveLengths; ++k)
    turn[k] = 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / kWaveLengths);
  for (const double value : values) {
    const double x = std::isnan(value) ? 0 : value;
    for (std::size_t k = 0; k < kWaveLengths; ++k) {
      const double next = x + turn[k] * last[k] - before[k];
      before[k] = last[k];
      last[k] = next;
    }
  }
  for (std::size_t k = 0; k < kWaveLengths; ++k)
    out[k] = std::max(0.0, last[k] * last[k] + before[k] * before[k] - turn[k] * last[k] * before[k]);
}

double memory_evidence(std::span<const std::int64_t> codes, std::int64_t symbols, int back,
                       std::span<double> counts) {
  const auto L = static_cast<std::size_t>(symbols);
  std::fill(counts.begin(), counts.end(), 0.0);
  for (std::size_t i = 2; i < codes.size(); ++i) {
    if (codes[i] < 0 || codes[i - 1] < 0 || codes[i - 2] < 0) continue;
    const std::int64_t one = back > 0 ? codes[i - 1] : 0, two = back > 1 ? codes[i - 2] : 0;
    ++counts[static_cast<std::size_t>((two * symbols + one) * symbols + codes[i])];
  }
  const double none = std::lgamma(static_cast<double>(L));
  double sum = 0;
  for (std::size_t context = 0; context < L * L; ++context) {
    double total = 0;
    for (const double count : counts.subspan(context * L, L)) {
      total += count;
      if (count > 1) sum += std::lgamma(1 + count);  // of 1 and 2 it is 0
    }
    if (total > 0) sum += none - std::lgamma(static_cast<double>(L) + total);
  }
  return sum;
}

}  // namespace occam
