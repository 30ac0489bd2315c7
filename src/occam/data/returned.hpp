// What one says of another, and what the other says back: pairs of labels of two columns that name the same
// things, whose rows stand the other way around.
#pragma once

#include <cstdint>
#include <span>

namespace occam {

// Which row belongs to which pair, either way; -1: to none that has rows both ways.
struct ReturnedPairs {
  std::span<std::int32_t> pair;
  std::span<std::int32_t> back;  // 1: the second of its ways, else 0
  std::size_t count = 0;
};
// From the numbers of labels in either column, one numbering for both (-1: none). `room`: returned_room(rows)
// numbers, which the result points into.
inline std::size_t returned_room(std::size_t rows) {
  return 3 * rows;
}
ReturnedPairs returned_pairs(std::span<const std::int32_t> from, std::span<const std::int32_t> to,
                             std::span<std::int32_t> room);

struct Returned {
  double pairs = 0;        // that have values both ways
  double correlation = 0;  // between these
  double gain() const;     // in log-likelihood over none
};
// Values are NaN where there is none; rows of a pair that stand the same way count as their mean. `room`:
// four numbers for each pair.
Returned returned(const ReturnedPairs& pairs, std::span<const double> values, std::span<double> room);

}  // namespace occam
