// Programs of rows: a block carries a tile of rows through all layers, which stay in shared memory as pairs
// of 16-bit halves. Eight warps share the columns of a product, or rows where columns are few; weights come
// from the cache of the device straight into registers.
#pragma once

#include "occam/engine/cuda/elements.hpp"
#include "occam/engine/cuda/mma.cuh"

namespace occam::gpu {

inline constexpr int kChainThreads = 256;
inline constexpr int kChainWarps = kChainThreads / 32;
inline constexpr int kWarpBlocks = 4;  // of rows, that a warp takes at most
inline constexpr int kMostTileRows = kWarpBlocks * kBlock;
inline constexpr int kAhead = 4;  // blocks of weights under way

struct Chain {
  const Op* ops;
  std::int32_t count, width, most_rows;
  bool of_sets;
};

// Rows of a buffer are apart by this many numbers, so that eight rows lie in different banks.
OCCAM_BOTH constexpr int buffer_stride(int width) {
  return width + 8;
}
OCCAM_BOTH constexpr int row_bytes(int buffers, int width) {
  return buffers * buffer_stride(width) * 4;
}

// All blocks get equally many tiles, as large as that allows.
__device__ inline int tile_rows(int rows, int blocks, int most) {
  const int turns = (rows + blocks * most - 1) / (blocks * most);
  return padded16((rows + blocks * turns - 1) / (blocks * turns));
}

// One matrix of the tile: high halves, then low ones.
struct Buffer {
  __nv_bfloat16* high;
  __nv_bfloat16* low;
};

struct Tile {
  __nv_bfloat16* memory;
  int stride, rows, valid, first;  // valid: rows that exist; first: row of the matrix that row 0 is
  const Place* places;

  __device__ Buffer buffer(int index) const {
    __nv_bfloat16* high = memory + static_cast<std::int64_t>(index) * 2 * rows * stride;
    return {high, high + rows * stride};
  }
};

__device__ inline void put(Buffer buffer, int at, float a, float b) {
  const Pair pair = split(a, b);
  *reinterpret_cast<std::uint32_t*>(buffer.high + at) = pair.high;
  *reinterpret_cast<std::uint32_t*>(buffer.low + at) = pair.low;
}

__device__ inline void load_rows(const Op& op, const Tile& tile) {
  const int columns = padded16(op.columns), quads = columns / 4;
  const Buffer out = tile.buffer(op.out);
#pragma unroll 4
  for (int i = threadIdx.x; i < tile.rows * quads; i += kChainThreads) {
    const int r = i / quads, c = i % quads * 4;
    float4 v = {0, 0, 0, 0};
    if (r < tile.valid) {
      v = *reinterpret_cast<const float4*>(op.from + static_cast<std::int64_t>(tile.first + r) * columns + c);
    }
    put(out, r * tile.stride + c, v.x, v.y);
    put(out, r * tile.stride + c + 2, v.z, v.w);
  }
}

// Adds one source's products to `sums`: 16 columns, and the blocks of rows first, first + step, ...
__device__ inline void add_products(const Source& source, const Tile& tile, const uint4* panels, int group,
                                    int first, int step, float (&sums)[kWarpBlocks][2][4]) {
  const int lane = threadIdx.x % 32;
  const int steps = padded16(source.inner) / kBlock;
  const int stride = tile.stride;
  const int blocks = tile.rows / kBlock;
  const uint4* weights = panels + source.panels + static_cast<std::int64_t>(group) * steps * 64 + lane;
  uint4 high[kAhead], low[kAhead];
#pragma unroll
  for (int j = 0; j < kAhead; ++j) {
    if (j >= steps) break;
    high[j] = __ldg(weights + j * 64);
    low[j] = __ldg(weights + j * 64 + 32);
  }
  const Buffer in = tile.buffer(source.buffer);
  const int own = (lane % 16) * stride + lane / 16 * 8;
  for (int k0 = 0; k0 < steps; k0 += kAhead) {
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int k = k0 + j;
      if (k >= steps) break;
#pragma unroll
      for (int t = 0; t < kWarpBlocks; ++t) {
        const int block = first + t * step;
        if (block >= blocks) break;
        const int at = block * kBlock * stride + k * kBlock + own;
        std::uint32_t a_high[4], a_low[4];
        load_blocks(in.high + at, a_high);
        load_blocks(in.low + at, a_low);
        multiply(sums[t][0], a_high, high[j].x, high[j].y);
        multiply(sums[t][1], a_high, high[j].z, high[j].w);
        multiply(sums[t][0], a_low, high[j].x, high[j].y);
        multiply(sums[t][1], a_low, high[j].z, high[j].w);
        multiply(sums[t][0], a_high, low[j].x, low[j].y);
        multiply(sums[t][1], a_high, low[j].z, low[j].w);
      }
      if (k + kAhead < steps) {
        high[j] = __ldg(weights + (k + kAhead) * 64);
        low[j] = __ldg(weights + (k + kAhead) * 64 + 32);
      }
    }
  }
}

