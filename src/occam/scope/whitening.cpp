#include "occam/scope/whitening.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

// A feature counts as constant when its spread is below this part of its size: rounding, not information.
constexpr double kNoSpread = 1e-5;
// Tolerated difference from a constant, in parts of its size.
constexpr double kSameConstant = 1e-3;
// Features grow linearly up to about so many interquartile ranges, beyond with the square root.
constexpr float kLinear = 5;
// Added to the variance of a component (features have variance one): keeps rounding from being blown up.
constexpr double kFloor = 1e-3;

double quantile(std::vector<float>& values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

std::vector<float> finite_tensor(const Safetensors& contents, const std::string& name, const Shape& shape) {
  const NdArray& array = contents.at(name);
  if (array.shape != shape) {
    throw Error(ErrorKind::bad_config, "tensor '{}' has shape {}, expected {}", name,
                shown(shape_text(array.shape)), shape_text(shape));
  }
  std::vector<float> values = array.as_float();
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad != values.end()) throw Error(ErrorKind::bad_config, "tensor '{}' holds {}", name, *bad);
  return values;
}

void symmetric_eigen(std::vector<double>& a, std::int64_t n, std::vector<double>& values,
                     std::vector<double>& v) {
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
  v.assign(a.size(), 0.0);
  for (std::int64_t i = 0; i < n; ++i) v[at(i, i)] = 1;
  constexpr int kMostSweeps = 30;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0;
    double diagonal = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      diagonal += a[at(i, i)] * a[at(i, i)];
      for (std::int64_t j = i + 1; j < n; ++j) off += a[at(i, j)] * a[at(i, j)];
    }
    if (off <= 1e-20 * diagonal) break;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const double apq = a[at(p, q)];
        if (apq == 0) continue;
        const double theta = (a[at(q, q)] - a[at(p, p)]) / (2 * apq);
        const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        const double s = t * c;
        for (std::int64_t k = 0; k < n; ++k) {
          const double kp = a[at(k, p)], kq = a[at(k, q)];
          a[at(k, p)] = c * kp - s * kq;
          a[at(k, q)] = s * kp + c * kq;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const double pk = a[at(p, k)], qk = a[at(q, k)];
          a[at(p, k)] = c * pk - s * qk;
          a[at(q, k)] = s * pk + c * qk;
          const double vp = v[at(k, p)], vq = v[at(k, q)];
          v[at(k, p)] = c * vp - s * vq;
          v[at(k, q)] = s * vp + c * vq;
        }
      }
    }
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return a[at(i, i)] > a[at(j, j)]; });
  std::vector<double> sorted(v.size());
  values.clear();
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)];
    values.push_back(a[at(from, from)]);
    for (std::int64_t i = 0; i < n; ++i) sorted[at(i, j)] = v[at(i, from)];
  }
  v = std::move(sorted);
}

float Whitening::standardised(std::int64_t feature, float value) const {
  const auto f = static_cast<std::size_t>(feature);
  if (!(scale_[f] > 0)) return 0.0f;
  const float x = (value - centre_[f]) / scale_[f];
  return x / std::sqrt(1 + std::fabs(x) / kLinear);
}

