#include "occam/data/places.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "occam/data/log_mean.hpp"

namespace occam {
namespace {

constexpr std::size_t kNeighbours = 6;  // that a value is held against (Vecchia 1988)
constexpr std::int64_t kMostPlaced = 512;
constexpr std::size_t kFewestPlaced = 6;
constexpr double kPerfectSurface = 1e-9;  // below this share of the variance
// Values are alike at near places where in this share of all data sets the evidence is so many nats or more:
// where they are not, it was in less than one of a hundred (a curved surface has been taken away, which is
// more than chance gives).
constexpr double kShareAlike = 0.01, kClearlyAlike = 0.5;
constexpr std::size_t kManyValues = 8;

// What is regressed on: a level, and the place.
constexpr std::size_t kPredictors = 1 + kMostDimensions;
using Row = std::array<double, kPredictors + 1>;  // predictors and, last, the value

// Sums of products of rows, and the squares that a regression on the first few predictors leaves.
class Regressed {
 public:
  void add(const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) sums_[i][j] += row[i] * row[j];
    }
  }
  double& sum(std::size_t i, std::size_t j) { return sums_[i][j]; }
  double left(std::size_t predictors) const {
    auto s = sums_;
    const std::size_t y = kPredictors;
    for (std::size_t k = 0; k < predictors; ++k) {
      if (!(s[k][k] > kPerfectSurface * sums_[k][k])) continue;
      for (std::size_t i = k + 1; i <= y; ++i) {
        if (i >= predictors && i != y) continue;
        const double part = s[i][k] / s[k][k];
        for (std::size_t j = k + 1; j <= i; ++j) {
          if (j < predictors || j == y) s[i][j] -= part * s[j][k];
        }
      }
    }
    return std::max(s[y][y], 0.0);
  }

 private:
  std::array<std::array<double, kPredictors + 1>, kPredictors + 1> sums_{};
};

double distance(const Placed& a, const Placed& b, std::size_t dimensions) {
  double squares = 0;
  for (std::size_t d = 0; d < dimensions; ++d) squares += (a.at[d] - b.at[d]) * (a.at[d] - b.at[d]);
  return std::sqrt(squares);
}

Row row_of(const Placed& p) {
  Row row{1};
  std::copy(p.at.begin(), p.at.end(), row.begin() + 1);
  row.back() = p.value;
  return row;
}

// The nearest of those before value i.
struct Near {
  std::array<std::size_t, kNeighbours> index;
  std::size_t count = 0;
};

Near nearest(std::span<const Placed> values, std::size_t i, std::size_t dimensions) {
  Near near;
  std::array<double, kNeighbours> far;
  for (std::size_t j = i; j-- > 0;) {
    // Values are in the order of their first coordinate.
    const double ahead = values[i].at[0] - values[j].at[0];
    if (near.count == kNeighbours && ahead > far.back()) break;
    const double d = distance(values[i], values[j], dimensions);
    if (near.count == kNeighbours && d >= far.back()) continue;
    std::size_t at = near.count < kNeighbours ? near.count++ : kNeighbours - 1;
    for (; at > 0 && far[at - 1] > d; --at) {
      far[at] = far[at - 1];
      near.index[at] = near.index[at - 1];
    }
    far[at] = d;
    near.index[at] = j;
  }
  return near;
}

// All patches side by side, so that a processor takes several at a time.
constexpr std::size_t kLanes = (kPatches + 7) / 8 * 8;
using Lanes = std::array<double, kLanes>;
constexpr std::size_t kTogether = kNeighbours + 1;

template <class F>
Lanes each(F f) {
  Lanes result;
  for (std::size_t lane = 0; lane < kLanes; ++lane) result[lane] = f(lane);
  return result;
}

// Which reach and which share a lane is of; those beyond the last patch are of none.
constexpr std::size_t reach_of(std::size_t lane) {
  return std::min(lane / kPatchShares.size(), kReaches - 1);
}
const Lanes& shares() {
  static const Lanes all =
      each([](std::size_t l) { return l < kPatches ? kPatchShares[l % kPatchShares.size()] : 0; });
  return all;
}

using LaneRow = std::array<Lanes, std::tuple_size_v<Row>>;

// Every reach is twice the one before it, so one exponential tells what is left of all after a distance.
std::array<double, kReaches> kept_after(double distance) {
  std::array<double, kReaches> kept;
  double x = std::exp(-distance / patch_reach(kReaches - 1));
  for (std::size_t k = kReaches; k-- > 0; x *= x) kept[k] = x;
  return kept;
}

