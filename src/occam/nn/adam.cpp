#include "occam/nn/adam.hpp"

#include <algorithm>
#include <cmath>

namespace occam {

template <class T>
Adam<T>::Adam(std::int64_t size, AdamOptions options)
    : options_(options), m_(static_cast<std::size_t>(size)), v_(static_cast<std::size_t>(size)) {}

template <class T>
void Adam<T>::begin(double learning_rate, double squared_norm) {
  ++step_;
  const double t = static_cast<double>(step_);
  const double norm = std::sqrt(squared_norm);
  const bool clip = options_.clip_norm > 0 && norm > options_.clip_norm;
  scale_ = static_cast<T>(clip ? options_.clip_norm / norm : 1.0);
  rate_ = static_cast<T>(learning_rate / (1 - std::pow(options_.beta1, t)));
  root_ = static_cast<T>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
}

template <class T>
void Adam<T>::update_chunk(std::int64_t chunk, const T* gradient, T* weights) {
  const std::int64_t first = chunk * kChunk;
  const std::int64_t last = std::min(first + kChunk, static_cast<std::int64_t>(m_.size()));
  const T b1 = static_cast<T>(options_.beta1);
  const T b2 = static_cast<T>(options_.beta2);
  const T epsilon = static_cast<T>(options_.epsilon);
  T* __restrict m = m_.data();
  T* __restrict v = v_.data();
  T* __restrict w = weights;
  for (std::int64_t i = first; i < last; ++i) {
    const T g = gradient[i] * scale_;
    m[i] = b1 * m[i] + (1 - b1) * g;
    v[i] = b2 * v[i] + (1 - b2) * g * g;
    w[i] -= rate_ * m[i] / (std::sqrt(v[i]) * root_ + epsilon);
  }
}

template <class T>
void average_chunk(std::int64_t chunk, std::int64_t size, double decay, std::int64_t step, const T* weights,
                   T* average) {
  const double t = static_cast<double>(step);
  const T rate = static_cast<T>(1 - std::min(decay, t / (t + 10)));
  const std::int64_t first = chunk * Adam<T>::kChunk;
  const std::int64_t last = std::min(first + Adam<T>::kChunk, size);
  for (std::int64_t i = first; i < last; ++i) average[i] += rate * (weights[i] - average[i]);
}

template class Adam<float>;
template class Adam<double>;
template void average_chunk(std::int64_t, std::int64_t, double, std::int64_t, const float*, float*);
template void average_chunk(std::int64_t, std::int64_t, double, std::int64_t, const double*, double*);

}  // namespace occam
