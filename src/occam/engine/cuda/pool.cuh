// Pooling over the rows of each data set. A block takes 32 columns of one data set: its warps share the rows,
// and their results are joined in the order of the warps.
#pragma once

#include "occam/engine/cuda/elements.hpp"

namespace occam::gpu {

inline constexpr int kPoolWarps = 16;
inline constexpr int kPoolThreads = 32 * kPoolWarps;

// Blocks across: one for every 32 columns, and those of the moments.
inline int pool_blocks(const PoolView& view) {
  const int pairs = view.pairs() * view.moment_blocks;
  return (view.width + 31) / 32 + (pairs + kPoolThreads - 1) / kPoolThreads;
}

// What a warp has seen of a column: a sum, or a largest score with weights relative to it, or a largest
// value.
struct Seen {
  float top, sum, weighted;
  int largest;
};

__device__ inline Seen seen_of(const PoolView& v, int column, int first, int last, int start, int step) {
  Seen seen = {-INFINITY, 0, 0, 0x7fffffff};
  for (int r = first + start; r < last; r += step) {
    const std::int64_t at = static_cast<std::int64_t>(r) * v.stride + column;
    const float e = v.e[at];
    if (v.pooling == Pooling::attention) {
      const float score = v.score[at];
      if (score > seen.top) {
        const float fade = quick_exp(seen.top - score);
        seen.sum *= fade;
        seen.weighted *= fade;
        seen.top = score;
      }
      const float weight = quick_exp(score - seen.top);
      seen.sum += weight;
      seen.weighted += weight * e;
      // Not a number would slip through comparisons.
      if (isnan(score)) seen.sum = score;
    } else if (v.pooling == Pooling::max) {
      if (e > seen.top || seen.largest == 0x7fffffff) {
        seen.top = e;
        seen.largest = r - first;
      }
    } else {
      seen.sum += e;
    }
  }
  return seen;
}

__device__ inline Seen join(const PoolView& v, Seen a, Seen b) {
  if (v.pooling == Pooling::attention) {
    const float top = fmaxf(a.top, b.top);
    const float of_a = a.top == -INFINITY ? 0.0f : quick_exp(a.top - top);
    const float of_b = b.top == -INFINITY ? 0.0f : quick_exp(b.top - top);
    return {top, a.sum * of_a + b.sum * of_b, a.weighted * of_a + b.weighted * of_b, 0};
  }
  if (v.pooling == Pooling::max) {
    if (b.largest == 0x7fffffff) return a;
    if (a.largest == 0x7fffffff) return b;
    // The first of equals.
    return b.top > a.top || (b.top == a.top && b.largest < a.largest) ? b : a;
  }
  return {0, a.sum + b.sum, 0, 0};
}

__device__ inline void write_pooled(const PoolView& v, Seen seen, int set, int column, int n) {
  float* const out = v.pooled + static_cast<std::int64_t>(set) * v.pooled_stride;
  const std::int64_t of_set = static_cast<std::int64_t>(set) * v.stride + column;
  switch (v.pooling) {
    case Pooling::mean:
      out[column] = seen.sum / static_cast<float>(n);
      break;
    case Pooling::sum:
      out[column] = seen.sum * v.sum_scale;
      break;
    case Pooling::mean_sum:
      out[column] = seen.sum / static_cast<float>(n);
      out[v.width + column] = seen.sum * v.sum_scale;
      break;
    case Pooling::max:
      out[column] = seen.top;
      v.largest[of_set] = seen.largest;
      break;
    case Pooling::attention:
      out[column] = seen.weighted / seen.sum;
      v.top[of_set] = seen.top;
      v.inverse[of_set] = 1 / seen.sum;
      break;
  }
}

// Mean products, each by one thread.
__device__ inline void pool_moments(const PoolView& v, int set, int first, int last, int pair) {
  if (pair >= v.pairs() * v.moment_blocks) return;
  const int block = pair / v.pairs(), of_block = pair % v.pairs();
  int a = 0;
  while ((a + 1) * (a + 2) / 2 <= of_block) ++a;
  const int b = of_block - a * (a + 1) / 2;
  const float* const one = v.factors + block * v.moments + a;
  const float* const other = v.factors + block * v.moments + b;
  // Summed in parts: factors of these means divide by what little is left between them.
  constexpr int kPart = 32;
  double sum = 0;
  for (int begin = first; begin < last; begin += kPart) {
    float part = 0;
#pragma unroll 8
    for (int r = begin; r < min(last, begin + kPart); ++r) {
      const std::int64_t at = static_cast<std::int64_t>(r) * v.moments_stride;
      part += one[at] * other[at];
    }
    sum += part;
  }
  v.pooled[static_cast<std::int64_t>(set) * v.pooled_stride + v.moments_at() + pair] =
      static_cast<float>(sum / (last - first));
}

__global__ void __launch_bounds__(kPoolThreads) pool_kernel(PoolView v, Feed feed) {
  __shared__ Seen seen[kPoolWarps][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int column_blocks = (v.width + 31) / 32;
  for (int set = blockIdx.y; set < feed.head->sets; set += gridDim.y) {
    const std::int32_t* const offsets = offsets_of(feed, v.level);
    const int first = offsets[set], last = offsets[set + 1];
    const int block = static_cast<int>(blockIdx.x);
    if (block >= column_blocks) {
      pool_moments(v, set, first, last,
                   (block - column_blocks) * kPoolThreads + static_cast<int>(threadIdx.x));
      continue;
    }
    const int column = block * 32 + lane;
    __syncthreads();
    if (column < v.width) seen[warp][lane] = seen_of(v, column, first, last, warp, kPoolWarps);
    __syncthreads();
    if (warp == 0 && column < v.width) {
      Seen all = seen[0][lane];
      for (int w = 1; w < kPoolWarps; ++w) all = join(v, all, seen[w][lane]);
      write_pooled(v, all, set, column, last - first);
    }
    if (v.log_n && block == 0 && threadIdx.x == 0) {
      v.pooled[static_cast<std::int64_t>(set) * v.pooled_stride + v.columns()] =
          log_n_input(v, rows_of_set(feed, v.size_level, set));
    }
  }
}

}  // namespace occam::gpu
