// Factors of the moments of data sets: a warp for each block of a data set, or a thread where blocks are
// small.
#pragma once

#include "occam/engine/cuda/elements.hpp"

namespace occam::gpu {

inline constexpr int kFactorThreads = 128;
inline constexpr int kSmallFactor = 4;  // columns that one thread takes alone

struct Warp {
  __device__ int rank() const { return static_cast<int>(threadIdx.x) % 32; }
  __device__ int size() const { return 32; }
  __device__ void wait() const { __syncwarp(); }
};

template <bool kBack, class Group>
__device__ void factor_all(const Group& group, const FactorView& v, const Feed& feed, int member,
                           int members) {
  const int blocks = v.pool.moment_blocks;
  const std::int32_t* const offsets = offsets_of(feed, v.pool.level);
  for (int task = member; task < feed.head->sets * blocks; task += members) {
    const int set = task / blocks, n = offsets[set + 1] - offsets[set];
    if constexpr (kBack) {
      factor_of_set_back(group, v, set, task % blocks, n);
    } else {
      factor_of_set(group, v, set, task % blocks, n);
    }
  }
}

template <bool kBack>
__global__ void __launch_bounds__(kFactorThreads) factor_kernel(FactorView v, Feed feed) {
  const int thread = static_cast<int>(blockIdx.x * kFactorThreads + threadIdx.x);
  const int threads = static_cast<int>(gridDim.x) * kFactorThreads;
  if (v.pool.moments <= kSmallFactor) {
    factor_all<kBack>(OneCaller{}, v, feed, thread, threads);
  } else {
    factor_all<kBack>(Warp{}, v, feed, thread / 32, threads / 32);
  }
}

}  // namespace occam::gpu
