#include "occam/scope/scope_reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/whole_number.hpp"

namespace occam {
namespace {

// Chosen by what notices most (docs/scope.md): the summary has few directions, all of them informative; the
// sketch has many that are nearly the same.
constexpr NeighbourSpace::Options kSummary = {64, 1.0, 0.8};
constexpr NeighbourSpace::Options kSketch = {48, 0.5, 0.5};
// Calibration points that a data set is ranked among, the nearest in size: an eighth of those there are,
// within limits.
constexpr std::size_t kSmallestWindow = 100;
constexpr std::size_t kLargestWindow = 400;
// Among designs, which their effect on scores has been taken from, also within the window: the wider it is,
// the less does chance in the calibration decide.
constexpr std::size_t kLargestDesignWindow = 1500;
// Fewer points with the same favoured model than this, and they are ranked among all: that p-values hold at
// every size matters more.
constexpr std::size_t kSmallestCell = 1000;
constexpr double kReach = 0.25;
// A design is a lonely one where these few are so many times as far from it as from any of those looked at.
constexpr std::size_t kFew = 20;
constexpr double kLonely = 1.5;
constexpr std::size_t kLookedAt = 500;
constexpr double kLeastSpread = 0.2;  // of scores, whatever the design, as a part of the usual one
constexpr std::size_t kRangeBands = 8;
constexpr std::size_t kScaleKnots = 16;

std::size_t window_of(std::size_t cell) {
  return std::min(cell, std::clamp(cell / 8, kSmallestWindow, kLargestWindow));
}

std::size_t design_window_of(std::size_t cell) {
  return std::min(cell, std::clamp(cell / 8, kSmallestWindow, kLargestDesignWindow));
}

// Solves the normal equations of a few predictors by Cholesky, in place; `normal` has its lower half.
// Directions in which nothing differs are left out by a small ridge.
void solve(std::vector<double>& normal, std::vector<double>& x) {
  const std::size_t D = x.size();
  double trace = 0;
  for (std::size_t a = 0; a < D; ++a) trace += normal[a * D + a];
  for (std::size_t a = 0; a < D; ++a) normal[a * D + a] += 1e-6 * trace + 1e-12;
  for (std::size_t a = 0; a < D; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = normal[a * D + b];
      for (std::size_t k = 0; k < b; ++k) sum -= normal[a * D + k] * normal[b * D + k];
      normal[a * D + b] = a == b ? std::sqrt(std::max(sum, 1e-300)) : sum / normal[b * D + b];
    }
  }
  for (std::size_t a = 0; a < D; ++a) {
    for (std::size_t k = 0; k < a; ++k) x[a] -= normal[a * D + k] * x[k];
    x[a] /= normal[a * D + a];
  }
  for (std::size_t a = D; a-- > 0;) {
    for (std::size_t k = a + 1; k < D; ++k) x[a] -= normal[k * D + a] * x[k];
    x[a] /= normal[a * D + a];
  }
}

std::vector<float> joined_features(std::span<const ScopePoint> points, std::vector<float> ScopePoint::*part) {
  std::vector<float> all;
  for (const ScopePoint& point : points) all.insert(all.end(), (point.*part).begin(), (point.*part).end());
  return all;
}

}  // namespace

ScopeReference::ScopeReference(Sketch sketch, std::int64_t models, const std::vector<ScopePoint>& reference)
    : sketch_(std::move(sketch)), J_(models) {
  for (const ScopePoint& point : reference) model_.push_back(point.model);
  K_ = static_cast<std::int64_t>(reference[0].design.size());
  const std::vector<float> given = joined_features(reference, &ScopePoint::given);
  const auto space = [&](std::vector<float> ScopePoint::*part, NeighbourSpace::Options options,
                         DesignEffect& effect) {
    const auto F = static_cast<std::int64_t>((reference[0].*part).size());
    std::vector<float> features = joined_features(reference, part);
    if (K_ > 0) {
      effect = DesignEffect::learn(features, F, given, static_cast<std::int64_t>(reference[0].given.size()));
    }
    effect.remove(features, given);
    return NeighbourSpace(features, F, model_, J_, options);
  };
  summary_ = space(&ScopePoint::summary, kSummary, summary_effect_);
  raw_ = space(&ScopePoint::sketch, kSketch, raw_effect_);
  learn_ranges(reference);
}

