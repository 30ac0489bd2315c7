// The recurrence of an LSTM of 65 to 128 units, as in lstm.cuh. The weights stay in registers, as integers of 16
// bits, and are multiplied on tensor cores. Those multiply matrices: their columns are the digits of the one
// vector that there is. Sums are exact; a weight is kept to 1/65000 of the largest beside it, the outputs of
// units to 1/65000, and gradients to a millionth of the largest of all units.
#pragma once

#include "occam/engine/cuda/lstm.cuh"
#include "occam/engine/cuda/mma.cuh"
#include "occam/engine/cuda/sequence_elements.hpp"

namespace occam::gpu {

inline constexpr int kDigitUnits = 128;  // sixteen for each warp
inline constexpr int kDigitWarps = kDigitUnits / 16, kDigitThreads = 32 * kDigitWarps;
inline constexpr int kDigitAhead = 4;                 // steps whose numbers are under way from memory
inline constexpr float kTwoDigits = 127 * 256 + 126;  // a number of two digits of 8 bits with a sign

// A vector that weights are multiplied with: the first digits of all numbers, the second ones, and so on, so far
// apart that what eight lanes load together comes from different banks.
template <int kDigits>
struct alignas(16) Digits {
  std::int8_t of_number[kDigits][kDigitUnits + 16];

  // Of the digit of one column of a product, those that belong to a quarter of the vector.
  __device__ const std::int8_t* quarter(int column, int which) const {
    return of_number[column % kDigits] + which * (kDigitUnits / 4);
  }

  __device__ void put(int i, int number) {
#pragma unroll
    for (int digit = 0; digit < kDigits; ++digit) put_digit(digit, i, number);
  }
  __device__ void put_digit(int digit, int i, int number) {
    const std::uint32_t all = (static_cast<std::uint32_t>(number) + 0x80808080u) ^ 0x80808080u;
    of_number[digit][i] = static_cast<std::int8_t>(all >> (8 * (kDigits - 1 - digit)));
  }
};

// What a lane has to do with: of products, the sums of rows `row` and `row` + 8 with two columns; of steps, half
// of one unit: its gates i and g, or f and o. Rows of a product are those of the units of a warp.
struct DigitLane {
  int row, quarter, second, unit;

  __device__ DigitLane()
      : row(static_cast<int>(threadIdx.x) % 32 / 4), quarter(static_cast<int>(threadIdx.x) % 4),
        second(quarter % 2), unit(first_unit() + row + quarter / 2 * 8) {}

  __device__ static int first_unit() { return static_cast<int>(threadIdx.x) / 32 * 16; }

  // Of a product with the high digits of the weights of this lane's unit and one with the low ones, in units of
  // the last digit of both columns.
  __device__ float own(const int (&highs)[4], const int (&lows)[4]) const {
    const bool upper = quarter >= 2;
    const int first = upper ? highs[2] : highs[0], last = upper ? lows[3] : lows[1];
    const int middle = (upper ? highs[3] : highs[1]) + (upper ? lows[2] : lows[0]);
    return static_cast<float>(first * 256 + middle) * 256 + static_cast<float>(last);
  }
};

// The weights of a warp's units, four blocks of as many columns as there are units.
struct DigitWeights {
  static constexpr int kQuarter = kDigitUnits / 4, kTiles = kDigitUnits / 32;
  std::uint32_t high[4][kTiles][4], low[4][kTiles][4];
  float scale[4];  // of the row that is this lane's, in every block

