#include "occam/scope/scope_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr std::int64_t kComponents = 48;
constexpr double kPower = 0.5;
constexpr double kAdapt = 0.8;
// Calibration points that a data set is ranked among: the nearest in size.
constexpr std::size_t kWindow = 500;
// Fewer points with the same favoured model than this, and they are ranked among all.
constexpr std::size_t kSmallestCell = 200;
constexpr std::size_t kBands = 8;
constexpr double kSmallestDistance = 1e-4;
// Score of a data set that differs where all simulations agree.
constexpr double kCertainlyForeign = 1e6;
constexpr float kLargestInteger = 32767;

// The k smallest values seen, with the points they belong to.
class Nearest {
 public:
  void offer(float distance, std::int32_t point) {
    if (distance >= worst_) return;
    if (count_ < slots_.size()) {
      slots_[count_++] = {distance, point};
    } else {
      *std::max_element(slots_.begin(), slots_.end()) = {distance, point};
    }
    if (count_ == slots_.size()) worst_ = std::max_element(slots_.begin(), slots_.end())->first;
  }
  std::span<const std::pair<float, std::int32_t>> found() const { return {slots_.data(), count_}; }

 private:
  std::array<std::pair<float, std::int32_t>, ScopeReference::kNeighbours> slots_;
  std::size_t count_ = 0;
  float worst_ = std::numeric_limits<float>::infinity();
};

// A point of (components, R) from a place, without the rounding of the fast way.
double exact_distance(const std::vector<float>& points, std::size_t R, const float* place,
                      std::int32_t point) {
  double sum = 0;
  for (std::size_t c = 0; c * R < points.size(); ++c) {
    const double d = points[c * R + static_cast<std::size_t>(point)] - place[c];
    sum += d * d;
  }
  return std::sqrt(sum);
}

// log of the mean distance to the neighbours, less what is usual around them.
double score_of(const Nearest& nearest, const std::vector<float>& points, std::size_t R, const float* place,
                const std::vector<float>& density, double adapt) {
  double sum = 0;
  double around = 0;
  for (const auto& [unused, point] : nearest.found()) {
    sum += exact_distance(points, R, place, point);
    around += density[static_cast<std::size_t>(point)];
  }
  const auto n = static_cast<double>(nearest.found().size());
  return std::log(sum / n + kSmallestDistance) - adapt * around / n;
}

}  // namespace

ScopeReference::ScopeReference(Sketch sketch, std::int64_t models, std::vector<Point> reference)
    : sketch_(std::move(sketch)), J_(models) {
  const auto R = static_cast<std::int64_t>(reference.size());
  const auto F = static_cast<std::int64_t>(reference[0].features.size());
  std::vector<float> features;
  for (const Point& point : reference)
    features.insert(features.end(), point.features.begin(), point.features.end());
  whitening_ = Whitening::learn(features, F, kComponents, kPower);
  points_.resize(static_cast<std::size_t>(whitening_.components() * R));
  for (std::int64_t i = 0; i < R; ++i) {
    Point& point = reference[static_cast<std::size_t>(i)];
    place(point);
    for (std::int64_t c = 0; c < whitening_.components(); ++c) {
      points_[static_cast<std::size_t>(c * R + i)] = point.place[static_cast<std::size_t>(c)];
    }
    model_.push_back(point.model);
  }
  float largest = 0;
  for (const float x : points_) largest = std::max(largest, std::fabs(x));
  unit_ = largest > 0 ? largest / kLargestInteger : 1;
  for (float& x : points_) x = std::round(x / unit_) * unit_;
  density_.assign(static_cast<std::size_t>(R), 0.0f);
  prepare_distances();
  learn_ranges(reference);
}

void ScopeReference::place(Point& point) const {
  point.place.resize(static_cast<std::size_t>(whitening_.components()));
  point.usual = whitening_.apply(point.features, point.place);
}

void ScopeReference::prepare_distances() {
  const std::int64_t R = reference_size();
  const std::int64_t C = whitening_.components();
  ParameterLayout layout;
  PackedLayout<float> packed;
  distance_ = std::make_shared<const Dense<float>>(layout, packed, "distance", C, R, Activation::identity);
  std::vector<float> weights(static_cast<std::size_t>(layout.size()));
  float* weight = weights.data() + layout.find("distance.weight")->offset;
  float* bias = weights.data() + layout.find("distance.bias")->offset;
  for (std::int64_t c = 0; c < C; ++c) {
    for (std::int64_t i = 0; i < R; ++i) {
      const float p = points_[static_cast<std::size_t>(c * R + i)];
      weight[c * R + i] = -2 * p;
      bias[i] += p * p;
    }
  }
  packed_.resize(static_cast<std::size_t>(packed.size()));
  distance_->pack(weights.data(), packed_.data());
}

