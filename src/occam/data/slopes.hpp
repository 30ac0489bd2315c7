// Whether the way in which one column goes with another differs from label to label: a drug that helps some
// people more than others, pupils who learn at paces of their own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "occam/data/lines.hpp"

namespace occam {

// Log evidences over labels that may differ in their level alone, fitted level and variance.
struct SlopesBetween {
  double same = 0;  // one slope for all labels
  // One slope, and each label its own beside it: with each of kSpreadsBetween, for an x of variance 1.
  std::array<double, kSpreadsBetween.size()> spreads{};

  double any() const;  // of a spread that is equally probable to be any of these
};

// Of the rows of a data set that have x, y and a label; values are NaN where there is none. `labels`: room
// for all of them.
SlopesBetween slopes_between(std::span<const std::int32_t> groups, std::span<const double> x,
                             std::span<const double> y, std::span<LineSums> labels);

}  // namespace occam
