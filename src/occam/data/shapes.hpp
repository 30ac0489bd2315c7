// How one column goes with another where that is more than a line: a curve, a step somewhere, a bend
// somewhere, or another line from somewhere on. In a series the columns may be a value and the one before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

// Gains in log-likelihood over a level, everything fitted but the place, which is equally probable to be
// between any two rows that differ in x.
struct Shapes {
  double line = 0, curve = 0;       // curve: with a square
  double level_step = 0;            // a step, levels beside it
  double step = 0, bend = 0;        // beside a line
  double lines = 0;                 // another line from somewhere on
  double step_at = 0, bend_at = 0;  // the best places, as x
};

// One row of two columns.
struct Point {
  double x, y;
};

void sort_by_x(std::span<Point> points);

// Points in the order in which a place parts them: by x, or by time.
Shapes find_shapes(std::span<const Point> points);

// Which column is looked at over which other one.
struct ShapedColumns {
  std::int64_t x = 0, y = 0;
  bool operator==(const ShapedColumns&) const = default;
};

// Those where a shape says clearly more than a line in a share of the data sets; of these the kMostShaped
// where it does so most often. Columns `but` are not looked at, and those of the design over no other one.
inline constexpr std::size_t kMostShaped = 6;
std::vector<ShapedColumns> find_shaped(Ragged<const float> data, const std::vector<std::int64_t>& but,
                                       const std::vector<std::int64_t>& design);

// The points of two columns, by x; rows that lack a value are passed over. `room`: as many as rows.
std::span<Point> points_by_x(Matrix<const float> rows, ShapedColumns columns, std::span<Point> room);

}  // namespace occam