// What is added to two neighbouring results of one row.
template <Add kAdd>
__device__ inline float2 added_pair(const Op& op, Place at, int column) {
  const auto two = [](const float* from) { return *reinterpret_cast<const float2*>(from); };
  if constexpr (kAdd == Add::set_row) {
    return two(op.from + static_cast<std::int64_t>(at.set) * padded16(op.columns) + column);
  }
  if constexpr (kAdd == Add::pool || kAdd == Add::score) {
    const PoolView& v = op.pool;
    if (v.pooling == Pooling::attention) {
      const std::int64_t of_set = static_cast<std::int64_t>(at.set) * v.stride + column;
      const std::int64_t of_pooled = static_cast<std::int64_t>(at.set) * v.pooled_stride + column;
      const std::int64_t of_row = static_cast<std::int64_t>(at.row) * v.stride + column;
      const float2 score = two(v.score + of_row), top = two(v.top + of_set),
                   inverse = two(v.inverse + of_set);
      float2 d = two(v.d_pooled + of_pooled);
      if constexpr (kAdd == Add::score) {
        const float2 e = two(v.e + of_row), pooled = two(v.pooled + of_pooled);
        d = {d.x * (e.x - pooled.x), d.y * (e.y - pooled.y)};
      }
      return {quick_exp(score.x - top.x) * inverse.x * d.x, quick_exp(score.y - top.y) * inverse.y * d.y};
    }
  }
  return {column < op.columns ? added(op, at, column) : 0.0f,
          column + 1 < op.columns ? added(op, at, column + 1) : 0.0f};
}

using Sums = float[kWarpBlocks][2][4];

// From sums to results. All that is read is read before anything is written, so that loads run side by side.
template <Add kAdd, bool kBack>
__device__ inline void complete(const Op& op, const Tile& tile, int group, int first, int step, Sums& sums) {
  const int lane = threadIdx.x % 32;
  const int padded = padded16(op.columns), blocks = tile.rows / kBlock;
  const float* const ys = op.y;
  const Activation activation = op.activation;
#pragma unroll
  for (int t = 0; t < kWarpBlocks; ++t) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int half = i / 2, j = i % 2;
      const int row = (first + t * step) * kBlock + lane / 4 + j * 8;
      const int column = group * kBlock + half * 8 + lane % 4 * 2;
      float& a = sums[t][half][2 * j];
      float& b = sums[t][half][2 * j + 1];
      if (row >= tile.valid || first + t * step >= blocks) {
        a = b = 0;
        continue;
      }
      if constexpr (kAdd != Add::none) {
        const float2 more = added_pair<kAdd>(op, tile.places[row], column);
        a += more.x;
        b += more.y;
      }
      if constexpr (kBack) {
        const float2 y = *reinterpret_cast<const float2*>(
            ys + static_cast<std::int64_t>(tile.first + row) * padded + column);
        a *= slope(activation, y.x);
        b *= slope(activation, y.y);
      } else {
        a = activate(activation, a);
        b = activate(activation, b);
      }
    }
  }
}

