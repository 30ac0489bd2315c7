#include "occam/scope/neighbour_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr double kSmallestDistance = 1e-4;
// Score of a data set that differs where all simulations agree.
constexpr double kCertainlyForeign = 1e6;
constexpr float kLargestInteger = 32767;
constexpr float kFarthest = 1e15f;  // points of a sound reference are nearer by far, and squares stay finite

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
  std::array<std::pair<float, std::int32_t>, NeighbourSpace::kNeighbours> slots_;
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

NeighbourSpace::NeighbourSpace(std::span<const float> features, std::int64_t F,
                               std::vector<std::int32_t> model, std::int64_t models, Options options)
    : options_(options),
      whitening_(Whitening::learn(features, F, options.components, options.power)),
      J_(models),
      model_(std::move(model)) {
  const std::int64_t R = size();
  const std::int64_t C = whitening_.components();
  points_.resize(static_cast<std::size_t>(C * R));
  std::vector<float> place(static_cast<std::size_t>(C));
  float largest = 0;
  for (std::int64_t i = 0; i < R; ++i) {
    whitening_.apply(features.subspan(static_cast<std::size_t>(i * F), static_cast<std::size_t>(F)), place);
    for (std::int64_t c = 0; c < C; ++c) {
      points_[static_cast<std::size_t>(c * R + i)] = place[static_cast<std::size_t>(c)];
      largest = std::max(largest, std::fabs(place[static_cast<std::size_t>(c)]));
    }
  }
  unit_ = largest > 0 ? largest / kLargestInteger : 1;
  for (float& x : points_) x = std::round(x / unit_) * unit_;
  density_.assign(static_cast<std::size_t>(R), 0.0f);
  prepare_distances();
}

void NeighbourSpace::prepare_distances() {
  const std::int64_t R = size();
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

// Calls visit(k, place, distances): the squared distances of place k (count, components) from all points of
// the reference, up to a constant.
template <class Visit>
void NeighbourSpace::visit_distances(std::span<const float> places, const Visit& visit) const {
  const std::int64_t C = whitening_.components();
  const auto count = static_cast<std::int64_t>(places.size()) / C;
  thread_local Workspace workspace;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const Workspace::Scope scope(workspace);
    const std::int64_t rows = std::min(kBlock, count - first);
    const Matrix<float> x = workspace.matrix<float>(rows, C);
    const Matrix<float> y = workspace.matrix<float>(rows, size());
    for (std::int64_t k = 0; k < rows; ++k) std::copy_n(places.data() + (first + k) * C, C, x.row(k));
    distance_->forward(packed_.data(), x, y);
    for (std::int64_t k = 0; k < rows; ++k)
      visit(static_cast<std::size_t>(first + k), x.row(k), static_cast<const float*>(y.row(k)));
  }
}

void NeighbourSpace::measure_density(std::int64_t block) {
  const std::int64_t R = size();
  const std::int64_t C = whitening_.components();
  const std::int64_t first = block * kBlock;
  const std::int64_t count = std::min(kBlock, R - first);
  std::vector<float> places(static_cast<std::size_t>(count * C));
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t c = 0; c < C; ++c)
      places[static_cast<std::size_t>(k * C + c)] = points_[static_cast<std::size_t>(c * R + first + k)];
  }
  const std::vector<float> none(static_cast<std::size_t>(R), 0.0f);
  visit_distances(places, [&](std::size_t k, const float* place, const float* distances) {
    const auto self = static_cast<std::int32_t>(first) + static_cast<std::int32_t>(k);
    Nearest nearest;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(R); ++i) {
      if (i != self) nearest.offer(distances[i], i);
    }
    density_[static_cast<std::size_t>(self)] =
        static_cast<float>(score_of(nearest, points_, static_cast<std::size_t>(R), place, none, 0));
  });
}

std::vector<NeighbourSpace::Score> NeighbourSpace::scores(std::span<const float> features,
                                                          bool by_model) const {
  const auto F = static_cast<std::size_t>(this->features());
  const auto C = static_cast<std::size_t>(whitening_.components());
  const auto R = static_cast<std::size_t>(size());
  const std::size_t count = features.size() / F;
  std::vector<float> places(count * C);
  std::vector<bool> usual(count);
  for (std::size_t k = 0; k < count; ++k)
    usual[k] = whitening_.apply(features.subspan(k * F, F), std::span(places).subspan(k * C, C));
  std::vector<Score> result(count);
  visit_distances(places, [&](std::size_t k, const float* place, const float* distances) {
    Nearest nearest;
    std::vector<Nearest> of_model(by_model ? static_cast<std::size_t>(J_) : 0);
    for (std::size_t i = 0; i < R; ++i) {
      nearest.offer(distances[i], static_cast<std::int32_t>(i));
      if (by_model)
        of_model[static_cast<std::size_t>(model_[i])].offer(distances[i], static_cast<std::int32_t>(i));
    }
    const auto score = [&](const Nearest& near) {
      if (near.found().empty() || !usual[k]) return kCertainlyForeign;
      return score_of(near, points_, R, place, density_, options_.adapt);
    };
    result[k].all = score(nearest);
    for (const Nearest& near : of_model) result[k].by_model.push_back(score(near));
  });
  return result;
}

void NeighbourSpace::add_to(Safetensors& contents, const std::string& prefix) const {
  whitening_.add_to(contents, prefix);
  const std::int64_t R = size();
  std::vector<std::int16_t> points;
  for (const float x : points_) points.push_back(static_cast<std::int16_t>(std::lround(x / unit_)));
  contents.tensors.emplace_back(prefix + "points",
                                NdArray::of<std::int16_t>({whitening_.components(), R}, std::span(points)));
  contents.tensors.emplace_back(prefix + "unit", NdArray::of<float>({1}, std::span(&unit_, 1)));
  contents.tensors.emplace_back(prefix + "density", NdArray::of<float>({R}, std::span(density_)));
}

NeighbourSpace NeighbourSpace::from(const Safetensors& contents, const std::string& prefix,
                                    std::int64_t features, std::vector<std::int32_t> model,
                                    std::int64_t models, Options options) {
  NeighbourSpace space;
  space.options_ = options;
  space.whitening_ = Whitening::from(contents, prefix, features);
  space.J_ = models;
  space.model_ = std::move(model);
  const std::int64_t R = space.size();
  space.points_ = finite_tensor(contents, prefix + "points", {space.whitening_.components(), R});
  space.density_ = finite_tensor(contents, prefix + "density", {R});
  space.unit_ = finite_tensor(contents, prefix + "unit", {1})[0];
  bool sound = space.unit_ > 0;
  for (float& x : space.points_) {
    x *= space.unit_;
    sound &= std::fabs(x) <= kFarthest;
  }
  if (!sound) throw Error(ErrorKind::bad_config, "its scope reference is not usable ('{}')", prefix);
  space.prepare_distances();
  return space;
}

}  // namespace occam
