// Whether values are spread more widely in some labels than in others: feeds on which animals grow alike or
// not, subjects whose times vary.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "occam/data/labels.hpp"

namespace occam {

// How alike variances are: that of a label is inverse gamma distributed with such a shape.
inline constexpr std::array<double, 3> kShapesOfSpreads = {2, 6, 20};
inline constexpr std::array<double, 4> kScalesOfSpreads = {0.25, 0.5, 1,
                                                           2};  // in units of the variance within

// Gains in log-likelihood over one variance, fitted, each label with a mean of its own.
struct SpreadsBetween {
  std::array<double, kShapesOfSpreads.size()> shapes{};  // for each shape, of any scale

  double any() const;  // of any of these
};

// Of the rows of a data set that have both; values are NaN where there is none. `labels`: room for all of
// them.
SpreadsBetween spreads_between(std::span<const std::int32_t> groups, std::span<const double> values,
                               std::span<LabelSums> labels);

}  // namespace occam