void ScopeReference::measure_density(std::int64_t block) {
  summary_.measure_density(block);
  raw_.measure_density(block);
}

std::vector<ScopeReference::Scores> ScopeReference::scores(std::span<const ScopePoint> points) const {
  const bool by_model = J_ <= kMostModels;
  const std::vector<float> given = joined_features(points, &ScopePoint::given);
  const auto scored = [&](std::vector<float> ScopePoint::*part, const DesignEffect& effect,
                          const NeighbourSpace& space) {
    std::vector<float> features = joined_features(points, part);
    effect.remove(features, given);
    return space.scores(features, by_model);
  };
  auto summary = scored(&ScopePoint::summary, summary_effect_, summary_);
  auto raw = scored(&ScopePoint::sketch, raw_effect_, raw_);
  std::vector<Scores> result;
  for (std::size_t k = 0; k < points.size(); ++k) {
    result.push_back(
        {summary[k].all, raw[k].all, std::move(summary[k].by_model), std::move(raw[k].by_model)});
  }
  return result;
}

double ScopeReference::Scale::standardised(double score, double rows) const {
  const double x = std::log(rows);
  const auto above = std::upper_bound(log_rows.begin(), log_rows.end(), static_cast<float>(x));
  const auto high =
      std::min<std::size_t>(static_cast<std::size_t>(above - log_rows.begin()), log_rows.size() - 1);
  const std::size_t low = high == 0 ? 0 : high - 1;
  const double gap = log_rows[high] - log_rows[low];
  const double part = gap > 0 ? std::clamp((x - log_rows[low]) / gap, -0.5, 1.5) : 0;
  const auto at = [&](const std::vector<float>& values) {
    return values[low] + part * (values[high] - values[low]);
  };
  return (score - at(mean)) / at(spread);
}

// Equal numbers of data sets between two knots, as far as sizes allow.
ScopeReference::Scale ScopeReference::learn_scale(std::span<const ScopePoint> points,
                                                  const std::vector<double>& scores) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return points[a].rows < points[b].rows; });
  Scale scale;
  for (std::size_t k = 0; k < kScaleKnots; ++k) {
    const std::size_t first = order.size() * k / kScaleKnots;
    const std::size_t last = order.size() * (k + 1) / kScaleKnots;
    if (first == last) continue;
    double x = 0, mean = 0, squares = 0;
    const auto count = static_cast<double>(last - first);
    for (std::size_t i = first; i < last; ++i) {
      x += std::log(static_cast<double>(points[order[i]].rows)) / count;
      mean += scores[order[i]] / count;
    }
    for (std::size_t i = first; i < last; ++i)
      squares += (scores[order[i]] - mean) * (scores[order[i]] - mean) / count;
    if (!scale.log_rows.empty() && static_cast<float>(x) <= scale.log_rows.back()) continue;
    scale.log_rows.push_back(static_cast<float>(x));
    scale.mean.push_back(static_cast<float>(mean));
    scale.spread.push_back(static_cast<float>(std::max(std::sqrt(squares), 1e-3)));
  }
  return scale;
}

double ScopeReference::standardised(std::size_t which, double score, const ScopePoint& point) const {
  const Scale& scale = which == 0 ? summary_scale_ : raw_scale_;
  const double x = scale.standardised(score, static_cast<double>(point.rows));
  if (K_ == 0) return x;
  const auto feature = static_cast<std::int64_t>(which);
  const double usual = spread_[which];
  const double spread =
      std::clamp(usual + spread_effect_.on(feature, point.given), usual * kLeastSpread, usual / kLeastSpread);
  return (x - score_effect_.on(feature, point.given)) / spread;
}

double ScopeReference::joined(double summary, double sketch, const ScopePoint& point) const {
  return std::max(standardised(0, summary, point), standardised(1, sketch, point));
}

