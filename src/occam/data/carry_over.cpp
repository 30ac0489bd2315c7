#include "occam/data/carry_over.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace occam {
namespace {

// Rows of a label that are looked at, on average, and how often something has to carry over, and how clearly.
constexpr double kFewestRows = 3;
constexpr double kShareThatCarries = 0.03, kClearlyCarried = 3;

std::vector<double> column_of(Matrix<const float> rows, std::int64_t c) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < rows.rows; ++r) values.push_back(rows.row(r)[c]);
  return values;
}

// One data set after the other, grouped by one column of labels.
class WithinLabels {
 public:
  WithinLabels(Ragged<const float> data, std::int64_t label) : data_(data) {
    for (std::int64_t set = 0; set < data.sets; ++set) {
      const std::vector<double> labels = column_of(rows(set), label);
      std::vector<std::int32_t> order(labels.size());
      groups_.emplace_back(labels.size());
      counts_.push_back(group_rows(labels, order, groups_.back()));
      rows_ += static_cast<double>(labels.size());
      labels_ += static_cast<double>(counts_.back());
    }
  }

  bool long_enough() const { return rows_ >= kFewestRows * labels_; }

  // The typical step of a column in which the rows of a label differ, and increase if they have to.
  std::optional<double> gap(std::int64_t c, bool increases) const {
    std::vector<double> gaps;
    for (std::int64_t set = 0; set < data_.sets; ++set) {
      const std::vector<double> times = column_of(rows(set), c);
      const auto& groups = groups_[static_cast<std::size_t>(set)];
      std::vector<std::int32_t> row_room(times.size());
      std::vector<double> time_room(times.size());
      const OrderedRows order =
          order_within(groups, increases ? std::span<const double>() : times, 1, row_room, time_room);
      for (std::size_t k = 1; k < order.rows.size(); ++k) {
        const auto before = static_cast<std::size_t>(order.rows[k - 1]),
                   here = static_cast<std::size_t>(order.rows[k]);
        if (groups[before] != groups[here]) continue;
        const double step = times[here] - times[before];
        if (!(step > 0) || !std::isfinite(step)) return std::nullopt;
        gaps.push_back(step);
      }
    }
    if (gaps.empty()) return std::nullopt;
    std::nth_element(gaps.begin(), gaps.begin() + std::ssize(gaps) / 2, gaps.end());
    return gaps[gaps.size() / 2];
  }

  bool carries(const LabelOrder& order) const {
    std::vector<double> clear(static_cast<std::size_t>(data_.x.columns));
    for (std::int64_t set = 0; set < data_.sets; ++set) {
      const auto& groups = groups_[static_cast<std::size_t>(set)];
      std::vector<std::int32_t> row_room(groups.size());
      std::vector<double> times, time_room(groups.size());
      if (order.column >= 0) times = column_of(rows(set), order.column);
      const OrderedRows ordered = order_within(groups, times, order.gap, row_room, time_room);
      std::vector<LineSums> labels(static_cast<std::size_t>(counts_[static_cast<std::size_t>(set)]));
      for (std::int64_t c = 0; c < data_.x.columns; ++c) {
        if (c == order.label || c == order.column) continue;
        const CarryOver found = carry_over(ordered, groups, column_of(rows(set), c), labels);
        clear[static_cast<std::size_t>(c)] +=
            CarryOver::any(found.line) - found.line_alone >= kClearlyCarried;
      }
    }
    return *std::max_element(clear.begin(), clear.end()) >=
           kShareThatCarries * static_cast<double>(data_.sets);
  }

 private:
  Matrix<const float> rows(std::int64_t set) const {
    return data_.x.rows_from(data_.offsets[set], data_.size(set));
  }

  Ragged<const float> data_;
  std::vector<std::vector<std::int32_t>> groups_;
  std::vector<std::int64_t> counts_;
  double rows_ = 0, labels_ = 0;
};

}  // namespace

