// The recurrence of an LSTM. A block takes one series after the other and stays with it from the first row to
// the last: a step costs one meeting of its threads, no launch. Up to 64 units all weights stay in registers;
// those of up to 128 do as digits (lstm_digits.cuh); those of wider ones are read from memory at every step. All
// products here are of 32 bits.
#pragma once

#include "occam/engine/cuda/sequence_elements.hpp"

namespace occam::gpu {

inline constexpr int kLstmAhead = 4;  // steps whose numbers are under way from memory
inline constexpr int kLstmSums = 4;   // of a thread, of kLstmInputs products each

// Of the kernels that keep their weights, for up to kUnits units.
template <int kUnits>
inline constexpr int kLstmThreads = 2 * kUnits;

template <int kUnits>
inline constexpr int kLstmInputs = 2 * kUnits / kLstmSums;

// Four sums of each of two neighbours, of which one gets the even and the other the odd ones of both.
__device__ inline float2 sums_of_two(const float (&sums)[4], int second) {
  const bool odd = second != 0;
  return {(odd ? sums[1] : sums[0]) + __shfl_xor_sync(0xffffffffu, odd ? sums[0] : sums[1], 1),
          (odd ? sums[3] : sums[2]) + __shfl_xor_sync(0xffffffffu, odd ? sums[2] : sums[3], 1)};
}

// Four sums of each lane, of which lane l of four neighbours gets number l of all four: two exchanges.
__device__ inline float sum_of_four(const float (&sums)[4], int lane) {
  const bool odd = (lane & 1) != 0, upper = (lane & 2) != 0;
  const float low = (odd ? sums[1] : sums[0]) + __shfl_xor_sync(0xffffffffu, odd ? sums[0] : sums[1], 1);
  const float high = (odd ? sums[3] : sums[2]) + __shfl_xor_sync(0xffffffffu, odd ? sums[2] : sums[3], 1);
  return (upper ? high : low) + __shfl_xor_sync(0xffffffffu, upper ? low : high, 2);
}

// A vector in parts of kPart numbers, so far apart that eight parts lie in different banks.
template <int kPart, int kParts>
struct alignas(16) Parts {
  static constexpr int kStride = kPart + 4;
  float numbers[kParts * kStride];

  __device__ float& operator[](int i) { return numbers[i / kPart * kStride + i % kPart]; }
  __device__ const float4* part(int p) const {
    return reinterpret_cast<const float4*>(numbers + p * kStride);
  }
};

// The weights of a thread.
template <int kUnits>
struct LstmWeights {
  static constexpr int kInputs = kLstmInputs<kUnits>;
  float kept[kInputs][kLstmSums];

  // weight(a, k): of sum a and input k.
  template <class Weight>
  __device__ explicit LstmWeights(const Weight& weight) {
#pragma unroll
    for (int k = 0; k < kInputs; ++k) {
#pragma unroll
      for (int a = 0; a < kLstmSums; ++a) kept[k][a] = weight(a, k);
    }
  }

  // Adds the products with a part of the inputs.
  __device__ void add(const float4* part, float (&sums)[kLstmSums]) const {
    float4 next = part[0];  // what comes next is under way while this is multiplied
#pragma unroll
    for (int four = 0; four < kInputs / 4; ++four) {
      const float x[4] = {next.x, next.y, next.z, next.w};
      if (four + 1 < kInputs / 4) next = part[four + 1];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int a = 0; a < kLstmSums; ++a) sums[a] += kept[4 * four + i][a] * x[i];
      }
    }
  }
};

__device__ inline void write_log_n(const LstmView& v, const Feed& feed, int set) {
  if (v.log_n && threadIdx.x == 0) {
    v.out[static_cast<std::int64_t>(set) * v.out_stride + v.units] =
        log_n_input(v, feed.offsets[set + 1] - feed.offsets[set]);
  }
}

// Two neighbouring threads have a unit: the first its gates i and g, the second f and o, with which it makes
// memory and output. For that they multiply half of h each with all weights of the unit.
template <int kUnits>
__global__ void __launch_bounds__(kLstmThreads<kUnits>)
    lstm_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kInputs = kLstmInputs<kUnits>;
  __shared__ Parts<kInputs, 2> h[2];
  constexpr int kAhead = kLstmAhead;
  const int sets = feed.head->sets, H = v.units;
  if (static_cast<int>(blockIdx.x) >= sets) return;
  const int second = threadIdx.x % 2, u = threadIdx.x / 2;
  const bool there = u < H, keeps = there && second != 0;
  const LstmWeights<kUnits> w([&](int gate, int k) {
    const int from = second * kInputs + k;
    return there && from < H ? weights[v.weight + from * 4 * H + gate * H + u] : 0.0f;
  });
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    // Of the step at hand.
    float* gates = v.gates + static_cast<std::int64_t>(first) * v.gate_stride + second * H + u;
    float* memory = v.c + static_cast<std::int64_t>(first) * v.stride + u;
    float* before = v.before + static_cast<std::int64_t>(first) * v.stride + u;
    float ahead[kAhead][2];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      ahead[j][0] = there && j < n ? gates[j * v.gate_stride] : 0.0f;
      ahead[j][1] = there && j < n ? gates[j * v.gate_stride + 2 * H] : 0.0f;
    }
    if (second == 0) h[0][u] = 0;
    float c = 0, out = 0;
    __syncthreads();