Whitening Whitening::learn(std::span<const float> features, std::int64_t F, std::int64_t components,
                           double power) {
  Whitening w;
  const auto count = static_cast<std::int64_t>(features.size()) / F;
  const auto value = [&](std::int64_t i, std::int64_t f) {
    return features[static_cast<std::size_t>(i * F + f)];
  };
  std::vector<float> column(static_cast<std::size_t>(count));
  for (std::int64_t f = 0; f < F; ++f) {
    for (std::int64_t i = 0; i < count; ++i) column[static_cast<std::size_t>(i)] = value(i, f);
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    const double size = std::max(std::fabs(*low), std::fabs(*high));
    const bool constant = *high - *low <= kNoSpread * size;
    const double range = *high - *low;
    w.centre_.push_back(static_cast<float>(quantile(column, 0.5)));
    // Half the values may be equal (a share of zero): then the whole range says more than the quartiles.
    const double quartiles = (quantile(column, 0.75) - quantile(column, 0.25)) / 1.35;
    w.scale_.push_back(constant ? 0.0f
                                : static_cast<float>(quartiles > 1e-3 * range ? quartiles : range / 10));
  }
  std::vector<double> mean(static_cast<std::size_t>(F), 0.0), sd(static_cast<std::size_t>(F), 0.0);
  std::vector<float> x(features.size());
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t f = 0; f < F; ++f) {
      const float s = w.standardised(f, value(i, f));
      x[static_cast<std::size_t>(i * F + f)] = s;
      mean[static_cast<std::size_t>(f)] += s / static_cast<double>(count);
    }
  }
  std::vector<double> covariance(static_cast<std::size_t>(F * F), 0.0);
  std::vector<double> row(static_cast<std::size_t>(F));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t f = 0; f < F; ++f)
      row[static_cast<std::size_t>(f)] =
          x[static_cast<std::size_t>(i * F + f)] - mean[static_cast<std::size_t>(f)];
    for (std::int64_t f = 0; f < F; ++f) {
      const double r = row[static_cast<std::size_t>(f)];
      if (r == 0) continue;
      double* out = covariance.data() + f * F;
      for (std::int64_t g = 0; g <= f; ++g) out[g] += r * row[static_cast<std::size_t>(g)];
    }
  }
  for (std::int64_t f = 0; f < F; ++f)
    sd[static_cast<std::size_t>(f)] =
        std::sqrt(covariance[static_cast<std::size_t>(f * F + f)] / static_cast<double>(count));
  for (std::int64_t f = 0; f < F; ++f) {
    for (std::int64_t g = 0; g <= f; ++g) {
      const double scale = sd[static_cast<std::size_t>(f)] * sd[static_cast<std::size_t>(g)];
      const double c =
          scale > 0 ? covariance[static_cast<std::size_t>(f * F + g)] / static_cast<double>(count) / scale
                    : 0;
      covariance[static_cast<std::size_t>(f * F + g)] = covariance[static_cast<std::size_t>(g * F + f)] = c;
    }
  }
  std::vector<double> values, vectors;
  symmetric_eigen(covariance, F, values, vectors);
  w.components_ = std::min<std::int64_t>(components, F);
  w.mean_.assign(mean.begin(), mean.end());
  w.rotation_.resize(static_cast<std::size_t>(F * w.components_));
  for (std::int64_t f = 0; f < F; ++f) {
    for (std::int64_t c = 0; c < w.components_; ++c) {
      const double spread =
          std::pow(std::max(values[static_cast<std::size_t>(c)], 0.0) + kFloor, 0.5 * power);
      const double s = sd[static_cast<std::size_t>(f)];
      w.rotation_[static_cast<std::size_t>(f * w.components_ + c)] =
          static_cast<float>(s > 0 ? vectors[static_cast<std::size_t>(f * F + c)] / (s * spread) : 0);
    }
  }
  return w;
}

bool Whitening::apply(std::span<const float> features, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  bool usual = true;
  for (std::int64_t f = 0; f < this->features(); ++f) {
    const auto i = static_cast<std::size_t>(f);
    if (scale_[i] == 0) {
      usual &= std::fabs(features[i] - centre_[i]) <= kSameConstant * std::max(1e-3f, std::fabs(centre_[i]));
      continue;
    }
    const float x = standardised(f, features[i]) - mean_[i];
    const float* row = rotation_.data() + f * components_;
    for (std::int64_t c = 0; c < components_; ++c) out[static_cast<std::size_t>(c)] += x * row[c];
  }
  return usual;
}

void Whitening::add_to(Safetensors& contents, const std::string& prefix) const {
  const std::int64_t F = features();
  const auto add = [&](const char* name, std::vector<std::int64_t> shape, const std::vector<float>& values) {
    contents.tensors.emplace_back(prefix + name, NdArray::of<float>(std::move(shape), std::span(values)));
  };
  add("centre", {F}, centre_);
  add("scale", {F}, scale_);
  add("mean", {F}, mean_);
  add("rotation", {F, components_}, rotation_);
}

Whitening Whitening::from(const Safetensors& contents, const std::string& prefix, std::int64_t F) {
  Whitening w;
  w.centre_ = finite_tensor(contents, prefix + "centre", {F});
  w.scale_ = finite_tensor(contents, prefix + "scale", {F});
  w.mean_ = finite_tensor(contents, prefix + "mean", {F});
  const Shape& rotation = contents.at(prefix + "rotation").shape;
  w.components_ = rotation.size() == 2 ? rotation[1] : 0;
  w.rotation_ = finite_tensor(contents, prefix + "rotation", {F, w.components_});
  if (F < 1 || w.components_ < 1 ||
      std::any_of(w.scale_.begin(), w.scale_.end(), [](float s) { return s < 0; }))
    throw Error(ErrorKind::bad_config, "its scope reference is not usable ('{}')", prefix);
  return w;
}

}  // namespace occam
