// x' d over many rows: gradients of weight matrices, and the products of Muon. A block makes a square of
// results, 64 or 128 on a side, each of its warps 32 rows of one half of it. Rows of x and d come through
// shared memory 32 at a time, the next ones under way while the present are multiplied.
#pragma once

#include "occam/engine/cuda/elements.hpp"
#include "occam/engine/cuda/mma.cuh"

namespace occam::gpu {

inline constexpr int kDepth = 32;  // rows at a time

// Warps make 32 rows of one half of a square each.
constexpr int square_threads(int side) {
  return side / 32 * 2 * 32;
}

// A matrix on the device, its rows padded to `stride`.
struct Operand {
  const float* data;
  int stride;
};

template <int kSide>
struct SquareMemory {
  struct Rows {
    __nv_bfloat16 high[kDepth][kSide + 8], low[kDepth][kSide + 8];
  };
  Rows x, d;
};

// What a thread carries of 32 rows: four neighbouring columns of every eighth of them.
template <int kSide>
struct Carried {
  float4 v[4];

  __device__ static int column() { return static_cast<int>(threadIdx.x) % (kSide / 4) * 4; }
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / (kSide / 4) + i * 8; }

  __device__ void fetch(Operand from, int column0, int row0, int last) {
    const int c = column0 + column();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row0 + row(i);
      v[i] = {0, 0, 0, 0};
      if (r < last && c < from.stride) {
        v[i] = *reinterpret_cast<const float4*>(from.data + static_cast<std::int64_t>(r) * from.stride + c);
      }
    }
  }
  __device__ void put(typename SquareMemory<kSide>::Rows& to) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Pair a = split(v[i].x, v[i].y), b = split(v[i].z, v[i].w);
      *reinterpret_cast<uint2*>(&to.high[row(i)][column()]) = {a.high, b.high};
      *reinterpret_cast<uint2*>(&to.low[row(i)][column()]) = {a.low, b.low};
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

// Results of a warp, as blocks of 16 by 8.
template <int kSide>
struct Results {
  float v[2][kSide / 16][4] = {};

  // Where the warp's own part begins.
  __device__ static int k0() { return static_cast<int>(threadIdx.x) / 32 / 2 * 32; }
  __device__ static int n0() { return static_cast<int>(threadIdx.x) / 32 % 2 * (kSide / 2); }

  __device__ void add_rows(const SquareMemory<kSide>& memory) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r0 = 0; r0 < kDepth; r0 += kBlock) {
      std::uint32_t a_high[2][4], a_low[2][4];
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int row = r0 + lane / 16 * 8 + lane % 8, column = k0() + k * 16 + lane / 8 % 2 * 8;
        load_blocks_transposed(&memory.x.high[row][column], a_high[k]);
        load_blocks_transposed(&memory.x.low[row][column], a_low[k]);
      }
#pragma unroll
      for (int n = 0; n < kSide / 32; ++n) {
        const int row = r0 + lane % 16, column = n0() + n * 16 + lane / 16 * 8;
        std::uint32_t b_high[4], b_low[4];
        load_blocks_transposed(&memory.d.high[row][column], b_high);
        load_blocks_transposed(&memory.d.low[row][column], b_low);
#pragma unroll
        for (int k = 0; k < 2; ++k) {
          float(&left)[4] = v[k][2 * n];
          float(&right)[4] = v[k][2 * n + 1];
          multiply(left, a_high[k], b_high[0], b_high[1]);
          multiply(right, a_high[k], b_high[2], b_high[3]);
          multiply(left, a_low[k], b_high[0], b_high[1]);
          multiply(right, a_low[k], b_high[2], b_high[3]);
          multiply(left, a_high[k], b_low[0], b_low[1]);
          multiply(right, a_high[k], b_low[2], b_low[3]);
        }
      }
    }
  }

  // Calls write(k, n, a, b) for every two neighbours; k, n within the square.
  template <class Write>
  __device__ void each(const Write& write) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int n = 0; n < kSide / 16; ++n) {
        const int row = k0() + k * 16 + lane / 4, column = n0() + n * 8 + lane % 4 * 2;
        write(row, column, v[k][n][0], v[k][n][1]);
        write(row + 8, column, v[k][n][2], v[k][n][3]);
      }
    }
  }
};

// Results k, n: the sum over rows first .. last - 1 of x[r][k0 + k] d[r][n0 + n]. `sums` gets those of the d
// that the thread carried.
template <int kSide>
__device__ void transposed_product(Operand x, Operand d, int k0, int n0, int first, int last,
                                   SquareMemory<kSide> (&memory)[2], Results<kSide>& results, float4& sums) {
  // Warps whose part lies outside only carry.
  const bool within = k0 + Results<kSide>::k0() < x.stride && n0 + Results<kSide>::n0() < d.stride;
  Carried<kSide> of_x, of_d;
  const auto fetch = [&](int row) {
    of_x.fetch(x, k0, row, last);
    of_d.fetch(d, n0, row, last);
  };
  const auto put = [&](SquareMemory<kSide>& to) {
    of_x.put(to.x);
    of_d.put(to.d);
    of_d.add_to(sums);
  };
  fetch(first);
  put(memory[0]);
  __syncthreads();
  int now = 0;
  for (int row = first; row < last; row += kDepth, now = 1 - now) {
    const bool more = row + kDepth < last;
    if (more) fetch(row + kDepth);
    if (within) results.add_rows(memory[now]);
    if (more) put(memory[1 - now]);
    __syncthreads();
  }
}

}  // namespace occam::gpu
