#include "occam/data/design_profile.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/whole_number.hpp"
#include "occam/data/orders.hpp"

namespace occam {
namespace {

constexpr std::size_t kMostLevels = 16;  // a column with more values than this is taken for continuous
constexpr std::size_t kBands = 8;
// How far beyond what was seen a design may lie: a part of the range, since a sample does not show all of it.
constexpr double kMargin = 0.1;
constexpr double kValueMargin = 0.05;
constexpr double kDesignWeight = 1.5;
constexpr double kFarBelow = 1e-30;

bool is_in(const std::vector<std::int64_t>& places, std::int64_t at) {
  return std::find(places.begin(), places.end(), at) != places.end();
}

// How many labels a column has: they are 1, 2, 3, ...
double largest(Matrix<const float> rows, std::int64_t at) {
  double result = 0;
  for (std::int64_t r = 0; r < rows.rows; ++r) result = std::max<double>(result, rows.row(r)[at]);
  return result;
}

}  // namespace

// What is not above 0 lies far below all that is.
double DesignProfile::Column::scaled(double x) const {
  return by_logarithm ? std::log(std::max(x, kFarBelow * smallest)) : x;
}

DesignProfile::Column DesignProfile::describe(const std::string& name, std::int64_t at,
                                              const std::vector<Ragged<const float>>& data) {
  Column column{name, at};
  std::vector<float> values;
  for (const auto& part : data) {
    for (std::int64_t r = 0; r < part.x.rows; ++r) values.push_back(part.x.row(r)[at]);
  }
  if (values.empty()) throw Error(ErrorKind::internal, "a design profile needs data");
  std::sort(values.begin(), values.end());
  column.smallest = values.front();
  column.largest = values.back();
  column.by_logarithm = column.smallest > 0 && over_orders(values);
  double mean = 0, squares = 0;
  for (const float x : values) mean += column.scaled(x) / static_cast<double>(values.size());
  for (const float x : values)
    squares += std::pow(column.scaled(x) - mean, 2) / static_cast<double>(values.size());
  if (squares > 0) column.scale = std::sqrt(squares);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= kMostLevels) column.levels = std::move(values);
  return column;
}

DesignProfile DesignProfile::learn(const std::vector<Ragged<const float>>& data,
                                   const std::vector<std::string>& columns, const std::vector<bool>& design,
                                   const std::vector<std::int64_t>& missing) {
  DesignProfile profile;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (design[c]) profile.columns_.push_back(describe(columns[c], static_cast<std::int64_t>(c), data));
  }
  for (const std::int64_t c : missing) {
    profile.columns_.push_back({columns[static_cast<std::size_t>(c)], c});
    profile.columns_.back().observed = true;
  }
  profile.count_dimensions();
  if (profile.empty()) return profile;

  std::vector<std::int64_t> sizes;
  for (const auto& part : data) {
    for (std::int64_t b = 0; b < part.sets; ++b) sizes.push_back(part.size(b));
  }
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t b = 1; b <= kBands; ++b) {
    const std::int64_t end = sizes[(sizes.size() - 1) * b / kBands];
    if (profile.band_rows_.empty() || end > profile.band_rows_.back()) profile.band_rows_.push_back(end);
  }
  const auto K = static_cast<std::size_t>(profile.dimensions_);
  profile.low_.assign(profile.band_rows_.size() * K, std::numeric_limits<double>::infinity());
  profile.high_.assign(profile.low_.size(), -std::numeric_limits<double>::infinity());
  for (const auto& part : data) {
    for (std::int64_t b = 0; b < part.sets; ++b) {
      const auto seen = profile.statistics(part.x.rows_from(part.offsets[b], part.size(b)));
      const std::size_t at = profile.band(part.size(b)) * K;
      for (std::size_t k = 0; k < K; ++k) {
        profile.low_[at + k] = std::min(profile.low_[at + k], seen[k]);
        profile.high_[at + k] = std::max(profile.high_[at + k], seen[k]);
      }
    }
  }
  return profile;
}