__device__ inline void write_results(const Op& op, const Tile& tile, int group, int first, int step,
                                     const Sums& sums) {
  const int lane = threadIdx.x % 32;
  const int padded = padded16(op.columns), blocks = tile.rows / kBlock;
  float* const store = op.store;
  const int out = op.out;
  const Buffer buffer = tile.buffer(out < 0 ? 0 : out);
#pragma unroll
  for (int t = 0; t < kWarpBlocks; ++t) {
    if (first + t * step >= blocks) break;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int half = i / 2, j = i % 2;
      const int row = (first + t * step) * kBlock + lane / 4 + j * 8;
      const int column = group * kBlock + half * 8 + lane % 4 * 2;
      const float a = sums[t][half][2 * j], b = sums[t][half][2 * j + 1];
      if (row < tile.valid) {
        *reinterpret_cast<float2*>(store + static_cast<std::int64_t>(tile.first + row) * padded + column) = {
            a, b};
      }
      if (out >= 0) put(buffer, row * tile.stride + column, a, b);
    }
  }
}

__device__ inline void complete_any(const Op& op, const Tile& tile, int group, int first, int step,
                                    Sums& sums) {
  switch (op.add) {
    case Add::none:
      if (op.y != nullptr) {
        complete<Add::none, true>(op, tile, group, first, step, sums);
      } else {
        complete<Add::none, false>(op, tile, group, first, step, sums);
      }
      break;
    case Add::set_row:
      complete<Add::set_row, false>(op, tile, group, first, step, sums);
      break;
    case Add::pool:
      complete<Add::pool, true>(op, tile, group, first, step, sums);
      break;
    case Add::score:
      complete<Add::score, false>(op, tile, group, first, step, sums);
      break;
    case Add::moments:
      complete<Add::moments, false>(op, tile, group, first, step, sums);
      break;
  }
}

__device__ inline void product(const Op& op, const Tile& tile, const float* weights, const uint4* panels) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int groups = padded16(op.columns) / kBlock;
  const int across = groups < kChainWarps ? groups : kChainWarps;
  const int down = kChainWarps / across;
  const int first = warp / across;
  if (first >= down) return;
  for (int group = warp % across; group < groups; group += across) {
    Sums sums;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = group * kBlock + half * 8 + lane % 4 * 2;
      const float a = op.bias >= 0 && column < op.columns ? __ldg(weights + op.bias + column) : 0.0f;
      const float b = op.bias >= 0 && column + 1 < op.columns ? __ldg(weights + op.bias + column + 1) : 0.0f;
#pragma unroll
      for (int t = 0; t < kWarpBlocks; ++t) {
        sums[t][half][0] = sums[t][half][2] = a;
        sums[t][half][1] = sums[t][half][3] = b;
      }
    }
    for (int s = 0; s < op.sources; ++s) add_products(op.source[s], tile, panels, group, first, down, sums);
    complete_any(op, tile, group, first, down, sums);
    write_results(op, tile, group, first, down, sums);
  }
}

// The lanes of a warp, who share the models of a data set.
struct Lanes {
  __device__ int rank() const { return threadIdx.x % 32; }
  __device__ int size() const { return 32; }
  __device__ double sum(double x) const {
    for (int far = 16; far > 0; far /= 2) x += __shfl_xor_sync(0xffffffffu, x, far);
    return x;
  }
  __device__ double most(double x) const {
    for (int far = 16; far > 0; far /= 2) x = fmax(x, __shfl_xor_sync(0xffffffffu, x, far));
    return x;
  }
};

