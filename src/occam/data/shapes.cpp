#include "occam/data/shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "occam/data/mean_of_fits.hpp"

namespace occam {
namespace {

constexpr std::size_t kFewest = 8;         // points that can tell a shape from chance
constexpr std::ptrdiff_t kOnEachSide = 3;  // of a place
constexpr double kPerfect = MeanOfFits::kPerfect;
// Shapes are looked at where one of them gains so much over a line, in this share of all data sets. A curve
// is fitted, for which it pays.
constexpr double kShareShaped = 0.03, kClearlyShaped = 6, kPriceOfCurve = 1.5;
constexpr std::int64_t kFewestValues = 6;  // of x in a data set, for it to have a shape
// How much is looked at to find out.
constexpr std::int64_t kMostRows = 512, kMostLooks = 100000, kFewestSets = 100;

// Sums over points.
struct Sums {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;

  void add(const Point& p) {
    ++n;
    x += p.x;
    y += p.y;
    xx += p.x * p.x;
    xy += p.x * p.y;
    yy += p.y * p.y;
  }
  Sums without(const Sums& part) const {
    return {n - part.n, x - part.x, y - part.y, xx - part.xx, xy - part.xy, yy - part.yy};
  }
  double sxx() const { return xx - x * x / n; }
  double sxy() const { return xy - x * y / n; }
  double beside_level() const { return yy - y * y / n; }
  double beside_line() const {
    const double of_x = sxx(), of_xy = sxy();
    return beside_level() - (of_x > kPerfect * xx ? of_xy * of_xy / of_x : 0);
  }
};

// What a line leaves of the squares of y, for what one more predictor takes of it.
class BesideLine {
 public:
  explicit BesideLine(const Sums& all)
      : mean_x_(all.x / all.n), mean_y_(all.y / all.n), sxy_(all.sxy()), left_(all.beside_line()) {
    const double of_x = all.sxx();
    inverse_n_ = 1 / all.n;
    inverse_sxx_ = of_x > 0 ? 1 / of_x : 0;
  }
  double left() const { return left_; }

  // The same when there is another predictor, of these sums of products. No branches, for many at a time.
  double left_beside(double sum, double with_x, double with_y, double squares) const {
    const double dx = with_x - sum * mean_x_, dy = with_y - sum * mean_y_, slope = dx * inverse_sxx_;
    const double own = squares - sum * sum * inverse_n_ - slope * dx, of_y = dy - slope * sxy_;
    const double least = kPerfect * squares, explained = of_y * of_y / (own > least ? own : 1);
    return left_ - (own > least ? explained : 0);
  }

 private:
  double mean_x_, mean_y_, sxy_, left_, inverse_n_, inverse_sxx_;
};

// What each shape leaves in many places at a time, in arrays for vectors of the processor.
class Places {
 public:
  static constexpr std::size_t kMost = 64;

  bool full() const { return count_ == kMost; }
  void add(const Sums& before, double at) {
    n_[count_] = before.n;
    x_[count_] = before.x;
    y_[count_] = before.y;
    xx_[count_] = before.xx;
    xy_[count_] = before.xy;
    yy_[count_] = before.yy;
    at_[count_++] = at;
  }

  struct Fits {
    MeanOfFits level_step, step, bend, lines;
  };
  // As shares of the variance of y; places are forgotten.
  void take(const Sums& all, const BesideLine& line, Fits& fits) {
    std::array<double, kMost> level_step, step, bend, lines;
    const double share = 1 / all.beside_level();
    for (std::size_t i = 0; i < count_; ++i) {
      const Sums before{n_[i], x_[i], y_[i], xx_[i], xy_[i], yy_[i]}, after = all.without(before);
      const double at = at_[i];
      const Left one = left_by(before), other = left_by(after);
      level_step[i] = share * (one.by_level + other.by_level);
      lines[i] = share * (one.by_line + other.by_line);
      step[i] = share * line.left_beside(after.n, after.x, after.y, after.n);
      bend[i] =
          share * line.left_beside(after.x - at * after.n, after.xx - at * after.x, after.xy - at * after.y,
                                   after.xx - 2 * at * after.x + at * at * after.n);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      fits.level_step.add(level_step[i], at_[i]);
      fits.step.add(step[i], at_[i]);
      fits.bend.add(bend[i], at_[i]);
      fits.lines.add(lines[i], at_[i]);
    }
    count_ = 0;
  }

 private:
  struct Left {
    double by_level, by_line;
  };
  // As Sums say it, without branches.
  static Left left_by(const Sums& part) {
    const double inverse = 1 / part.n;
    const double sxx = part.xx - part.x * part.x * inverse, sxy = part.xy - part.x * part.y * inverse;
    const double level = part.yy - part.y * part.y * inverse, least = kPerfect * part.xx;
    const double explained = sxy * sxy / (sxx > least ? sxx : 1);
    return {level, level - (sxx > least ? explained : 0)};
  }

