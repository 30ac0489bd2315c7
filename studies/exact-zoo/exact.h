// What the evidences of the zoo have in common: sums of logarithms, quadrature, and linear regression.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

constexpr double kPi = 3.14159265358979323846;

// log of a sum of exponentials, term by term.
class LogSum {
 public:
  void add(double log_term) {
    if (log_term > largest_) {
      sum_ = sum_ * std::exp(largest_ - log_term) + 1;
      largest_ = log_term;
    } else {
      sum_ += std::exp(log_term - largest_);
    }
  }
  double value() const { return largest_ + std::log(sum_); }

 private:
  double largest_ = -1e300;
  double sum_ = 0;
};

// log of the integral of exp(log_f) from low to high: Gauss-Legendre with 8 points in each of the panels.
template <class F>
double log_integral(double low, double high, int panels, F log_f) {
  constexpr double x[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr double w[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};
  LogSum sum;
  const double half = 0.5 * (high - low) / panels;
  for (int panel = 0; panel < panels; ++panel) {
    const double middle = low + (2 * panel + 1) * half;
    for (int i = 0; i < 4; ++i) {
      sum.add(std::log(w[i] * half) + log_f(middle - half * x[i]));
      sum.add(std::log(w[i] * half) + log_f(middle + half * x[i]));
    }
  }
  return sum.value();
}

inline double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

inline double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

inline double log_normal(double x, double mean, double sd) {
  const double z = (x - mean) / sd;
  return -0.5 * z * z - std::log(sd) - 0.5 * std::log(2 * kPi);
}

// n independent normal values of mean 0 with this sum of squares, variance ~ inverse_gamma(shape, scale).
inline double log_variance_evidence(double n, double squares, double shape, double scale) {
  return std::lgamma(shape + n / 2) - std::lgamma(shape) + shape * std::log(scale) -
         (shape + n / 2) * std::log(scale + squares / 2) - n / 2 * std::log(2 * kPi);
}

// n counts with this sum, rate ~ gamma(shape, scale); without the factorials of the counts.
inline double log_rate_evidence(double n, double sum, double shape, double scale) {
  return std::lgamma(shape + sum) - std::lgamma(shape) - shape * std::log(scale) -
         (shape + sum) * std::log(n + 1 / scale);
}

// Lower triangular L of A = L L', in place, (k, k) row-major; returns log det A.
inline double cholesky(std::vector<double>& a, std::size_t k) {
  double log_det = 0;
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * k + j];
      for (std::size_t m = 0; m < j; ++m) sum -= a[i * k + m] * a[j * k + m];
      a[i * k + j] = i == j ? std::sqrt(sum) : sum / a[j * k + j];
    }
    log_det += 2 * std::log(a[i * k + i]);
  }
  return log_det;
}

// L z = b, in place.
inline void solve_lower(const std::vector<double>& l, std::vector<double>& b) {
  const std::size_t k = b.size();
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < i; ++j) b[i] -= l[i * k + j] * b[j];
    b[i] /= l[i * k + i];
  }
}

// L' z = b, in place.
inline void solve_upper(const std::vector<double>& l, std::vector<double>& b) {
  const std::size_t k = b.size();
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t j = i + 1; j < k; ++j) b[i] -= l[j * k + i] * b[j];
    b[i] /= l[i * k + i];
  }
}

// y = x b + sigma e, e standard normal, b_k ~ normal(mean_k, sd_k).
class Regression {
 public:
  Regression(std::vector<double> mean, std::vector<double> sd) : mean_(std::move(mean)), sd_(std::move(sd)) {}

  void add(const std::vector<double>& x, double y) {
    x_.insert(x_.end(), x.begin(), x.end());
    y_.push_back(y);
  }

  double with_sigma(double sigma) {
    fit(sigma);
    return 0.5 * log_shrinkage_ - 0.5 * squares_ / (sigma * sigma) -
           0.5 * static_cast<double>(y_.size()) * std::log(2 * kPi * sigma * sigma);
  }

  // sigma^2 ~ inverse_gamma(shape, scale), and b_k ~ normal(0, sd_k sigma): coefficients in units of the noise.
  double with_variance_prior(double shape, double scale) {
    fit(1);
    return 0.5 * log_shrinkage_ +
           log_variance_evidence(static_cast<double>(y_.size()), squares_, shape, scale);
  }

 private:
  // Posterior means, then residuals: no difference of large numbers.
  void fit(double sigma) {
    const std::size_t k = mean_.size();
    std::vector<double> precision(k * k, 0.0), b(k, 0.0);
    log_shrinkage_ = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const double prior = sigma * sigma / (sd_[i] * sd_[i]);
      precision[i * k + i] = prior;
      b[i] = mean_[i] * prior;
      log_shrinkage_ += std::log(prior);
    }
    for (std::size_t row = 0; row < y_.size(); ++row) {
      const double* x = x_.data() + row * k;
      for (std::size_t i = 0; i < k; ++i) {
        b[i] += x[i] * y_[row];
        for (std::size_t j = 0; j <= i; ++j) precision[i * k + j] += x[i] * x[j];
      }
    }
    log_shrinkage_ -= cholesky(precision, k);
    solve_lower(precision, b);
    solve_upper(precision, b);
    squares_ = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const double z = (b[i] - mean_[i]) * sigma / sd_[i];
      squares_ += z * z;
    }
    for (std::size_t row = 0; row < y_.size(); ++row) {
      double residual = y_[row];
      for (std::size_t i = 0; i < k; ++i) residual -= x_[row * k + i] * b[i];
      squares_ += residual * residual;
    }
  }

  std::vector<double> mean_, sd_, x_, y_;
  double log_shrinkage_ = 0;  // log of the determinant of the prior precision over that of the posterior
  double squares_ = 0;        // of residuals, and of the way from the prior means
};
