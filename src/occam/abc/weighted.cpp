#include "occam/abc/weighted.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace occam {
namespace {

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

double weighted_quantile(std::span<const double> values, std::span<const double> weights, double part) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double target = part * std::accumulate(weights.begin(), weights.end(), 0.0);
  double below = 0;     // weight of the values before the present one
  double last_mid = 0;  // where the value before stands
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double mid = below + 0.5 * weights[order[i]];
    if (mid >= target) {
      const double high = values[order[i]];
      if (i == 0 || mid <= last_mid) return high;
      const double low = values[order[i - 1]];
      return low + (high - low) * (target - last_mid) / (mid - last_mid);
    }
    below += weights[order[i]];
    last_mid = mid;
  }
  return values[order.back()];
}

double effective_size(std::span<const double> weights) {
  double sum = 0;
  double squares = 0;
  for (const double w : weights) {
    sum += w;
    squares += w * w;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

double robust_scale(std::vector<double>& values) {
  if (values.empty()) return 1;
  const double median = median_of(values);
  double mean = 0;
  for (double& value : values) {
    value = std::fabs(value - median);
    mean += value / static_cast<double>(values.size());
  }
  const double scale = median_of(values);
  return scale > 0 ? scale : mean > 0 ? mean : 1;
}

}  // namespace occam
