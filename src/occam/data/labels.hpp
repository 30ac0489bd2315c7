// Columns of whole numbers that say which rows belong together, as the number of a person, a litter or a
// clinic does; and by how much values differ from one of these to the next.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "occam/data/column.hpp"
#include "occam/data/matrix.hpp"

namespace occam {

// The columns whose values are whole numbers, at least three in a data set and each twice or more, on
// average, and between which another column differs by more than their numbers say; the first four of these.
// What is counted, rated or ranked looks the same but for that: others rise and fall with it.
std::vector<std::int64_t> find_labels(Ragged<const float> data);

// Those that are declared and those that were found, in their order.
std::vector<std::int64_t> with_labels(std::vector<std::int64_t> declared,
                                      const std::vector<std::int64_t>& found);

// Numbers for what labels are called, in the order in which they come; nothing for a missing one. The same
// for all columns of labels.
class LabelNames {
 public:
  std::optional<float> number(std::string_view name);

 private:
  std::unordered_map<std::string, std::size_t> known_;
};

// Makes the labels of one data set 1, 2, 3, ... in the order of their values. Columns of one group are
// numbered together: a team has the same number at home and away. Labels that are not there (NaN) stay so.
void number_labels(Matrix<float> rows, const LabelGroups& groups);
// The same for several data sets; data without labels are not copied.
class NumberedLabels {
 public:
  NumberedLabels(Ragged<const float> data, const LabelGroups& groups);
  NumberedLabels(const NumberedLabels&) = delete;
  NumberedLabels& operator=(const NumberedLabels&) = delete;
  Ragged<const float> view() const { return view_; }

 private:
  std::vector<float> copy_;
  Ragged<const float> view_;
};

// Which label each row of a data set has, 0, 1, ... in the order of their values, or -1 for none (NaN).
// Returns how many there are. `order`: room for as many rows.
std::int64_t group_rows(std::span<const double> labels, std::span<std::int32_t> order,
                        std::span<std::int32_t> groups);
// The same for two columns that name the same things: `groups` are those of the first, then of the second.
std::int64_t group_rows(std::span<const double> first, std::span<const double> second,
                        std::span<std::int32_t> order, std::span<std::int32_t> groups);

// Which pair of groups each row has, of `seconds` groups in the second column; -1: it lacks one.
std::int64_t group_pairs(std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                         std::size_t seconds, std::span<std::int32_t> order, std::span<std::int32_t> groups);

// One label: how many rows, and their mean.
struct LabelMean {
  double count = 0, mean = 0;
};

// Spreads between labels that are looked at, as variances in units of that within.
inline constexpr std::array<double, 6> kSpreadsBetween = {0.02, 0.06, 0.2, 0.6, 2, 6};

// What a spread between labels explains of values: a normal model with a random mean for each label beside
// one without, mean and variance fitted. Gains in log-likelihood over labels that mean nothing.
struct BetweenLabels {
  std::array<double, kSpreadsBetween.size()> gains{};  // for each spread
  double own_means = 0;                                // of a mean for each label, fitted, too
  double labels = 0;                                   // how many there are
  double partners = 0;  // how many rows share the label of one, itself included

  double any() const;  // of a spread that is equally probable to be any of these
};

// Of the rows of a data set that have both; values are NaN where there is none. `labels`: room for all of
// them.
BetweenLabels between_labels(std::span<const std::int32_t> groups, std::span<const double> values,
                             std::span<LabelMean> labels);

// Sums and products over the rows of a label.
struct LabelSums {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
};

// What x explains of y beyond a mean, if labels have no spread, and for each spread between them: a treatment
// given to whole litters explains less the more litters differ by themselves. Gains in log-likelihood.
using ExplainedByLabels = std::array<double, 1 + kSpreadsBetween.size()>;
ExplainedByLabels explained_between_labels(std::span<const std::int32_t> groups, std::span<const double> x,
                                           std::span<const double> y, std::span<LabelSums> labels);

}  // namespace occam
