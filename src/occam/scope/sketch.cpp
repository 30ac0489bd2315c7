#include "occam/scope/sketch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr std::size_t kMostLevels = 8;   // a column with more values counts as continuous
constexpr std::size_t kMostGroups = 24;  // beyond, only groups by one column
constexpr std::size_t kMostPairs = 28;   // correlations
constexpr std::array<double, 9> kQuantiles = {0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1};
constexpr std::array<const char*, 9> kQuantileNames = {
    "smallest",          "5 % quantile of",  "10 % quantile of",
    "lower quartile of", "median",           "upper quartile of",
    "90 % quantile of",  "95 % quantile of", "largest"};
constexpr std::array<std::int64_t, 6> kLags = {1, 2, 5, 10, 20, 50};
constexpr std::array<std::int64_t, 3> kOrderLags = {1, 2, 5};  // of exchangeable data in order of time
constexpr std::int64_t kSegment = 256;  // of the spectrum, or the largest power of two that fits
// Borders of the frequency bands, in 1/256 of the sampling rate.
constexpr std::array<std::int64_t, 13> kBands = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 129};
constexpr std::size_t kPerGroup = kQuantiles.size() + 1;
constexpr std::size_t kPerOrderedColumn = 2 * kPerGroup + kLags.size() + 1 + kBands.size() - 1 + 3;

// Quantiles by linear interpolation, and the standard deviation; `values` is sorted in place, not empty.
void quantiles_and_spread(std::vector<float>& values, float*& out) {
  std::sort(values.begin(), values.end());
  for (const double q : kQuantiles) {
    const double at = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    *out++ = static_cast<float>(values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]));
  }
  double mean = 0;
  for (const float value : values) mean += value;
  mean /= static_cast<double>(values.size());
  double squares = 0;
  for (const float value : values) squares += (value - mean) * (value - mean);
  *out++ = static_cast<float>(std::sqrt(squares / static_cast<double>(values.size())));
}

// Over the rows that have both.
double correlation_of(Matrix<const float> rows, std::int64_t a, std::int64_t b) {
  const auto both = [&](std::int64_t r) {
    return !std::isnan(rows.row(r)[a]) && !std::isnan(rows.row(r)[b]);
  };
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < rows.rows; ++r) count += both(r) ? 1 : 0;
  const auto n = static_cast<double>(count);
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    if (!both(r)) continue;
    ma += rows.row(r)[a] / n;
    mb += rows.row(r)[b] / n;
  }
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    if (!both(r)) continue;
    const double x = rows.row(r)[a] - ma;
    const double y = rows.row(r)[b] - mb;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// One column less its mean, the sum of its squares, and the slope of a straight line over the whole series.
// Missing values lie at the mean.
struct Centred {
  std::vector<double> values;
  double squares = 0;
  double trend = 0;
};

Centred centred_column(Matrix<const float> rows, std::int64_t column) {
  const auto n = static_cast<double>(rows.rows);
  const auto missing = [&](std::int64_t r) { return std::isnan(rows.row(r)[column]); };
  std::int64_t there = 0;
  for (std::int64_t r = 0; r < rows.rows; ++r) there += missing(r) ? 0 : 1;
  double mean = 0;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    if (!missing(r)) mean += rows.row(r)[column] / static_cast<double>(there);
  }
  Centred result;
  result.values.reserve(static_cast<std::size_t>(rows.rows));
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const double x = missing(r) ? 0 : rows.row(r)[column] - mean;
    result.values.push_back(x);
    result.squares += x * x;
    result.trend += x * (static_cast<double>(r) / n - 0.5) * 12 / n;
  }
  return result;
}

double autocorrelation(const std::vector<double>& centred, double squares, std::int64_t lag) {
  const auto n = static_cast<std::int64_t>(centred.size());
  if (lag >= n || !(squares > 0)) return 0;
  double sum = 0;
  for (std::int64_t i = 0; i + lag < n; ++i)
    sum += centred[static_cast<std::size_t>(i)] * centred[static_cast<std::size_t>(i + lag)];
  return sum / squares;
}

