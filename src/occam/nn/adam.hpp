// Adam (Kingma & Ba 2015) with the gradient clipped to a global norm, and an exponential average of the
// weights. Works on chunks of the flat vectors, so that a caller can spread one update over threads: chunk
// borders are fixed, so the result does not depend on how many.
#pragma once

#include <cstdint>
#include <vector>

namespace occam {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double clip_norm = 5;  // 0: no clipping
};

template <class T>
class Adam {
 public:
  static constexpr std::int64_t kChunk = 4096;

  Adam(std::int64_t size, AdamOptions options);

  std::int64_t chunks() const { return (static_cast<std::int64_t>(m_.size()) + kChunk - 1) / kChunk; }

  // Once per update, before the chunks: the step size and the squared norm of the whole gradient.
  void begin(double learning_rate, double squared_norm);
  void update_chunk(std::int64_t chunk, const T* gradient, T* weights);

  // For checkpoints.
  std::int64_t step() const { return step_; }
  std::vector<T>& first_moment() { return m_; }
  std::vector<T>& second_moment() { return v_; }
  void set_step(std::int64_t step) { step_ = step; }

 private:
  AdamOptions options_;
  std::int64_t step_ = 0;
  T rate_ = 0, scale_ = 1, root_ = 1;  // of the present update
  std::vector<T> m_, v_;
};

// average += (1 - decay) (weights - average) over one chunk, the decay growing from 0 at the first step, so
// that early weights are forgotten quickly.
template <class T>
void average_chunk(std::int64_t chunk, std::int64_t size, double decay, std::int64_t step, const T* weights,
                   T* average);

}  // namespace occam
