// Programs of rows: a block carries a tile of rows through all layers, which stay in shared memory. Sixteen
// warps share the columns of a product and, where columns are few, its rows; weights come from the cache of
// the device straight into registers, the first of them while the layer before is still being completed.
//
// A matrix of the tile holds every number in 4 bytes. 16 neighbours of a row take 64: first their high
// halves, then their low ones (mma.cuh). The warp that makes these 16 columns puts its sums there as they
// are, and replaces them, row by row, when it has added what is to be added.
#pragma once

#include "occam/engine/cuda/mma.cuh"
#include "occam/engine/cuda/sequence_elements.hpp"

namespace occam::gpu {

inline constexpr int kChainThreads = 512;
inline constexpr int kChainWarps = kChainThreads / 32;
inline constexpr int kWarpBlocks = 3;  // of rows, that a warp takes at most
inline constexpr int kMostAcross = 8;  // warps side by side
inline constexpr int kMostTileRows = kWarpBlocks * kBlock * kChainWarps / kMostAcross;
inline constexpr int kAhead = 4;  // blocks of weights under way (add_products counts on 4)
inline constexpr int kGroupBytes = 64;
inline constexpr int kLow = 32;  // low halves lie so many bytes behind the high ones

// An op as the kernel reads it. Programs travel as parameters of a launch: what stands there is constant for
// the compiler, and comes from a cache of its own.
struct TileSource {
  std::int32_t panels;
  std::int16_t buffer, steps;  // blocks of 16 along the inner side
};

// One line of that cache.
struct alignas(64) TileOp {
  std::int8_t kind, add, activation, sources;  // an OpKind, an Add, an Activation
  bool back;
  std::int8_t out;
  std::int16_t columns;
  std::int32_t bias;
  union {
    std::int32_t noise;   // of loads
    std::int32_t across;  // of products: see warps_across
  };
  // Backward: outputs whose slope counts; else what is loaded, or added.
  const float* other;
  float* store;
  TileSource source[4];
};

static_assert(sizeof(TileOp) == 64);

inline constexpr int kMostOps = 96;

struct Chain {
  std::int32_t count, width, most_rows, level;
  bool of_sets;
  PoolView pool;      // of all ops that look at one
  WindowView window;  // likewise
  Op loss;            // the op of that kind
  TileOp ops[kMostOps];
};

// How many warps lie side by side, as a power of 2, for every number of blocks of 16 rows that a tile may
// have: two bits each. So many as leave the busiest warp least to do, and of these the most, because then
// fewer read the same weights.
inline std::int32_t warps_across(int columns) {
  const int groups = padded16(columns) / kBlock;
  std::int32_t all = 0;
  for (int blocks = 1; blocks <= kMostTileRows / kBlock; ++blocks) {
    int best = 0, least = 0;
    for (int bits = 3; bits >= 0; --bits) {
      const int across = 1 << bits, down = kChainWarps >> bits;
      const int work = (groups + across - 1) / across * ((blocks + down - 1) / down);
      if (bits == 3 || work < least) best = bits, least = work;
    }
    all |= best << 2 * (blocks - 1);
  }
  return all;
}
static_assert(kMostAcross == 1 << 3 && kMostTileRows / kBlock <= 16);

// The bytes of a row of a buffer: so that eight rows lie in different banks.
OCCAM_BOTH constexpr int row_stride(int width) {
  return width * 4 + 16;
}

// Rows first .. last - 1 of a tile.
struct RowRange {
  int first, last;
};

// Blocks get equally many rows, in as few turns as their tiles allow.
__device__ inline int turns_of(int rows, int most) {
  const int all = static_cast<int>(gridDim.x) * most;
  return (rows + all - 1) / all;
}
__device__ inline RowRange range_of(int rows, int turn, int turns) {
  const std::int64_t blocks = (rows + kBlock - 1) / kBlock;
  const int parts = static_cast<int>(gridDim.x) * turns;
  const int part = turn * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
  return {static_cast<int>(part * blocks / parts) * kBlock,
          min(rows, static_cast<int>((part + 1) * blocks / parts) * kBlock)};
}

struct Tile {
  unsigned char* memory;
  int stride, rows, valid, first;  // valid: rows that exist; first: row of the matrix that row 0 is
  const Place* places;
  WindowRows windows;