// In place, for a power of two (Cooley & Tukey 1965).
void fourier(std::vector<std::complex<double>>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2) {
    const std::complex<double> turn = std::polar(1.0, -2 * std::numbers::pi / static_cast<double>(length));
    for (std::size_t i = 0; i < n; i += length) {
      std::complex<double> w = 1;
      for (std::size_t k = 0; k < length / 2; ++k, w *= turn) {
        const auto even = x[i + k];
        const auto odd = w * x[i + k + length / 2];
        x[i + k] = even + odd;
        x[i + k + length / 2] = even - odd;
      }
    }
  }
}

// Logarithm of the power in each band, from Hann windows that overlap by half (Welch 1967).
void spectrum(const std::vector<double>& centred, float*& out) {
  std::array<double, kBands.size() - 1> power = {};
  std::int64_t length = kSegment;
  const auto n = static_cast<std::int64_t>(centred.size());
  while (length > n) length /= 2;
  std::int64_t segments = 0;
  for (std::int64_t start = 0; length >= 8 && start + length <= n; start += length / 2, ++segments) {
    std::vector<std::complex<double>> x(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) {
      const double window =
          0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
      x[static_cast<std::size_t>(i)] = window * centred[static_cast<std::size_t>(start + i)];
    }
    fourier(x);
    for (std::int64_t k = 1; k <= length / 2; ++k) {
      const std::int64_t frequency = k * kSegment / length;
      const auto band = std::upper_bound(kBands.begin(), kBands.end(), frequency) - kBands.begin() - 1;
      power[static_cast<std::size_t>(band)] +=
          std::norm(x[static_cast<std::size_t>(k)]) / static_cast<double>(length * length);
    }
  }
  for (const double p : power) {
    *out++ =
        static_cast<float>(std::log(1e-9 + p / static_cast<double>(std::max<std::int64_t>(segments, 1))));
  }
}

}  // namespace

std::vector<float> finite_floats(const nlohmann::json& json) {
  std::vector<float> values;
  for (const double value : json.get<std::vector<double>>()) {
    if (!(std::fabs(value) <= std::numeric_limits<float>::max()))
      throw Error(ErrorKind::bad_config, "its scope reference holds {}", value);
    values.push_back(static_cast<float>(value));
  }
  return values;
}

Sketch Sketch::learn(Ragged<const float> data, const std::vector<std::string>& columns, bool ordered,
                     bool time, std::vector<bool> design) {
  Sketch sketch;
  design.resize(columns.size(), false);
  sketch.design_ = std::move(design);
  sketch.time_ = time && !ordered;
  sketch.columns_ = columns;
  sketch.ordered_ = ordered;
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    std::vector<float> values;
    for (std::int64_t r = 0; r < data.x.rows; ++r) {
      if (const float x = data.x.row(r)[c]; !std::isnan(x)) values.push_back(x);
    }
    if (values.empty()) values.push_back(0);  // a column of which nothing is there
    std::sort(values.begin(), values.end());
    const auto at = [&](double q) {
      return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
    };
    sketch.cross_.push_back({at(0.1), at(0.5), at(0.9)});
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (ordered || values.size() > kMostLevels) values.clear();
    sketch.levels_.push_back(std::move(values));
  }
  sketch.plan();
  return sketch;
}

// Groups by two columns at a time, with a level of each; all of them, or those of the design alone.
double Sketch::pair_groups(bool of_design) const {
  double sum = 0;
  double squares = 0;
  for (std::size_t c = 0; c < levels_.size(); ++c) {
    if (of_design && !design_[c]) continue;
    const auto count = static_cast<double>(levels_[c].size());
    sum += count;
    squares += count * count;
  }
  return (sum * sum - squares) / 2;
}

// The number of names that plan() will make.
double Sketch::planned_size() const {
  const auto D = static_cast<double>(std::count(design_.begin(), design_.end(), false));
  if (ordered_) return 1 + D * static_cast<double>(kPerOrderedColumn);
  double groups = 1, shares = 0;
  double continuous = 0, given = 0;
  for (std::size_t c = 0; c < levels_.size(); ++c) {
    const auto count = static_cast<double>(levels_[c].size());
    groups += count;
    shares += design_[c] ? 0 : count;
    continuous += levels_[c].empty() && !design_[c] ? 1 : 0;
    given += levels_[c].empty() && design_[c] ? 1 : 0;
  }
  if (groups + pair_groups(false) <= static_cast<double>(kMostGroups)) {
    groups += pair_groups(false);
    shares += pair_groups(false) - pair_groups(true);
  }
  const double pairs = continuous * (continuous - 1) / 2 + continuous * given;
  const double correlations = std::min(static_cast<double>(kMostPairs), pairs);
  const double time = time_ ? D * static_cast<double>(kOrderLags.size() + 1) : 0;
  return 1 + shares + groups * continuous * static_cast<double>(kPerGroup) + correlations + time;
}

