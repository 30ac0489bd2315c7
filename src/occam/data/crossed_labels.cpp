#include "occam/data/crossed_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "occam/data/log_mean.hpp"
#include "occam/data/log_product.hpp"
#include "occam/data/returned.hpp"

namespace occam {
namespace {

// Below this share nothing is left of a variance.
constexpr double kExhausted = 1e-9;
// Columns name the same things, or pairs of their labels matter, where this says more of a value, by so many
// nats, than what is simpler, in this share of all data sets. By chance that happens in fewer than one of
// exp(kClearlyMore).
constexpr double kShareOfMore = 0.03, kClearlyMore = 4;

// Of the groups in which most rows are, no more than so many; the others' rows belong to none.
std::size_t keep_most(std::size_t most, std::span<std::int32_t> groups, std::size_t count,
                      std::span<std::int32_t> room) {
  if (count <= most) return count;
  const auto rows = room.first(count), by_rows = room.subspan(count, count);
  std::fill(rows.begin(), rows.end(), 0);
  for (const std::int32_t group : groups) {
    if (group >= 0) ++rows[static_cast<std::size_t>(group)];
  }
  std::iota(by_rows.begin(), by_rows.end(), 0);
  std::sort(by_rows.begin(), by_rows.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int32_t of_a = rows[static_cast<std::size_t>(a)], of_b = rows[static_cast<std::size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  });
  std::fill(rows.begin(), rows.end(), -1);
  for (std::size_t k = 0; k < most; ++k)
    rows[static_cast<std::size_t>(by_rows[k])] = static_cast<std::int32_t>(k);
  for (std::int32_t& group : groups) group = group < 0 ? -1 : rows[static_cast<std::size_t>(group)];
  return most;
}

// From labels of both columns to pairs of them, and labels of the one column.
void pair_up(TwoLabels& labels, Crossing crossing, std::span<std::int32_t> room) {
  const std::size_t n = labels.first.size();
  const auto pairs = room.subspan(n, n);
  const std::int64_t count =
      group_pairs(labels.first, labels.second, labels.second_count, room.first(n), pairs);
  if (crossing == Crossing::in_first) {
    std::copy(labels.first.begin(), labels.first.end(), labels.second.begin());
    labels.second_count = labels.first_count;
  }
  std::copy(pairs.begin(), pairs.end(), labels.first.begin());
  labels.first_count = static_cast<std::size_t>(count);
}

}  // namespace

TwoLabels group_crossed(std::span<const double> first, std::span<const double> second, Crossing crossing,
                        std::span<std::int32_t> room) {
  const std::size_t n = first.size();
  const auto groups = room.first(2 * n), order = room.subspan(2 * n, 2 * n),
             more = room.subspan(2 * n, 4 * n);
  TwoLabels result{groups.first(n), groups.subspan(n)};
  const bool returned = crossing == Crossing::returned;
  if (of_the_same(crossing) || returned) {
    const auto count = static_cast<std::size_t>(group_rows(first, second, order, groups));
    const std::size_t most = returned ? kMostManyLabels : kMostCrossedLabels;
    result.first_count = result.second_count = keep_most(most, groups, count, more);
    return result;
  }
  result.first_count = static_cast<std::size_t>(group_rows(first, order.first(n), result.first));
  result.second_count = static_cast<std::size_t>(group_rows(second, order.first(n), result.second));
  if (crossing != Crossing::apart) pair_up(result, crossing, order);
  const bool more_second = result.first_count < result.second_count;
  const auto keep = [&](bool few, std::span<std::int32_t> of, std::size_t& count) {
    count = keep_most(few ? kMostCrossedLabels : kMostManyLabels, of, count, more);
  };
  keep(more_second, result.first, result.first_count);
  keep(!more_second, result.second, result.second_count);
  return result;
}

namespace {

// 1, x and y of the rows that have all of these and labels, or 1 and y.
constexpr std::size_t kMostVariables = 3;
// Sums of their products, two by two: (a, b) for b <= a.
using Products = std::array<std::array<double, kMostVariables>, kMostVariables>;

// Products weighted by the inverse of a covariance of values, 1 within labels, and its log determinant.
struct Weighted {
  Products products{};
  double log_det = 0;

