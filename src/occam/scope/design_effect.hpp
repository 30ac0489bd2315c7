// What the design alone does to the statistics of a data set, as a linear regression over simulated data
// sets; taken away, a design that is rare in the reference makes nothing look foreign.
//   feature - sum_g coefficient_g (given_g - mean_g),  with a small ridge, since shares of levels sum to one
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "occam/io/safetensors.hpp"

namespace occam {

class DesignEffect {
 public:
  // No effect.
  DesignEffect() = default;
  // From features (count, F) and what is given (count, G), row-major.
  static DesignEffect learn(std::span<const float> features, std::int64_t F, std::span<const float> given,
                            std::int64_t G);

  // Takes the effect away from features (count, F), in place.
  void remove(std::span<float> features, std::span<const float> given) const;
  // The effect on one feature of one data set.
  double on(std::int64_t feature, std::span<const float> given) const;

  void add_to(Safetensors& contents, const std::string& prefix) const;
  // Error(bad_config) where the tensors do not fit, or hold what is not finite.
  static DesignEffect from(const Safetensors& contents, const std::string& prefix, std::int64_t F,
                           std::int64_t G);

 private:
  std::int64_t F_ = 0, G_ = 0;
  std::vector<float> mean_;         // (G)
  std::vector<float> coefficient_;  // (G, F)
};

}  // namespace occam