// Calls visit(k, row): the squared distances of place k from all points of the reference, up to a constant.
template <class Visit>
void ScopeReference::visit_distances(std::span<const float* const> places, const Visit& visit) const {
  const std::int64_t C = whitening_.components();
  thread_local Workspace workspace;
  const Workspace::Scope scope(workspace);
  const auto rows = static_cast<std::int64_t>(places.size());
  const Matrix<float> x = workspace.matrix<float>(rows, C);
  const Matrix<float> y = workspace.matrix<float>(rows, reference_size());
  for (std::int64_t k = 0; k < rows; ++k) std::copy_n(places[static_cast<std::size_t>(k)], C, x.row(k));
  distance_->forward(packed_.data(), x, y);
  for (std::int64_t k = 0; k < rows; ++k) visit(static_cast<std::size_t>(k), y.row(k));
}

void ScopeReference::measure_density(std::int64_t block) {
  const std::int64_t R = reference_size();
  const std::int64_t C = whitening_.components();
  const std::int64_t first = block * kBlock;
  const std::int64_t count = std::min(kBlock, R - first);
  std::vector<float> places(static_cast<std::size_t>(count * C));
  std::vector<const float*> rows;
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t c = 0; c < C; ++c)
      places[static_cast<std::size_t>(k * C + c)] = points_[static_cast<std::size_t>(c * R + first + k)];
    rows.push_back(places.data() + k * C);
  }
  visit_distances(rows, [&](std::size_t k, const float* distances) {
    const auto self = static_cast<std::int32_t>(first) + static_cast<std::int32_t>(k);
    Nearest nearest;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(R); ++i) {
      if (i != self) nearest.offer(distances[i], i);
    }
    double sum = 0;
    for (const auto& [unused, point] : nearest.found())
      sum += exact_distance(points_, static_cast<std::size_t>(R), rows[k], point);
    density_[static_cast<std::size_t>(self)] =
        static_cast<float>(std::log(sum / static_cast<double>(nearest.found().size()) + kSmallestDistance));
  });
}

std::vector<ScopeReference::Scores> ScopeReference::scores(std::span<const Point> points) const {
  const auto R = static_cast<std::size_t>(reference_size());
  std::vector<const float*> rows;
  for (const Point& point : points) rows.push_back(point.place.data());
  std::vector<Scores> result(points.size());
  visit_distances(rows, [&](std::size_t k, const float* distances) {
    Nearest nearest;
    std::vector<Nearest> of_model(J_ <= kMostModels ? static_cast<std::size_t>(J_) : 0);
    for (std::size_t i = 0; i < R; ++i) {
      nearest.offer(distances[i], static_cast<std::int32_t>(i));
      if (!of_model.empty())
        of_model[static_cast<std::size_t>(model_[i])].offer(distances[i], static_cast<std::int32_t>(i));
    }
    const double foreign = points[k].usual ? 0 : kCertainlyForeign;
    const auto score = [&](const Nearest& near) {
      return near.found().empty() ? kCertainlyForeign
                                  : score_of(near, points_, R, rows[k], density_, kAdapt) + foreign;
    };
    result[k].all = score(nearest);
    for (const Nearest& near : of_model) result[k].by_model.push_back(score(near));
  });
  return result;
}

void ScopeReference::add_calibration(const Point& point, const Scores& scores) {
  const double own =
      scores.by_model.empty() ? scores.all : scores.by_model[static_cast<std::size_t>(point.model)];
  calibration_.push_back({static_cast<float>(point.rows), static_cast<float>(scores.all),
                          static_cast<float>(own), point.best, point.model});
}

void ScopeReference::calibrated() {
  const auto J = static_cast<std::size_t>(J_);
  by_best_.assign(J, {});
  by_model_.assign(J, {});
  all_.clear();
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(calibration_.size()); ++i) {
    const Calibration& c = calibration_[static_cast<std::size_t>(i)];
    all_.push_back(i);
    by_best_[static_cast<std::size_t>(c.best)].push_back(i);
    by_model_[static_cast<std::size_t>(c.model)].push_back(i);
  }
  const auto sort = [&](std::vector<std::int32_t>& cell) {
    std::stable_sort(cell.begin(), cell.end(), [&](std::int32_t a, std::int32_t b) {
      return calibration_[static_cast<std::size_t>(a)].rows < calibration_[static_cast<std::size_t>(b)].rows;
    });
  };
  sort(all_);
  for (auto& cell : by_best_) sort(cell);
  for (auto& cell : by_model_) sort(cell);
}