void Sketch::plan() {
  names_ = {"number of rows"};
  if (ordered_) {
    plan_ordered();
  } else {
    plan_exchangeable();
  }
}

std::string Sketch::describe(const Group& group) const {
  const auto part = [&](std::int64_t column, std::int64_t level) {
    const auto c = static_cast<std::size_t>(column);
    return fmt::format("{} = {}", columns_[c], levels_[c][static_cast<std::size_t>(level)]);
  };
  if (group.a < 0) return "";
  return " where " + part(group.a, group.level_a) +
         (group.b < 0 ? "" : " and " + part(group.b, group.level_b));
}

// Of a group by the design alone, how many there are says nothing about models.
bool Sketch::has_share(const Group& group) const {
  return (group.a >= 0 && !is_design(group.a)) || (group.b >= 0 && !is_design(group.b));
}

void Sketch::plan_exchangeable() {
  const auto D = static_cast<std::int64_t>(columns_.size());
  const auto count = [&](std::int64_t c) {
    return static_cast<std::int64_t>(levels_[static_cast<std::size_t>(c)].size());
  };
  groups_ = {Group{}};
  for (std::int64_t a = 0; a < D; ++a) {
    if (count(a) == 0 && !is_design(a)) continuous_.push_back(a);
    for (std::int64_t i = 0; i < count(a); ++i) groups_.push_back({a, i});
  }
  const bool pairs =
      static_cast<double>(groups_.size()) + pair_groups(false) <= static_cast<double>(kMostGroups);
  for (std::int64_t a = 0; pairs && a < D; ++a) {
    for (std::int64_t b = a + 1; count(a) > 0 && b < D; ++b) {
      for (std::int64_t i = 0; i < count(a) * count(b); ++i)
        groups_.push_back({a, i / count(b), b, i % count(b)});
    }
  }
  for (const Group& group : groups_) {
    const std::string where = describe(group);
    if (has_share(group)) names_.push_back("share of observations" + where);
    for (const std::int64_t c : continuous_) {
      const std::string& column = columns_[static_cast<std::size_t>(c)];
      for (const char* quantile : kQuantileNames)
        names_.push_back(fmt::format("{} {}{}", quantile, column, where));
      names_.push_back(fmt::format("standard deviation of {}{}", column, where));
    }
  }
  for (std::int64_t a = 0; a < D; ++a) {
    for (std::int64_t b = a + 1; b < D && correlated_.size() < kMostPairs; ++b) {
      if (count(a) > 0 || count(b) > 0 || (is_design(a) && is_design(b))) continue;
      correlated_.emplace_back(a, b);
      names_.push_back(fmt::format("correlation of {} and {}", columns_[static_cast<std::size_t>(a)],
                                   columns_[static_cast<std::size_t>(b)]));
    }
  }
  for (std::int64_t c = 0; time_ && c < D; ++c) {
    if (is_design(c)) continue;
    const std::string& column = columns_[static_cast<std::size_t>(c)];
    for (const std::int64_t lag : kOrderLags)
      names_.push_back(fmt::format("autocorrelation of {} at lag {}", column, lag));
    names_.push_back("trend of " + column);
  }
}

void Sketch::plan_ordered() {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (design_[c]) continue;
    const std::string& column = columns_[c];
    for (const char* quantile : kQuantileNames) names_.push_back(fmt::format("{} {}", quantile, column));
    names_.push_back("standard deviation of " + column);
    for (const char* quantile : kQuantileNames)
      names_.push_back(fmt::format("{} step of {}", quantile, column));
    names_.push_back("standard deviation of the steps of " + column);
    for (const std::int64_t lag : kLags)
      names_.push_back(fmt::format("autocorrelation of {} at lag {}", column, lag));
    names_.push_back("trend of " + column);
    for (std::size_t b = 0; b + 1 < kBands.size(); ++b) {
      names_.push_back(fmt::format(
          "power of {} at {:.3f} to {:.3f} cycles per row", column, static_cast<double>(kBands[b]) / kSegment,
          static_cast<double>(std::min<std::int64_t>(kBands[b + 1], 128)) / kSegment));
    }
    for (const char* level : {"low", "middle", "high"})
      names_.push_back(fmt::format("upward crossings of a {} level of {}", level, column));
  }
}

