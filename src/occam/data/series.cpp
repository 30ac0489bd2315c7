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

void partial_autocorrelations(std::span<const double> values, std::span<double, kPartialLags> out) {
  const auto at = [&](std::size_t i) { return std::isnan(values[i]) ? 0 : values[i]; };
  const auto product = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < values.size(); ++i) sum += at(i) * at(i - lag);
    return sum;
  };
  std::fill(out.begin(), out.end(), 0.0);
  const double whole = product(0);
  std::array<double, kPartialLags + 1> products{}, coefficients{}, next{};
  double left = whole;
  for (std::size_t k = 1; k <= out.size() && k + 1 < values.size() && left > 1e-12 * whole; ++k) {
    products[k] = product(k);
    double unexplained = products[k];
    for (std::size_t j = 1; j < k; ++j) unexplained -= coefficients[j - 1] * products[k - j];
    const double partial = unexplained / left;
    next = coefficients;
    for (std::size_t j = 1; j < k; ++j) next[j - 1] -= partial * coefficients[k - j - 1];
    next[k - 1] = partial;
    coefficients = next;
    left *= 1 - partial * partial;
    out[k - 1] = partial;
  }
}

double change_evidence(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double squares = 0, total = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    squares += value * value;
    total += value;
  }
  if (values.size() < 3 || squares <= 0) return 0;
  const double spread = squares - total * total / n;
  double sum = 0, mean = 0, top = 0, count = 0;  // mean of exp(gain - top) so far, times count
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    sum += std::isnan(values[i]) ? 0 : values[i];
    ++count;
    const double departure = sum - total * count / n;
    const double explained = departure * departure * n / (count * (n - count));
    const double gain = -n / 2 * std::log1p(-std::min(explained / std::max(spread, 1e-300), 1 - 1e-9));
    if (gain > top) {
      mean *= std::exp(top - gain);
      top = gain;
    }
    mean += std::exp(gain - top);
  }
  return top + std::log(mean / count);
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