  __device__ unsigned char* buffer(int index) const { return memory + index * rows * stride; }
};

// Four neighbours: their place within 64 bytes is `quad`.
__device__ inline void put(unsigned char* group, int quad, float4 v) {
  const Pair a = split(v.x, v.y), b = split(v.z, v.w);
  *reinterpret_cast<uint2*>(group + quad * 8) = {a.high, b.high};
  *reinterpret_cast<uint2*>(group + kLow + quad * 8) = {a.low, b.low};
}

__device__ inline void load_rows(const TileOp& op, const Tile& tile) {
  const int columns = padded16(op.columns), quads = columns / 4;
  unsigned char* const out = tile.buffer(op.out);
#pragma unroll 2
  for (int i = threadIdx.x; i < tile.rows * quads; i += kChainThreads) {
    const int r = i / quads, q = i % quads;
    float4 v = {0, 0, 0, 0};
    if (r < tile.valid) v = reinterpret_cast<const float4*>(op.other)[(tile.first + r) * quads + q];
    put(out + r * tile.stride + q / 4 * kGroupBytes, q % 4, v);
  }
}

// Four neighbours of a window.
__device__ inline float4 window_four(const WindowRows& w, Place at, int column) {
  const int columns = w.view.kernel * w.view.in;
  if (w.view.in % 4 != 0) {
    float v[4];
    for (int i = 0; i < 4; ++i) v[i] = column + i < columns ? window_value(w, at, column + i) : 0.0f;
    return {v[0], v[1], v[2], v[3]};
  }
  if (column >= columns) return {0, 0, 0, 0};
  const int tap = column / w.view.in, first = w.in[at.set];
  const int row = (at.row - at.first) * w.view.stride + tap;
  if (row >= w.in[at.set + 1] - first) return {0, 0, 0, 0};
  return *reinterpret_cast<const float4*>(
      w.view.x + static_cast<std::int64_t>(first + row) * padded16(w.view.in) + column - tap * w.view.in);
}

// Rows of windows, which are also kept.
__device__ inline void load_windows(const TileOp& op, const Tile& tile) {
  const int quads = padded16(op.columns) / 4;
  unsigned char* const out = tile.buffer(op.out);
#pragma unroll 1
  for (int i = threadIdx.x; i < tile.rows * quads; i += kChainThreads) {
    const int r = i / quads, q = i % quads;
    float4 v = {0, 0, 0, 0};
    if (r < tile.valid) {
      v = window_four(tile.windows, tile.places[r], 4 * q);
      reinterpret_cast<float4*>(op.store)[static_cast<std::int64_t>(tile.first + r) * quads + q] = v;
    }
    put(out + r * tile.stride + q / 4 * kGroupBytes, q % 4, v);
  }
}

// Rows times their masks, which are also kept, perhaps in place of those without. There may be no masks
// behind the last column.
__device__ inline void load_thinned(const TileOp& op, const Tile& tile, const Feed& feed) {
  const int quads = padded16(op.columns) / 4;
  unsigned char* const out = tile.buffer(op.out);
#pragma unroll 1
  for (int i = threadIdx.x; i < tile.rows * quads; i += kChainThreads) {
    const int r = i / quads, q = i % quads, row = tile.first + r;
    float4 v = {0, 0, 0, 0};
    if (r < tile.valid) {
      const std::int64_t at = static_cast<std::int64_t>(row) * quads + q;
      const auto mask = [&](int c) { return c < op.columns ? noise_of(feed, row, op.noise + c) : 0.0f; };
      v = reinterpret_cast<const float4*>(op.other)[at];
      v = {v.x * mask(4 * q), v.y * mask(4 * q + 1), v.z * mask(4 * q + 2), v.w * mask(4 * q + 3)};
      reinterpret_cast<float4*>(op.store)[at] = v;
    }
    put(out + r * tile.stride + q / 4 * kGroupBytes, q % 4, v);
  }
}

// The weights of one source for 16 columns: the first blocks are under way before they are needed.
struct Weights {
  const uint4* at = nullptr;
  uint4 high[kAhead], low[kAhead];

  __device__ void begin(const TileSource& source, const uint4* panels, int group) {
    at = panels + source.panels + group * source.steps * 64 + threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (j < source.steps) load(j, j);
    }
  }
  __device__ void load(int slot, int step) {
    high[slot] = __ldg(at + step * 64);
    low[slot] = __ldg(at + step * 64 + 32);
  }
};

// Which columns and rows of a product a warp takes: groups of 16 columns from `group` on, every `across`-th;
// blocks of 16 rows from `first` on, every `down`-th: `blocks` of them.
struct Share {
  int groups, across, down, group, first, blocks;