// Scores rise where few observations of a level make for noisy statistics; brought to one scale, those of
// unlike designs can be ranked together.
void ScopeReference::learn_design_scale(std::span<const ScopePoint> points, std::span<const Scores> scores) {
  if (K_ == 0) return;
  std::vector<float> both;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto rows = static_cast<double>(points[k].rows);
    both.push_back(static_cast<float>(summary_scale_.standardised(scores[k].summary, rows)));
    both.push_back(static_cast<float>(raw_scale_.standardised(scores[k].sketch, rows)));
  }
  const std::vector<float> given = joined_features(points, &ScopePoint::given);
  const auto G = static_cast<std::int64_t>(points[0].given.size());
  score_effect_ = DesignEffect::learn(both, 2, given, G);
  score_effect_.remove(both, given);
  std::array<double, 2> sum{}, deviation{};
  const auto count = static_cast<double>(points.size());
  for (std::size_t i = 0; i < both.size(); ++i) sum[i % 2] += both[i] / count;
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i] = std::fabs(both[i] - static_cast<float>(sum[i % 2]));
    deviation[i % 2] += both[i] / count;
  }
  spread_effect_ = DesignEffect::learn(both, 2, given, G);
  spread_ = {static_cast<float>(std::max(deviation[0], 1e-3)),
             static_cast<float>(std::max(deviation[1], 1e-3))};
}

void ScopeReference::calibrate(std::span<const ScopePoint> points, std::span<const Scores> scores) {
  std::vector<double> summary, raw;
  for (const Scores& s : scores) {
    summary.push_back(s.summary);
    raw.push_back(s.sketch);
  }
  summary_scale_ = learn_scale(points, summary);
  raw_scale_ = learn_scale(points, raw);
  learn_design_scale(points, scores);
  for (std::size_t k = 0; k < points.size(); ++k) {
    const ScopePoint& point = points[k];
    const Scores& s = scores[k];
    const auto j = static_cast<std::size_t>(point.model);
    const double all = joined(s.summary, s.sketch, point);
    const double own =
        s.summary_by_model.empty() ? all : joined(s.summary_by_model[j], s.sketch_by_model[j], point);
    calibration_.push_back({static_cast<float>(point.rows), static_cast<float>(all), static_cast<float>(own),
                            point.best, point.model});
    calibration_design_.insert(calibration_design_.end(), point.design.begin(), point.design.end());
  }
  sort_cells();
  learn_near();
}

// Of each, one of the few is itself.
void ScopeReference::learn_near() {
  if (K_ == 0) return;
  near_ = 0;
  const std::size_t count = calibration_.size(), looks = std::min(count, kLookedAt);
  for (std::size_t k = 0; k < looks; ++k) {
    const std::size_t i = k * count / looks;
    ScopePoint point;
    point.rows = static_cast<std::int64_t>(calibration_[i].rows);
    const auto first = calibration_design_.begin() + static_cast<std::ptrdiff_t>(i) * K_;
    point.design.assign(first, first + K_);
    near_ = std::max(near_, nearest_in_design(all_, point).near);
  }
}

void ScopeReference::sort_cells() {
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
  const auto width = [&](const auto& cell) {
    return K_ > 0 ? design_window_of(cell.size()) : window_of(cell.size());
  };
  std::size_t smallest = width(all_);
  for (const auto& cell : by_best_) {
    if (cell.size() >= kSmallestCell) smallest = std::min(smallest, width(cell));
  }
  return 1 / (1 + static_cast<double>(smallest));
}

ScopeReference::Window ScopeReference::window(const std::vector<std::int32_t>& cell,
                                              const ScopePoint& point) const {
  return K_ == 0 ? nearest_in_size(cell, static_cast<double>(point.rows)) : nearest_in_design(cell, point);
}

// The places nearest in size, as many below as above where there are as many.
ScopeReference::Window ScopeReference::nearest_in_size(const std::vector<std::int32_t>& cell,
                                                       double rows) const {
  const auto size = [&](std::int32_t i) { return calibration_[static_cast<std::size_t>(i)].rows; };
  const std::size_t width = window_of(cell.size());
  const auto above =
      std::partition_point(cell.begin(), cell.end(), [&](std::int32_t i) { return size(i) < rows; });
  const auto after = std::partition_point(above, cell.end(), [&](std::int32_t i) { return size(i) <= rows; });
  const auto middle = static_cast<std::size_t>((above - cell.begin() + (after - cell.begin())) / 2);
  const std::size_t first = std::min(middle > width / 2 ? middle - width / 2 : 0, cell.size() - width);
  const auto begin = cell.begin() + static_cast<std::ptrdiff_t>(first);
  Window found{{begin, begin + static_cast<std::ptrdiff_t>(width)}};
  found.reach = std::max(std::fabs(std::log(rows / size(found.places.front()))),
                         std::fabs(std::log(size(found.places.back()) / rows)));
  return found;
}