// Sums of products for each of them.
class LaneSums {
 public:
  explicit LaneSums(std::size_t dimensions) : dimensions_(dimensions) {}

  void add(const LaneRow& row) {
    each_pair([&](std::size_t i, std::size_t j) {
      Lanes& sum = sums_[i][j];
      sum = each([&](std::size_t l) { return sum[l] + row[i][l] * row[j][l]; });
    });
  }
  Regressed of(std::size_t lane) const {
    Regressed result;
    each_pair([&](std::size_t i, std::size_t j) { result.sum(i, j) = sums_[i][j][lane]; });
    return result;
  }

 private:
  // Of those predictors that there are, and the value.
  template <class F>
  void each_pair(F f) const {
    for (std::size_t i = 0; i <= kPredictors; ++i) {
      if (i > dimensions_ && i != kPredictors) continue;
      for (std::size_t j = 0; j <= i; ++j) {
        if (j <= dimensions_ || j == kPredictors) f(i, j);
      }
    }
  }

  std::size_t dimensions_;
  std::array<LaneRow, kPredictors + 1> sums_{};
};

// Along one scale nothing but the value before has to be known of what came before, if it is known without
// noise: so a Kalman filter says exactly what is new in a value, and in its predictors.
class Along {
 public:
  // The variance of what is new in the value, which is put into `fresh`, in units of this.
  Lanes next(const Placed& value, LaneRow& fresh) {
    const auto kept = kept_after(first_ ? HUGE_VAL : value.at[0] - before_);
    const Row row = row_of(value);
    const Lanes& share = shares();
    before_ = value.at[0];
    first_ = false;
    const Lanes rho = each([&](std::size_t l) { return kept[reach_of(l)]; });
    const Lanes open =
        each([&](std::size_t l) { return share[l] + rho[l] * rho[l] * (open_[l] - share[l]); });
    const Lanes variance = each([&](std::size_t l) { return open[l] + 1 - share[l]; });
    const Lanes gain = each([&](std::size_t l) { return open[l] / variance[l]; });
    const Lanes scale = each([&](std::size_t l) { return 1 / std::sqrt(variance[l]); });
    open_ = each([&](std::size_t l) { return open[l] * (1 - gain[l]); });
    for (const std::size_t x : {std::size_t{0}, std::size_t{1}, kPredictors}) {
      Lanes& state = state_[x];
      const Lanes expected = each([&](std::size_t l) { return rho[l] * state[l]; });
      state = each([&](std::size_t l) { return expected[l] + gain[l] * (row[x] - expected[l]); });
      fresh[x] = each([&](std::size_t l) { return (row[x] - expected[l]) * scale[l]; });
    }
    return variance;
  }

 private:
  bool first_ = true;
  double before_ = 0;
  Lanes open_{};     // the variance of the patches that is left
  LaneRow state_{};  // expected patches, of the value and of its predictors
};

// Elsewhere: a value and its neighbours, which come first, and what is new in it beyond what they say.
class Neighbourhood {
 public:
  // The variance of what is new in value i, which is put into `fresh`, in units of this.
  Lanes next(std::span<const Placed> values, std::size_t i, std::size_t dimensions, LaneRow& fresh) {
    const Near near = nearest(values, i, dimensions);
    std::array<const Placed*, kTogether> together{};
    for (std::size_t k = 0; k < near.count; ++k) together[k] = &values[near.index[k]];
    together[near.count] = &values[i];
    set({together.data(), near.count + 1}, dimensions);
    const Lanes variance = take_away();
    fresh = rows_[near.count];
    return variance;
  }

 private:
  void set(std::span<const Placed* const> together, std::size_t dimensions) {
    size_ = together.size();
    for (std::size_t a = 0; a < size_; ++a) {
      const Row row = row_of(*together[a]);
      for (std::size_t x = 0; x < row.size(); ++x) rows_[a][x].fill(row[x]);
      for (std::size_t b = 0; b < a; ++b) {
        const auto kept = kept_after(distance(*together[a], *together[b], dimensions));
        root_[a][b] = each([&](std::size_t l) { return shares()[l] * kept[reach_of(l)]; });
      }
    }
  }

