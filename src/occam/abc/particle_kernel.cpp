#include "occam/abc/particle_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "occam/abc/mixture.hpp"
#include "occam/abc/weighted.hpp"
#include "occam/core/error.hpp"

namespace occam {

ParticleKernel::ParticleKernel(std::span<const Prior> priors, std::vector<double> theta,
                               std::vector<double> weights, double width)
    : width_(width),
      priors_(priors.begin(), priors.end()),
      theta_(std::move(theta)),
      weights_(std::move(weights)) {
  double sum = 0;
  for (const double w : weights_) sum += w;
  if (!(sum > 0)) throw Error(ErrorKind::internal, "the particles of a model have no weight");
  double total = 0;
  for (double& w : weights_) cumulative_.push_back(total += w /= sum);
  for (std::size_t p = 0; p < priors_.size(); ++p) {
    if (priors_[p].is_fixed()) continue;
    if (!priors_[p].is_discrete()) {
      continuous_.push_back(p);
      continue;
    }
    const auto low = static_cast<std::int64_t>(priors_[p].lower());
    const auto high = static_cast<std::int64_t>(priors_[p].upper());
    discrete_.push_back({p, low, high});
    stay_.push_back(kStayDiscrete);
    move_.push_back((1 - kStayDiscrete) / static_cast<double>(high - low));
  }
  fit();
}

// Of the continuous parameters, with the correction for the mean that weights allow: 1 - sum w^2.
std::vector<double> ParticleKernel::covariance() const {
  const std::size_t d = continuous_.size();
  const std::size_t P = priors_.size();
  std::vector<double> mean(d, 0.0);
  double squares = 0;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    squares += weights_[k] * weights_[k];
    for (std::size_t a = 0; a < d; ++a) mean[a] += weights_[k] * theta_[k * P + continuous_[a]];
  }
  std::vector<double> result(d * d, 0.0);
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    for (std::size_t a = 0; a < d; ++a) {
      const double off = weights_[k] * (theta_[k * P + continuous_[a]] - mean[a]);
      for (std::size_t b = 0; b <= a; ++b)
        result[a * d + b] += off * (theta_[k * P + continuous_[b]] - mean[b]);
    }
  }
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = 0; b <= a; ++b) result[b * d + a] = result[a * d + b] /= 1 - squares;
  }
  return result;
}

// False unless the matrix is positive definite by a margin.
bool ParticleKernel::factorise(std::vector<double> matrix) {
  const std::size_t d = continuous_.size();
  const std::vector<double> original = matrix;
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = matrix[a * d + b];
      for (std::size_t c = 0; c < b; ++c) sum -= matrix[a * d + c] * matrix[b * d + c];
      if (a != b) {
        matrix[a * d + b] = sum / matrix[b * d + b];
      } else {
        if (!(sum > 1e-12 * original[a * d + a]) || !std::isfinite(sum)) return false;
        matrix[a * d + a] = std::sqrt(sum);
      }
    }
    for (std::size_t b = a + 1; b < d; ++b) matrix[a * d + b] = 0;
  }
  cholesky_ = std::move(matrix);
  return true;
}

double ParticleKernel::bandwidth() const {
  const auto d = static_cast<double>(continuous_.size());
  return width_ * std::pow(4.0 / (effective_size(weights_) * (d + 2)), 1.0 / (d + 4));
}

void ParticleKernel::fit() {
  const std::size_t d = continuous_.size();
  if (d > 0) {
    const bool enough = weights_.size() >= d + 2;
    const double bw = bandwidth();
    std::vector<double> matrix = enough ? covariance() : std::vector<double>(d * d, 0.0);
    for (double& value : matrix) value *= bw * bw;
    if (!enough || !factorise(matrix)) {
      for (std::size_t a = 0; a < d; ++a) {
        const double prior = bw * priors_[continuous_[a]].sd();
        for (std::size_t b = 0; b < d; ++b) {
          if (b != a) matrix[a * d + b] = 0;
        }
        if (!(matrix[a * d + a] > 1e-12 * prior * prior)) matrix[a * d + a] = prior * prior;
      }
      if (!factorise(matrix)) throw Error(ErrorKind::internal, "a kernel has no width");
    }
  }
  normaliser_ = std::pow(2 * std::numbers::pi, 0.5 * static_cast<double>(d));
  for (std::size_t a = 0; a < d; ++a) normaliser_ *= cholesky_[a * d + a];
  const std::size_t width = d + discrete_.size();
  where_.resize(weights_.size() * width);
  for (std::size_t k = 0; k < weights_.size(); ++k)
    whiten(theta_.data() + k * priors_.size(), where_.data() + k * width);
}

// out (d + e): L^-1 theta of the continuous parameters, then the discrete ones.
void ParticleKernel::whiten(const double* theta, double* out) const {
  const std::size_t d = continuous_.size();
  for (std::size_t a = 0; a < d; ++a) {
    double sum = theta[continuous_[a]];
    for (std::size_t b = 0; b < a; ++b) sum -= cholesky_[a * d + b] * out[b];
    out[a] = sum / cholesky_[a * d + a];
  }
  for (std::size_t a = 0; a < discrete_.size(); ++a) out[d + a] = theta[discrete_[a].parameter];
}

void ParticleKernel::sample(Rng& rng, std::span<double> theta) const {
  const std::size_t d = continuous_.size();
  const std::size_t P = priors_.size();
  const double target = rng.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), target);
  const auto k = std::min(static_cast<std::size_t>(found - cumulative_.begin()), weights_.size() - 1);
  std::copy_n(theta_.begin() + static_cast<std::ptrdiff_t>(k * P), P, theta.begin());
  for (std::size_t b = 0; b < d; ++b) {
    const double z = rng.normal();
    for (std::size_t a = b; a < d; ++a) theta[continuous_[a]] += cholesky_[a * d + b] * z;
  }
  for (const Discrete& one : discrete_) {
    if (rng.uniform() < kStayDiscrete) continue;
    // One of the others: the last value stands in for the present one.
    const auto other = static_cast<double>(rng.uniform_int(one.low, one.high - 1));
    double& value = theta[one.parameter];
    value = other == value ? static_cast<double>(one.high) : other;
  }
}

void ParticleKernel::densities(std::span<const double> theta, std::span<double> out) const {
  const std::size_t P = priors_.size();
  const std::size_t M = out.size();
  if (!is_free()) {
    std::fill(out.begin(), out.end(), 1.0);
    return;
  }
  const std::size_t width = continuous_.size() + discrete_.size();
  const std::size_t padded = (M + kMixtureLanes - 1) / kMixtureLanes * kMixtureLanes;
  std::vector<double> points(width * padded, 0.0);
  std::vector<double> row(width);
  for (std::size_t i = 0; i < M; ++i) {
    whiten(theta.data() + i * P, row.data());
    for (std::size_t a = 0; a < width; ++a) points[a * padded + i] = row[a];
  }
  std::vector<double> sums(padded);
  mixture_density(
      {K(), static_cast<std::int64_t>(continuous_.size()), static_cast<std::int64_t>(discrete_.size()),
       where_.data(), weights_.data(), stay_.data(), move_.data()},
      points.data(), static_cast<std::int64_t>(padded), sums.data());
  for (std::size_t i = 0; i < M; ++i) out[i] = sums[i] / normaliser_;
}

}  // namespace occam