void DesignProfile::count_dimensions() {
  dimensions_ = 0;
  for (const Column& column : columns_) {
    dimensions_ += static_cast<std::int64_t>(column.statistics());
  }
}

std::vector<bool> DesignProfile::is_design(std::int64_t D) const {
  std::vector<bool> result(static_cast<std::size_t>(D), false);
  for (const Column& column : columns_) {
    if (!column.observed) result[static_cast<std::size_t>(column.at)] = true;
  }
  return result;
}

std::vector<std::int64_t> DesignProfile::missing() const {
  std::vector<std::int64_t> places;
  for (const Column& column : columns_) {
    if (column.observed) places.push_back(column.at);
  }
  return places;
}

std::size_t DesignProfile::band(std::int64_t rows) const {
  const auto found = std::lower_bound(band_rows_.begin(), band_rows_.end(), rows);
  return std::min(static_cast<std::size_t>(found - band_rows_.begin()), band_rows_.size() - 1);
}

std::vector<double> DesignProfile::statistics(Matrix<const float> rows) const {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(dimensions_));
  const auto n = static_cast<double>(rows.rows);
  for (const Column& column : columns_) {
    const auto value = [&](std::int64_t r) { return rows.row(r)[column.at]; };
    if (column.observed) {
      std::int64_t count = 0;
      for (std::int64_t r = 0; r < rows.rows; ++r) count += std::isnan(value(r)) ? 1 : 0;
      result.push_back(static_cast<double>(count) / n);
      continue;
    }
    for (const float level : column.levels) {
      std::int64_t count = 0;
      for (std::int64_t r = 0; r < rows.rows; ++r) count += value(r) == level ? 1 : 0;
      result.push_back(static_cast<double>(count) / n);
    }
    if (!column.levels.empty()) continue;
    double mean = 0, squares = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) mean += column.scaled(value(r)) / n;
    for (std::int64_t r = 0; r < rows.rows; ++r) squares += std::pow(column.scaled(value(r)) - mean, 2) / n;
    result.push_back(mean);
    result.push_back(std::sqrt(squares));
  }
  return result;
}

std::string DesignProfile::statistic_name(std::size_t index) const {
  for (const Column& column : columns_) {
    const std::size_t count = column.statistics();
    if (index >= count) {
      index -= count;
      continue;
    }
    if (column.observed) return "share of missing values of " + column.name;
    if (column.levels.empty())
      return fmt::format("{} of {}{}", index == 0 ? "mean" : "standard deviation",
                         column.by_logarithm ? "the logarithm of " : "", column.name);
    return fmt::format("share of {} = {}", column.name, column.levels[index]);
  }
  return "";
}

std::vector<std::string> DesignProfile::statistic_names() const {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < dimensions_; ++i) names.push_back(statistic_name(static_cast<std::size_t>(i)));
  return names;
}

// A level or a value that never was, or more labels than ever.
std::string DesignProfile::foreign_value(Matrix<const float> rows,
                                         const std::vector<std::int64_t>& labels) const {
  for (const Column& column : columns_) {
    if (column.observed) continue;
    if (is_in(labels, column.at)) {
      const double count = largest(rows, column.at);
      const double margin = column.levels.empty() ? kValueMargin * (column.largest - column.smallest) : 0;
      if (!(count > column.largest + margin)) continue;
      return fmt::format("{:.0f} different labels of {}, in training at most {:.0f}", count, column.name,
                         column.largest);
    }
    double lowest = rows.row(0)[column.at], highest = lowest;
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const float x = rows.row(r)[column.at];
      lowest = std::min<double>(lowest, x);
      highest = std::max<double>(highest, x);
      if (column.levels.empty() || std::binary_search(column.levels.begin(), column.levels.end(), x))
        continue;
      return fmt::format("{} = {} is not among the levels trained on ({})", column.name, x,
                         fmt::join(column.levels, ", "));
    }
    const double low = column.scaled(column.smallest), high = column.scaled(column.largest);
    const double margin = kValueMargin * (high - low);
    if (column.scaled(lowest) >= low - margin && column.scaled(highest) <= high + margin) continue;
    return fmt::format("{} reaches from {:.4g} to {:.4g}, in training from {:.4g} to {:.4g}", column.name,
                       lowest, highest, column.smallest, column.largest);
  }
  return "";
}

