#include "occam/data/labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "occam/data/log_mean.hpp"

namespace occam {
namespace {

// Below this share of the variance a fit is perfect.
constexpr double kPerfectFit = 1e-9;
// Columns that are taken for labels: each is held against all others.
constexpr std::size_t kMostLabels = 4;
// Labels mean something where in this share of all data sets the evidence for differences between them,
// beyond those that go with their number, is so many nats or more. Of ratings, ranks and counts it was in a
// fiftieth or less, of people who hardly differ in a ninth (bench/unseen). To look at too many columns costs
// time only; what differs between labels that are not looked at is lost.
constexpr double kShareThatDiffers = 0.03, kClearlyDifferent = 2;

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

}  // namespace

std::vector<std::int64_t> with_labels(std::vector<std::int64_t> declared,
                                      const std::vector<std::int64_t>& found) {
  declared.insert(declared.end(), found.begin(), found.end());
  std::sort(declared.begin(), declared.end());
  declared.erase(std::unique(declared.begin(), declared.end()), declared.end());
  return declared;
}

std::optional<float> LabelNames::number(std::string_view name) {
  if (name.empty() || name == "NA" || name == "NaN" || name == "nan") return std::nullopt;
  return static_cast<float>(known_.try_emplace(std::string(name), known_.size()).first->second);
}

namespace {

void number_together(Matrix<float> rows, const std::vector<std::int64_t>& columns) {
  std::vector<float> values;
  const auto each = [&](const auto& use) {
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      for (const std::int64_t c : columns) {
        if (!std::isnan(rows.row(r)[c])) use(rows.row(r)[c]);
      }
    }
  };
  each([&](float x) { values.push_back(x); });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  each([&](float& x) {
    x = static_cast<float>(std::lower_bound(values.begin(), values.end(), x) - values.begin() + 1);
  });
}

}  // namespace

void number_labels(Matrix<float> rows, const LabelGroups& groups) {
  for (const std::vector<std::int64_t>& columns : groups) number_together(rows, columns);
}

NumberedLabels::NumberedLabels(Ragged<const float> data, const LabelGroups& groups) : view_(data) {
  if (groups.empty()) return;
  const std::int64_t D = data.x.columns, rows = data.offsets[data.sets];
  copy_.reserve(static_cast<std::size_t>(rows * D));
  for (std::int64_t r = 0; r < rows; ++r) copy_.insert(copy_.end(), data.x.row(r), data.x.row(r) + D);
  const Matrix<float> all{copy_.data(), rows, D, D};
  for (std::int64_t set = 0; set < data.sets; ++set)
    number_labels(all.rows_from(data.offsets[set], data.size(set)), groups);
  view_.x = {copy_.data(), rows, D, D};
}

double BetweenLabels::any() const {
  return log_mean_exp(gains);
}

namespace {

// n rows, with these squares about their mean and these within labels.
BetweenLabels between(std::span<const LabelMean> labels, double n, double squares, double within) {
  BetweenLabels result;
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

}  // namespace

namespace {

// Numbers 0, 1, 2, ... for whole numbers that lie within a range no longer than `seen`; -1: some do not.
template <class Label>
std::int64_t group_in_range(Label label, std::span<std::int32_t> seen, std::span<std::int32_t> groups) {
  double smallest = INFINITY, largest = -INFINITY;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double x = label(i);
    if (std::isnan(x)) continue;
    if (x != std::floor(x)) return -1;
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  if (!(largest - smallest < static_cast<double>(seen.size()))) return smallest > largest ? 0 : -1;
  const auto place = [&](std::size_t i) { return static_cast<std::size_t>(label(i) - smallest); };
  std::fill(seen.begin(), seen.end(), -1);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!std::isnan(label(i))) seen[place(i)] = 0;
  }
  std::int32_t count = 0;
  for (std::int32_t& number : seen) {
    if (number == 0) number = count++;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = std::isnan(label(i)) ? -1 : seen[place(i)];
  return count;
}

// label(i) of every row i; `order` and `groups`: room for all.
template <class Label>
std::int64_t group_by(Label label, std::span<std::int32_t> order, std::span<std::int32_t> groups) {
  std::fill(groups.begin(), groups.end(), -1);
  if (const std::int64_t count = group_in_range(label, order, groups); count >= 0) return count;
  std::size_t there = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!std::isnan(label(i))) order[there++] = static_cast<std::int32_t>(i);
  }
  const auto of = [&](std::int32_t i) { return label(static_cast<std::size_t>(i)); };
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(there),
            [&](std::int32_t one, std::int32_t other) { return of(one) < of(other); });
  std::int32_t group = -1;
  for (std::size_t k = 0; k < there; ++k) {
    if (k == 0 || of(order[k]) != of(order[k - 1])) ++group;
    groups[static_cast<std::size_t>(order[k])] = group;
  }
  return group + 1;
}

}  // namespace