  // Without what a mean explains.
  double beyond_mean(std::size_t a, std::size_t b) const {
    return products[a][b] - products[a][0] * products[b][0] / products[0][0];
  }
  bool varies(std::size_t a) const { return beyond_mean(a, a) > kExhausted * products[a][a]; }
};

// A data set as sums over the rows of each label. Effects of the labels of one column are taken out of a
// value's covariance one by one, since each has rows of its own; those of the other, which fewer labels
// should have, by elimination from what is left.
class Effects {
 public:
  Effects(const TwoLabels& labels, std::span<const double> x, std::span<const double> y,
          std::span<double> room)
      : labels_(labels), turned_(labels.first_count < labels.second_count), room_(room) {
    if (turned_) {
      std::swap(labels_.first, labels_.second);
      std::swap(labels_.first_count, labels_.second_count);
    }
    if (!x.empty()) values_[variables_++] = x;
    values_[variables_++] = y;
    centre();
  }

  std::size_t rows() const { return n_; }
  double mean() const { return mean_[1]; }  // of the first variable
  const Weighted& plain() const { return plain_; }

  // use(i, j, weighted) under spread i of the first column and j of the second, of those listed.
  template <class Use>
  void apart(std::span<const std::size_t> spreads, Use use) {
    take_room(labels_.first_count);
    sum_apart();
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      const Weighted without = remove_first(crossed_spread(spreads[i]));
      for (std::size_t j = 0; j < spreads.size(); ++j) {
        const Weighted weighted = remove_second(without, crossed_spread(spreads[j]));
        turned_ ? use(j, i, weighted) : use(i, j, weighted);
      }
    }
  }
  // The same with both columns naming the same things, with one spread.
  template <class Use>
  void together(double sign, Use use) {
    take_room(0);
    sum_together(sign);
    for (std::size_t k = 0; k < kCrossedSpreads; ++k) use(k, remove_second(plain_, crossed_spread(k)));
  }

 private:
  bool there(std::size_t i) const {
    if (labels_.first[i] < 0 || labels_.second[i] < 0) return false;
    for (std::size_t v = 1; v < variables_; ++v) {
      if (!std::isfinite(values_[v][i])) return false;
    }
    return true;
  }
  double value(std::size_t v, std::size_t i) const { return v == 0 ? 1 : values_[v][i] - mean_[v]; }
  // use(i, its labels in both columns) of every row that counts.
  template <class Use>
  void each_row(Use use) const {
    for (std::size_t i = 0; i < labels_.first.size(); ++i) {
      if (there(i))
        use(i, static_cast<std::size_t>(labels_.first[i]), static_cast<std::size_t>(labels_.second[i]));
    }
  }

  // Sums of products keep their digits where values are centred.
  void centre() {
    each_row([&](std::size_t i, std::size_t, std::size_t) {
      ++n_;
      for (std::size_t v = 1; v < variables_; ++v) mean_[v] += values_[v][i];
    });
    for (std::size_t v = 1; v < variables_ && n_ > 0; ++v) mean_[v] /= static_cast<double>(n_);
    each_row([&](std::size_t i, std::size_t, std::size_t) {
      for (std::size_t p = 0; p < variables_; ++p) {
        for (std::size_t q = 0; q <= p; ++q) plain_.products[p][q] += value(p, i) * value(q, i);
      }
    });
  }

  // Sums of a label: how many rows with each label of the second column, then of 1, x and y.
  std::size_t width() const { return labels_.second_count + variables_; }
  double* of_first(std::size_t label) { return first_.data() + label * width(); }
  double* of_second(std::size_t label) { return second_.data() + label * width(); }
  double* left(std::size_t label) { return left_.data() + label * width(); }

  void take_room(std::size_t first_labels) {
    std::span<double> room = room_;
    const auto take = [&](std::size_t labels) {
      const std::span<double> taken = room.first(labels * width());
      room = room.subspan(taken.size());
      return taken;
    };
    first_ = take(first_labels);
    for (std::span<double>* const sums : {&second_, &without_, &left_}) *sums = take(labels_.second_count);
    std::fill(first_.begin(), first_.end(), 0.0);
    std::fill(second_.begin(), second_.end(), 0.0);
  }