  __device__ Share(const TileOp& op, int tile_blocks) {
    const int warp = threadIdx.x / 32;
    groups = padded16(op.columns) / kBlock;
    const int bits = op.across >> 2 * (tile_blocks - 1) & 3;
    across = 1 << bits;
    down = kChainWarps >> bits;
    group = warp & (across - 1);
    first = warp >> bits;
    blocks = first >= tile_blocks || group >= groups ? 0 : (tile_blocks - first + down - 1) >> (4 - bits);
  }
};

template <int kBlocks>
using Sums = float[kBlocks][2][4];

// Where a warp has few sums the three products of a number go to sums of their own, to be added in the end:
// each then waits less for the one before.
template <int kBlocks>
inline constexpr int kSumSets = kBlocks == 1 ? 3 : 1;
template <int kBlocks>
using SumSets = Sums<kBlocks>[kSumSets<kBlocks>];

// Products along 16 of the inner side, of the weights in this slot. One after the other on different sums: a
// product is long under way.
template <int kBlocks, int kSlot>
__device__ inline void add_step(const std::uint32_t (&at)[kBlocks], const Weights& weights,
                                SumSets<kBlocks>& sets) {
  Sums<kBlocks>&sums = sets[0], &second = sets[kSumSets<kBlocks> / 2], &third = sets[kSumSets<kBlocks> - 1];
  const uint4 high = weights.high[kSlot], low = weights.low[kSlot];
  std::uint32_t a_high[kBlocks][4], a_low[kBlocks][4];
#pragma unroll
  for (int t = 0; t < kBlocks; ++t) {
    load_blocks<kSlot * kGroupBytes>(at[t], a_high[t]);
    load_blocks<kSlot * kGroupBytes + kLow>(at[t], a_low[t]);
  }
#pragma unroll
  for (int t = 0; t < kBlocks; ++t) {
    multiply(sums[t][0], a_high[t], high.x, high.y);
    multiply(sums[t][1], a_high[t], high.z, high.w);
  }
#pragma unroll
  for (int t = 0; t < kBlocks; ++t) {
    multiply(second[t][0], a_low[t], high.x, high.y);
    multiply(second[t][1], a_low[t], high.z, high.w);
  }
#pragma unroll
  for (int t = 0; t < kBlocks; ++t) {
    multiply(third[t][0], a_high[t], low.x, low.y);
    multiply(third[t][1], a_high[t], low.z, low.w);
  }
}

// Adds one source's products to `sums`.
template <int kBlocks>
__device__ inline void add_products(const TileSource& source, const Tile& tile, const Share& share,
                                    Weights& weights, SumSets<kBlocks>& sums) {
  const int lane = threadIdx.x % 32;
  const int steps = source.steps;
  const std::uint32_t in = static_cast<std::uint32_t>(__cvta_generic_to_shared(tile.buffer(source.buffer))) +
                           (share.first * kBlock + lane % 16) * tile.stride + lane / 16 * 16;
  const int down = share.down * kBlock * tile.stride;
  std::uint32_t at[kBlocks];
#pragma unroll
  for (int t = 0; t < kBlocks; ++t) at[t] = in + t * down;
  int k = 0;
  for (; k + kAhead <= steps; k += kAhead) {
    add_step<kBlocks, 0>(at, weights, sums);
    if (k + kAhead < steps) weights.load(0, k + kAhead);
    add_step<kBlocks, 1>(at, weights, sums);
    if (k + kAhead + 1 < steps) weights.load(1, k + kAhead + 1);
    add_step<kBlocks, 2>(at, weights, sums);
    if (k + kAhead + 2 < steps) weights.load(2, k + kAhead + 2);
    add_step<kBlocks, 3>(at, weights, sums);
    if (k + kAhead + 3 < steps) weights.load(3, k + kAhead + 3);
#pragma unroll
    for (int t = 0; t < kBlocks; ++t) at[t] += kAhead * kGroupBytes;
  }
  if (k < steps) add_step<kBlocks, 0>(at, weights, sums);
  if (k + 1 < steps) add_step<kBlocks, 1>(at, weights, sums);
  if (k + 2 < steps) add_step<kBlocks, 2>(at, weights, sums);
}

