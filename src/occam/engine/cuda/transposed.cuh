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
  // Rows to come, as they are on the device. Every thread looks at what it copied itself, and at nothing
  // else.
  float4 ahead[2][8][square_threads(kSide)];
};

// A thread's part of 32 rows: four neighbouring columns of every eighth of them.
template <int kSide>
struct Carrier {
  __device__ static int column() { return static_cast<int>(threadIdx.x) % (kSide / 4) * 4; }
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / (kSide / 4) + i * 8; }

  __device__ static void fetch(Operand from, int column0, int row0, int last,
                               float4 (*to)[square_threads(kSide)]) {
    const int c = column0 + column();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row0 + row(i);
      float4* const place = &to[i][threadIdx.x];
      if (r < last && c < from.stride) {
        copy_ahead(place, from.data + static_cast<std::int64_t>(r) * from.stride + c);
      } else {
        *place = {0, 0, 0, 0};
      }
    }
  }
  __device__ static float4 put(const float4 (*from)[square_threads(kSide)],
                               typename SquareMemory<kSide>::Rows& to) {
    float4 sum = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 v = from[i][threadIdx.x];
      const Pair a = split(v.x, v.y), b = split(v.z, v.w);
      *reinterpret_cast<uint2*>(&to.high[row(i)][column()]) = {a.high, b.high};
      *reinterpret_cast<uint2*>(&to.low[row(i)][column()]) = {a.low, b.low};
      sum = {sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w};
    }
    return sum;
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
                                   SquareMemory<kSide>& memory, Results<kSide>& results, float4& sums) {
  // Warps whose part lies outside only carry.
  const bool within = k0 + Results<kSide>::k0() < x.stride && n0 + Results<kSide>::n0() < d.stride;
  const auto fetch = [&](int row, int turn) {
    if (row < last) {
      Carrier<kSide>::fetch(x, k0, row, last, memory.ahead[turn]);
      Carrier<kSide>::fetch(d, n0, row, last, memory.ahead[turn] + 4);
    }
    end_group();
  };
  fetch(first, 0);
  fetch(first + kDepth, 1);
  int turn = 0;
  for (int row = first; row < last; row += kDepth, turn = 1 - turn) {
    wait_for_copies<1>();
    Carrier<kSide>::put(memory.ahead[turn], memory.x);
    const float4 sum = Carrier<kSide>::put(memory.ahead[turn] + 4, memory.d);
    sums = {sums.x + sum.x, sums.y + sum.y, sums.z + sum.z, sums.w + sum.w};
    fetch(row + 2 * kDepth, turn);
    __syncthreads();
    if (within) results.add_rows(memory);
    __syncthreads();
  }
  wait_for_copies<0>();
}

}  // namespace occam::gpu