  // weight(block, unit, column). One scale for the same row of all blocks, where they are added up.
  template <class Weight>
  __device__ DigitWeights(const DigitLane& lane, bool one_scale, const Weight& weight) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float of_lane[4][kQuarter], step[4];
#pragma unroll
      for (int block = 0; block < 4; ++block) {
#pragma unroll
        for (int k = 0; k < kQuarter; ++k) {
          const int unit = DigitLane::first_unit() + lane.row + 8 * half;
          of_lane[block][k] = weight(block, unit, lane.quarter * kQuarter + k);
        }
      }
#pragma unroll
      for (int block = 0; block < 4; ++block) step[block] = step_of(of_lane[block]);
      const float largest = fmaxf(fmaxf(step[0], step[1]), fmaxf(step[2], step[3]));
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        if (one_scale) step[block] = largest;
        if (lane.quarter / 2 == half) scale[block] = step[block];
        fill(block, half, of_lane[block], 1 / step[block]);
      }
    }
  }

  // Of a row, of which four lanes have a quarter each.
  __device__ static float step_of(const float (&quarter)[kQuarter]) {
    float most = 1e-30f;
#pragma unroll
    for (int k = 0; k < kQuarter; ++k) most = fmaxf(most, fabsf(quarter[k]));
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
    return fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2)) / kTwoDigits;
  }

  __device__ void fill(int block, int half, const float (&quarter)[kQuarter], float steps) {
#pragma unroll
    for (int k = 0; k < kQuarter; k += 4) {
      std::uint32_t highs = 0, lows = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int number = __float2int_rn(quarter[k + j] * steps), first = (number + 128) >> 8;
        highs |= (static_cast<std::uint32_t>(first) & 0xffu) << (8 * j);
        lows |= (static_cast<std::uint32_t>(number - 256 * first) & 0xffu) << (8 * j);
      }
      high[block][k / 8][k % 8 / 4 * 2 + half] = highs;
      low[block][k / 8][k % 8 / 4 * 2 + half] = lows;
    }
  }

  // Adds the products of every block with the vector of that block. Fewer sums than blocks: those of several.
  template <class VectorOf, int kSums>
  __device__ void multiply(const DigitLane& lane, const VectorOf& vector, int (&highs)[kSums][4],
                           int (&lows)[kSums][4]) const {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        const std::int8_t* const from = vector(block).quarter(lane.row, lane.quarter);
        const auto x = *reinterpret_cast<const uint2*>(from + 8 * tile);
        multiply_bytes(highs[block % kSums], high[block][tile], x.x, x.y);
        multiply_bytes(lows[block % kSums], low[block][tile], x.x, x.y);
      }
    }
  }
};

// Numbers of the next steps, on their way from memory to the threads that fetched them.
template <int kNumbers>
struct DigitAhead {
  float numbers[kDigitAhead][kNumbers][kDigitThreads];

  // Where those of this thread begin, in shared memory.
  __device__ std::uint32_t own() {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(&numbers[0][0][threadIdx.x]));
  }
  __device__ static void fetch(std::uint32_t own, int slot, int i, const float* from, bool there) {
    constexpr auto kRow = static_cast<std::uint32_t>(sizeof(float)) * kDigitThreads;
    copy_number_ahead(own + static_cast<std::uint32_t>(slot * kNumbers + i) * kRow, from, there);
  }
  __device__ static void wait() { wait_for_copies<kDigitAhead - 1>(); }  // for those of the step at hand
  __device__ float number(int slot, int i) const { return numbers[slot][i][threadIdx.x]; }
};

// Outputs of units lie between -1 and 1. Next to a number as large as this one, floats are integers: their last
// two bytes are those of the integer next to h * 127 * 256.
__device__ inline int output_number(float h) {
  return __float_as_int(fmaf(h, 127 * 256, 12582912.0f));
}

__global__ void __launch_bounds__(kDigitThreads, 1)
    digit_lstm_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  __shared__ Digits<2> h[2];
  __shared__ DigitAhead<2> ahead;
  const int sets = feed.head->sets, H = v.units;
  if (static_cast<int>(blockIdx.x) >= sets) return;
  const DigitLane lane;
  const int u = lane.unit;
  const std::uint32_t own_ahead = ahead.own();
  const bool second = lane.second != 0, there = u < H;
  const DigitWeights w(lane, false, [&](int gate, int unit, int from) {
    return unit < H && from < H ? weights[v.weight + from * 4 * H + gate * H + unit] : 0.0f;
  });
  // The gates are i and g, a tanh, or f and o, a sigmoid.
  const float low_power = kSigmoidPower, high_power = second ? kSigmoidPower : kTanhPower;
  const float times = second ? 1.0f : 2.0f, less = second ? 0.0f : 1.0f;
  const float low_scale = low_power * (second ? w.scale[1] : w.scale[0]) / (127 * 256);
  const float high_scale = high_power * (second ? w.scale[3] : w.scale[2]) / (127 * 256);
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    // Of the step at hand.
    float* gates = v.gates + static_cast<std::int64_t>(first) * v.gate_stride + lane.second * H + u;
    float* kept = (second ? v.before : v.c) + static_cast<std::int64_t>(first) * v.stride + u;
    const auto fetch = [&](int slot, int steps, int left) {
      ahead.fetch(own_ahead, slot, 0, gates + steps * v.gate_stride, there && steps < left);
      ahead.fetch(own_ahead, slot, 1, gates + steps * v.gate_stride + 2 * H, there && steps < left);
      end_group();
    };
