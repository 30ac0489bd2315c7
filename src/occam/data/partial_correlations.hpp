// What columns of numbers say of each other, directly or beyond what others say already: correlations,
// partial correlations given some or all of the other columns. Evidence about which column depends on which
// is a function of these and of n alone, where dependence is linear and noise is normal.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace occam {

// Columns a < b beyond what those in `given` (bits) explain of both.
struct PartialCorrelation {
  int a = 0, b = 0;
  std::uint32_t given = 0;
};

inline constexpr int kMostCorrelated = 16;  // columns

// The first so many of: given nothing, given all others, given one, given all but one, two, ... Every one of
// these is listed as a whole or not at all. Pairs of two columns from `first_aside` on are left out.
std::vector<PartialCorrelation> partial_correlations(int columns, int first_aside, std::size_t most);

// The list of a data set. correlations: (columns, columns), row by row. Columns that others
// determine, or that do not vary, correlate with nothing. out: one number for each of the list.
void partial_correlations_of(std::span<const PartialCorrelation> list, int columns,
                             std::span<const double> correlations, std::span<double> out);

}  // namespace occam
