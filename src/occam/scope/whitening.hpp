// Features of data sets brought into one space in which distances mean something. Each feature is centred at
// its median, divided by its interquartile range and compressed (asinh, so that heavy tails do not drown the
// rest), then rotated to principal components, each divided by a power of its standard deviation:
//   power 0 keeps the large directions only, power 1 makes noise count as much as signal; 1/2 lies between.
// Features that never vary in simulations are kept apart: a data set that differs there is foreign for
// certain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "occam/io/safetensors.hpp"

namespace occam {

// A tensor of finite numbers, at most the size of floats in the file. Error(bad_config) where it is missing
// or of another shape.
std::vector<float> finite_tensor(const Safetensors& contents, const std::string& name, const Shape& shape);

class Whitening {
 public:
  Whitening() = default;
  // From features (count, F), row-major.
  static Whitening learn(std::span<const float> features, std::int64_t F, std::int64_t components,
                         double power);

  std::int64_t features() const { return static_cast<std::int64_t>(centre_.size()); }
  std::int64_t components() const { return components_; }

  // out (components()) from features (F). Returns false where a feature that never varied differs.
  bool apply(std::span<const float> features, std::span<float> out) const;
  // How far a feature lies from its median, in interquartile ranges, compressed.
  float standardised(std::int64_t feature, float value) const;

  void add_to(Safetensors& contents, const std::string& prefix) const;
  // For `features` features. Error(bad_config) where the tensors do not fit, or hold what is not finite.
  static Whitening from(const Safetensors& contents, const std::string& prefix, std::int64_t features);

 private:
  std::vector<float> centre_, scale_;   // (F); scale 0: never varied
  std::vector<float> mean_, rotation_;  // (F) of the compressed features, (F, components)
  std::int64_t components_ = 0;
};

// Eigenvalues in falling order and eigenvectors (columns of the n x n result) of a symmetric matrix, by
// Jacobi rotations.
void symmetric_eigen(std::vector<double>& matrix, std::int64_t n, std::vector<double>& values,
                     std::vector<double>& vectors);

}  // namespace occam