  void sum_apart() {
    const std::size_t L = labels_.second_count;
    each_row([&](std::size_t i, std::size_t a, std::size_t b) {
      of_first(a)[b] += 1;
      of_second(b)[b] += 1;
      for (std::size_t v = 0; v < variables_; ++v) {
        of_first(a)[L + v] += value(v, i);
        of_second(b)[L + v] += value(v, i);
      }
    });
  }
  void sum_together(double sign) {
    const std::size_t L = labels_.second_count;
    each_row([&](std::size_t i, std::size_t a, std::size_t b) {
      of_second(a)[a] += 1;
      of_second(b)[b] += 1;
      of_second(a)[b] += sign;
      of_second(b)[a] += sign;
      for (std::size_t v = 0; v < variables_; ++v) {
        of_second(a)[L + v] += value(v, i);
        of_second(b)[L + v] += sign * value(v, i);
      }
    });
    std::copy(second_.begin(), second_.end(), without_.begin());
  }

  // What the rows of a label share counts only in part.
  Weighted remove_first(double spread) {
    const std::size_t L = labels_.second_count;
    Weighted result = plain_;
    std::copy(second_.begin(), second_.end(), without_.begin());
    if (spread == 0) return result;
    LogProduct determinant;
    for (std::size_t a = 0; a < labels_.first_count; ++a) {
      const double* const own = of_first(a);
      const double shared = spread / (1 + spread * own[L]);
      determinant.multiply(1 + spread * own[L]);
      for (std::size_t p = 0; p < variables_; ++p) {
        for (std::size_t q = 0; q <= p; ++q) result.products[p][q] -= shared * own[L + p] * own[L + q];
      }
      for (std::size_t b = 0; b < L; ++b) {
        if (own[b] == 0) continue;
        double* const row = without_.data() + b * width();
        const double part = shared * own[b];
        for (std::size_t c = b; c < width(); ++c) row[c] -= part * own[c];
      }
    }
    result.log_det = determinant.log();
    return result;
  }

  // By elimination of 1 + spread * (what is left), of which rows are filled from the diagonal on.
  Weighted remove_second(const Weighted& without, double spread) {
    const std::size_t L = labels_.second_count;
    Weighted result = without;
    if (spread == 0) return result;
    std::copy(without_.begin(), without_.end(), left_.begin());
    for (std::size_t b = 0; b < L; ++b) left(b)[b] += 1 / spread;
    LogProduct determinant;
    for (std::size_t b = 0; b < L; ++b) {
      const double* const row = left(b);
      const double pivot = row[b];
      determinant.multiply(spread * pivot);
      for (std::size_t p = 0; p < variables_; ++p) {
        for (std::size_t q = 0; q <= p; ++q) result.products[p][q] -= row[L + p] * row[L + q] / pivot;
      }
      for (std::size_t c = b + 1; c < L; ++c) {
        if (row[c] == 0) continue;
        const double part = row[c] / pivot;
        double* const other = left(c);
        for (std::size_t d = c; d < width(); ++d) other[d] -= part * row[d];
      }
    }
    result.log_det += determinant.log();
    return result;
  }

  TwoLabels labels_;
  bool turned_;  // the first column has fewer labels and comes second
  std::span<double> room_;
  std::array<std::span<const double>, kMostVariables> values_{};
  std::array<double, kMostVariables> mean_{};
  std::size_t variables_ = 1, n_ = 0;
  Weighted plain_;
  std::span<double> first_, second_;  // sums of labels
  std::span<double> without_, left_;  // of the second: without effects of the first; what elimination leaves
};

constexpr auto kAllSpreads = [] {
  std::array<std::size_t, kCrossedSpreads> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = k;
  return all;
}();

}  // namespace

std::size_t crossed_room(const TwoLabels& labels) {
  const std::size_t most = std::max(labels.first_count, labels.second_count);
  const std::size_t least = std::min(labels.first_count, labels.second_count);
  return (most + 3 * least) * (least + kMostVariables);
}

