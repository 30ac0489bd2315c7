#include "occam/scope/design_effect.hpp"

#include <cmath>

#include "occam/scope/whitening.hpp"

namespace occam {
namespace {

constexpr double kRidge = 1e-3;  // of the variance of what is given

// Solves A X = B for a positive definite A (n, n) and B (n, m), in place of B.
void solve(std::vector<double>& A, std::size_t n, std::vector<double>& B, std::size_t m) {
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i * n + k] / A[k * n + k];
      if (factor == 0) continue;
      for (std::size_t j = k; j < n; ++j) A[i * n + j] -= factor * A[k * n + j];
      for (std::size_t j = 0; j < m; ++j) B[i * m + j] -= factor * B[k * m + j];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t i = k + 1; i < n; ++i) B[k * m + j] -= A[k * n + i] * B[i * m + j];
      B[k * m + j] /= A[k * n + k];
    }
  }
}

}  // namespace

DesignEffect DesignEffect::learn(std::span<const float> features, std::int64_t F,
                                 std::span<const float> given, std::int64_t G) {
  DesignEffect effect;
  effect.F_ = F;
  effect.G_ = G;
  const auto f = static_cast<std::size_t>(F);
  const auto g = static_cast<std::size_t>(G);
  const std::size_t count = given.size() / g;
  const auto means = [&](std::span<const float> values, std::size_t width) {
    std::vector<double> mean(width, 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) mean[i % width] += values[i] / static_cast<double>(count);
    return mean;
  };
  const std::vector<double> feature_mean = means(features, f);
  const std::vector<double> mean = means(given, g);
  std::vector<double> A(g * g, 0.0), B(g * f, 0.0), x(g);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t k = 0; k < g; ++k) x[k] = given[row * g + k] - mean[k];
    for (std::size_t k = 0; k < g; ++k) {
      for (std::size_t l = 0; l < g; ++l) A[k * g + l] += x[k] * x[l];
      for (std::size_t j = 0; j < f; ++j) B[k * f + j] += x[k] * (features[row * f + j] - feature_mean[j]);
    }
  }
  for (std::size_t k = 0; k < g; ++k)
    A[k * g + k] += kRidge * A[k * g + k] + 1e-9 * static_cast<double>(count);
  solve(A, g, B, f);
  effect.mean_.assign(mean.begin(), mean.end());
  effect.coefficient_.assign(B.begin(), B.end());
  return effect;
}

void DesignEffect::remove(std::span<float> features, std::span<const float> given) const {
  if (G_ == 0) return;
  const auto f = static_cast<std::size_t>(F_);
  const auto g = static_cast<std::size_t>(G_);
  for (std::size_t row = 0; row < given.size() / g; ++row) {
    for (std::size_t k = 0; k < g; ++k) {
      const float x = given[row * g + k] - mean_[k];
      const float* coefficient = coefficient_.data() + k * f;
      for (std::size_t j = 0; j < f; ++j) features[row * f + j] -= coefficient[j] * x;
    }
  }
}

double DesignEffect::on(std::int64_t feature, std::span<const float> given) const {
  double sum = 0;
  for (std::size_t k = 0; k < mean_.size(); ++k) {
    sum += coefficient_[k * static_cast<std::size_t>(F_) + static_cast<std::size_t>(feature)] *
           static_cast<double>(given[k] - mean_[k]);
  }
  return sum;
}

void DesignEffect::add_to(Safetensors& contents, const std::string& prefix) const {
  if (G_ == 0) return;
  contents.tensors.emplace_back(prefix + "given", NdArray::of<float>({G_}, std::span(mean_)));
  contents.tensors.emplace_back(prefix + "effect", NdArray::of<float>({G_, F_}, std::span(coefficient_)));
}

DesignEffect DesignEffect::from(const Safetensors& contents, const std::string& prefix, std::int64_t F,
                                std::int64_t G) {
  DesignEffect effect;
  if (G == 0) return effect;
  effect.F_ = F;
  effect.G_ = G;
  effect.mean_ = finite_tensor(contents, prefix + "given", {G});
  effect.coefficient_ = finite_tensor(contents, prefix + "effect", {G, F});
  return effect;
}

}  // namespace occam