// Sums as they are, where their results will be.
template <int kBlocks>
__device__ inline void put_sums(const Tile& tile, const Share& share, unsigned char* out,
                                const Sums<kBlocks>& sums) {
  const int lane = threadIdx.x % 32;
  unsigned char* at = out + (share.first * kBlock + lane / 4) * tile.stride + lane % 4 * 8;
#pragma unroll
  for (int t = 0; t < kBlocks; ++t) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      *reinterpret_cast<float2*>(at + half * 32) = {sums[t][half][0], sums[t][half][1]};
      *reinterpret_cast<float2*>(at + half * 32 + 8 * tile.stride) = {sums[t][half][2], sums[t][half][3]};
    }
    at += share.down * kBlock * tile.stride;
  }
}

__device__ inline float4 four(const float* from) {
  return *reinterpret_cast<const float4*>(from);
}

// What is added to four neighbouring sums of one row.
template <Add kAdd>
__device__ inline float4 added_four(const TileOp& op, const PoolView& v, Place at, int column) {
  if constexpr (kAdd == Add::grown) {
    const float4 x = four(op.other + at.row * padded16(op.columns) + column);
    const float g = growth(v, at.n);
    return {g * x.x, g * x.y, g * x.z, g * x.w};
  }
  if constexpr (kAdd == Add::set_row) return four(op.other + at.set * padded16(op.columns) + column);
  if constexpr (kAdd == Add::pool || kAdd == Add::score) {
    if (v.pooling == Pooling::attention) {
      const int of_set = at.set * v.stride + column, of_pooled = at.set * v.pooled_stride + column;
      const int of_row = at.row * v.stride + column;
      const float4 score = four(v.score + of_row), top = four(v.top + of_set),
                   inverse = four(v.inverse + of_set);
      float4 d = four(v.d_pooled + of_pooled);
      if constexpr (kAdd == Add::score) {
        const float4 e = four(v.e + of_row), p = four(v.pooled + of_pooled);
        d = {d.x * (e.x - p.x), d.y * (e.y - p.y), d.z * (e.z - p.z), d.w * (e.w - p.w)};
      }
      float4 more = {0, 0, 0, 0};
      if (kAdd == Add::pool && v.more != nullptr) more = four(v.more + of_row);
      return {quick_exp(score.x - top.x) * inverse.x * d.x + more.x,
              quick_exp(score.y - top.y) * inverse.y * d.y + more.y,
              quick_exp(score.z - top.z) * inverse.z * d.z + more.z,
              quick_exp(score.w - top.w) * inverse.w * d.w + more.w};
    }
  }
  float more[4] = {};
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    if (column + i >= op.columns) continue;
    more[i] = kAdd == Add::moments ? moments_gradient(v, at, column + i) : pool_gradient(v, at, column + i);
  }
  return {more[0], more[1], more[2], more[3]};
}

// The gradient that windows pass to four neighbours of a row.
__device__ inline float4 windows_four(const WindowRows& w, Place at, int column) {
  float4 sum = {0, 0, 0, 0};
  if (w.view.in % 4 == 0) {
    if (column >= w.view.in) return sum;
    each_window(w, at, column, [&](std::int64_t from) {
      const float4 d = four(w.view.d + from);
      sum = {sum.x + d.x, sum.y + d.y, sum.z + d.z, sum.w + d.w};
    });
    return sum;
  }
  if (column < w.view.in) sum.x = window_gradient(w, at, column);
  if (column + 1 < w.view.in) sum.y = window_gradient(w, at, column + 1);
  if (column + 2 < w.view.in) sum.z = window_gradient(w, at, column + 2);
  if (column + 3 < w.view.in) sum.w = window_gradient(w, at, column + 3);
  return sum;
}

// Four neighbours of a row, from sums to results.
template <Add kAdd, bool kBack>
__device__ inline float4 completed(const TileOp& op, const PoolView& pool, const Tile& tile, int row,
                                   int column, float4 v, float4 y) {
  if constexpr (kAdd == Add::windows) {
    const float4 more = windows_four(tile.windows, tile.places[row], column);
    v = {v.x + more.x, v.y + more.y, v.z + more.z, v.w + more.w};
  } else if constexpr (kAdd != Add::none) {
    const float4 more = added_four<kAdd>(op, pool, tile.places[row], column);
    v = {v.x + more.x, v.y + more.y, v.z + more.z, v.w + more.w};
  }
  if (op.activation == static_cast<int>(Activation::identity)) return v;
  if constexpr (kBack) {
    return {v.x * slope(Activation::elu, y.x), v.y * slope(Activation::elu, y.y),
            v.z * slope(Activation::elu, y.z), v.w * slope(Activation::elu, y.w)};
  }
  return {activate(Activation::elu, v.x), activate(Activation::elu, v.y), activate(Activation::elu, v.z),
          activate(Activation::elu, v.w)};
}

