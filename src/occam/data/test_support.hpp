// What tests of several files here hold results against.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace occam {

// Products of (1, x, y) in the metric of the whole covariance of y, by elimination: slow, and plainly right.
struct WholeCovariance {
  double log_det = 0, products[3][3] = {};
  double n;

  // covariance(i, j) of rows i and j.
  template <class Covariance>
  WholeCovariance(std::span<const double> x, std::span<const double> y, Covariance covariance)
      : n(static_cast<double>(y.size())) {
    const std::size_t count = y.size(), width = count + 3;
    std::vector<double> a(count * width);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) a[i * width + j] = covariance(i, j);
      a[i * width + count] = 1;
      a[i * width + count + 1] = x[i];
      a[i * width + count + 2] = y[i];
    }
    for (std::size_t k = 0; k < count; ++k) {
      const double* const row = a.data() + k * width;
      log_det += std::log(row[k]);
      for (std::size_t p = 0; p < 3; ++p) {
        for (std::size_t q = 0; q < 3; ++q) products[p][q] += row[count + p] * row[count + q] / row[k];
      }
      for (std::size_t i = k + 1; i < count; ++i) {
        const double factor = a[i * width + k] / row[k];
        for (std::size_t j = k; j < width; ++j) a[i * width + j] -= factor * row[j];
      }
    }
  }
  double beyond_mean(int p, int q) const {
    return products[p][q] - products[0][p] * products[0][q] / products[0][0];
  }
  double mean() const { return products[0][2] / products[0][0]; }
  double error() const { return std::sqrt(beyond_mean(2, 2) / n / products[0][0]); }
  // Of y, the variance and a mean fitted, or a line on x; but for a constant.
  double log_likelihood() const { return -0.5 * log_det - 0.5 * n * std::log(beyond_mean(2, 2)); }
  double log_likelihood_of_line() const { return log_likelihood() + gain_of_x(); }
  double gain_of_x() const {
    return -0.5 * n * std::log1p(-std::pow(beyond_mean(1, 2), 2) / (beyond_mean(1, 1) * beyond_mean(2, 2)));
  }
};

}  // namespace occam