#pragma unroll
    for (int j = 0; j < kDigitAhead; ++j) fetch(j, j, n);
    h[0].put_digit(lane.second, u, 0);
    float c = 0, out = 0;
    float* const last_out = v.out + static_cast<std::int64_t>(set) * v.out_stride + u;
    if (there && second && n == 0) *last_out = 0;
    __syncthreads();
#pragma unroll 1
    for (int start = 0; start < n; start += kDigitAhead) {
      // Steps behind the last leave nothing: without branches, what is stored goes beside products.
#pragma unroll
      for (int j = 0; j < kDigitAhead; ++j) {
        const bool real = start + j < n;
        int highs[4][4] = {}, lows[4][4] = {};
        w.multiply(lane, [&](int) -> const Digits<2>& { return h[j % 2]; }, highs, lows);
        ahead.wait();
        const float own[4] = {lane.own(highs[0], lows[0]), lane.own(highs[1], lows[1]),
                              lane.own(highs[2], lows[2]), lane.own(highs[3], lows[3])};
        const float low =
            falling_power(fmaf(second ? own[1] : own[0], low_scale, ahead.number(j, 0) * low_power));
        const float high = fmaf(
            falling_power(fmaf(second ? own[3] : own[2], high_scale, ahead.number(j, 1) * high_power)), times,
            -less);
        // Both lanes make the whole unit, and keep half of what is kept of it.
        const float fresh = low * high, other_fresh = __shfl_xor_sync(0xffffffffu, fresh, 1);
        const float other_low = __shfl_xor_sync(0xffffffffu, low, 1);
        const float other_high = __shfl_xor_sync(0xffffffffu, high, 1);
        const float shown = second ? high : other_high, last = out;
        c = fmaf(second ? low : other_low, c, second ? other_fresh : fresh);
        out = fmaf(2 * shown, falling_power(kTanhPower * c), -shown);
        h[(j + 1) % 2].put_digit(lane.second, u, output_number(out));
        __syncthreads();
        if (there && real) gates[0] = low;
        if (there && real) gates[2 * H] = high;
        if (there && real) kept[0] = second ? last : c;
        if (there && second && start + j == n - 1) *last_out = out;
        fetch(j, kDigitAhead, n - start - j);
        gates += v.gate_stride;
        kept += v.stride;
      }
    }
    write_log_n(v, feed, set);
    wait_for_copies<0>();
  }
}

// Gradients shrink from step to step: they are multiplied as parts of the largest of two steps before. Memory's
// count, too, since those of gates may grow to them at once.
struct GradientScale {
  struct Tops {
    std::uint32_t of_warp[kDigitWarps];
  };
  std::uint32_t top = 0;  // bits of the largest number of this warp at the step before

  __device__ void see(float d_low, float d_high, float d_c) {
    const float most = fmaxf(fmaxf(fabsf(d_low), fabsf(d_high)), fabsf(d_c) / 4);
    top = __reduce_max_sync(0xffffffffu, __float_as_uint(most));
  }
  __device__ void tell(Tops& tops) const {
    if (threadIdx.x % 32 == 0) tops.of_warp[threadIdx.x / 32] = top;
  }
  // A power of two that makes the largest 2^20 to 2^21, which leaves it room to become 500 times as large.
  __device__ static float of(const Tops& tops) {
    std::uint32_t most = 0;
#pragma unroll
    for (int warp = 0; warp < kDigitWarps; ++warp) most = max(most, tops.of_warp[warp]);
    return power_of_two(274 - static_cast<int>(min(max(most >> 23, 23u), 250u)));
  }
  __device__ static float inverse(float scale) {
    return power_of_two(254 - static_cast<int>(__float_as_uint(scale) >> 23));
  }
  __device__ static float power_of_two(int exponent) {
    return __uint_as_float(static_cast<std::uint32_t>(exponent) << 23);
  }
};

__device__ inline int gradient_number(float d) {
  return min(max(__float2int_rn(d), -(1 << 30)), 1 << 30);
}