// The places nearest in the logarithm of the size and the coordinates of the design together.
ScopeReference::Window ScopeReference::nearest_in_design(const std::vector<std::int32_t>& cell,
                                                         const ScopePoint& point) const {
  const double log_rows = std::log(static_cast<double>(point.rows));
  std::vector<std::pair<float, std::int32_t>> near;
  near.reserve(cell.size());
  for (const std::int32_t i : cell) {
    const double size =
        std::log(static_cast<double>(calibration_[static_cast<std::size_t>(i)].rows)) - log_rows;
    double squares = size * size;
    const float* design = calibration_design_.data() + i * K_;
    for (std::size_t k = 0; k < point.design.size(); ++k) {
      const double off = design[k] - point.design[k];
      squares += off * off;
    }
    near.emplace_back(static_cast<float>(squares), i);
  }
  const std::size_t width = design_window_of(cell.size());
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(width) - 1, near.end());
  Window found;
  for (std::size_t k = 0; k < width; ++k) found.places.push_back(near[k].second);
  found.reach = std::sqrt(static_cast<double>(near[width - 1].first));
  const auto few = near.begin() + static_cast<std::ptrdiff_t>(std::min(kFew, width)) - 1;
  std::nth_element(near.begin(), few, near.begin() + static_cast<std::ptrdiff_t>(width));
  found.near = std::sqrt(static_cast<double>(few->first));
  return found;
}

double ScopeReference::rank(const Window& window, const ScopePoint& point, double score, bool own) const {
  std::vector<double> scores;
  for (const std::int32_t i : window.places) {
    const Calibration& c = calibration_[static_cast<std::size_t>(i)];
    scores.push_back(own ? c.own_score : c.score);
  }
  if (K_ > 0) move_to(point, window.places, scores);
  const auto as_foreign = std::count_if(scores.begin(), scores.end(), [&](double s) {
    return static_cast<float>(s) >= static_cast<float>(score);
  });
  return (1 + static_cast<double>(as_foreign)) / (1 + static_cast<double>(window.places.size()));
}

// The designs in a window are not quite that of the point. What a straight line says about scores over size
// and design is taken out, as if all had its size and its design (as ABC moves parameters: Beaumont et al.
// 2002).
void ScopeReference::move_to(const ScopePoint& point, std::span<const std::int32_t> places,
                             std::vector<double>& scores) const {
  const auto D = static_cast<std::size_t>(K_) + 1;
  if (places.size() < 20 * D) return;
  const double log_rows = std::log(static_cast<double>(point.rows));
  std::vector<double> off(places.size() * D), mean(D, 0.0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    double* row = off.data() + i * D;
    row[0] = std::log(static_cast<double>(calibration_[static_cast<std::size_t>(places[i])].rows)) - log_rows;
    for (std::size_t k = 1; k < D; ++k) {
      row[k] = calibration_design_[static_cast<std::size_t>(places[i] * K_) + k - 1] - point.design[k - 1];
    }
    for (std::size_t k = 0; k < D; ++k) mean[k] += row[k] / static_cast<double>(places.size());
  }
  const double centre =
      std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  std::vector<double> normal(D * D, 0.0), slope(D, 0.0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double* row = off.data() + i * D;
    for (std::size_t a = 0; a < D; ++a) {
      slope[a] += (row[a] - mean[a]) * (scores[i] - centre);
      for (std::size_t b = 0; b <= a; ++b) normal[a * D + b] += (row[a] - mean[a]) * (row[b] - mean[b]);
    }
  }
  solve(normal, slope);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t k = 0; k < D; ++k) scores[i] -= slope[k] * off[i * D + k];
  }
}

std::vector<ScopeAnswer> ScopeReference::judge(std::span<const ScopePoint> points) const {
  const std::vector<Scores> all = scores(points);
  std::vector<ScopeAnswer> answers;
  for (std::size_t k = 0; k < points.size(); ++k) answers.push_back(judge(points[k], all[k]));
  return answers;
}

ScopeAnswer ScopeReference::judge(const ScopePoint& point, const Scores& s) const {
  const auto& cell = by_best_[static_cast<std::size_t>(point.best)];
  ScopeAnswer answer;
  // Points with the same favoured model, unless the nearest of them are too far.
  Window among = window(all_, point);
  answer.lonely_design = among.near > kLonely * std::max(near_, kReach);
  if (cell.size() >= kSmallestCell) {
    Window alike = window(cell, point);
    if (alike.reach <= kReach + among.reach) among = std::move(alike);
  }
  answer.p = rank(among, point, joined(s.summary, s.sketch, point), false);
  for (std::size_t j = 0; j < s.summary_by_model.size(); ++j) {
    const double own = joined(s.summary_by_model[j], s.sketch_by_model[j], point);
    answer.by_model.push_back(by_model_[j].empty() ? 1 : rank(window(by_model_[j], point), point, own, true));
  }
  answer.reason = reason(point);
  return answer;
}