CrossedGains crossed_gains(const TwoLabels& labels, Crossing crossing, std::span<const double> values,
                           std::span<double> room) {
  Effects effects(labels, {}, values, room);
  CrossedGains result{};
  if (effects.rows() < 2 || !effects.plain().varies(1)) return result;
  const auto n = static_cast<double>(effects.rows());
  const double squares = effects.plain().beyond_mean(1, 1);
  const auto gain = [&](const Weighted& of) {
    const double left = std::max(of.beyond_mean(1, 1), 0.0), weight = of.products[0][0];
    return CrossedGain{-0.5 * n * std::log(left / squares + kExhausted) - 0.5 * of.log_det,
                       effects.mean() + of.products[1][0] / weight,
                       std::sqrt((left + kExhausted * squares) / (n * weight))};
  };
  if (!of_the_same(crossing)) {
    effects.apart(kAllSpreads,
                  [&](std::size_t k, std::size_t l, const Weighted& of) { result[k][l] = gain(of); });
  } else {
    effects.together(crossing == Crossing::alike ? 1 : -1,
                     [&](std::size_t k, const Weighted& of) { result[0][k] = gain(of); });
  }
  return result;
}

CrossedExplained explained_between_crossed(const TwoLabels& labels, std::span<const double> x,
                                           std::span<const double> y, std::span<double> room) {
  Effects effects(labels, x, y, room);
  CrossedExplained gains{};
  if (effects.rows() < 3 || !effects.plain().varies(1) || !effects.plain().varies(2)) return gains;
  effects.apart(kExplainedSpreads, [&](std::size_t i, std::size_t j, const Weighted& of) {
    if (!of.varies(1) || !of.varies(2)) return;
    const double part = std::pow(of.beyond_mean(2, 1), 2) / (of.beyond_mean(1, 1) * of.beyond_mean(2, 2));
    gains[i * kExplainedSpreads.size() + j] =
        -0.5 * static_cast<double>(effects.rows()) * std::log1p(-std::min(part, 1 - kExhausted));
  });
  return gains;
}

CrossedEvidence crossed_evidence(const CrossedGains& gains) {
  constexpr std::size_t K = kSpreadsBetween.size();
  const auto mean = [](auto gain) {
    std::array<double, K> all;
    for (std::size_t k = 0; k < K; ++k) all[k] = gain(k + 1);
    return log_mean_exp(all);
  };
  CrossedEvidence result;
  result.first = mean([&](std::size_t k) { return gains[k][0].gain; });
  result.second = mean([&](std::size_t l) { return gains[0][l].gain; });
  for (std::size_t k = 1; k <= K; ++k) {
    result.of_first[k - 1] = mean([&](std::size_t l) { return gains[k][l].gain; });
    result.of_second[k - 1] = mean([&](std::size_t l) { return gains[l][k].gain; });
  }
  result.both = log_mean_exp(result.of_first);
  return result;
}

double joint_evidence(const CrossedGains& gains) {
  std::array<double, kSpreadsBetween.size()> all;
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = gains[0][k + 1].gain;
  return log_mean_exp(all);
}

namespace {

// In how many data sets a way of crossing two columns says clearly more of a third than what is simpler.
class WaysOfCrossing {
 public:
  WaysOfCrossing(Ragged<const float> data, std::int64_t first, std::int64_t second, bool may_be_the_same)
      : data_(data), first_(first), second_(second), may_be_the_same_(may_be_the_same) {
    clear_.assign(static_cast<std::size_t>(data_.x.columns), {});
    for (std::int64_t set = 0; set < data_.sets; ++set) look_at(set);
  }

  bool clearly(Crossing crossing) const {
    const auto needed = kShareOfMore * static_cast<double>(data_.sets);
    return std::any_of(clear_.begin(), clear_.end(), [&](const auto& counts) {
      return static_cast<double>(counts[static_cast<std::size_t>(crossing)]) >= needed;
    });
  }