bool Sketch::in(const Group& group, const float* row) const {
  const auto at = [&](std::int64_t column, std::int64_t level) {
    return column < 0 ||
           row[column] == levels_[static_cast<std::size_t>(column)][static_cast<std::size_t>(level)];
  };
  return at(group.a, group.level_a) && at(group.b, group.level_b);
}

// Among the observations of the same design; where there are none, among all. Only those count of which the
// values are there that it takes to tell; where there are none of these, all levels are alike.
double Sketch::share(const Group& group, Matrix<const float> rows, std::int64_t members) const {
  Group given, asked;
  const auto put = [&](std::int64_t column, std::int64_t level) {
    if (column < 0) return;
    Group& part = is_design(column) ? given : asked;
    (part.a < 0 ? part.a : part.b) = column;
    (part.level_a < 0 ? part.level_a : part.level_b) = level;
  };
  put(group.a, group.level_a);
  put(group.b, group.level_b);
  const auto known = [&](const float* row) {
    return (asked.a < 0 || !std::isnan(row[asked.a])) && (asked.b < 0 || !std::isnan(row[asked.b]));
  };
  const auto count = [&](const Group& part) {
    std::int64_t found = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) found += known(rows.row(r)) && in(part, rows.row(r)) ? 1 : 0;
    return static_cast<double>(found);
  };
  const auto n = count(Group{});
  if (n == 0) {
    const auto levels = [&](std::int64_t c) {
      return c < 0 ? 1.0 : static_cast<double>(levels_[static_cast<std::size_t>(c)].size());
    };
    return 1 / (levels(asked.a) * levels(asked.b));
  }
  if (given.a < 0) return static_cast<double>(members) / n;
  const double alike = count(given);
  return alike > 0 ? static_cast<double>(members) / alike : count(asked) / n;
}

// Quantiles and spread of the values that are there; else what the group of all said, or else what is
// typical.
void Sketch::describe_values(std::int64_t column, std::vector<float>& values, const float* overall,
                             float*& out) const {
  std::erase_if(values, [](float x) { return std::isnan(x); });
  if (!values.empty()) return quantiles_and_spread(values, out);
  if (overall != nullptr) {
    out = std::copy_n(overall, kPerGroup, out);
    return;
  }
  values.push_back(cross_[static_cast<std::size_t>(column)][1]);
  quantiles_and_spread(values, out);
}

void Sketch::exchangeable(Matrix<const float> rows, std::span<float> out_span) const {
  float* out = out_span.data();
  *out++ = std::log(static_cast<float>(rows.rows));
  std::vector<float> values;
  const float* overall = nullptr;  // what the group of all said: it stands in for empty groups
  for (const Group& group : groups_) {
    // Counted, not listed: a list of the rows would take more memory than their values.
    std::int64_t members = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) members += in(group, rows.row(r)) ? 1 : 0;
    if (has_share(group)) *out++ = static_cast<float>(share(group, rows, members));
    if (group.a < 0) overall = out;
    if (members == 0) {
      out = std::copy_n(overall, kPerGroup * continuous_.size(), out);
      continue;
    }
    for (std::size_t k = 0; k < continuous_.size(); ++k) {
      values.clear();
      values.reserve(static_cast<std::size_t>(members));
      for (std::int64_t r = 0; r < rows.rows; ++r) {
        if (in(group, rows.row(r))) values.push_back(rows.row(r)[continuous_[k]]);
      }
      describe_values(continuous_[k], values, group.a < 0 ? nullptr : overall + k * kPerGroup, out);
    }
  }
  for (const auto& [a, b] : correlated_) *out++ = static_cast<float>(correlation_of(rows, a, b));
  if (time_) dependence(rows, out);
}