  std::array<double, kMost> n_, x_, y_, xx_, xy_, yy_, at_;
  std::size_t count_ = 0;
};

}  // namespace

Shapes find_shapes(std::span<const Point> points) {
  Shapes result;
  if (points.size() < kFewest) return result;
  // Centred and scaled, so that sums of products keep their digits.
  Sums raw;
  for (const Point& p : points) raw.add(p);
  const double mean_x = raw.x / raw.n, mean_y = raw.y / raw.n;
  Sums spread;
  for (const Point& p : points) spread.add({p.x - mean_x, p.y - mean_y});
  if (!(spread.xx > 0) || !(spread.yy > 0) || !std::isfinite(spread.xx + spread.yy)) return result;
  const double by_x = 1 / std::sqrt(spread.xx / raw.n), by_y = 1 / std::sqrt(spread.yy / raw.n);
  const auto scaled = [&](const Point& p) { return Point{(p.x - mean_x) * by_x, (p.y - mean_y) * by_y}; };

  Sums all;
  double cubes = 0, fourths = 0, squares_y = 0;
  for (const Point& given : points) {
    const Point p = scaled(given);
    all.add(p);
    cubes += p.x * p.x * p.x;
    fourths += p.x * p.x * p.x * p.x;
    squares_y += p.x * p.x * p.y;
  }
  const double whole = all.beside_level();
  const BesideLine line(all);
  const auto gain = [&](double left) {
    return -0.5 * all.n * std::log(std::max(left, 0.0) / whole + kPerfect);
  };
  result.line = gain(line.left());
  result.curve = gain(line.left_beside(all.xx, cubes, squares_y, fourths));

  const auto n = std::ssize(points);
  Places places;
  Places::Fits fits{MeanOfFits(n), MeanOfFits(n), MeanOfFits(n), MeanOfFits(n)};
  Sums before;
  for (std::ptrdiff_t k = 0; k + kOnEachSide < n; ++k) {
    const Point p = scaled(points[static_cast<std::size_t>(k)]);
    before.add(p);
    const Point next = points[static_cast<std::size_t>(k + 1)];
    if (k + 1 < kOnEachSide || next.x == points[static_cast<std::size_t>(k)].x) continue;
    places.add(before, 0.5 * (p.x + (next.x - mean_x) * by_x));
    if (places.full()) places.take(all, line, fits);
  }
  places.take(all, line, fits);
  result.level_step = fits.level_step.gain();
  result.step = fits.step.gain();
  result.bend = fits.bend.gain();
  result.lines = fits.lines.gain();
  result.step_at = mean_x + fits.step.at() / by_x;
  result.bend_at = mean_x + fits.bend.at() / by_x;
  return result;
}

void sort_by_x(std::span<Point> points) {
  std::sort(points.begin(), points.end(),
            [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
}

std::span<Point> points_by_x(Matrix<const float> rows, ShapedColumns columns, std::span<Point> room) {
  std::size_t n = 0;
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const Point p{rows.row(i)[columns.x], rows.row(i)[columns.y]};
    if (!std::isnan(p.x) && !std::isnan(p.y)) room[n++] = p;
  }
  const std::span<Point> points = room.first(n);
  sort_by_x(points);
  return points;
}

namespace {

bool has_shape(std::span<const Point> points) {
  const Shapes found = find_shapes(points);
  const double most = std::max({found.curve - kPriceOfCurve, found.step, found.bend});
  return most - std::max(found.line, 0.0) >= kClearlyShaped;
}

bool varies(std::span<const Point> points) {
  std::int64_t values = points.empty() ? 0 : 1;
  for (std::size_t i = 1; i < points.size(); ++i) values += points[i].x != points[i - 1].x;
  return values >= kFewestValues;
}

// A data set of these columns for a first look: of many rows only some, evenly spaced.
std::span<const Point> some_points(Matrix<const float> rows, ShapedColumns columns, std::span<Point> room) {
  const std::int64_t every = 1 + (rows.rows - 1) / kMostRows;
  Matrix<const float> some = rows;
  some.rows = (rows.rows + every - 1) / every;
  some.stride = rows.stride * every;
  return points_by_x(some, columns, room);
}

}  // namespace

std::vector<ShapedColumns> find_shaped(Ragged<const float> data, const std::vector<std::int64_t>& but,
                                       const std::vector<std::int64_t>& design) {
  const auto is_in = [](const std::vector<std::int64_t>& list, std::int64_t c) {
    return std::find(list.begin(), list.end(), c) != list.end();
  };
  std::vector<std::int64_t> columns;
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    if (!is_in(but, c)) columns.push_back(c);
  }
  const auto pairs = static_cast<std::int64_t>(columns.size() * columns.size());
  const std::int64_t sets =
      std::min(data.sets, std::max(kFewestSets, kMostLooks / std::max<std::int64_t>(pairs, 1)));
  struct Found {
    ShapedColumns columns;
    double clear;
  };
  std::vector<Found> found;
  std::array<Point, kMostRows> room;
  for (const std::int64_t x : columns) {
    for (const std::int64_t y : columns) {
      if (x == y || is_in(design, y)) continue;
      double clear = 0, vary = 0;
      for (std::int64_t k = 0; k < sets; ++k) {
        const std::int64_t set = k * data.sets / sets;
        const Matrix<const float> rows = data.x.rows_from(data.offsets[set], data.size(set));
        const std::span<const Point> points = some_points(rows, {x, y}, room);
        if (!varies(points)) continue;
        ++vary;
        clear += has_shape(points);
      }
      const auto all = static_cast<double>(sets);
      if (vary >= 0.5 * all && clear >= kShareShaped * all && clear > 0) found.push_back({{x, y}, clear});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.clear > b.clear; });
  std::vector<ShapedColumns> result;
  for (const Found& one : found) {
    if (result.size() < kMostShaped) result.push_back(one.columns);
  }
  return result;
}

}  // namespace occam
