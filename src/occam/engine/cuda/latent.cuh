// Latent variables: a thread draws one; on the way back a block takes a bundle of data sets, a thread one of
// them.
#pragma once

#include "occam/engine/cuda/input.cuh"
#include "occam/engine/cuda/latent.hpp"

namespace occam::gpu {

inline constexpr int kLatentThreads = 64;

struct LatentBlock {
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return kLatentThreads; }
  __device__ double sum(double x) const { return block_sum<kLatentThreads>(x); }
};

__global__ void __launch_bounds__(kLatentThreads) latent_kernel(LatentView v, Feed feed) {
  const int threads = static_cast<int>(gridDim.x) * kLatentThreads;
  for (int i = static_cast<int>(blockIdx.x * kLatentThreads + threadIdx.x); i < feed.head->sets * v.latents;
       i += threads) {
    draw_latent(v, feed, i / v.latents, i % v.latents);
  }
}

__global__ void __launch_bounds__(kLatentThreads) latent_back_kernel(LatentView v, Feed feed) {
  for (int i = static_cast<int>(blockIdx.x); i < feed.head->bundles; i += static_cast<int>(gridDim.x)) {
    latent_back(LatentBlock{}, v, feed, feed.bundles[i], feed.bundles[i + 1]);
  }
}

}  // namespace occam::gpu