// The same threads have the same units. A block of weights is that of one gate, whose gradients are multiplied
// with it; what a unit's output is told is the sum of all four.
__global__ void __launch_bounds__(kDigitThreads, 1)
    digit_lstm_back_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  __shared__ Digits<4> d[2][4];
  __shared__ GradientScale::Tops tops[2];
  __shared__ DigitAhead<3> ahead;
  const int sets = feed.head->sets, H = v.units;
  if (static_cast<int>(blockIdx.x) >= sets) return;
  const DigitLane lane;
  const int u = lane.unit;
  const std::uint32_t own_ahead = ahead.own();
  const bool second = lane.second != 0, there = u < H;
  const DigitWeights w(lane, true, [&](int gate, int unit, int from) {
    return unit < H && from < H ? weights[v.weight + unit * 4 * H + gate * H + from] : 0.0f;
  });
  const float row_scale = w.scale[0] * (second ? 1.0f : 65536.0f);  // the first digits, or the last
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    // Of the step at hand, from the last one on.
    const std::int64_t end = first + n - 1;
    float* gates = v.gates + end * v.gate_stride + lane.second * H + u;
    const float* memory = v.c + end * v.stride + u;
    const auto fetch = [&](int slot, int steps, int left) {
      ahead.fetch(own_ahead, slot, 0, gates - steps * v.gate_stride, there && steps < left);
      ahead.fetch(own_ahead, slot, 1, gates - steps * v.gate_stride + 2 * H, there && steps < left);
      ahead.fetch(own_ahead, slot, 2, memory - (steps + 1) * v.stride, there && steps + 1 < left);
      end_group();
    };
#pragma unroll
    for (int j = 0; j < kDigitAhead; ++j) fetch(j, j, n);
    float c = there && n > 0 ? memory[0] : 0.0f, d_c = 0, unscale = 0;
    float d_out = there ? v.d_out[static_cast<std::int64_t>(set) * v.out_stride + u] : 0.0f;
    d[0][lane.second].put(u, 0);
    d[0][lane.second + 2].put(u, 0);
    GradientScale scale;
    scale.see(d_out, 0, 0);
    scale.tell(tops[0]);
    __syncthreads();
#pragma unroll 1
    for (int start = 0; start < n; start += kDigitAhead) {
#pragma unroll
      for (int j = 0; j < kDigitAhead; ++j) {  // without branches, as above
        const bool real = start + j < n;
        int highs[2][4] = {}, lows[2][4] = {};
        w.multiply(lane, [&](int gate) -> const Digits<4>& { return d[j % 2][gate]; }, highs, lows);
        ahead.wait();
        const float low = ahead.number(j, 0), high = ahead.number(j, 1), memory_before = ahead.number(j, 2);
        const float other_low = __shfl_xor_sync(0xffffffffu, low, 1);
        const float other_high = __shfl_xor_sync(0xffffffffu, high, 1);
        const float forget = second ? low : other_low;
        const LstmSlopes slopes = lstm_slopes({second ? other_low : low, forget, second ? other_high : high,
                                               second ? high : other_high, c, memory_before});
        const float low_slope = second ? slopes.gate[1] : slopes.gate[0];
        const float high_slope = second ? slopes.gate[3] : slopes.gate[2];
        const float next_scale = GradientScale::of(tops[j % 2]);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          highs[0][k] += highs[1][k];
          lows[0][k] += lows[1][k];
        }
        const float own = lane.own(highs[0], lows[0]) * (row_scale * unscale);
        const float d_h = own + __shfl_xor_sync(0xffffffffu, own, 1) + d_out;
        d_out = 0;
        d_c = fmaf(d_h, slopes.memory, d_c);
        const float d_low = d_c * low_slope, d_high = (second ? d_h : d_c) * high_slope;
        d[(j + 1) % 2][lane.second].put(u, gradient_number(d_low * next_scale));
        d[(j + 1) % 2][lane.second + 2].put(u, gradient_number(d_high * next_scale));
        scale.tell(tops[(j + 1) % 2]);
        __syncthreads();
        if (there && real) gates[0] = d_low;
        if (there && real) gates[2 * H] = d_high;
        fetch(j, kDigitAhead, n - start - j);
        gates -= v.gate_stride;
        memory -= v.stride;
        c = memory_before;
        d_c *= forget;
        scale.see(d_low, d_high, d_c);
        unscale = GradientScale::inverse(next_scale);
      }
    }
    wait_for_copies<0>();
    __syncthreads();
  }
}

}  // namespace occam::gpu