#pragma unroll 1
    for (int start = 0; start < n; start += kAhead) {
      // Steps behind the last change nothing: without branches, what is stored and loaded goes beside products.
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const bool real = start + j < n, more = start + j + kAhead < n;
        float sums[kLstmSums] = {};
        w.add(h[j % 2].part(second), sums);
        const float2 own = sums_of_two(sums, second);
        const float low = quick_sigmoid(own.x + ahead[j][0]);
        const float high = gate_value(second == 0 ? 2 : 3, own.y + ahead[j][1]);
        const float fresh = __shfl_xor_sync(0xffffffffu, low * high, 1);
        const float last = out;
        c = low * c + fresh;
        const float next = high * quick_tanh(c);
        out = real ? next : out;
        if (second != 0) h[(j + 1) % 2][u] = out;
        __syncthreads();
        if (there && real) gates[0] = low;
        if (there && real) gates[2 * H] = high;
        if (keeps && real) memory[0] = c;
        if (keeps && real) before[0] = last;
        ahead[j][0] = there && more ? gates[kAhead * v.gate_stride] : 0.0f;
        ahead[j][1] = there && more ? gates[kAhead * v.gate_stride + 2 * H] : 0.0f;
        gates += v.gate_stride;
        memory += v.stride;
        before += v.stride;
      }
    }
    if (keeps) v.out[static_cast<std::int64_t>(set) * v.out_stride + u] = out;
    write_log_n(v, feed, set);
  }
}

// Eight neighbouring threads multiply a part of the gradients of the gates' inputs each with the weights of
// four units. Two of them have the same unit afterwards, one its gates i and g, the other f and o.
template <int kUnits>
__global__ void __launch_bounds__(kLstmThreads<kUnits>)
    lstm_back_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kInputs = kLstmInputs<kUnits>, kParts = 2 * kLstmSums;
  __shared__ Parts<kInputs, kParts> d[2];
  constexpr int kAhead = kLstmAhead;
  const int sets = feed.head->sets, H = v.units;
  if (static_cast<int>(blockIdx.x) >= sets) return;
  const int lane = threadIdx.x % 32, part = threadIdx.x % kParts, second = lane / 4 % 2;
  const int u = threadIdx.x / 8 * 4 + lane % 4;
  const bool there = u < H;
  const LstmWeights<kUnits> w([&](int a, int k) {
    const int unit = static_cast<int>(threadIdx.x) / kParts * kLstmSums + a;
    const int from = part * kInputs % kUnits + k, gate = part * kInputs / kUnits;
    return unit < H && from < H ? weights[v.weight + unit * 4 * H + gate * H + from] : 0.0f;
  });
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    // Of the step at hand, from the last one on.
    const std::int64_t end = first + n - 1;
    float* gates = v.gates + end * v.gate_stride + second * H + u;
    const float* memory = v.c + end * v.stride + u;
    const auto gate_at = [&](int steps, int which, bool real) {
      return there && real ? gates[which * 2 * H - steps * v.gate_stride] : 0.0f;
    };
    const auto memory_at = [&](int steps, bool real) {
      return there && real ? memory[-steps * v.stride] : 0.0f;
    };
    float gate_ahead[kAhead][2], memory_ahead[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      gate_ahead[j][0] = gate_at(j, 0, j < n);
      gate_ahead[j][1] = gate_at(j, 1, j < n);
      memory_ahead[j] = memory_at(j + 1, j + 1 < n);
    }
    float c = memory_at(0, n > 0), d_c = 0;
    float d_out = there ? v.d_out[static_cast<std::int64_t>(set) * v.out_stride + u] : 0.0f;
    d[0][second * kUnits + u] = d[0][(second + 2) * kUnits + u] = 0;
    __syncthreads();