std::int64_t group_rows(std::span<const double> labels, std::span<std::int32_t> order,
                        std::span<std::int32_t> groups) {
  return group_by([&](std::size_t i) { return labels[i]; }, order, groups);
}

std::int64_t group_rows(std::span<const double> first, std::span<const double> second,
                        std::span<std::int32_t> order, std::span<std::int32_t> groups) {
  const std::size_t n = first.size();
  return group_by([&](std::size_t i) { return i < n ? first[i] : second[i - n]; }, order, groups);
}

std::int64_t group_pairs(std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                         std::size_t seconds, std::span<std::int32_t> order, std::span<std::int32_t> groups) {
  const auto pair = [&](std::size_t i) {
    if (first[i] < 0 || second[i] < 0) return static_cast<double>(NAN);
    return static_cast<double>(first[i]) * static_cast<double>(seconds) + second[i];
  };
  return group_by(pair, order, groups);
}

BetweenLabels between_labels(std::span<const std::int32_t> groups, std::span<const double> values,
                             std::span<LabelMean> labels) {
  std::fill(labels.begin(), labels.end(), LabelMean{});
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (groups[i] >= 0 && !std::isnan(values[i]))
        use(values[i], labels[static_cast<std::size_t>(groups[i])]);
    }
  };
  double n = 0, sum = 0, squares = 0, within = 0;
  each([&](double value, LabelMean& own) {
    ++n;
    sum += value;
    ++own.count;
    own.mean += value;
  });
  if (n == 0) return {};
  const double mean = sum / n;
  for (LabelMean& own : labels) own.mean /= own.count;
  each([&](double value, const LabelMean& own) {
    squares += (value - mean) * (value - mean);
    within += (value - own.mean) * (value - own.mean);
  });
  const auto there =
      std::remove_if(labels.begin(), labels.end(), [](const LabelMean& own) { return own.count == 0; });
  return between(labels.first(static_cast<std::size_t>(there - labels.begin())), n, squares, within);
}

namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// What is left of `values` beside what is proportional to `other`.
void remove_part(std::span<const double> other, std::span<double> values) {
  const double squares = dot(other, other);
  if (!(squares > 0)) return;
  const double slope = dot(other, values) / squares;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= slope * other[i];
}

// Whether the values of a column mean more than numbers do, in one data set after the other.
class MeaningOfLabels {
 public:
  MeaningOfLabels(Ragged<const float> data, std::int64_t label) : data_(data), label_(label) {}

  bool differs_from_number() {
    std::vector<double> clear(static_cast<std::size_t>(data_.x.columns));
    for (std::int64_t set = 0; set < data_.sets; ++set) {
      begin(set);
      for (std::int64_t c = 0; c < data_.x.columns; ++c) {
        if (c != label_ && beyond_number(c) >= kClearlyDifferent) ++clear[static_cast<std::size_t>(c)];
      }
    }
    return *std::max_element(clear.begin(), clear.end()) >=
           kShareThatDiffers * static_cast<double>(data_.sets);
  }