  Lanes take_away() {
    Lanes variance{};
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        Lanes sum = root_[i][j];
        for (std::size_t k = 0; k < j; ++k)
          sum = each([&](std::size_t l) { return sum[l] - root_[i][k][l] * root_[j][k][l]; });
        root_[i][j] = each([&](std::size_t l) { return sum[l] * root_[j][j][l]; });
      }
      variance.fill(1);
      for (std::size_t k = 0; k < i; ++k)
        variance = each([&](std::size_t l) { return variance[l] - root_[i][k][l] * root_[i][k][l]; });
      variance = each([&](std::size_t l) { return std::max(variance[l], kPerfectSurface); });
      root_[i][i] = each([&](std::size_t l) { return 1 / std::sqrt(variance[l]); });
      for (Lanes& x : rows_[i]) {
        const auto at = static_cast<std::size_t>(&x - rows_[i].data());
        for (std::size_t k = 0; k < i; ++k)
          x = each([&](std::size_t l) { return x[l] - root_[i][k][l] * rows_[k][at][l]; });
        x = each([&](std::size_t l) { return x[l] * root_[i][i][l]; });
      }
    }
    return variance;
  }

  std::array<std::array<Lanes, kTogether>, kTogether> root_;  // correlations, then their Cholesky factor
  std::array<LaneRow, kTogether> rows_;
  std::size_t size_ = 0;
};

}  // namespace

Placed placed(const float* row, const PlaceColumns& places, double value) {
  Placed one{.at = {}, .value = value};
  for (std::size_t d = 0; d < places.columns.size(); ++d)
    one.at[d] = static_cast<double>(row[places.columns[d]]) / places.scale[d];
  return one;
}

double Patches::any(const std::array<double, kPatches>& gains) {
  return log_mean_exp(gains);
}

Patches find_patches(std::span<Placed> values, std::size_t dimensions) {
  Patches result;
  const auto lost = std::remove_if(values.begin(), values.end(), [](const Placed& p) {
    return !std::isfinite(p.value) ||
           !std::all_of(p.at.begin(), p.at.end(), [](double x) { return std::isfinite(x); });
  });
  values = values.first(static_cast<std::size_t>(lost - values.begin()));
  std::sort(values.begin(), values.end(),
            [](const Placed& a, const Placed& b) { return a.at != b.at ? a.at < b.at : a.value < b.value; });
  constexpr auto most = static_cast<std::size_t>(kMostPlaced);
  if (values.size() > most) {
    for (std::size_t k = 0; k < most; ++k) values[k] = values[k * values.size() / most];
    values = values.first(most);
  }
  if (values.size() < kFewestPlaced) return result;
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const Placed& p : values) mean += p.value / n;
  for (const Placed& p : values) squares += (p.value - mean) * (p.value - mean);
  if (!(squares > 0) || !std::isfinite(squares)) return result;
  const double spread = std::sqrt(squares / n);
  std::array<double, kMostDimensions> middle{};
  for (const Placed& p : values) {
    for (std::size_t d = 0; d < dimensions; ++d) middle[d] += p.at[d] / n;
  }
  for (Placed& p : values) {
    p.value = (p.value - mean) / spread;
    for (std::size_t d = 0; d < dimensions; ++d) p.at[d] -= middle[d];
  }

  Regressed plain;
  LaneSums patches(dimensions);
  Neighbourhood around;
  Along along;
  LaneRow fresh{};
  std::array<double, kPatches> logs{};
  Lanes products, variance;
  products.fill(1);
  const auto take_logs = [&] {
    for (std::size_t k = 0; k < kPatches; ++k) logs[k] += std::log(products[k]);
    products.fill(1);
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    plain.add(row_of(values[i]));
    variance = dimensions == 1 ? along.next(values[i], fresh) : around.next(values, i, dimensions, fresh);
    patches.add(fresh);
    products = each([&](std::size_t l) { return products[l] * variance[l]; });
    if (i % 16 == 15) take_logs();
  }
  take_logs();
  const std::size_t level = 1, slope = 1 + dimensions;
  const auto fit = [&](const Regressed& sums, std::size_t predictors) {
    return -0.5 * n * std::log(sums.left(predictors) / n + kPerfectSurface);
  };
  const double none = fit(plain, level);
  result.slope_alone = fit(plain, slope) - none;
  for (std::size_t k = 0; k < kPatches; ++k) {
    const Regressed sums = patches.of(k);
    result.level[k] = fit(sums, level) - 0.5 * logs[k] - none;
    result.slope[k] = fit(sums, slope) - 0.5 * logs[k] - none;
  }
  return result;
}