// A warp's 16 columns row by row: four lanes to a row, eight rows at a time, what is read of the device eight
// rows ahead.
template <Add kAdd, bool kBack>
__device__ void complete(const TileOp& op, const PoolView& pool, const Tile& tile, const Share& share,
                         int group, float4 bias, unsigned char* out) {
  const int lane = threadIdx.x % 32, quad = lane % 4;
  const int padded = padded16(op.columns), column = group * kBlock + quad * 4;
  int row = share.first * kBlock + lane / 4;
  std::int64_t at = static_cast<std::int64_t>(tile.first + row) * padded + column;
  out += row * tile.stride;
  const auto y_at = [&](int of_row, std::int64_t place) {
    float4 y = {0, 0, 0, 0};
    if constexpr (kBack) {
      if (of_row < tile.valid) y = four(op.other + place);
    }
    return y;
  };
  float4 y = y_at(row, at);
  const int far = share.down * kBlock - 8;  // rows from the second half of a block to the next block
  for (int i = 0; i < 2 * share.blocks; ++i) {
    const int ahead = i % 2 == 0 ? 8 : far;
    const float4 next = i + 1 < 2 * share.blocks ? y_at(row + ahead, at + ahead * padded) : y;
    float4 v = *reinterpret_cast<const float4*>(out + quad * 16);
    if (row < tile.valid) {
      v = {v.x + bias.x, v.y + bias.y, v.z + bias.z, v.w + bias.w};
      v = completed<kAdd, kBack>(op, pool, tile, row, column, v, y);
      *reinterpret_cast<float4*>(op.store + at) = v;
    } else {
      v = {0, 0, 0, 0};
    }
    __syncwarp();
    put(out, quad, v);
    y = next;
    row += ahead;
    at += ahead * padded;
    out += ahead * tile.stride;
  }
}

__device__ inline void complete_any(const TileOp& op, const PoolView& pool, const Tile& tile,
                                    const Share& share, int group, float4 bias, unsigned char* out) {
  switch (static_cast<Add>(op.add)) {
    case Add::none:
      if (op.back) return complete<Add::none, true>(op, pool, tile, share, group, bias, out);
      return complete<Add::none, false>(op, pool, tile, share, group, bias, out);
    case Add::set_row:
      return complete<Add::set_row, false>(op, pool, tile, share, group, bias, out);
    case Add::pool:
      return complete<Add::pool, true>(op, pool, tile, share, group, bias, out);
    case Add::score:
      return complete<Add::score, false>(op, pool, tile, share, group, bias, out);
    case Add::moments:
      return complete<Add::moments, false>(op, pool, tile, share, group, bias, out);
    case Add::grown:
      return complete<Add::grown, false>(op, pool, tile, share, group, bias, out);
    case Add::windows:
      return complete<Add::windows, true>(op, pool, tile, share, group, bias, out);
    case Add::thinned:  // of loads only
      return;
  }
}

// The first weights of the next op that has any.
__device__ inline void begin_next(const Chain& chain, int i, const Tile& tile, const uint4* panels,
                                  Weights& weights) {
  while (i < chain.count && chain.ops[i].sources == 0) ++i;
  if (i == chain.count) return;
  const Share share(chain.ops[i], tile.rows / kBlock);
  if (share.blocks > 0) weights.begin(chain.ops[i].source[0], panels, share.group);
}

// The sums of 16 columns, and the weights that come after them on their way.
template <int kBlocks>
__device__ void multiply_group(const Chain& chain, int i, const Tile& tile, const Share& share, int group,
                               const uint4* panels, Weights& weights, unsigned char* out) {
  const TileOp& op = chain.ops[i];
  SumSets<kBlocks> sums = {};
  for (int s = 0; s < op.sources; ++s) {
    add_products<kBlocks>(op.source[s], tile, share, weights, sums);
    if (s + 1 < op.sources) {
      weights.begin(op.source[s + 1], panels, group);
    } else if (group + share.across < share.groups) {
      weights.begin(op.source[0], panels, group + share.across);
    } else {
      begin_next(chain, i + 1, tile, panels, weights);
    }
  }
  if constexpr (kSumSets<kBlocks> == 3) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[0][0][half][j] += sums[1][0][half][j] + sums[2][0][half][j];
    }
  }
  put_sums<kBlocks>(tile, share, out, sums[0]);
  __syncwarp();
}