#pragma unroll 1
    for (int start = 0; start < n; start += kAhead) {
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {  // without branches, as above
        const bool real = start + j < n;
        const float low = gate_ahead[j][0], high = gate_ahead[j][1], memory_before = memory_ahead[j];
        const float other_low = __shfl_xor_sync(0xffffffffu, low, 4);
        const float other_high = __shfl_xor_sync(0xffffffffu, high, 4);
        const LstmUnit unit = {second == 0 ? low : other_low,
                               second == 0 ? other_low : low,
                               second == 0 ? high : other_high,
                               second == 0 ? other_high : high,
                               c,
                               memory_before};
        float sums[kLstmSums] = {};
        w.add(d[j % 2].part(part), sums);
        float d_h = sum_of_four(sums, lane);
        d_h += __shfl_xor_sync(0xffffffffu, d_h, 4) + d_out;
        d_out = 0;
        const LstmBack back = lstm_unit_back(unit, d_h, d_c);
        const float d_low = second == 0 ? back.gate[0] : back.gate[1];
        const float d_high = second == 0 ? back.gate[2] : back.gate[3];
        d[(j + 1) % 2][second * kUnits + u] = d_low;
        d[(j + 1) % 2][(second + 2) * kUnits + u] = d_high;
        __syncthreads();
        if (there && real) gates[0] = d_low;
        if (there && real) gates[2 * H] = d_high;
        gate_ahead[j][0] = gate_at(kAhead, 0, start + j + kAhead < n);
        gate_ahead[j][1] = gate_at(kAhead, 1, start + j + kAhead < n);
        memory_ahead[j] = memory_at(kAhead + 1, start + j + kAhead + 1 < n);
        gates -= v.gate_stride;
        memory -= v.stride;
        c = memory_before;
        d_c = back.d_c;
      }
    }
  }
}

inline constexpr int kWideLstmThreads = 512;

// h, memory and inputs of gates lie in shared memory: 6 H numbers.
constexpr int wide_lstm_bytes(int units) {
  return 6 * units * static_cast<int>(sizeof(float));
}

__global__ void __launch_bounds__(kWideLstmThreads)
    wide_lstm_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  extern __shared__ __align__(16) float numbers[];
  const int H = v.units;
  float *const h = numbers, *const c = h + H, *const inputs = c + H;
  const float* const wh = weights + v.weight;
  const int sets = feed.head->sets;
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], last = feed.offsets[set + 1];
    __syncthreads();
    for (int u = threadIdx.x; u < H; u += kWideLstmThreads) h[u] = c[u] = 0;
    __syncthreads();
    for (std::int64_t row = first; row < last; ++row) {
      float* const gates = v.gates + row * v.gate_stride;
      for (int i = threadIdx.x; i < 4 * H; i += kWideLstmThreads) {
        float sum = gates[i];
#pragma unroll 8
        for (int k = 0; k < H; ++k) sum += h[k] * __ldg(wh + k * 4 * H + i);
        inputs[i] = gates[i] = gate_value(i / H, sum);
      }
      __syncthreads();
      for (int u = threadIdx.x; u < H; u += kWideLstmThreads) {
        v.before[row * v.stride + u] = h[u];
        c[u] = inputs[H + u] * c[u] + inputs[u] * inputs[2 * H + u];
        h[u] = inputs[3 * H + u] * quick_tanh(c[u]);
        v.c[row * v.stride + u] = c[u];
      }
      __syncthreads();
    }
    for (int u = threadIdx.x; u < H; u += kWideLstmThreads) {
      v.out[static_cast<std::int64_t>(set) * v.out_stride + u] = h[u];
    }
    write_log_n(v, feed, set);
  }
}

__global__ void __launch_bounds__(kWideLstmThreads)
    wide_lstm_back_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  extern __shared__ __align__(16) float numbers[];
  const int H = v.units;
  float *const d_h = numbers, *const d_c = d_h + H, *const d = d_c + H;
  const float* const wh = weights + v.weight;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int sets = feed.head->sets;
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], last = feed.offsets[set + 1];
    __syncthreads();
    for (int u = threadIdx.x; u < H; u += kWideLstmThreads) {
      d_h[u] = v.d_out[static_cast<std::int64_t>(set) * v.out_stride + u];
      d_c[u] = 0;
    }
    __syncthreads();
    for (std::int64_t row = last - 1; row >= first; --row) {
      float* const gates = v.gates + row * v.gate_stride;
      for (int u = threadIdx.x; u < H; u += kWideLstmThreads) {
        const LstmUnit unit = {gates[u],
                               gates[H + u],
                               gates[2 * H + u],
                               gates[3 * H + u],
                               v.c[row * v.stride + u],
                               row > first ? v.c[(row - 1) * v.stride + u] : 0.0f};
        const LstmBack back = lstm_unit_back(unit, d_h[u], d_c[u]);
        d_c[u] = back.d_c;
#pragma unroll
        for (int gate = 0; gate < 4; ++gate) d[gate * H + u] = gates[gate * H + u] = back.gate[gate];
      }
      __syncthreads();
      for (int u = warp; u < H; u += kWideLstmThreads / 32) {
        float sum = 0;
#pragma unroll 4
        for (int i = lane; i < 4 * H; i += 32) sum += d[i] * __ldg(wh + u * 4 * H + i);
        for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, far);
        if (lane == 0) d_h[u] = sum;
      }
      __syncthreads();
    }
  }
}

}  // namespace occam::gpu