namespace {

// What a surface of second order leaves of values: their own mean if there are few.
void remove_surface(std::span<Placed> values, std::size_t dimensions) {
  std::vector<std::vector<double>> basis;
  const auto add = [&](auto f) {
    std::vector<double> column(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) column[i] = f(values[i].at);
    double all = 0, left = 0;
    for (const double x : column) all += x * x;
    for (const std::vector<double>& other : basis) {
      double part = 0;
      for (std::size_t i = 0; i < column.size(); ++i) part += other[i] * column[i];
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= part * other[i];
    }
    for (const double x : column) left += x * x;
    if (!(left > kPerfectSurface * all) || basis.size() + 3 > values.size()) return;
    for (double& x : column) x /= std::sqrt(left);
    double part = 0;
    for (std::size_t i = 0; i < column.size(); ++i) part += column[i] * values[i].value;
    for (std::size_t i = 0; i < column.size(); ++i) values[i].value -= part * column[i];
    basis.push_back(std::move(column));
  };
  add([](const auto&) { return 1.0; });
  for (std::size_t a = 0; a < dimensions; ++a) add([=](const auto& at) { return at[a]; });
  for (std::size_t a = 0; a < dimensions; ++a) {
    for (std::size_t b = 0; b <= a; ++b) add([=](const auto& at) { return at[a] * at[b]; });
  }
}

bool has_many_values(Ragged<const float> data, std::int64_t c) {
  std::vector<float> values;
  for (std::int64_t r = 0; r < data.x.rows; ++r) {
    if (std::isnan(data.x.row(r)[c])) return false;
    const float x = data.x.row(r)[c];
    if (values.size() <= kManyValues && std::find(values.begin(), values.end(), x) == values.end())
      values.push_back(x);
  }
  return values.size() > kManyValues;
}

// Rows of a data set that are looked at: as many as patches are found in.
Matrix<const float> first_rows(Ragged<const float> data, std::int64_t set) {
  return data.x.rows_from(data.offsets[set], std::min(data.size(set), kMostPlaced));
}

// Whether most rows are at a place of their own: several at one are levels of a design.
bool are_strewn(Ragged<const float> data, const PlaceColumns& places) {
  std::vector<std::array<double, kMostDimensions>> at;
  std::int64_t own = 0, all = 0;
  for (std::int64_t set = 0; set < data.sets; ++set) {
    const Matrix<const float> rows = first_rows(data, set);
    at.clear();
    for (std::int64_t r = 0; r < rows.rows; ++r) at.push_back(placed(rows.row(r), places, 0).at);
    std::sort(at.begin(), at.end());
    own += std::unique(at.begin(), at.end()) - at.begin();
    all += rows.rows;
  }
  return 2 * own >= all;
}

// Whether column c is alike at near places.
bool is_alike(Ragged<const float> data, const PlaceColumns& places, std::int64_t c) {
  std::vector<Placed> values;
  std::int64_t clear = 0;
  for (std::int64_t set = 0; set < data.sets; ++set) {
    const Matrix<const float> rows = first_rows(data, set);
    values.clear();
    for (std::int64_t r = 0; r < rows.rows; ++r) {
      const float* row = rows.row(r);
      if (!std::isnan(row[c])) values.push_back(placed(row, places, row[c]));
    }
    remove_surface(values, places.columns.size());
    clear += Patches::any(find_patches(values, places.columns.size()).level) >= kClearlyAlike;
  }
  return static_cast<double>(clear) >= kShareAlike * static_cast<double>(data.sets);
}

}  // namespace

PlaceColumns find_places(Ragged<const float> data, const std::vector<std::int64_t>& candidates,
                         const std::vector<std::int64_t>& labels) {
  const auto is_in = [](const std::vector<std::int64_t>& columns, std::int64_t c) {
    return std::find(columns.begin(), columns.end(), c) != columns.end();
  };
  PlaceColumns places;
  for (const std::int64_t c : candidates) {
    if (is_in(labels, c) || !has_many_values(data, c)) continue;
    if (places.columns.size() == kMostDimensions) return {};
    double sum = 0, squares = 0;
    const auto n = static_cast<double>(data.x.rows);
    for (std::int64_t r = 0; r < data.x.rows; ++r) sum += data.x.row(r)[c];
    for (std::int64_t r = 0; r < data.x.rows; ++r) squares += std::pow(data.x.row(r)[c] - sum / n, 2);
    const double scale = std::sqrt(squares / n);
    if (!(scale > 0) || !std::isfinite(scale)) return {};
    places.columns.push_back(c);
    places.scale.push_back(scale);
  }
  if (places.columns.empty() || !are_strewn(data, places)) return {};
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    if (!is_in(candidates, c) && !is_in(labels, c) && is_alike(data, places, c)) return places;
  }
  return {};
}

}  // namespace occam