// Rows that are independent have autocorrelations of about 0 +- 1 / sqrt(n), and no trend: scaled
// accordingly.
void Sketch::dependence(Matrix<const float> rows, float* out) const {
  const double root = std::sqrt(static_cast<double>(rows.rows));
  for (std::int64_t c = 0; c < rows.columns; ++c) {
    if (is_design(c)) continue;
    const Centred series = centred_column(rows, c);
    for (const std::int64_t lag : kOrderLags)
      *out++ = static_cast<float>(root * autocorrelation(series.values, series.squares, lag));
    const double sd = std::sqrt(series.squares / static_cast<double>(rows.rows));
    *out++ = static_cast<float>(sd > 0 ? root * series.trend / sd : 0);
  }
}

void Sketch::ordered(Matrix<const float> rows, std::span<float> out_span) const {
  float* out = out_span.data();
  const auto n = static_cast<std::size_t>(rows.rows);
  *out++ = std::log(static_cast<float>(n));
  for (std::int64_t c = 0; c < rows.columns; ++c) {
    if (is_design(c)) continue;
    std::vector<float> series(n), steps;
    for (std::size_t i = 0; i < n; ++i) series[i] = rows.row(static_cast<std::int64_t>(i))[c];
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (const float step = series[i + 1] - series[i]; !std::isnan(step)) steps.push_back(step);
    }
    if (steps.empty()) steps.push_back(0);
    std::vector<float> sorted = series;
    describe_values(c, sorted, nullptr, out);
    quantiles_and_spread(steps, out);
    const Centred centred = centred_column(rows, c);
    for (const std::int64_t lag : kLags)
      *out++ = static_cast<float>(autocorrelation(centred.values, centred.squares, lag));
    *out++ = static_cast<float>(centred.trend);  // slope of a straight line, over the whole series
    spectrum(centred.values, out);
    for (const float level : cross_[static_cast<std::size_t>(c)]) {
      std::int64_t crossings = 0;
      for (std::size_t i = 0; i + 1 < n; ++i)
        crossings += series[i] < level && series[i + 1] >= level ? 1 : 0;
      *out++ = std::sqrt(static_cast<float>(crossings));
    }
  }
}

void Sketch::of(Matrix<const float> rows, std::span<float> out) const {
  if (ordered_) {
    ordered(rows, out);
  } else {
    exchangeable(rows, out);
  }
}

nlohmann::json Sketch::json() const {
  return {
      {"columns", columns_}, {"ordered", ordered_}, {"time", time_}, {"levels", levels_}, {"cross", cross_}};
}

Sketch Sketch::from_json(const nlohmann::json& json, const std::vector<std::string>& columns, bool ordered,
                         std::vector<bool> design, std::size_t size) {
  Sketch sketch;
  design.resize(columns.size(), false);
  sketch.design_ = std::move(design);
  sketch.columns_ = json.at("columns").get<std::vector<std::string>>();
  sketch.ordered_ = json.at("ordered").get<bool>();
  sketch.time_ = json.at("time").get<bool>();
  for (const auto& levels : json.at("levels")) sketch.levels_.push_back(finite_floats(levels));
  for (const auto& levels : json.at("cross")) sketch.cross_.push_back(finite_floats(levels));
  const bool sound = !columns.empty() && sketch.columns_ == columns && sketch.ordered_ == ordered &&
                     !(ordered && sketch.time_) && sketch.levels_.size() == columns.size() &&
                     sketch.cross_.size() == columns.size() &&
                     std::all_of(sketch.levels_.begin(), sketch.levels_.end(),
                                 [&](const auto& levels) {
                                   return levels.size() <= (ordered ? 0 : kMostLevels) &&
                                          std::adjacent_find(levels.begin(), levels.end(),
                                                             std::greater_equal<>()) == levels.end();
                                 }) &&
                     std::all_of(sketch.cross_.begin(), sketch.cross_.end(),
                                 [](const auto& levels) {
                                   return levels.size() == 3 && std::is_sorted(levels.begin(), levels.end());
                                 }) &&
                     sketch.planned_size() == static_cast<double>(size);
  if (!sound)
    throw Error(ErrorKind::bad_config, "the sketch of data sets in its scope reference is not usable");
  sketch.plan();
  return sketch;
}

}  // namespace occam
