// All weights of a network lie in one flat vector, all gradients in another of the same layout: the
// optimiser, saving, averaging, an all-reduce and a copy to a device are one call each. The layout names the
// parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "occam/core/rng.hpp"

namespace occam {

enum class Init {
  glorot,  // uniform within sqrt(6 / (fan in + fan out))
  zeros,
  forget,  // an LSTM bias (4H): ones for the forget gate, else zeros
};

struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t offset;  // into the flat vector
  std::int64_t size;
  Init init;
};

class ParameterLayout {
 public:
  // Appends a tensor and returns its offset. Sizes that overflow are an Error(bad_config).
  std::int64_t add(std::string name, std::vector<std::int64_t> shape, Init init);

  std::int64_t size() const { return size_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* find(const std::string& name) const;

  // Initial weights: a function of the seed and the attempt (restarts) alone.
  template <class T>
  void initialise(std::span<T> weights, std::uint64_t seed, std::uint64_t attempt) const;

 private:
  std::vector<Tensor> tensors_;
  std::int64_t size_ = 0;
};

}  // namespace occam
