// x' d over many rows: gradients of weight matrices, and the products of Muon. A block makes 64 by 64
// results; rows come through shared memory 32 at a time, the next ones under way while the present are
// multiplied.
#pragma once

#include "occam/engine/cuda/elements.hpp"
#include "occam/engine/cuda/mma.cuh"

namespace occam::gpu {

inline constexpr int kSide = 64;   // of the results of a block
inline constexpr int kDepth = 32;  // rows at a time
inline constexpr int kSideStride = kSide + 8;
inline constexpr int kTransposedThreads = 128;

// A matrix on the device, its rows padded to `stride`.
struct Operand {
  const float* data;
  int stride;
};

struct SideBuffers {
  __nv_bfloat16 high[kDepth][kSideStride], low[kDepth][kSideStride];
};

struct TransposedMemory {
  SideBuffers x, d;
};

// What a thread carries of a chunk: columns 4 (t % 16) .. + 3 of rows t / 16, + 8, + 16, + 24.
struct Carried {
  float4 v[4];

  __device__ void fetch(Operand from, int column0, int row, int last) {
    const int column = column0 + static_cast<int>(threadIdx.x) % 16 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row + static_cast<int>(threadIdx.x) / 16 + i * 8;
      v[i] = r < last && column < from.stride
                 ? *reinterpret_cast<const float4*>(from.data + static_cast<std::int64_t>(r) * from.stride +
                                                    column)
                 : float4{0, 0, 0, 0};
    }
  }
  __device__ void put(SideBuffers& to) const {
    const int column = static_cast<int>(threadIdx.x) % 16 * 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = static_cast<int>(threadIdx.x) / 16 + i * 8;
      const Pair a = split(v[i].x, v[i].y), b = split(v[i].z, v[i].w);
      *reinterpret_cast<uint2*>(&to.high[r][column]) = {a.high, b.high};
      *reinterpret_cast<uint2*>(&to.low[r][column]) = {a.low, b.low};
    }
  }
  __device__ void add_to(float4& sum) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sum.x += v[i].x;
      sum.y += v[i].y;
      sum.z += v[i].z;
      sum.w += v[i].w;
    }
  }
};

// Results of a warp: 32 by 32, as blocks of 16 by 8.
using Results = float[2][4][4];

__device__ inline void multiply_chunk(const TransposedMemory& memory, int k0, int n0, Results& results) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int r0 = 0; r0 < kDepth; r0 += kBlock) {
    std::uint32_t b_high[2][4], b_low[2][4];
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const int row = r0 + lane % 16, column = n0 + n * 16 + lane / 16 * 8;
      load_blocks_transposed(&memory.d.high[row][column], b_high[n]);
      load_blocks_transposed(&memory.d.low[row][column], b_low[n]);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const int row = r0 + lane / 16 * 8 + lane % 8, column = k0 + k * 16 + lane / 8 % 2 * 8;
      std::uint32_t a_high[4], a_low[4];
      load_blocks_transposed(&memory.x.high[row][column], a_high);
      load_blocks_transposed(&memory.x.low[row][column], a_low);
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const int pair = n / 2, half = n % 2 * 2;
        multiply(results[k][n], a_high, b_high[pair][half], b_high[pair][half + 1]);
        multiply(results[k][n], a_low, b_high[pair][half], b_high[pair][half + 1]);
        multiply(results[k][n], a_high, b_low[pair][half], b_low[pair][half + 1]);
      }
    }
  }
}

// Results k, n = sum over rows first .. last - 1 of x[r][k] d[r][n], from k0 and n0 on. Column sums of d by
// the way (of the thread's own rows).
__device__ inline void transposed_product(Operand x, Operand d, int k0, int n0, int first, int last,
                                          TransposedMemory& memory, Results& results, float4& sums) {
  const int warp = threadIdx.x / 32;
  const int own_k = warp % 2 * 32, own_n = warp / 2 * 32;
  Carried of_x, of_d;
  of_x.fetch(x, k0, first, last);
  of_d.fetch(d, n0, first, last);
  for (int row = first; row < last; row += kDepth) {
    __syncthreads();
    of_x.put(memory.x);
    of_d.put(memory.d);
    of_d.add_to(sums);
    __syncthreads();
    if (row + kDepth < last) {
      of_x.fetch(x, k0, row + kDepth, last);
      of_d.fetch(d, n0, row + kDepth, last);
    }
    multiply_chunk(memory, own_k, own_n, results);
  }
}

// Calls write(k, n, a, b) for every two neighbours of a thread's results.
template <class Write>
__device__ void each_result(const Results& results, int k0, int n0, const Write& write) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const int row = k0 + warp % 2 * 32 + k * 16 + lane / 4,
                column = n0 + warp / 2 * 32 + n * 8 + lane % 4 * 2;
      write(row, column, results[k][n][0], results[k][n][1]);
      write(row + 8, column, results[k][n][2], results[k][n][3]);
    }
  }
}

}  // namespace occam::gpu
