// Integrals over one to three parameters by the trapezoidal rule around the mode, and regressions from their sums.
#pragma once

#include <array>
#include <unordered_set>

#include "../../studies/exact-zoo/exact.h"

#ifndef FINE
#define FINE 1  // CXXFLAGS=-DFINE=2: twice as many nodes of integrals, to see that it makes no difference
#endif

inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
inline double log1pexp(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }

// Densities of transformed parameters: x is the logit of a beta(a, b), and the log of a gamma(shape, scale).
inline double log_beta_logit(double x, double a, double b) {
  return -a * log1pexp(-x) - b * log1pexp(x) - log_beta(a, b);
}
inline double log_gamma_log(double x, double shape, double scale) {
  return shape * (x - std::log(scale)) - std::exp(x) / scale - std::lgamma(shape);
}

// log of the integral of exp(log_f) over the whole space: a lattice in the axes of the posterior at its mode, filled from
// there as far as anything is left. log_f has to be smooth and to fall off in all directions.
template <std::size_t D, class F>
double log_integral_around(std::array<double, D> at, F log_f, double step = 0.5) {
  using Point = std::array<double, D>;
  std::vector<double> l(D * D);
  double best = log_f(at);
  for (int round = 0; round < 60; ++round) {
    constexpr double h = 1e-3;
    std::vector<double> gradient(D), minus(D * D);
    Point up[D], down[D];
    double f_up[D], f_down[D];
    for (std::size_t i = 0; i < D; ++i) {
      up[i] = down[i] = at;
      up[i][i] += h;
      down[i][i] -= h;
      f_up[i] = log_f(up[i]);
      f_down[i] = log_f(down[i]);
      gradient[i] = (f_up[i] - f_down[i]) / (2 * h);
      minus[i * D + i] = -(f_up[i] + f_down[i] - 2 * best) / (h * h);
    }
    for (std::size_t i = 0; i < D; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        Point a = up[i], b = down[i];
        a[j] += h;
        b[j] -= h;
        minus[i * D + j] = minus[j * D + i] =
            -(log_f(a) + log_f(b) - f_up[i] - f_down[i] - f_up[j] - f_down[j] + 2 * best) / (2 * h * h);
      }
    }
    // Positive definite, if need be with something added.
    double ridge = 0;
    for (int attempt = 0; attempt < 40; ++attempt) {
      l = minus;
      for (std::size_t i = 0; i < D; ++i) l[i * D + i] += ridge;
      const double log_det = cholesky(l, D);
      bool fine = std::isfinite(log_det);
      for (std::size_t i = 0; i < D; ++i) fine = fine && l[i * D + i] > 0.2;
      if (fine) break;
      ridge = ridge == 0 ? 0.1 : 2 * ridge;
    }
    std::vector<double> move = gradient;
    solve_lower(l, move);
    solve_upper(l, move);
    double longest = 0;
    for (const double one : move) longest = std::max(longest, std::abs(one));
    double factor = longest > 2 ? 2 / longest : 1, gain = -1;
    Point next = at;
    for (int attempt = 0; attempt < 20 && !(gain >= 0); ++attempt, factor /= 2) {
      for (std::size_t i = 0; i < D; ++i) next[i] = at[i] + factor * move[i];
      gain = log_f(next) - best;
      if (!std::isfinite(gain)) gain = -1;
    }
    if (!(gain > 0)) break;
    at = next;
    best += gain;
    if (gain < 1e-3) break;
  }
  // Steps along the columns of the inverse of L', so that steps of one are standard deviations.
  step /= FINE;
  std::array<Point, D> axis;
  double volume = 0;
  for (std::size_t i = 0; i < D; ++i) {
    std::vector<double> unit(D, 0.0);
    unit[i] = step;
    solve_upper(l, unit);
    for (std::size_t j = 0; j < D; ++j) axis[i][j] = unit[j];
    volume += std::log(step) - std::log(l[i * D + i]);
  }
  constexpr double kLeast = D == 3 ? 15 : 20;
  constexpr int kMiddle = 1 << 9;
  std::vector<std::array<int, D>> open(1);
  std::unordered_set<int> seen;
  seen.reserve(4096);
  seen.insert(0);
  LogSum sum;
  while (!open.empty()) {
    const std::array<int, D> here = open.back();
    open.pop_back();
    Point x = at;
    for (std::size_t i = 0; i < D; ++i) {
      for (std::size_t j = 0; j < D; ++j) x[j] += here[i] * axis[i][j];
    }
    const double f = log_f(x);
    if (!std::isfinite(f)) continue;
    sum.add(f);
    if (f < best - kLeast) continue;
    for (std::size_t i = 0; i < D; ++i) {
      for (const int way : {-1, 1}) {
        std::array<int, D> next = here;
        next[i] += way;
        if (std::abs(next[i]) >= kMiddle) continue;
        int code = 0;
        for (std::size_t j = 0; j < D; ++j) code = code * 2 * kMiddle + next[j];
        if (seen.insert(code).second) open.push_back(next);
      }
    }
  }
  return sum.value() + volume;
}