double ScopeReference::smallest_p() const {
  return 1 / (1 + static_cast<double>(std::min(kWindow, calibration_.size())));
}

// Ranks among the points nearest in size, as many below as above.
double ScopeReference::rank(const std::vector<std::int32_t>& cell, double rows, double score,
                            bool own) const {
  const auto at = [&](std::int32_t i) -> const Calibration& {
    return calibration_[static_cast<std::size_t>(i)];
  };
  const std::size_t window = std::min(kWindow, cell.size());
  const auto above =
      std::partition_point(cell.begin(), cell.end(), [&](std::int32_t i) { return at(i).rows < rows; });
  const auto after =
      std::partition_point(above, cell.end(), [&](std::int32_t i) { return at(i).rows <= rows; });
  const auto middle = static_cast<std::size_t>((above - cell.begin() + (after - cell.begin())) / 2);
  const std::size_t first = std::min(middle > window / 2 ? middle - window / 2 : 0, cell.size() - window);
  std::size_t as_foreign = 0;
  for (std::size_t i = first; i < first + window; ++i) {
    as_foreign += (own ? at(cell[i]).own_score : at(cell[i]).score) >= static_cast<float>(score) ? 1 : 0;
  }
  return (1 + static_cast<double>(as_foreign)) / (1 + static_cast<double>(window));
}

std::vector<ScopeAnswer> ScopeReference::judge(std::span<const Point> points) const {
  const std::vector<Scores> all = scores(points);
  std::vector<ScopeAnswer> answers;
  for (std::size_t k = 0; k < points.size(); ++k) answers.push_back(judge(points[k], all[k]));
  return answers;
}

ScopeAnswer ScopeReference::judge(const Point& point, const Scores& s) const {
  const auto& cell = by_best_[static_cast<std::size_t>(point.best)];
  ScopeAnswer answer;
  const auto rows = static_cast<double>(point.rows);
  answer.p = rank(cell.size() >= kSmallestCell ? cell : all_, rows, s.all, false);
  for (std::size_t j = 0; j < s.by_model.size(); ++j) {
    answer.by_model.push_back(by_model_[j].empty() ? 1 : rank(by_model_[j], rows, s.by_model[j], true));
  }
  answer.reason = reason(point);
  return answer;
}

std::size_t ScopeReference::band(std::int64_t rows) const {
  const auto found = std::lower_bound(band_rows_.begin(), band_rows_.end(), static_cast<float>(rows));
  return std::min(static_cast<std::size_t>(found - band_rows_.begin()), band_rows_.size() - 1);
}

// Where all but one in a hundred simulated data sets of similar size lie, statistic by statistic.
void ScopeReference::learn_ranges(const std::vector<Point>& points) {
  std::vector<float> rows;
  for (const Point& point : points) rows.push_back(static_cast<float>(point.rows));
  std::sort(rows.begin(), rows.end());
  for (std::size_t b = 1; b <= kBands; ++b) {
    const float end = rows[(rows.size() - 1) * b / kBands];
    if (band_rows_.empty() || end > band_rows_.back()) band_rows_.push_back(end);
  }
  const auto S = static_cast<std::size_t>(sketch_.size());
  std::vector<std::vector<float>> values(band_rows_.size() * S);
  for (const Point& point : points) {
    const float* sketch = point.features.data() + point.features.size() - S;
    for (std::size_t s = 0; s < S; ++s) values[band(point.rows) * S + s].push_back(sketch[s]);
  }
  for (auto& column : values) {
    std::sort(column.begin(), column.end());
    const auto at = [&](double q) {
      return column[static_cast<std::size_t>(q * static_cast<double>(column.size() - 1))];
    };
    ranges_.push_back(column.empty() ? 0 : at(0.005));
    ranges_.push_back(column.empty() ? 0 : at(0.995));
  }
}

