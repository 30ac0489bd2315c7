// Data as a network reads them, and weights as its products do.
#pragma once

#include "occam/engine/cuda/elements.hpp"
#include "occam/engine/cuda/mma.cuh"

namespace occam::gpu {

inline constexpr int kInputThreads = 128;

// What two of the numbers of a block make, and that with the next, in an order that does not change; for all
// threads.
template <int kThreads, class Join>
__device__ double block_joined(double x, const Join& join) {
  __shared__ double parts[kThreads];
  __syncthreads();
  parts[threadIdx.x] = x;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  return parts[0];
}
template <int kThreads>
__device__ double block_sum(double x) {
  return block_joined<kThreads>(x, [](double a, double b) { return a + b; });
}
template <int kThreads>
__device__ double block_least(double x) {
  return block_joined<kThreads>(x, [](double a, double b) { return a < b ? a : b; });
}

__device__ inline OwnScale own_scale_of(const ColumnPlan& plan, const float* raw, int channels, int column,
                                        int first, int last) {
  double sum = 0, count = 0, squares = 0, low = INFINITY, high = -INFINITY;
  for (int r = first + threadIdx.x; r < last; r += kInputThreads) {
    const float x = raw[static_cast<std::int64_t>(r) * channels + column];
    if (unread(plan, x)) continue;
    sum += x;
    low = low < x ? low : x;
    high = high > x ? high : x;
    ++count;
  }
  sum = block_sum<kInputThreads>(sum);
  count = block_sum<kInputThreads>(count);
  const double mean = count > 0 ? sum / count : 0;
  for (int r = first + threadIdx.x; r < last; r += kInputThreads) {
    const float x = raw[static_cast<std::int64_t>(r) * channels + column];
    if (!unread(plan, x)) squares += (x - mean) * (x - mean);
  }
  OwnScale own = own_scale(mean, block_sum<kInputThreads>(squares), count);
  if (plan.ends_at < 0) return own;
  own.low = block_least<kInputThreads>(low);
  own.high = -block_least<kInputThreads>(-high);
  return own;
}

// Data sets in turn, by `blocks` blocks.
__device__ inline void enter_sets(const InputPlan& input, const Feed& feed, int blocks) {
  const int sets = feed.head->sets;
  for (int set = blockIdx.x; set < sets; set += blocks) {
    const int first = feed.offsets[set], last = feed.offsets[set + 1];
    for (int r = first + threadIdx.x; r < last; r += kInputThreads) input.set_of_row[r] = set;
    for (int i = threadIdx.x; i < input.statistics_count; i += kInputThreads) {
      statistic(input, set, i) =
          feed.statistics[static_cast<std::int64_t>(set) * input.statistics_count + i];
    }
    for (int c = 0; c < input.channels; ++c) {
      const ColumnPlan& plan = input.columns[c];
      OwnScale own;
      if (plan.local_at >= 0) own = own_scale_of(plan, feed.raw, input.channels, c, first, last);
      for (int r = first + threadIdx.x; r < last; r += kInputThreads) {
        float* const out = input.x + static_cast<std::int64_t>(r) * input.stride;
        enter(plan, c, feed.raw[static_cast<std::int64_t>(r) * input.channels + c], own, out);
        if (plan.stays_at >= 0) out[plan.stays_at] = enter_age(feed.raw, input.channels, c, r, first);
      }
    }
  }
}

// Weights in the order in which the lanes of a warp take them: for 16 columns and 16 rows first all high
// halves (32 lanes, 8 numbers each), then all low ones. `ends`: of the packs, in lanes; `at`: the lane to be
// written.
__device__ inline void pack(const Source* packs, const std::int64_t* ends, int count, const float* weights,
                            std::int64_t at, uint4* panels) {
  if (at >= ends[count - 1]) return;
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (at < ends[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const Source& pack = packs[low];
  const std::int64_t own = low == 0 ? at : at - ends[low - 1];
  const int lane = static_cast<int>(own % 32);
  const int block = static_cast<int>(own / 32);
  const int steps = padded16(pack.inner) / kBlock;
  const int k0 = block % steps * kBlock, n0 = block / steps * kBlock;
  const auto weight = [&](int k, int n) {
    if (k >= pack.inner || n >= pack.columns) return 0.0f;
    const std::int64_t i = pack.transposed ? n : k, j = pack.transposed ? k : n;
    return weights[pack.weight + i * pack.weight_columns + j];
  };
  Pair pairs[4];
  for (int i = 0; i < 4; ++i) {
    const int n = n0 + i / 2 * 8 + lane / 4, k = k0 + i % 2 * 8 + lane % 4 * 2;
    pairs[i] = split(weight(k, n), weight(k + 1, n));
  }
  uint4* to = panels + pack.panels + static_cast<std::int64_t>(block) * 64 + lane;
  to[0] = {pairs[0].high, pairs[1].high, pairs[2].high, pairs[3].high};
  to[32] = {pairs[0].low, pairs[1].low, pairs[2].low, pairs[3].low};
}

// The first kernel of a step: some blocks take data sets, the others weights.
__global__ void __launch_bounds__(kInputThreads)
    begin_kernel(InputPlan input, Feed feed, int blocks_of_sets, const Source* packs,
                 const std::int64_t* ends, int count, const float* weights, uint4* panels) {
  if (static_cast<int>(blockIdx.x) < blocks_of_sets) {
    enter_sets(input, feed, blocks_of_sets);
    return;
  }
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) - blocks_of_sets;
  pack(packs, ends, count, weights, block * kInputThreads + threadIdx.x, panels);
}

}  // namespace occam::gpu
