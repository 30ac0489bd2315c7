// The logarithm of a mean of exponentials: what gains in log-likelihood amount to where each of several
// descriptions is as probable as the others.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace occam {

inline double log_mean_exp(std::span<const double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum / static_cast<double>(values.size()));
}

}  // namespace occam