 private:
  void begin(std::int64_t set) {
    rows_ = data_.x.rows_from(data_.offsets[set], data_.size(set));
    const auto n = static_cast<std::size_t>(rows_.rows);
    numbers_.resize(n), squares_.resize(n), order_.resize(n), groups_.resize(n), ones_.assign(n, 1.0);
    for (std::size_t i = 0; i < n; ++i) numbers_[i] = rows_.row(static_cast<std::int64_t>(i))[label_];
    labels_.resize(static_cast<std::size_t>(group_rows(numbers_, order_, groups_)));
    remove_part(ones_, numbers_);
    for (std::size_t i = 0; i < n; ++i) squares_[i] = numbers_[i] * numbers_[i];
    remove_part(ones_, squares_);
    remove_part(numbers_, squares_);
  }
  // Log evidence for differences between labels in what a parabola in their number leaves of column c.
  double beyond_number(std::int64_t c) {
    values_.resize(numbers_.size());
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = rows_.row(static_cast<std::int64_t>(i))[c];
      if (!std::isnan(values_[i])) sum += values_[i], ++count;
    }
    // What is missing counts as the mean.
    for (double& x : values_) x = std::isnan(x) ? 0 : x - sum / count;
    const double all = dot(values_, values_);
    for (const auto* known : {&ones_, &numbers_, &squares_}) remove_part(*known, values_);
    if (!(dot(values_, values_) > kPerfectFit * all)) return 0;
    return between_labels(groups_, values_, labels_).any();
  }

  Ragged<const float> data_;
  std::int64_t label_;
  Matrix<const float> rows_;
  std::vector<double> ones_, numbers_, squares_, values_;
  std::vector<std::int32_t> order_, groups_;
  std::vector<LabelMean> labels_;
};

}  // namespace

std::vector<std::int64_t> find_labels(Ragged<const float> data) {
  std::vector<std::int64_t> columns;
  std::vector<float> values;
  for (std::int64_t c = 0; c < data.x.columns && data.x.columns > 1 && columns.size() < kMostLabels; ++c) {
    std::int64_t labels = 0;
    bool whole = true;
    for (std::int64_t set = 0; set < data.sets && whole; ++set) {
      const std::int64_t of_set = distinct(data.x.rows_from(data.offsets[set], data.size(set)), c, values);
      labels += of_set;
      whole = of_set > 0;
    }
    if (!whole || labels < 3 * data.sets || data.x.rows < 2 * labels) continue;
    if (MeaningOfLabels(data, c).differs_from_number()) columns.push_back(c);
  }
  return columns;
}

namespace {

// Sums over rows and products, weighted by the inverse of the covariance of values with such a spread.
struct WeightedSums {
  double ones = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  // What the rows of a label share counts only in part.
  void add(double spread, const LabelSums& of) {
    const double shared = spread / (1 + spread * of.n);
    ones += of.n - shared * of.n * of.n;
    x += of.x - shared * of.n * of.x;
    y += of.y - shared * of.n * of.y;
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

}  // namespace

ExplainedByLabels explained_between_labels(std::span<const std::int32_t> groups, std::span<const double> x,
                                           std::span<const double> y, std::span<LabelSums> labels) {
  const auto there = [&](std::size_t i) { return groups[i] >= 0 && !std::isnan(x[i]) && !std::isnan(y[i]); };
  double n = 0, mean_x = 0, mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!there(i)) continue;
    ++n;
    mean_x += x[i];
    mean_y += y[i];
  }
  ExplainedByLabels gains{};
  if (n == 0) return gains;
  mean_x /= n;
  mean_y /= n;
  std::fill(labels.begin(), labels.end(), LabelSums{});
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!there(i)) continue;
    // Centred, so that sums of products keep their digits.
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    LabelSums& own = labels[static_cast<std::size_t>(groups[i])];
    ++own.n;
    own.x += dx;
    own.y += dy;
    own.xx += dx * dx;
    own.xy += dx * dy;
    own.yy += dy * dy;
  }
  for (std::size_t k = 0; k < gains.size(); ++k) {
    WeightedSums sums;
    for (const LabelSums& own : labels) sums.add(k == 0 ? 0 : kSpreadsBetween[k - 1], own);
    gains[k] = -0.5 * n * std::log1p(-sums.explained());
  }
  return gains;
}

}  // namespace occam
