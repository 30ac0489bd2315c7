#include "occam/data/spreads.hpp"

#include <algorithm>
#include <cmath>

#include "occam/data/log_mean.hpp"

namespace occam {
namespace {

// A spread below this share of that of all values is none.
constexpr double kLeastShare = 1e-9;

// log Gamma(shape + halves / 2) / Gamma(shape).
double log_rising(double shape, double halves) {
  return std::lgamma(shape + 0.5 * halves) - std::lgamma(shape);
}

}  // namespace

double SpreadsBetween::any() const {
  return log_mean_exp(shapes);
}

SpreadsBetween spreads_between(std::span<const std::int32_t> groups, std::span<const double> values,
                               std::span<LabelSums> labels) {
  std::fill(labels.begin(), labels.end(), LabelSums{});
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (groups[i] >= 0 && !std::isnan(values[i]))
        use(values[i], labels[static_cast<std::size_t>(groups[i])]);
    }
  };
  double n = 0, sum = 0, all = 0, within = 0, freedom = 0;
  each([&](double y, LabelSums& own) {
    ++n;
    sum += y;
    ++own.n;
    own.y += y;
  });
  each([&](double y, LabelSums& own) {
    const double rest = y - own.y / own.n;
    own.yy += rest * rest;
    all += (y - sum / n) * (y - sum / n);
  });
  for (const LabelSums& own : labels) {
    within += own.yy;
    freedom += std::max(own.n - 1, 0.0);
  }
  SpreadsBetween result;
  if (freedom < 2 || !(within > kLeastShare * all) || !std::isfinite(all)) return result;
  const double variance = within / freedom;
  for (std::size_t k = 0; k < kShapesOfSpreads.size(); ++k) {
    const double shape = kShapesOfSpreads[k];
    std::array<double, kScalesOfSpreads.size()> gains{};
    for (const LabelSums& own : labels) {
      if (own.n < 2) continue;
      const double halves = own.n - 1, squares = 0.5 * own.yy / variance;
      const double rising = log_rising(shape, halves) + squares;
      for (std::size_t s = 0; s < gains.size(); ++s) {
        const double scale = shape * kScalesOfSpreads[s];
        gains[s] +=
            rising - 0.5 * halves * std::log(scale) - (shape + 0.5 * halves) * std::log1p(squares / scale);
      }
    }
    result.shapes[k] = log_mean_exp(gains);
  }
  return result;
}

}  // namespace occam
