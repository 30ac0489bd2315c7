#include "occam/compare/range_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  if (!file.record.is_object()) return;
  const auto whole = file.record.find("whole_columns");
  if (whole == file.record.end() || !whole->is_array()) return;
  for (const auto& place : *whole) {
    if (!place.is_number_integer()) continue;
    const auto at = place.get<std::int64_t>();
    if (at >= 0 && at < std::ssize(columns_)) columns_[static_cast<std::size_t>(at)].whole = true;
  }
}

void RangeCheck::look_at(Column& column, double x, const std::string& id) {
  ++column.values;
  if (column.whole && x != std::floor(x) && column.broken++ == 0) {
    column.first_broken = x;
    column.where_broken = id;
  }
  const double distance = beyond(column.range, x);
  if (!(distance > 0)) return;
  ++column.outside;
  if (distance <= column.distance) return;
  column.distance = distance;
  column.furthest = x;
  column.where = id;
}

std::vector<std::string> RangeCheck::add(const std::vector<std::string>& ids, Ragged<const float> data) {
  std::vector<std::string> notes(ids.size());
  for (std::int64_t b = 0; b < data.sets; ++b) {
    const auto at = static_cast<std::size_t>(b);
    for (std::size_t d = 0; d < columns_.size(); ++d) {
      Column& column = columns_[d];
      if (column.label) continue;
      const std::int64_t outside = column.outside, broken = column.broken;
      for (std::int64_t r = data.offsets[b]; r < data.offsets[b + 1]; ++r) {
        const double x = data.x.row(r)[d];
        if (!std::isnan(x)) look_at(column, x, ids[at]);  // else missing
      }
      const auto add = [&](const std::string& note) { notes[at] += (notes[at].empty() ? "" : "; ") + note; };
      if (column.outside > outside) {
        add(fmt::format("{} of {} values of {} outside {:.6g} to {:.6g}", column.outside - outside,
                        data.size(b), column.name, column.range.smallest, column.range.largest));
      }
      if (column.broken > broken) {
        add(fmt::format("{} of {} values of {} not whole, as all in training were", column.broken - broken,
                        data.size(b), column.name));
      }
    }
  }
  return notes;
}

std::vector<std::string> RangeCheck::warnings() const {
  std::vector<std::string> messages;
  for (const Column& column : columns_) {
    if (column.broken > 0) {
      messages.push_back(fmt::format(
          "column '{}': {} of {} values are no whole numbers, and the network was trained on whole "
          "numbers only; the first is {:.6g} in data set '{}'. Are they counts or codes, as "
          "simulated?",
          column.name, column.broken, column.values, column.first_broken, column.where_broken));
    }
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