// How labels share out the rows. Which of them has which number says nothing, and is not said.
std::string DesignProfile::foreign_labels(const Column& column, double labels, std::size_t statistic,
                                          double seen, std::size_t at) const {
  if (column.levels.empty()) {
    return fmt::format("the rows are shared out among the {:.0f} labels of {} as they never were in training",
                       labels, column.name);
  }
  const double low = low_[at + statistic], high = high_[at + statistic];
  if (seen > 0) {
    const std::string share = seen < 1 ? fmt::format("{:.3g} of the", seen) : "all";
    return fmt::format("one label of {} has {} rows, in training {:.3g} to {:.3g} of them at such sizes",
                       column.name, share, low, high);
  }
  // Numbers are given in order, so the last that was always there says how many there were at least.
  std::size_t always = statistic + 1;
  for (std::size_t i = statistic; i < column.levels.size(); ++i) {
    if (low_[at + i] > 0) always = i + 1;
  }
  return fmt::format("{:.0f} different label{} of {}, in training at least {} at such sizes", labels,
                     labels == 1 ? "" : "s", column.name, always);
}

std::string DesignProfile::foreign(Matrix<const float> rows, const std::vector<std::int64_t>& labels) const {
  if (empty()) return "";
  if (std::string value = foreign_value(rows, labels); !value.empty()) return value;
  const std::vector<double> seen = statistics(rows);
  const std::size_t at = band(rows.rows) * static_cast<std::size_t>(dimensions_);
  std::size_t k = 0;
  for (const Column& column : columns_) {
    const std::size_t count = column.statistics();
    // One row more or less of a level is no other design; neither is a mean that differs by one value.
    const double grain = (column.has_shares() ? 1.0 : column.scale) / static_cast<double>(rows.rows);
    for (std::size_t i = 0; i < count; ++i, ++k) {
      const double low = low_[at + k], high = high_[at + k];
      const double margin = kMargin * (high - low) + 1.001 * grain;
      if (seen[k] >= low - margin && seen[k] <= high + margin) continue;
      if (!column.observed && is_in(labels, column.at))
        return foreign_labels(column, largest(rows, column.at), i, seen[k], at + k - i);
      return fmt::format("{} is {:.3g}, in training {:.3g} to {:.3g} at such sizes", statistic_name(k),
                         seen[k], low, high);
    }
  }
  return "";
}

// Shares as log odds: rare levels are told apart as finely as common ones. Weighted above the size, to which
// scores are brought to scale more easily.
std::vector<float> DesignProfile::coordinates(Matrix<const float> rows) const {
  const std::vector<double> seen = statistics(rows);
  std::vector<float> result;
  std::size_t k = 0;
  for (const Column& column : columns_) {
    const std::size_t count = column.statistics();
    for (std::size_t i = 0; i < count; ++i, ++k) {
      const auto n = static_cast<double>(rows.rows);
      const double x = column.has_shares() ? std::log((n * seen[k] + 0.5) / (n - n * seen[k] + 0.5))
                                           : seen[k] / column.scale;
      result.push_back(static_cast<float>(kDesignWeight * x));
    }
  }
  return result;
}

