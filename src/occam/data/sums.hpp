// Sums over long arrays of numbers, in several parts side by side, which a compiler may keep in one register:
// a single one would wait for each addition. Their order is fixed, so that the same numbers give the same
// bits.
#pragma once

#include <cstdint>

namespace occam {

inline constexpr std::int64_t kSumParts = 8;

// Of f(i) for i = 0 .. count - 1.
template <class F>
double sum_of(std::int64_t count, F f) {
  double parts[kSumParts] = {};
  std::int64_t i = 0;
  for (; i + kSumParts <= count; i += kSumParts) {
    for (std::int64_t k = 0; k < kSumParts; ++k) parts[k] += f(i + k);
  }
  for (std::int64_t k = 0; i < count; ++i, ++k) parts[k] += f(i);
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

inline double product_of(const double* a, const double* b, std::int64_t count) {
  return sum_of(count, [=](std::int64_t i) { return a[i] * b[i]; });
}

}  // namespace occam