// Of the four columns that a lane completes.
__device__ inline float4 bias_of(const TileOp& op, const float* biases, int group) {
  const int column = group * kBlock + threadIdx.x % 4 * 4;
  const auto one = [&](int c) { return op.bias >= 0 && c < op.columns ? __ldg(biases + op.bias + c) : 0.0f; };
  return {one(column), one(column + 1), one(column + 2), one(column + 3)};
}

__device__ inline void product(const Chain& chain, int i, const Tile& tile, const float* biases,
                               const uint4* panels, Weights& weights) {
  const TileOp& op = chain.ops[i];
  const Share share(op, tile.rows / kBlock);
  if (share.blocks == 0) {
    if (op.sources > 0) begin_next(chain, i + 1, tile, panels, weights);
    return;
  }
  for (int group = share.group; group < share.groups; group += share.across) {
    unsigned char* const out = tile.buffer(op.out) + group * kGroupBytes;
    const float4 bias = bias_of(op, biases, group);
    switch (share.blocks) {
      case 1:
        multiply_group<1>(chain, i, tile, share, group, panels, weights, out);
        break;
      case 2:
        multiply_group<2>(chain, i, tile, share, group, panels, weights, out);
        break;
      default:
        multiply_group<kWarpBlocks>(chain, i, tile, share, group, panels, weights, out);
    }
    complete_any(op, chain.pool, tile, share, group, bias, out);
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

// From the device to a row of a buffer, zeros behind the last column.
__device__ inline void copy_row(const float* from, int columns, unsigned char* to) {
  __syncwarp();
  for (int q = threadIdx.x % 32; q < padded16(columns) / 4; q += 32) {
    put(to + q / 4 * kGroupBytes, q % 4, from == nullptr ? float4{0, 0, 0, 0} : four(from + 4 * q));
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
    copy_row(there ? d : nullptr, op.columns, tile.buffer(op.out) + r * tile.stride);
    if (op.parameter_count == 0) continue;
    float* const d_parameters = op.d_parameters + set * padded16(op.parameter_count);
    for (int p = threadIdx.x % 32; there && p < op.parameter_count; p += 32) {
      d_parameters[p] = parameter_gradient(feed.head->parameter_weight,
                                           op.parameters[set * padded16(op.parameter_count) + p],
                                           feed.targets[set * op.parameter_count + p], feed.present[set]);
    }
    copy_row(there ? d_parameters : nullptr, op.parameter_count,
             tile.buffer(op.out_parameters) + r * tile.stride);
  }
}

__global__ void __launch_bounds__(kChainThreads, 1)
    chain_kernel(const __grid_constant__ Chain chain, Feed feed, const std::int32_t* set_of_row,
                 const float* biases, const uint4* panels) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ Place places[kMostTileRows];
  const int rows = rows_of(feed, chain.of_sets, chain.level);
  const std::int32_t* const offsets = offsets_of(feed, chain.level);
  Tile tile;
  tile.memory = memory;
  tile.stride = row_stride(chain.width);
  tile.places = places;
  if (chain.window.kernel > 0) tile.windows = WindowRows(chain.window, feed);
  const int turns = turns_of(rows, chain.most_rows);
  for (int turn = 0; turn < turns; ++turn) {
    const RowRange range = range_of(rows, turn, turns);
    if (range.first >= range.last) continue;
    const int at = range.first;
    tile.first = at;
    tile.valid = range.last - at;
    tile.rows = padded16(tile.valid);
    Weights weights;
    begin_next(chain, 0, tile, panels, weights);
    __syncthreads();
    for (int r = threadIdx.x; r < tile.valid; r += kChainThreads) {
      const int set = chain.of_sets      ? at + r
                      : chain.level == 0 ? set_of_row[at + r]
                                         : set_at(offsets, feed.head->sets, at + r);
      places[r] = {at + r, set, offsets[set], offsets[set + 1] - offsets[set]};
    }
    for (int i = 0; i < chain.count; ++i) {
      __syncthreads();
      switch (static_cast<OpKind>(chain.ops[i].kind)) {
        case OpKind::load:
          if (static_cast<Add>(chain.ops[i].add) == Add::windows) {
            load_windows(chain.ops[i], tile);
          } else if (static_cast<Add>(chain.ops[i].add) == Add::thinned) {
            load_thinned(chain.ops[i], tile, feed);
          } else {
            load_rows(chain.ops[i], tile);
          }
          break;
        case OpKind::product:
          product(chain, i, tile, biases, panels, weights);
          break;
        case OpKind::loss:
          loss(chain.loss, tile, feed);
          break;
      }
    }
  }
}

}  // namespace occam::gpu