std::vector<float> DesignProfile::explanatory(Matrix<const float> rows) const {
  if (empty()) return {};
  const std::vector<double> seen = statistics(rows);
  std::vector<float> result = {std::log(static_cast<float>(rows.rows))};
  std::size_t k = 0;
  for (const Column& column : columns_) {
    const std::size_t count = column.statistics();
    for (std::size_t i = 0; i < count; ++i, ++k) {
      const double x = seen[k] / (column.has_shares() ? 1.0 : column.scale);
      // What a rare level can tell depends on how many observations of it there are.
      const double log_count = std::log1p(std::fabs(x) * static_cast<double>(rows.rows));
      for (const double term : {x, x * x, log_count, log_count * log_count})
        result.push_back(static_cast<float>(term));
    }
  }
  return result;
}

nlohmann::json DesignProfile::json() const {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& c : columns_) {
    if (c.observed) {
      columns.push_back({{"name", c.name}, {"missing", true}});
      continue;
    }
    columns.push_back({{"name", c.name},
                       {"levels", c.levels},
                       {"smallest", c.smallest},
                       {"largest", c.largest},
                       {"scale", c.scale}});
    if (c.by_logarithm) columns.back()["by_logarithm"] = true;
  }
  return {{"columns", columns}, {"band_rows", band_rows_}, {"low", low_}, {"high", high_}};
}

DesignProfile DesignProfile::from_json(const nlohmann::json& json, const std::vector<std::string>& columns) {
  DesignProfile profile;
  const auto refuse = [] { throw Error(ErrorKind::bad_config, "its description of designs is not usable"); };
  std::int64_t after = -1;
  for (const nlohmann::json& entry : json.at("columns")) {
    Column c;
    c.name = entry.at("name").get<std::string>();
    c.at = std::find(columns.begin(), columns.end(), c.name) - columns.begin();
    c.observed = entry.value("missing", false);
    if (c.observed) {  // these come last
      const auto known = profile.missing();
      const bool sound = c.at < static_cast<std::int64_t>(columns.size()) &&
                         (known.empty() || known.back() < c.at) &&
                         std::none_of(profile.columns_.begin(), profile.columns_.end(),
                                      [&](const Column& other) { return other.at == c.at; });
      if (!sound) refuse();
      profile.columns_.push_back(std::move(c));
      continue;
    }
    if (!profile.missing().empty()) refuse();
    c.levels = entry.at("levels").get<std::vector<float>>();
    c.smallest = entry.at("smallest").get<double>();
    c.largest = entry.at("largest").get<double>();
    c.scale = entry.at("scale").get<double>();
    c.by_logarithm = entry.value("by_logarithm", false);
    const bool sound =
        (!c.by_logarithm || c.smallest > 0) && std::isfinite(c.scale) && std::isfinite(c.smallest) &&
        std::isfinite(c.largest) &&
        std::all_of(c.levels.begin(), c.levels.end(), [](float x) { return std::isfinite(x); }) &&
        c.at < static_cast<std::int64_t>(columns.size()) && c.at > after && c.scale > 0 &&
        c.smallest <= c.largest && c.levels.size() <= kMostLevels &&
        std::adjacent_find(c.levels.begin(), c.levels.end(), std::greater_equal<>()) == c.levels.end();
    if (!sound) refuse();
    after = c.at;
    profile.columns_.push_back(std::move(c));
  }
  profile.count_dimensions();
  profile.band_rows_ = whole_numbers(json.at("band_rows"));
  profile.low_ = json.at("low").get<std::vector<double>>();
  profile.high_ = json.at("high").get<std::vector<double>>();
  const std::size_t size = profile.band_rows_.size() * static_cast<std::size_t>(profile.dimensions_);
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  };
  const bool sound = !profile.columns_.empty() && !profile.band_rows_.empty() && finite(profile.low_) &&
                     finite(profile.high_) &&
                     std::adjacent_find(profile.band_rows_.begin(), profile.band_rows_.end(),
                                        std::greater_equal<>()) == profile.band_rows_.end() &&
                     profile.low_.size() == size && profile.high_.size() == size;
  if (!sound) refuse();
  return profile;
}

}  // namespace occam
