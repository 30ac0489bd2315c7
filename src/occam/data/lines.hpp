// Straight lines through the rows of each label of a data set, whose levels and slopes may differ between
// labels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "occam/data/labels.hpp"
#include "occam/data/log_mean.hpp"
#include "occam/data/log_product.hpp"

namespace occam {

// What rows say of the level and the slope of a line of y: weighted sums of products of 1, x and y.
struct LineSums {
  double weight = 0, x = 0, xx = 0, y = 0, xy = 0, yy = 0;

  // A row that counts for so much; `one` is what it has of the level.
  void add(double counts, double one, double at, double value) {
    weight += counts * one * one;
    x += counts * one * at;
    xx += counts * at * at;
    y += counts * one * value;
    xy += counts * at * value;
    yy += counts * value * value;
  }
  void add(const LineSums& other) {
    weight += other.weight;
    x += other.x;
    xx += other.xx;
    y += other.y;
    xy += other.xy;
    yy += other.yy;
  }
  // These rows share an effect on their level, or their slope, of this variance in units of the noise: it
  // takes what they say of that. Returns by what the determinant of their covariance grows.
  double share_level(double variance) {
    const double grown = 1 + variance * weight, part = variance / grown;
    xx -= part * x * x;
    xy -= part * x * y;
    yy -= part * y * y;
    x /= grown;
    y /= grown;
    weight /= grown;
    return grown;
  }
  double share_slope(double variance) {
    const double grown = 1 + variance * xx, part = variance / grown;
    weight -= part * x * x;
    y -= part * x * xy;
    yy -= part * xy * xy;
    x /= grown;
    xy /= grown;
    xx /= grown;
    return grown;
  }

  // What a level leaves of y, and what a line does.
  double beside_level() const { return yy - y * y / weight; }
  double beside_line() const {
    const double sxx = xx - x * x / weight, sxy = xy - x * y / weight;
    return beside_level() - (sxx > 1e-9 * xx ? sxy * sxy / sxx : 0);
  }
};

// Spreads between the levels of labels over which is averaged, as variances in units of that within.
inline constexpr std::array<double, 4> kLevelSpreads = {0, 0.06, 0.6, 6};

// Log evidence of a level and of a line for all labels, where each has a level of its own beside it, with any
// of these spreads, and a slope of its own with this one. `rows` of these `squares` about their mean: the
// variance is fitted.
struct LineEvidence {
  double level = 0, line = 0;
};
inline LineEvidence line_evidence(std::span<const LineSums> labels, double slope_spread, double rows,
                                  double squares, double log_det = 0) {
  std::array<double, kLevelSpreads.size()> level{}, line{};
  for (std::size_t k = 0; k < kLevelSpreads.size(); ++k) {
    LineSums all;
    LogProduct determinant;
    for (LineSums own : labels) {
      if (own.weight <= 0) continue;
      if (kLevelSpreads[k] > 0) determinant.multiply(own.share_level(kLevelSpreads[k]));
      if (slope_spread > 0) determinant.multiply(own.share_slope(slope_spread));
      all.add(own);
    }
    const double of_spreads = -0.5 * (determinant.log() + log_det);
    // Below this share of the variance a fit is perfect.
    const auto gain = [&](double left) {
      return -0.5 * rows * std::log(std::max(left, 0.0) / squares + 1e-9) + of_spreads;
    };
    level[k] = gain(all.beside_level());
    line[k] = gain(all.beside_line());
  }
  return {log_mean_exp(level), log_mean_exp(line)};
}

}  // namespace occam
