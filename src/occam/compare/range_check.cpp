#include "occam/compare/range_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace occam {

namespace {

// Simulations stop a little short of the ends of a range, where experimenters like to be. No more than a
// thousandth of the range counts as that, nor than the outermost thousandth of values take up.
constexpr double kShort = 1e-3;

double beyond(const ColumnRange& range, double x) {
  const double most = kShort * (range.high - range.low);
  return std::max(range.smallest - std::min(range.low - range.smallest, most) - x,
                  x - range.largest - std::min(range.largest - range.high, most));
}

}  // namespace

RangeCheck::RangeCheck(const NetworkFile& file) {
  for (std::size_t d = 0; d < file.ranges.size(); ++d) columns_.push_back({file.columns[d], file.ranges[d]});
  for (const std::int64_t label : columns_in(file.labels)) {
    if (label < std::ssize(columns_)) columns_[static_cast<std::size_t>(label)].label = true;
  }
}

std::vector<std::string> RangeCheck::add(const std::vector<std::string>& ids, Ragged<const float> data) {
  std::vector<std::string> notes(ids.size());
  for (std::int64_t b = 0; b < data.sets; ++b) {
    const auto at = static_cast<std::size_t>(b);
    for (std::size_t d = 0; d < columns_.size(); ++d) {
      Column& column = columns_[d];
      if (column.label) continue;
      const std::int64_t before = column.outside;
      for (std::int64_t r = data.offsets[b]; r < data.offsets[b + 1]; ++r) {
        const double x = data.x.row(r)[d];
        if (std::isnan(x)) continue;  // missing
        ++column.values;
        const double distance = beyond(column.range, x);
        if (!(distance > 0)) continue;
        ++column.outside;
        if (distance <= column.distance) continue;
        column.distance = distance;
        column.furthest = x;
        column.where = ids[at];
      }
      if (column.outside == before) continue;
      notes[at] += fmt::format("{}{} of {} values of {} outside {:.6g} to {:.6g}",
                               notes[at].empty() ? "" : "; ", column.outside - before, data.size(b),
                               column.name, column.range.smallest, column.range.largest);
    }
  }
  return notes;
}

std::vector<std::string> RangeCheck::warnings() const {
  std::vector<std::string> messages;
  for (const Column& column : columns_) {
    if (column.outside == 0) continue;
    messages.push_back(
        fmt::format("column '{}': {} of {} values lie outside what the network was trained on ({:.6g} to "
                    "{:.6g}, 99.8 % of it between "
                    "{:.6g} and {:.6g}); the furthest is {:.6g} in data set '{}'. Are unit and coding right?",
                    column.name, column.outside, column.values, column.range.smallest, column.range.largest,
                    column.range.low, column.range.high, column.furthest, column.where));
  }
  return messages;
}

}  // namespace occam