std::string ScopeReference::reason(const Point& point) const {
  const auto S = static_cast<std::size_t>(sketch_.size());
  const float* sketch = point.features.data() + point.features.size() - S;
  const float* ranges = ranges_.data() + 2 * band(point.rows) * S;
  std::vector<std::pair<double, std::size_t>> outside;
  for (std::size_t s = 1; s < S; ++s) {  // not the number of rows
    const double low = ranges[2 * s];
    const double high = ranges[2 * s + 1];
    const double beyond = std::max(low - sketch[s], sketch[s] - high);
    if (beyond > 0) outside.emplace_back(beyond / (high - low + 1e-6 * (1 + std::fabs(high))), s);
  }
  if (outside.empty()) return "";
  std::sort(outside.begin(), outside.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  const std::size_t s = outside.front().second;
  std::string text = fmt::format("{} is {:.3g}, in simulations mostly {:.3g} to {:.3g}", sketch_.names()[s],
                                 sketch[s], ranges[2 * s], ranges[2 * s + 1]);
  if (outside.size() > 1) text += fmt::format(" ({} more statistics stand out)", outside.size() - 1);
  return text;
}

void ScopeReference::add_to(Safetensors& contents, nlohmann::json& description) const {
  description = {
      {"sketch", sketch_.json()}, {"models", J_}, {"unit", unit_}, {"by_model", J_ <= kMostModels}};
  whitening_.add_to(contents, "scope.whitening.");
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape,
                       const std::vector<float>& values) {
    contents.tensors.emplace_back("scope." + name, NdArray::of<float>(std::move(shape), std::span(values)));
  };
  const std::int64_t R = reference_size();
  const auto M = calibration_size();
  std::vector<std::int16_t> points;
  for (const float x : points_) points.push_back(static_cast<std::int16_t>(std::lround(x / unit_)));
  contents.tensors.emplace_back("scope.points",
                                NdArray::of<std::int16_t>({whitening_.components(), R}, std::span(points)));
  add("density", {R}, density_);
  std::vector<float> table;
  for (const Calibration& c : calibration_) {
    table.insert(table.end(),
                 {c.rows, c.score, c.own_score, static_cast<float>(c.best), static_cast<float>(c.model)});
  }
  add("calibration", {M, 5}, table);
  add("band_rows", {static_cast<std::int64_t>(band_rows_.size())}, band_rows_);
  add("ranges", {static_cast<std::int64_t>(band_rows_.size()), sketch_.size(), 2}, ranges_);
  const std::vector<std::int16_t> model(model_.begin(), model_.end());
  contents.tensors.emplace_back("scope.model", NdArray::of<std::int16_t>({R}, std::span(model)));
}

ScopeReference ScopeReference::from(const Safetensors& contents, const nlohmann::json& description) {
  ScopeReference s;
  s.sketch_ = Sketch::from_json(description.at("sketch"));
  s.J_ = description.at("models").get<std::int64_t>();
  s.whitening_ = Whitening::from(contents, "scope.whitening.");
  const auto take = [&](const char* name) { return contents.at(std::string("scope.") + name).as_float(); };
  s.unit_ = description.at("unit").get<float>();
  s.points_ = take("points");
  for (float& x : s.points_) x *= s.unit_;
  s.density_ = take("density");
  s.band_rows_ = take("band_rows");
  s.ranges_ = take("ranges");
  const std::vector<float> table = take("calibration");
  for (const std::int64_t model : contents.at("scope.model").as_int64())
    s.model_.push_back(static_cast<std::int32_t>(model));
  for (std::size_t i = 0; i + 5 <= table.size(); i += 5) {
    s.calibration_.push_back({table[i], table[i + 1], table[i + 2], static_cast<std::int32_t>(table[i + 3]),
                              static_cast<std::int32_t>(table[i + 4])});
  }
  const auto in_range = [&](std::int32_t model) { return model >= 0 && model < s.J_; };
  const std::size_t R = s.model_.size();
  const bool sound =
      R > 0 && s.density_.size() == R &&
      s.points_.size() == R * static_cast<std::size_t>(s.whitening_.components()) && !s.band_rows_.empty() &&
      s.ranges_.size() == 2 * s.band_rows_.size() * static_cast<std::size_t>(s.sketch_.size()) &&
      !s.calibration_.empty() && table.size() % 5 == 0 &&
      std::all_of(s.model_.begin(), s.model_.end(), in_range) &&
      std::all_of(s.calibration_.begin(), s.calibration_.end(),
                  [&](const Calibration& c) { return in_range(c.best) && in_range(c.model); });
  if (!sound) throw Error(ErrorKind::bad_config, "its scope reference is not usable");
  s.prepare_distances();
  s.calibrated();
  return s;
}

}  // namespace occam
