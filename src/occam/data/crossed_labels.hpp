// Two columns of labels that explain one value together: readers and texts, people and words, teams at home
// and away. What one of them says is seen clearly only beside the other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "occam/data/labels.hpp"
#include "occam/data/matrix.hpp"

namespace occam {

// apart: the labels of either column have effects of their own. alike, opposed: both columns name the same
// things, whose effects add up (the parents of a child) or are held against each other (teams). in_first,
// in_second: so has each pair of labels, beside those of one column, as pupils that are numbered in each
// class anew. returned: both columns name the same things, and what one says of another goes with what that
// one says of it.
enum class Crossing : std::uint8_t { apart, alike, opposed, in_first, in_second, returned };
inline constexpr std::array<const char*, 6> kCrossings = {"apart",    "alike",     "opposed",
                                                          "in_first", "in_second", "returned"};
inline bool of_the_same(Crossing crossing) {
  return crossing == Crossing::alike || crossing == Crossing::opposed;
}

struct CrossedColumns {
  std::int64_t first = 0, second = 0;  // columns of labels
  Crossing crossing = Crossing::apart;

  bool same_columns(const CrossedColumns& other) const {
    return first == other.first && second == other.second;
  }
  bool operator==(const CrossedColumns&) const = default;
};

// All pairs of these columns, apart; and in other ways those that tell clearly more of another column then,
// in a share of the data sets. Columns of `groups` name the same things as others of their group alone. At
// most kMostCrossings.
inline constexpr std::size_t kMostCrossings = 6;
std::vector<CrossedColumns> find_crossings(Ragged<const float> data, const std::vector<std::int64_t>& labels,
                                           const LabelGroups& groups = {});

// Which label each row of a data set has in either column, or -1 for none; or which pair of labels, and which
// label of the one column.
struct TwoLabels {
  std::span<std::int32_t> first, second;
  std::size_t first_count = 0, second_count = 0;
};

// From the labels that each row has (NaN: none). Those with the most rows are looked at, of the column with
// fewer kMostCrossedLabels, of the other kMostManyLabels, and as many of those whose pairs are `returned`.
// `room`: crossed_groups_room(rows) of them, which the result points into.
inline constexpr std::size_t kMostCrossedLabels = 64, kMostManyLabels = 4096;
inline std::size_t crossed_groups_room(std::size_t rows) {
  return 6 * rows;
}
TwoLabels group_crossed(std::span<const double> first, std::span<const double> second, Crossing crossing,
                        std::span<std::int32_t> room);

// Spreads of one column's effects: none, then those that are looked at of labels alone.
inline constexpr std::size_t kCrossedSpreads = 1 + kSpreadsBetween.size();
inline double crossed_spread(std::size_t k) {
  return k == 0 ? 0 : kSpreadsBetween[k - 1];
}

// Under some spreads: the gain in log-likelihood over labels that mean nothing, where mean and variance are
// fitted; that mean, and its standard error.
struct CrossedGain {
  double gain = 0, mean = 0, error = 0;
};
// Under each spread of the first column: under each of the second. Of labels that name the same things: under
// each spread of these, in the first row.
using CrossedGains = std::array<std::array<CrossedGain, kCrossedSpreads>, kCrossedSpreads>;

// Of values that are NaN where there is none. `room`: crossed_room(labels) of them.
std::size_t crossed_room(const TwoLabels& labels);
CrossedGains crossed_gains(const TwoLabels& labels, Crossing crossing, std::span<const double> values,
                           std::span<double> room);

// What x explains of y beyond a mean, for three spreads of the first column by three of the second.
inline constexpr std::array<std::size_t, 3> kExplainedSpreads = {2, 4, 6};
using CrossedExplained = std::array<double, kExplainedSpreads.size() * kExplainedSpreads.size()>;
CrossedExplained explained_between_crossed(const TwoLabels& labels, std::span<const double> x,
                                           std::span<const double> y, std::span<double> room);

// Log evidence, where any spread but none is as probable as the others.
struct CrossedEvidence {
  double first = 0, second = 0, both = 0;  // of one column alone, of both
  // Of each spread of one, beside any of the other.
  std::array<double, kSpreadsBetween.size()> of_first{}, of_second{};
};
CrossedEvidence crossed_evidence(const CrossedGains& gains);
double joint_evidence(const CrossedGains& gains);

}  // namespace occam
