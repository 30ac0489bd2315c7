// Columns that say where something was measured, on a map or along any scales that an experimenter set:
// whether values at near places are alike, as in patches, beyond a slope.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

inline constexpr std::size_t kMostDimensions = 3;

struct PlaceColumns {
  std::vector<std::int64_t> columns;
  std::vector<double> scale;  // of each: the spread of its values over all data sets
};

// Those of the columns `candidates` that have many values and are no labels, if there are at most three of
// these, most rows are at a place of their own, and another column is alike at near places beyond what a
// curved surface says; none otherwise.
PlaceColumns find_places(Ragged<const float> data, const std::vector<std::int64_t>& candidates,
                         const std::vector<std::int64_t>& labels);

// How patches are described: correlation falls to 1/e at a reach, and they make a share of the variance.
inline constexpr std::size_t kReaches = 5;
inline double patch_reach(std::size_t k) {  // in scales
  return 0.1 * static_cast<double>(std::size_t{1} << k);
}
inline constexpr std::array<double, 3> kPatchShares = {0.3, 0.6, 0.9};
inline constexpr std::size_t kPatches = kReaches * kPatchShares.size();

// Gains in log-likelihood over values that are normal around one level; level and variance are fitted.
struct Patches {
  std::array<double, kPatches> level{};  // of each patches around a level: shares within reaches
  std::array<double, kPatches> slope{};  // around a slope in all directions
  double slope_alone = 0;

  static double any(const std::array<double, kPatches>& gains);
};

// One value with its place.
struct Placed {
  std::array<double, kMostDimensions> at{};  // in scales
  double value = 0;
};

Placed placed(const float* row, const PlaceColumns& places, double value);

// In any order, which is changed. Values without a finite place are passed over; of more than 512 so many are
// looked at.
Patches find_patches(std::span<Placed> values, std::size_t dimensions);

}  // namespace occam
