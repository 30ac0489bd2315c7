#include "occam/data/labels.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "occam/data/log_mean.hpp"

namespace occam {
namespace {

// Below this share of the variance a fit is perfect.
constexpr double kPerfectFit = 1e-9;

// How many values column c takes in these rows; 0: one of them is no whole number.
std::int64_t distinct(Matrix<const float> rows, std::int64_t c, std::vector<float>& values) {
  values.clear();
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const float x = rows.row(r)[c];
    if (std::floor(x) != x || std::abs(x) > 1e7f) return 0;  // what is missing is none either
    values.push_back(x);
  }
  std::sort(values.begin(), values.end());
  return std::unique(values.begin(), values.end()) - values.begin();
}

// One label: how many rows, and their mean. Kept where the rows were.
using Label = LabelledValue;

// Puts labels in the place of their rows; what is left within them is added to `within`.
std::span<Label> gather(std::span<LabelledValue> rows, double& within) {
  std::sort(rows.begin(), rows.end(), [](const LabelledValue& a, const LabelledValue& b) {
    return a.label != b.label ? a.label < b.label : a.value < b.value;  // sums do not depend on the order
  });
  std::size_t count = 0;
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    double sum = 0;
    while (end < rows.size() && rows[end].label == rows[first].label) sum += rows[end++].value;
    const double n = static_cast<double>(end - first), mean = sum / n;
    for (std::size_t i = first; i < end; ++i) within += std::pow(rows[i].value - mean, 2);
    rows[count++] = {n, mean};
  }
  return rows.first(count);
}

}  // namespace

std::vector<std::int64_t> find_labels(Ragged<const float> data) {
  std::vector<std::int64_t> columns;
  std::vector<float> values;
  for (std::int64_t c = 0; c < data.x.columns && data.x.columns > 1; ++c) {
    std::int64_t labels = 0;
    bool whole = true;
    for (std::int64_t set = 0; set < data.sets && whole; ++set) {
      const std::int64_t of_set = distinct(data.x.rows_from(data.offsets[set], data.size(set)), c, values);
      labels += of_set;
      whole = of_set > 0;
    }
    if (whole && labels >= 3 * data.sets && data.x.rows >= 2 * labels) columns.push_back(c);
  }
  return columns;
}

std::optional<float> LabelNames::number(std::string_view name) {
  if (name.empty() || name == "NA" || name == "NaN" || name == "nan") return std::nullopt;
  return static_cast<float>(known_.try_emplace(std::string(name), known_.size()).first->second);
}

void number_labels(Matrix<float> rows, std::int64_t c) {
  std::vector<float> values;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    if (!std::isnan(rows.row(r)[c])) values.push_back(rows.row(r)[c]);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    float& x = rows.row(r)[c];
    if (!std::isnan(x))
      x = static_cast<float>(std::lower_bound(values.begin(), values.end(), x) - values.begin() + 1);
  }
}

NumberedLabels::NumberedLabels(Ragged<const float> data, const std::vector<std::int64_t>& columns)
    : view_(data) {
  if (columns.empty()) return;
  const std::int64_t D = data.x.columns, rows = data.offsets[data.sets];
  copy_.reserve(static_cast<std::size_t>(rows * D));
  for (std::int64_t r = 0; r < rows; ++r) copy_.insert(copy_.end(), data.x.row(r), data.x.row(r) + D);
  const Matrix<float> all{copy_.data(), rows, D, D};
  for (std::int64_t set = 0; set < data.sets; ++set) {
    for (const std::int64_t c : columns) number_labels(all.rows_from(data.offsets[set], data.size(set)), c);
  }
  view_.x = {copy_.data(), rows, D, D};
}

double BetweenLabels::any() const {
  return log_mean_exp(gains);
}

BetweenLabels between_labels(std::span<LabelledValue> rows) {
  BetweenLabels result;
  if (rows.empty()) return result;
  const auto n = static_cast<double>(rows.size());
  double mean = 0, squares = 0;
  for (const LabelledValue& row : rows) mean += row.value / n;
  for (const LabelledValue& row : rows) squares += std::pow(row.value - mean, 2);
  double within = 0;
  const std::span<Label> labels = gather(rows, within);
  result.labels = static_cast<double>(labels.size());
  for (const auto& [count, ignored] : labels) result.partners += count * count / n;
  if (!(squares > 0) || !std::isfinite(squares)) return result;
  const auto gain = [&](double left) { return -0.5 * n * std::log(left / squares + kPerfectFit); };
  result.own_means = gain(within);
  for (std::size_t k = 0; k < kSpreadsBetween.size(); ++k) {
    // A mean of `count` rows has the variance spread + 1 / count = shrink / count.
    double weight = 0, centre = 0, left = within, determinant = 0;
    for (const auto& [count, own] : labels) {
      const double shrink = 1 + kSpreadsBetween[k] * count;
      weight += count / shrink;
      centre += own * count / shrink;
      determinant += std::log(shrink);
    }
    centre /= weight;
    for (const auto& [count, own] : labels)
      left += std::pow(own - centre, 2) * count / (1 + kSpreadsBetween[k] * count);
    result.gains[k] = gain(left) - 0.5 * determinant;
  }
  return result;
}

namespace {

// Sums over rows and products, weighted by the inverse of the covariance of values with such a spread.
struct WeightedSums {
  double ones = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  // One label: n rows with these sums and products. What its rows share counts only in part.
  void add(double spread, double n, const WeightedSums& of) {
    const double shared = spread / (1 + spread * n);
    ones += n - shared * n * n;
    x += of.x - shared * n * of.x;
    y += of.y - shared * n * of.y;
    xx += of.xx - shared * of.x * of.x;
    xy += of.xy - shared * of.x * of.y;
    yy += of.yy - shared * of.y * of.y;
  }
  // The part of what a mean leaves of y that x explains.
  double explained() const {
    const double sxx = xx - x * x / ones, sxy = xy - x * y / ones, syy = yy - y * y / ones;
    if (!(sxx > kPerfectFit * xx) || !(syy > kPerfectFit * yy)) return 0;
    return std::clamp(sxy * sxy / (sxx * syy), 0.0, 1 - kPerfectFit);
  }
};

// Centred, so that sums of products keep their digits.
void centre(std::span<LabelledPair> rows) {
  double x = 0, y = 0;
  for (const LabelledPair& row : rows) {
    x += row.x / static_cast<double>(rows.size());
    y += row.y / static_cast<double>(rows.size());
  }
  for (LabelledPair& row : rows) {
    row.x -= x;
    row.y -= y;
  }
}

}  // namespace

ExplainedByLabels explained_between_labels(std::span<LabelledPair> rows) {
  centre(rows);
  std::sort(rows.begin(), rows.end(),
            [](const LabelledPair& a, const LabelledPair& b) { return a.label < b.label; });
  std::array<WeightedSums, std::tuple_size_v<ExplainedByLabels>> sums{};
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    WeightedSums own;
    for (; end < rows.size() && rows[end].label == rows[first].label; ++end) {
      const auto& [label, x, y] = rows[end];
      own.x += x;
      own.y += y;
      own.xx += x * x;
      own.xy += x * y;
      own.yy += y * y;
    }
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k].add(k == 0 ? 0 : kSpreadsBetween[k - 1], static_cast<double>(end - first), own);
  }
  ExplainedByLabels gains{};
  for (std::size_t k = 0; k < sums.size(); ++k)
    gains[k] = -0.5 * static_cast<double>(rows.size()) * std::log1p(-sums[k].explained());
  return gains;
}

}  // namespace occam
