// Whether a value carries over to the next one of the same label: moods of people from day to day, sizes of
// several populations from year to year.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "occam/data/lines.hpp"
#include "occam/data/matrix.hpp"

namespace occam {

// How the rows of a label follow on each other: by a column, with a typical step, or as they stand.
struct LabelOrder {
  std::int64_t label = 0;
  std::int64_t column = -1;  // -1: as they stand
  double gap = 1;

  bool operator==(const LabelOrder&) const = default;
};

// Columns of labels whose rows have an order in which another column carries over in a share of the data
// sets. Rows of ordered data stand as they follow; where a column increases with them it says by how much. Of
// others a column of the design may tell, if no two rows of a label are alike in it.
std::vector<LabelOrder> find_orders(Ragged<const float> data, const std::vector<std::int64_t>& labels,
                                    bool ordered, const std::vector<std::int64_t>& design);

// Rows that have a label, by labels and then by their order.
struct OrderedRows {
  std::span<std::int32_t> rows;
  std::span<double> times;  // of each of these rows, in gaps
};
// `times` of all rows; none: as they stand. `row_room`, `time_room`: room for as many as there are rows.
OrderedRows order_within(std::span<const std::int32_t> groups, std::span<const double> times, double gap,
                         std::span<std::int32_t> row_room, std::span<double> time_room);

// What is left of a value's distance from the mean of its label one gap later: exp(-1 / memory).
inline constexpr std::size_t kCarries = 6;
inline double carry_memory(std::size_t k) {  // in gaps
  return static_cast<double>(std::size_t{1} << k) / 2;
}

// Log evidences over labels that may differ in their level, without any carry; level and variance fitted.
struct CarryOver {
  double line_alone = 0;                         // a slope over time, the same for all labels
  std::array<double, kCarries> level{}, line{};  // with this carry beside a level, or a line

  // Of a carry that is equally probable to be any of these.
  static double any(const std::array<double, kCarries>& evidences);
};

// Values that are missing (NaN) are passed over. `labels`: room for all of them.
CarryOver carry_over(const OrderedRows& order, std::span<const std::int32_t> groups,
                     std::span<const double> values, std::span<LineSums> labels);

}  // namespace occam
