#include "occam/nn/loss.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

namespace occam {
namespace {

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// d log alpha / d f.
double log_slope(Link link, double f) {
  switch (link) {
    case Link::exp:
      return sigmoid(f);
    case Link::softplus:
      return sigmoid(f) / (1 + softplus(f));
    case Link::relu:
      return f > 0 ? 1 / (1 + f) : 0;
  }
  return 0;
}

// Concentrations beyond this change neither the KL nor its gradient in f by what double can hold.
constexpr double kLargestLogAlpha = 27;

struct Concentration {
  double alpha;    // bounded by exp(kLargestLogAlpha)
  double d_alpha;  // d alpha / d f there
};

Concentration bounded_concentration(Link link, double f, double log_alpha) {
  const double alpha = std::exp(std::min(log_alpha, kLargestLogAlpha));
  return {alpha, alpha * log_slope(link, f)};
}

// Below this exp(f) is a plain number and the default loss needs one exponential per model, which counts when
// there are hundreds of models.
constexpr double kLargestPlainOutput = 600;

// evidential_loss for the exp link and lambda = 0.
double plain_log_loss(std::span<const double> f, std::int64_t truth, std::span<double> d_f) {
  double total = 0;
  for (std::size_t j = 0; j < f.size(); ++j) {
    d_f[j] = 1 + std::exp(f[j]);  // alpha
    total += d_f[j];
  }
  const double alpha_true = d_f[truth];
  for (double& d : d_f) d = (d - 1) / total;  // p_j times d log alpha_j / d f_j = 1 - 1 / alpha_j
  d_f[truth] -= 1 - 1 / alpha_true;
  return std::log(total / alpha_true);
}

}  // namespace

void log_concentrations(Link link, std::span<const double> f, std::span<double> log_alpha) {
  for (std::size_t j = 0; j < f.size(); ++j) {
    switch (link) {
      case Link::exp:
        log_alpha[j] = softplus(f[j]);
        break;
      case Link::softplus:
        log_alpha[j] = std::log1p(softplus(f[j]));
        break;
      case Link::relu:
        log_alpha[j] = std::log1p(std::max(f[j], 0.0));
        break;
    }
  }
}

double log_softmax(std::span<const double> log_alpha, std::span<double> log_p) {
  const double top = *std::max_element(log_alpha.begin(), log_alpha.end());
  double sum = 0;
  for (const double value : log_alpha) sum += std::exp(value - top);
  const double log_sum = top + std::log(sum);
  for (std::size_t j = 0; j < log_p.size(); ++j) log_p[j] = log_alpha[j] - log_sum;
  return log_sum;
}

double softmax_loss(std::span<const double> f, std::int64_t truth, std::span<double> d_f) {
  log_softmax(f, d_f);
  const double loss = -d_f[truth];
  for (double& value : d_f) value = std::exp(value);
  d_f[truth] -= 1;
  return loss;
}

EvidentialTerms evidential_loss(Link link, double lambda, std::span<const double> f, std::int64_t truth,
                                std::span<double> d_f, std::span<double> scratch) {
  const std::size_t J = f.size();
  if (link == Link::exp && lambda == 0 && *std::max_element(f.begin(), f.end()) < kLargestPlainOutput) {
    return {plain_log_loss(f, truth, d_f), 0};
  }
  const auto log_alpha = scratch.subspan(0, J);
  const auto log_p = scratch.subspan(J, J);
  log_concentrations(link, f, log_alpha);
  log_softmax(log_alpha, log_p);
  EvidentialTerms terms{-log_p[truth], 0};
  for (std::size_t j = 0; j < J; ++j) {
    const double residual = std::exp(log_p[j]) - (static_cast<std::int64_t>(j) == truth ? 1 : 0);
    d_f[j] = residual * log_slope(link, f[j]);
  }
  if (lambda == 0) return terms;

  using boost::math::digamma;
  using boost::math::trigamma;
  const auto alpha = scratch.subspan(2 * J, J);
  double total = 0;
  for (std::size_t j = 0; j < J; ++j) {
    alpha[j] =
        static_cast<std::int64_t>(j) == truth ? 1 : bounded_concentration(link, f[j], log_alpha[j]).alpha;
    total += alpha[j];
  }
  const double psi_total = digamma(total);
  terms.kl = std::lgamma(total) - std::lgamma(static_cast<double>(J));
  for (const double a : alpha) {
    if (a != 1) terms.kl += (a - 1) * (digamma(a) - psi_total) - std::lgamma(a);
  }
  const double shared = trigamma(total) * (total - static_cast<double>(J));
  for (std::size_t j = 0; j < J; ++j) {
    if (static_cast<std::int64_t>(j) == truth) continue;
    const double d_kl = (alpha[j] - 1) * trigamma(alpha[j]) - shared;
    d_f[j] += lambda * d_kl * bounded_concentration(link, f[j], log_alpha[j]).d_alpha;
  }
  return terms;
}

double gaussian_kl(std::span<const double> mu, std::span<const double> log_var, std::span<double> d_mu,
                   std::span<double> d_log_var) {
  double kl = 0;
  for (std::size_t i = 0; i < mu.size(); ++i) {
    const double variance = std::exp(log_var[i]);
    kl += 0.5 * (variance + mu[i] * mu[i] - 1 - log_var[i]);
    d_mu[i] = mu[i];
    d_log_var[i] = 0.5 * (variance - 1);
  }
  return kl;
}

namespace {

// sum_s exp(-q / (2 s)) and its derivative with respect to q.
std::pair<double, double> kernel(double q, std::span<const double> scales) {
  double value = 0;
  double slope = 0;
  for (const double s : scales) {
    const double e = std::exp(-q / (2 * s));
    value += e;
    slope -= e / (2 * s);
  }
  return {value, slope};
}

double squared_distance(const double* a, const double* b, std::int64_t dim) {
  double q = 0;
  for (std::int64_t i = 0; i < dim; ++i) q += (a[i] - b[i]) * (a[i] - b[i]);
  return q;
}

// weight * sum over pairs (a, b) of k; adds the gradient with respect to rows of a (and b, when they are the
// same rows) to d_a.
double mean_kernel(std::span<const double> a, std::span<const double> b, std::int64_t dim,
                   std::span<const double> scales, double weight, double* d_a) {
  const auto rows_a = static_cast<std::int64_t>(a.size()) / dim;
  const auto rows_b = static_cast<std::int64_t>(b.size()) / dim;
  const double each = weight / (static_cast<double>(rows_a) * static_cast<double>(rows_b));
  const double twice = a.data() == b.data() ? 2 : 1;  // z appears on both sides
  double sum = 0;
  for (std::int64_t i = 0; i < rows_a; ++i) {
    for (std::int64_t j = 0; j < rows_b; ++j) {
      const double* x = a.data() + i * dim;
      const double* y = b.data() + j * dim;
      const auto [value, slope] = kernel(squared_distance(x, y, dim), scales);
      sum += value;
      if (d_a == nullptr) continue;
      for (std::int64_t c = 0; c < dim; ++c) d_a[i * dim + c] += each * twice * slope * 2 * (x[c] - y[c]);
    }
  }
  return each * sum;
}

}  // namespace

double mmd(std::span<const double> z, std::span<const double> g, std::int64_t dim,
           std::span<const double> scales, std::span<double> d_z) {
  std::fill(d_z.begin(), d_z.end(), 0.0);
  return mean_kernel(z, z, dim, scales, 1, d_z.data()) + mean_kernel(g, g, dim, scales, 1, nullptr) +
         mean_kernel(z, g, dim, scales, -2, d_z.data());
}

double mmd_from_normal(std::span<const double> z, std::int64_t dim, std::span<const double> scales,
                       std::span<double> d_z) {
  std::fill(d_z.begin(), d_z.end(), 0.0);
  const auto rows = static_cast<std::int64_t>(z.size()) / dim;
  const double half = 0.5 * static_cast<double>(dim);
  const double per_pair = 2 / (static_cast<double>(rows) * static_cast<double>(rows - 1));
  const double per_row = -2 / static_cast<double>(rows);
  double result = 0;
  for (const double s : scales) result += std::pow(s / (s + 2), half);
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* x = z.data() + i * dim;
    double* d_x = d_z.data() + i * dim;
    double square = 0;
    for (std::int64_t c = 0; c < dim; ++c) square += x[c] * x[c];
    for (const double s : scales) {
      const double term = per_row * std::pow(s / (s + 1), half) * std::exp(-square / (2 * (s + 1)));
      result += term;
      for (std::int64_t c = 0; c < dim; ++c) d_x[c] -= term * x[c] / (s + 1);
    }
    for (std::int64_t j = 0; j < i; ++j) {
      const double* y = z.data() + j * dim;
      const auto [value, slope] = kernel(squared_distance(x, y, dim), scales);
      result += per_pair * value;
      for (std::int64_t c = 0; c < dim; ++c) {
        const double d = per_pair * slope * 2 * (x[c] - y[c]);
        d_x[c] += d;
        d_z[static_cast<std::size_t>(j * dim + c)] -= d;
      }
    }
  }
  return result;
}

void keep_moving(std::span<const double> f, std::span<double> d) {
  constexpr double kLeastMoved = -1;
  constexpr double kMostFactor = 1e4;
  for (std::size_t j = 0; j < f.size(); ++j) {
    if (f[j] < kLeastMoved) d[j] *= std::min(std::exp(kLeastMoved - f[j]), kMostFactor);
  }
}

}  // namespace occam
