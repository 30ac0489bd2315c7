// Values over orders of magnitude: doses, concentrations, rates whose distribution is even in the logarithm.
// Their tails are short, and yet all but the largest would look alike on a plain scale.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace occam {

inline double quantile_of(const std::vector<float>& sorted, double q) {
  return sorted[static_cast<std::size_t>(std::lround(q * static_cast<double>(sorted.size() - 1)))];
}

// So many times as far above its middle as below it reaches what is even in the logarithm over a factor of
// 30; an exponential distribution 3.6 times.
inline constexpr double kOverOrders = 5;

// Values in order, none below 0; where some are 0, those above count.
inline bool over_orders(const std::vector<float>& sorted) {
  if (sorted.empty() || sorted.front() < 0) return false;
  if (sorted.front() == 0) {
    std::vector<float> above;
    for (const float x : sorted) {
      if (x > 0) above.push_back(x);
    }
    return over_orders(above);
  }
  const double middle = quantile_of(sorted, 0.5);
  return quantile_of(sorted, 0.95) - middle > kOverOrders * (middle - quantile_of(sorted, 0.05));
}

}  // namespace occam