std::size_t ScopeReference::band(std::int64_t rows) const {
  const auto found = std::lower_bound(band_rows_.begin(), band_rows_.end(), static_cast<float>(rows));
  return std::min(static_cast<std::size_t>(found - band_rows_.begin()), band_rows_.size() - 1);
}

// Where all but one in a hundred simulated data sets of similar size lie, statistic by statistic.
void ScopeReference::learn_ranges(const std::vector<ScopePoint>& points) {
  std::vector<float> rows;
  for (const ScopePoint& point : points) rows.push_back(static_cast<float>(point.rows));
  std::sort(rows.begin(), rows.end());
  for (std::size_t b = 1; b <= kRangeBands; ++b) {
    const float end = rows[(rows.size() - 1) * b / kRangeBands];
    if (band_rows_.empty() || end > band_rows_.back()) band_rows_.push_back(end);
  }
  const auto S = static_cast<std::size_t>(sketch_.size());
  std::vector<std::vector<float>> values(band_rows_.size() * S);
  for (const ScopePoint& point : points) {
    for (std::size_t s = 0; s < S; ++s) values[band(point.rows) * S + s].push_back(point.sketch[s]);
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

std::string ScopeReference::reason(const ScopePoint& point) const {
  const auto S = static_cast<std::size_t>(sketch_.size());
  const std::vector<float>& sketch = point.sketch;
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
  if (outside.size() == 2) text += " (another statistic stands out)";
  if (outside.size() > 2) text += fmt::format(" ({} more statistics stand out)", outside.size() - 1);
  return text;
}

void ScopeReference::add_to(Safetensors& contents, nlohmann::json& description) const {
  const auto scale = [](const Scale& s) {
    return nlohmann::json{{"log_rows", s.log_rows}, {"mean", s.mean}, {"spread", s.spread}};
  };
  description = {{"sketch", sketch_.json()},
                 {"models", J_},
                 {"by_model", J_ <= kMostModels},
                 {"summary_scale", scale(summary_scale_)},
                 {"sketch_scale", scale(raw_scale_)}};
  if (std::isfinite(near_)) description["near"] = near_;
  summary_.add_to(contents, "scope.summary.");
  raw_.add_to(contents, "scope.sketch.");
  summary_effect_.add_to(contents, "scope.summary.");
  raw_effect_.add_to(contents, "scope.sketch.");
  score_effect_.add_to(contents, "scope.score.");
  spread_effect_.add_to(contents, "scope.spread.");
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape,
                       const std::vector<float>& values) {
    contents.tensors.emplace_back("scope." + name, NdArray::of<float>(std::move(shape), std::span(values)));
  };
  std::vector<float> table;
  for (const Calibration& c : calibration_) {
    table.insert(table.end(),
                 {c.rows, c.score, c.own_score, static_cast<float>(c.best), static_cast<float>(c.model)});
  }
  const auto bands = static_cast<std::int64_t>(band_rows_.size());
  add("calibration", {calibration_size(), 5}, table);
  if (K_ > 0) {
    add("design", {calibration_size(), K_}, calibration_design_);
    add("deviation", {2}, spread_);
  }
  add("band_rows", {bands}, band_rows_);
  add("ranges", {bands, sketch_.size(), 2}, ranges_);
  const std::vector<std::int16_t> model(model_.begin(), model_.end());
  contents.tensors.emplace_back("scope.model",
                                NdArray::of<std::int16_t>({reference_size()}, std::span(model)));
}

namespace {

[[noreturn]] void refuse_scope(const char* what) {
  throw Error(ErrorKind::bad_config, "its scope reference is not usable: {}", what);
}

bool rises(const std::vector<float>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

// The number of rows of a tensor.
std::int64_t length_of(const Safetensors& contents, const std::string& name) {
  const Shape& shape = contents.at(name).shape;
  if (shape.empty() || shape[0] < 1 || shape[0] > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::bad_config, "tensor '{}' has no usable shape", name);
  return shape[0];
}

// A number in a tensor of floats that stands for a model.
std::int32_t model_number(float value, std::int64_t models) {
  if (!(value >= 0 && value < static_cast<float>(models)) || std::trunc(value) != value)
    refuse_scope("a model that the network does not have");
  return static_cast<std::int32_t>(value);
}

}  // namespace

ScopeReference::Scale ScopeReference::Scale::from(const nlohmann::json& json) {
  Scale scale{finite_floats(json.at("log_rows")), finite_floats(json.at("mean")),
              finite_floats(json.at("spread"))};
  const bool sound = !scale.log_rows.empty() && scale.mean.size() == scale.log_rows.size() &&
                     scale.spread.size() == scale.log_rows.size() && rises(scale.log_rows) &&
                     std::all_of(scale.spread.begin(), scale.spread.end(), [](float s) { return s > 0; });
  if (!sound) refuse_scope("the scale of its scores");
  return scale;
}

void ScopeReference::read_calibration(const Safetensors& contents) {
  const std::string name = "scope.calibration";
  const std::vector<float> table = finite_tensor(contents, name, {length_of(contents, name), 5});
  for (std::size_t i = 0; i < table.size(); i += 5) {
    if (!(table[i] >= 1)) refuse_scope("a data set without rows");
    calibration_.push_back({table[i], table[i + 1], table[i + 2], model_number(table[i + 3], J_),
                            model_number(table[i + 4], J_)});
  }
}

void ScopeReference::read_ranges(const Safetensors& contents) {
  const std::int64_t bands = length_of(contents, "scope.band_rows");
  band_rows_ = finite_tensor(contents, "scope.band_rows", {bands});
  ranges_ = finite_tensor(contents, "scope.ranges", {bands, sketch_.size(), 2});
  bool sound = rises(band_rows_);
  for (std::size_t i = 0; i < ranges_.size(); i += 2) sound &= ranges_[i] <= ranges_[i + 1];
  if (!sound) refuse_scope("its ranges are out of order");
}

ScopeReference ScopeReference::from(const Safetensors& contents, const nlohmann::json& description,
                                    const ScopeOwner& owner) {
  ScopeReference s;
  s.J_ = whole_number(description.at("models"));
  if (s.J_ != owner.models) refuse_scope("its number of models is not that of the network");
  const std::int64_t statistics = length_of(contents, "scope.sketch.centre");
  s.sketch_ = Sketch::from_json(description.at("sketch"), owner.columns, owner.ordered, owner.design,
                                static_cast<std::size_t>(statistics));
  s.summary_scale_ = Scale::from(description.at("summary_scale"));
  s.raw_scale_ = Scale::from(description.at("sketch_scale"));
  const std::int64_t points = length_of(contents, "scope.model");
  for (const float model : finite_tensor(contents, "scope.model", {points}))
    s.model_.push_back(model_number(model, s.J_));
  s.read_calibration(contents);
  s.K_ = owner.dimensions;
  if (description.contains("near")) s.near_ = description.at("near").get<double>();
  if (std::isnan(s.near_) || s.near_ < 0) refuse_scope("how near its designs are");
  if (s.K_ > 0) s.calibration_design_ = finite_tensor(contents, "scope.design", {s.calibration_size(), s.K_});
  s.read_ranges(contents);
  s.summary_effect_ = DesignEffect::from(contents, "scope.summary.", owner.summary_width, owner.given);
  s.raw_effect_ = DesignEffect::from(contents, "scope.sketch.", statistics, owner.given);
  s.score_effect_ = DesignEffect::from(contents, "scope.score.", 2, owner.given);
  s.spread_effect_ = DesignEffect::from(contents, "scope.spread.", 2, owner.given);
  if (s.K_ > 0) s.spread_ = finite_tensor(contents, "scope.deviation", {2});
  if (s.K_ > 0 && !(s.spread_[0] > 0 && s.spread_[1] > 0)) refuse_scope("the spread of its scores");
  if (!(s.spread_[0] > 0 && s.spread_[1] > 0)) refuse_scope("the spread of its scores");
  s.summary_ =
      NeighbourSpace::from(contents, "scope.summary.", owner.summary_width, s.model_, s.J_, kSummary);
  s.raw_ = NeighbourSpace::from(contents, "scope.sketch.", statistics, s.model_, s.J_, kSketch);
  s.sort_cells();
  return s;
}

}  // namespace occam
