// Values that come again and again in a column of many others: no rain, below the limit of detection, the end
// of a scale.
#pragma once

#include <cstddef>
#include <vector>

namespace occam {

inline constexpr std::size_t kMostAtoms = 2;

// One or two values that so large a share of all rows have (kAtomShare), each of them so many times more than
// any other value does (kAtomAboveOthers), in ascending order; or none. Of counts several are common, and
// none is an atom.
inline constexpr double kAtomShare = 0.02, kAtomAboveOthers = 10;
std::vector<float> find_atoms(const std::vector<float>& sorted);

}  // namespace occam
