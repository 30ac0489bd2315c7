#include "occam/nn/sampling.hpp"

#include <cmath>

namespace occam {

template <class T>
void dropout_mask(double rate, Rng& rng, Matrix<T> mask) {
  const T keep = static_cast<T>(1 / (1 - rate));
  for (std::int64_t r = 0; r < mask.rows; ++r) {
    for (std::int64_t c = 0; c < mask.columns; ++c) mask.row(r)[c] = rng.uniform() < rate ? T{0} : keep;
  }
}

template <class T>
void dropout(double rate, Rng& rng, Matrix<T> x, Matrix<T> mask) {
  dropout_mask(rate, rng, mask);
  dropout_back<T>(mask, x);  // the same product
}

template <class T>
void dropout_back(Matrix<const T> mask, Matrix<T> dx) {
  for (std::int64_t r = 0; r < dx.rows; ++r) {
    for (std::int64_t c = 0; c < dx.columns; ++c) dx.row(r)[c] *= mask.row(r)[c];
  }
}

template <class T>
void gaussian_sample(Matrix<const T> mu, Matrix<const T> log_var, Matrix<const T> eps, Matrix<T> z) {
  for (std::int64_t r = 0; r < mu.rows; ++r) {
    for (std::int64_t c = 0; c < mu.columns; ++c) {
      z.row(r)[c] = mu.row(r)[c] + std::exp(log_var.row(r)[c] / 2) * eps.row(r)[c];
    }
  }
}

template <class T>
void gaussian_sample_back(Matrix<const T> log_var, Matrix<const T> eps, Matrix<const T> dz, Matrix<T> d_mu,
                          Matrix<T> d_log_var) {
  for (std::int64_t r = 0; r < dz.rows; ++r) {
    for (std::int64_t c = 0; c < dz.columns; ++c) {
      d_mu.row(r)[c] = dz.row(r)[c];
      d_log_var.row(r)[c] = dz.row(r)[c] * eps.row(r)[c] * std::exp(log_var.row(r)[c] / 2) / 2;
    }
  }
}

#define OCCAM_INSTANTIATE(T)                                                                   \
  template void dropout_mask(double, Rng&, Matrix<T>);                                         \
  template void dropout(double, Rng&, Matrix<T>, Matrix<T>);                                   \
  template void dropout_back(Matrix<const T>, Matrix<T>);                                      \
  template void gaussian_sample(Matrix<const T>, Matrix<const T>, Matrix<const T>, Matrix<T>); \
  template void gaussian_sample_back(Matrix<const T>, Matrix<const T>, Matrix<const T>, Matrix<T>, Matrix<T>);
OCCAM_INSTANTIATE(float)
OCCAM_INSTANTIATE(double)
#undef OCCAM_INSTANTIATE

}  // namespace occam