// Sums of a linear regression with K coefficients ~ normal(mean, sd) and known sigma; the predictors that are in it.
template <std::size_t K>
class Sums {
 public:
  void add(const std::array<double, K>& x, double y) {
    for (std::size_t i = 0; i < K; ++i) {
      xy_[i] += x[i] * y;
      for (std::size_t j = 0; j <= i; ++j) xx_[i][j] += x[i] * x[j];
    }
    yy_ += y * y;
    ++n_;
  }

  // log evidence for sigma and these priors; coefficients with an sd of 0 are not in it. Means are 0.
  double evidence(double sigma, const std::array<double, K>& sd) const {
    std::vector<std::size_t> in;
    for (std::size_t i = 0; i < K; ++i) {
      if (sd[i] > 0) in.push_back(i);
    }
    const std::size_t k = in.size();
    std::vector<double> a(k * k, 0.0), b(k);
    for (std::size_t i = 0; i < k; ++i) {
      b[i] = xy_[in[i]] * sd[in[i]] / sigma;
      for (std::size_t j = 0; j <= i; ++j) a[i * k + j] = xx_[in[i]][in[j]] * sd[in[i]] * sd[in[j]] / (sigma * sigma);
      a[i * k + i] += 1;
    }
    const double log_det = cholesky(a, k);
    solve_lower(a, b);
    double squares = yy_;
    for (const double one : b) squares -= one * one;
    return -0.5 * log_det - 0.5 * squares / (sigma * sigma) - 0.5 * n_ * std::log(2 * kPi * sigma * sigma);
  }

 private:
  double xx_[K][K] = {}, xy_[K] = {}, yy_ = 0, n_ = 0;
};

// Sums of a linear mixed model: coefficients ~ normal(0, sd) in units of the noise, whose variance has an inverse gamma
// prior. Each row has few predictors that are not 0.
class MixedSums {
 public:
  explicit MixedSums(std::size_t coefficients) : k_(coefficients), xx_(k_ * k_), xy_(k_) {}

  struct Term {
    std::size_t coefficient;
    double x;
  };
  void add(const std::vector<Term>& terms, double y) {
    for (const Term& a : terms) {
      xy_[a.coefficient] += a.x * y;
      for (const Term& b : terms) xx_[a.coefficient * k_ + b.coefficient] += a.x * b.x;
    }
    yy_ += y * y;
    ++n_;
  }

  // Coefficients with an sd of 0 are not in it.
  double evidence(const std::vector<double>& sd, double shape, double scale) const {
    std::vector<std::size_t> in;
    for (std::size_t i = 0; i < k_; ++i) {
      if (sd[i] > 0) in.push_back(i);
    }
    const std::size_t k = in.size();
    std::vector<double> a(k * k, 0.0), b(k);
    for (std::size_t i = 0; i < k; ++i) {
      b[i] = xy_[in[i]] * sd[in[i]];
      for (std::size_t j = 0; j <= i; ++j) a[i * k + j] = xx_[in[i] * k_ + in[j]] * sd[in[i]] * sd[in[j]];
      a[i * k + i] += 1;
    }
    const double log_det = cholesky(a, k);
    solve_lower(a, b);
    double squares = yy_;
    for (const double one : b) squares -= one * one;
    return -0.5 * log_det + log_variance_evidence(n_, squares, shape, scale);
  }

 private:
  std::size_t k_;
  std::vector<double> xx_, xy_;
  double yy_ = 0, n_ = 0;
};

inline double log_half_normal(double x, double sd) { return std::log(2.0) + log_normal(x, 0, sd); }
