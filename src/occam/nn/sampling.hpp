// Random layers for the rival methods: dropout and the Gaussian sampling layer of variational classifiers.
// The random numbers come from a stream the caller names, so a pass can be repeated.
#pragma once

#include "occam/core/rng.hpp"
#include "occam/data/matrix.hpp"

namespace occam {

// Factors: 1 / (1 - rate) with probability 1 - rate, else zero.
template <class T>
void dropout_mask(double rate, Rng& rng, Matrix<T> mask);

// x times a mask, which is kept in `mask`.
template <class T>
void dropout(double rate, Rng& rng, Matrix<T> x, Matrix<T> mask);

// dx *= mask.
template <class T>
void dropout_back(Matrix<const T> mask, Matrix<T> dx);

// z = mu + exp(log_var / 2) eps.
template <class T>
void gaussian_sample(Matrix<const T> mu, Matrix<const T> log_var, Matrix<const T> eps, Matrix<T> z);

// d_mu = dz, d_log_var = dz eps exp(log_var / 2) / 2.
template <class T>
void gaussian_sample_back(Matrix<const T> log_var, Matrix<const T> eps, Matrix<const T> dz, Matrix<T> d_mu,
                          Matrix<T> d_log_var);

}  // namespace occam