std::vector<LabelOrder> find_orders(Ragged<const float> data, const std::vector<std::int64_t>& labels,
                                    bool ordered, const std::vector<std::int64_t>& design) {
  std::vector<LabelOrder> orders;
  const auto among = [](const std::vector<std::int64_t>& list, std::int64_t c) {
    return std::find(list.begin(), list.end(), c) != list.end();
  };
  for (const std::int64_t label : labels) {
    const WithinLabels within(data, label);
    if (!within.long_enough()) continue;
    LabelOrder order{.label = label};
    for (std::int64_t c = 0; c < data.x.columns && order.column < 0; ++c) {
      if (among(labels, c) || (!ordered && !among(design, c))) continue;
      if (const auto gap = within.gap(c, ordered)) order = {label, c, *gap};
    }
    if ((ordered || order.column >= 0) && within.carries(order)) orders.push_back(order);
  }
  return orders;
}

OrderedRows order_within(std::span<const std::int32_t> groups, std::span<const double> times, double gap,
                         std::span<std::int32_t> row_room, std::span<double> time_room) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] >= 0 && (times.empty() || !std::isnan(times[i])))
      row_room[count++] = static_cast<std::int32_t>(i);
  }
  const OrderedRows result{row_room.first(count), time_room.first(count)};
  const auto group = [&](std::int32_t row) { return groups[static_cast<std::size_t>(row)]; };
  const auto time = [&](std::int32_t row) { return times[static_cast<std::size_t>(row)]; };
  std::sort(result.rows.begin(), result.rows.end(), [&](std::int32_t a, std::int32_t b) {
    if (group(a) != group(b)) return group(a) < group(b);
    if (!times.empty() && time(a) != time(b)) return time(a) < time(b);
    return a < b;
  });
  for (std::size_t k = 0; k < count; ++k) {
    const bool first = k == 0 || group(result.rows[k]) != group(result.rows[k - 1]);
    result.times[k] = !times.empty() ? time(result.rows[k]) / gap : first ? 0 : result.times[k - 1] + 1;
  }
  return result;
}

double CarryOver::any(const std::array<double, kCarries>& evidences) {
  return log_mean_exp(evidences);
}

CarryOver carry_over(const OrderedRows& order, std::span<const std::int32_t> groups,
                     std::span<const double> values, std::span<LineSums> labels) {
  const auto each = [&](const auto& use) {
    for (std::size_t k = 0; k < order.rows.size(); ++k) {
      const auto row = static_cast<std::size_t>(order.rows[k]);
      if (!std::isnan(values[row])) use(order.times[k], values[row], static_cast<std::size_t>(groups[row]));
    }
  };
  double n = 0, mean = 0, centre = 0, squares = 0, spread = 0;
  each([&](double t, double y, std::size_t) {
    ++n;
    mean += y;
    centre += t;
  });
  if (n < 4) return {};
  mean /= n;
  centre /= n;
  each([&](double t, double y, std::size_t) {
    squares += (y - mean) * (y - mean);
    spread += (t - centre) * (t - centre);
  });
  if (!(squares > 0) || !(spread > 0) || !std::isfinite(squares + spread)) return {};
  const double scale = std::sqrt(n / spread);

  // What memory `k` has kept of a value after a time; the last of them: none.
  const auto kept = [](double after, std::size_t k) {
    return k == kCarries ? 0 : std::exp(-std::max(after, 1e-6) / carry_memory(k));
  };
  std::array<LineEvidence, kCarries + 1> of;
  for (std::size_t k = 0; k <= kCarries; ++k) {
    std::fill(labels.begin(), labels.end(), LineSums{});
    LogProduct determinant;
    const double after_one = kept(1, k);
    double before_t = 0, before_x = 0, before_y = 0;
    each([&](double t, double value, std::size_t label) {
      LineSums& own = labels[label];
      const double x = scale * (t - centre), y = value - mean;
      // The first row of each label begins anew.
      const double carry = own.weight == 0 ? 0 : t - before_t == 1 ? after_one : kept(t - before_t, k);
      const double fresh = 1 - carry * carry;
      own.add(1 / fresh, 1 - carry, x - carry * before_x, y - carry * before_y);
      determinant.multiply(fresh);
      before_t = t;
      before_x = x;
      before_y = y;
    });
    of[k] = line_evidence(labels, 0, n, squares, determinant.log());
  }
  CarryOver result;
  const double none = of[kCarries].level;
  result.line_alone = of[kCarries].line - none;
  for (std::size_t k = 0; k < kCarries; ++k) {
    result.level[k] = of[k].level - none;
    result.line[k] = of[k].line - none;
  }
  return result;
}

}  // namespace occam