 private:
  std::vector<double> column(std::int64_t set, std::int64_t c) const {
    std::vector<double> values;
    for (std::int64_t r = data_.offsets[set]; r < data_.offsets[set + 1]; ++r)
      values.push_back(data_.x.row(r)[c]);
    return values;
  }
  void look_at(std::int64_t set) {
    const std::vector<double> a = column(set, first_), b = column(set, second_);
    std::array<std::vector<std::int32_t>, kCrossings.size()> groups;
    std::array<TwoLabels, kCrossings.size()> labels;
    std::vector<double> room;
    for (std::size_t k = 0; k < kCrossings.size(); ++k) {
      groups[k].resize(crossed_groups_room(a.size()));
      labels[k] = group_crossed(a, b, static_cast<Crossing>(k), groups[k]);
      if (static_cast<Crossing>(k) != Crossing::returned)
        room.resize(std::max(room.size(), crossed_room(labels[k])));
    }
    ReturnedPairs pairs;
    std::vector<std::int32_t> pair_room(returned_room(a.size()));
    if (may_be_the_same_) {
      const TwoLabels& both = labels[static_cast<std::size_t>(Crossing::returned)];
      pairs = returned_pairs(both.first, both.second, pair_room);
      room.resize(std::max(room.size(), 4 * pairs.count));
    }
    for (std::int64_t c = 0; c < data_.x.columns; ++c) {
      if (c == first_ || c == second_) continue;
      const std::vector<double> values = column(set, c);
      const Returned found = pairs.count > 0 ? returned(pairs, values, room) : Returned{};
      compare(clear_[static_cast<std::size_t>(c)], found.gain() - 0.5 * std::log1p(found.pairs),
              [&](Crossing crossing) {
                return crossed_gains(labels[static_cast<std::size_t>(crossing)], crossing, values, room);
              });
    }
  }
  // Of one column of one data set: gains(way), and what it says of itself the other way around.
  template <class Gains>
  void compare(std::array<std::int64_t, kCrossings.size()>& clear, double returned, Gains gains) const {
    const auto count = [&](Crossing crossing, double gained, double simpler) {
      clear[static_cast<std::size_t>(crossing)] += gained - simpler >= kClearlyMore;
    };
    const CrossedEvidence apart = crossed_evidence(gains(Crossing::apart));
    double simpler = std::max({0.0, apart.first, apart.second, apart.both});
    if (may_be_the_same_) {
      const double alike = joint_evidence(gains(Crossing::alike));
      const double opposed = joint_evidence(gains(Crossing::opposed));
      count(Crossing::alike, alike, std::max(simpler, opposed));
      count(Crossing::opposed, opposed, std::max(simpler, alike));
      simpler = std::max({simpler, alike, opposed});
      count(Crossing::returned, returned, simpler);
    }
    // Of these the one that says more.
    const double in_first = crossed_evidence(gains(Crossing::in_first)).both;
    const double in_second = crossed_evidence(gains(Crossing::in_second)).both;
    count(Crossing::in_first, in_first >= in_second ? in_first : simpler, simpler);
    count(Crossing::in_second, in_second >= in_first ? in_second : simpler, simpler);
  }

  Ragged<const float> data_;
  std::int64_t first_, second_;
  bool may_be_the_same_;
  std::vector<std::array<std::int64_t, kCrossings.size()>> clear_;  // of each column
};

}  // namespace

std::vector<CrossedColumns> find_crossings(Ragged<const float> data, const std::vector<std::int64_t>& labels,
                                           const LabelGroups& groups) {
  const auto group_of = [&](std::int64_t c) {  // groups.size(): of none
    const auto holds = [&](const auto& group) {
      return std::find(group.begin(), group.end(), c) != group.end();
    };
    return std::find_if(groups.begin(), groups.end(), holds) - groups.begin();
  };
  std::vector<CrossedColumns> found;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = i + 1; j < labels.size(); ++j) {
      found.push_back({labels[i], labels[j], Crossing::apart});
      const WaysOfCrossing ways(data, labels[i], labels[j], group_of(labels[i]) == group_of(labels[j]));
      for (const Crossing crossing : {Crossing::alike, Crossing::opposed, Crossing::returned,
                                      Crossing::in_first, Crossing::in_second}) {
        if (ways.clearly(crossing)) found.push_back({labels[i], labels[j], crossing});
      }
    }
  }
  if (found.size() > kMostCrossings) found.resize(kMostCrossings);
  return found;
}

}  // namespace occam