// From the device to a buffer, zeros behind the last column.
__device__ inline void copy_row(const float* from, int columns, Buffer to, int at) {
  __syncwarp();
  for (int c = threadIdx.x % 32 * 2; c < padded16(columns); c += 64) {
    const bool there = from != nullptr;
    put(to, at + c, there && c < columns ? from[c] : 0.0f, there && c + 1 < columns ? from[c + 1] : 0.0f);
  }
}

// A warp takes a data set.
__device__ inline void loss(const Op& op, const Tile& tile, const Feed& feed) {
  for (int r = threadIdx.x / 32; r < tile.rows; r += kChainWarps) {
    const bool there = r < tile.valid;
    const std::int64_t set = tile.first + r;
    float* const d = op.store + set * padded16(op.columns);
    if (there) {
      const float* f = op.models + set * padded16(op.columns);
      const int truth = feed.models[set];
      const double value = op.evidential
                               ? evidential(Lanes{}, op.link, feed.head->lambda, f, op.columns, truth, d)
                               : cross_entropy(Lanes{}, f, op.columns, truth, d);
      if (threadIdx.x % 32 == 0) op.losses[set] = value;
    }
    copy_row(there ? d : nullptr, op.columns, tile.buffer(op.out), r * tile.stride);
    if (op.parameter_count == 0) continue;
    float* const d_parameters = op.d_parameters + set * padded16(op.parameter_count);
    for (int p = threadIdx.x % 32; there && p < op.parameter_count; p += 32) {
      d_parameters[p] = parameter_gradient(feed.head->parameter_weight,
                                           op.parameters[set * padded16(op.parameter_count) + p],
                                           feed.targets[set * op.parameter_count + p], feed.present[set]);
    }
    copy_row(there ? d_parameters : nullptr, op.parameter_count, tile.buffer(op.out_parameters),
             r * tile.stride);
  }
}

__device__ inline void fetch(const Op* from, Op* to) {
  static_assert(sizeof(Op) % 4 == 0 && sizeof(Op) / 4 <= kChainThreads);
  const int i = static_cast<int>(threadIdx.x);
  if (i < static_cast<int>(sizeof(Op) / 4)) {
    reinterpret_cast<std::uint32_t*>(to)[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from) + i);
  }
}

__global__ void __launch_bounds__(kChainThreads, 2)
    chain_kernel(Chain chain, Feed feed, const std::int32_t* set_of_row, const float* weights,
                 const uint4* panels) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ __align__(16) unsigned char op_memory[2][sizeof(Op)];
  __shared__ Place places[kMostTileRows];
  Op* const ops[2] = {reinterpret_cast<Op*>(op_memory[0]), reinterpret_cast<Op*>(op_memory[1])};
  const int rows = chain.of_sets ? feed.head->sets : feed.head->rows;
  Tile tile;
  tile.memory = reinterpret_cast<__nv_bfloat16*>(memory);
  tile.stride = buffer_stride(chain.width);
  tile.rows = tile_rows(rows, static_cast<int>(gridDim.x), chain.most_rows);
  tile.places = places;
  for (int at = blockIdx.x * tile.rows; at < rows; at += gridDim.x * tile.rows) {
    tile.first = at;
    tile.valid = min(tile.rows, rows - at);
    __syncthreads();
    fetch(chain.ops, ops[0]);
    for (int r = threadIdx.x; !chain.of_sets && r < tile.valid; r += kChainThreads) {
      const int set = set_of_row[at + r];
      places[r] = {at + r, set, feed.offsets[set], feed.offsets[set + 1] - feed.offsets[set]};
    }
    for (int i = 0; i < chain.count; ++i) {
      __syncthreads();
      if (i + 1 < chain.count) fetch(chain.ops + i + 1, ops[(i + 1) % 2]);
      const Op& op = *ops[i % 2];
      if (op.kind == OpKind::load) load_rows(op, tile);
      if (op.kind == OpKind::product) product(op, tile, weights, panels);
      if (op.kind == OpKind::loss) loss(op, tile, feed);
    }
  }
}

}  // namespace occam::gpu
