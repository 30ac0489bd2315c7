// The recurrence of an LSTM. A block takes one series after the other and stays with it from the first row to
// the last: a step costs one meeting of its threads, no launch. Up to 64 units the weights stay in registers,
// 64 of a thread; those of wider ones are read again at every step. All products are of 32 bits.
#pragma once

#include "occam/engine/cuda/sequence_elements.hpp"

namespace occam::gpu {

inline constexpr int kStepsAhead = 4;  // whose numbers are under way from memory

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

// w (4, kPart) times a part: four sums.
template <int kPart>
__device__ inline void add_part(const float (&w)[4][kPart], const float4* part, float (&sums)[4]) {
#pragma unroll
  for (int k = 0; k < kPart; k += 4) {
    const float4 x = part[k / 4];
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      sums[a] += w[a][k] * x.x;
      sums[a] += w[a][k + 1] * x.y;
      sums[a] += w[a][k + 2] * x.z;
      sums[a] += w[a][k + 3] * x.w;
    }
  }
}

__device__ inline void write_log_n(const LstmView& v, const Feed& feed, int set) {
  if (v.log_n && threadIdx.x == 0) {
    v.out[static_cast<std::int64_t>(set) * v.out_stride + v.units] =
        log_n_input(v, feed.offsets[set + 1] - feed.offsets[set]);
  }
}

// Threads of the kernels that keep their weights; kPart: a quarter of the units, rounded up.
template <int kPart>
inline constexpr int kLstmThreads = 16 * kPart;

// Four neighbouring threads share a unit: each multiplies a quarter of h with the weights of all four gates,
// and has one of the gates afterwards.
template <int kPart>
__global__ void __launch_bounds__(kLstmThreads<kPart>)
    lstm_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  __shared__ Parts<kPart, 4> h[2];
  const int sets = feed.head->sets, H = v.units;
  if (static_cast<int>(blockIdx.x) >= sets) return;
  const int lane = threadIdx.x % 32, q = threadIdx.x % 4, u = threadIdx.x / 4;
  const bool there = u < H;
  float w[4][kPart];
#pragma unroll
  for (int gate = 0; gate < 4; ++gate) {
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      const int from = q * kPart + k;
      w[gate][k] = there && from < H ? weights[v.weight + from * 4 * H + gate * H + u] : 0.0f;
    }
  }
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    float* const gates = v.gates + static_cast<std::int64_t>(first) * v.gate_stride + q * H + u;
    float* const memory = v.c + static_cast<std::int64_t>(first) * v.stride + u;
    float* const before = v.before + static_cast<std::int64_t>(first) * v.stride + u;
    float ahead[kStepsAhead];
#pragma unroll
    for (int j = 0; j < kStepsAhead; ++j) {
      ahead[j] = there && j < n ? gates[static_cast<std::int64_t>(j) * v.gate_stride] : 0.0f;
    }
    if (q == 0) h[0][u] = 0;
    float c = 0, out = 0;
    __syncthreads();
    for (int start = 0; start < n; start += kStepsAhead) {
#pragma unroll
      for (int j = 0; j < kStepsAhead; ++j) {
        const int t = start + j;
        if (t >= n) break;
        const std::int64_t row = t;
        float sums[4] = {0, 0, 0, 0};
        add_part<kPart>(w, h[j % 2].part(q), sums);
        const float y = gate_value(q, sum_of_four(sums, lane) + ahead[j]);
        ahead[j] = there && t + kStepsAhead < n ? gates[(row + kStepsAhead) * v.gate_stride] : 0.0f;
        const int group = lane & 28;
        const float input = __shfl_sync(0xffffffffu, y, group), keep = __shfl_sync(0xffffffffu, y, group + 1);
        const float fresh = __shfl_sync(0xffffffffu, y, group + 2),
                    shown = __shfl_sync(0xffffffffu, y, group + 3);
        const float last = out;
        c = keep * c + input * fresh;
        out = shown * quick_tanh(c);
        if (q == 0) h[(j + 1) % 2][u] = out;
        __syncthreads();
        if (there) {
          gates[row * v.gate_stride] = y;
          if (q == 1) before[row * v.stride] = last;
          if (q == 2) memory[row * v.stride] = c;
        }
      }
    }
    if (there && q == 0) v.out[static_cast<std::int64_t>(set) * v.out_stride + u] = out;
    write_log_n(v, feed, set);
  }
}

// Sixteen neighbouring threads share four units: each multiplies a sixteenth of the gradients of the gates'
// inputs with the weights of these units, and has one gate of one unit afterwards.
template <int kPart>
__global__ void __launch_bounds__(kLstmThreads<kPart>)
    lstm_back_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kUnits = 4 * kPart;
  __shared__ Parts<kPart, 16> d[2];
  const int sets = feed.head->sets, H = v.units;
  if (static_cast<int>(blockIdx.x) >= sets) return;
  const int lane = threadIdx.x % 32, part = threadIdx.x % 16;
  const int u = threadIdx.x / 16 * 4 + part % 4, q = part / 4;
  const bool there = u < H;
  float w[4][kPart];
#pragma unroll
  for (int a = 0; a < 4; ++a) {
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      const int unit = static_cast<int>(threadIdx.x) / 16 * 4 + a, from = part % 4 * kPart + k;
      w[a][k] = unit < H && from < H ? weights[v.weight + unit * 4 * H + part / 4 * H + from] : 0.0f;
    }
  }
  for (int set = blockIdx.x; set < sets; set += gridDim.x) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    float* const gates = v.gates + static_cast<std::int64_t>(first) * v.gate_stride + q * H + u;
    const float* const memory = v.c + static_cast<std::int64_t>(first) * v.stride + u;
    const auto gate_at = [&](int t) {
      return there && t >= 0 ? gates[static_cast<std::int64_t>(t) * v.gate_stride] : 0.0f;
    };
    const auto memory_at = [&](int t) {
      return there && t >= 0 ? memory[static_cast<std::int64_t>(t) * v.stride] : 0.0f;
    };
    float gate_ahead[kStepsAhead], memory_ahead[kStepsAhead];
#pragma unroll
    for (int j = 0; j < kStepsAhead; ++j) {
      gate_ahead[j] = gate_at(n - 1 - j);
      memory_ahead[j] = memory_at(n - 2 - j);
    }
    float c = memory_at(n - 1), d_c = 0;
    float d_h = there ? v.d_out[static_cast<std::int64_t>(set) * v.out_stride + u] : 0.0f;
    for (int start = 0; start < n; start += kStepsAhead) {
#pragma unroll
      for (int j = 0; j < kStepsAhead; ++j) {
        const int t = n - 1 - (start + j);
        if (t < 0) break;
        if (t < n - 1) {
          __syncthreads();
          float sums[4] = {0, 0, 0, 0};
          add_part<kPart>(w, d[(j + 1) % 2].part(part), sums);
          d_h = sum_of_four(sums, lane);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 4);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 8);
        }
        const float own = gate_ahead[j], memory_before = memory_ahead[j];
        gate_ahead[j] = gate_at(t - kStepsAhead);
        memory_ahead[j] = memory_at(t - 1 - kStepsAhead);
        const int group = (lane & 16) + part % 4;
        const LstmUnit unit = {__shfl_sync(0xffffffffu, own, group),
                               __shfl_sync(0xffffffffu, own, group + 4),
                               __shfl_sync(0xffffffffu, own, group + 8),
                               __shfl_sync(0xffffffffu, own, group + 12),
                               c,
                               memory_before};
        const LstmBack back = lstm_unit_back(unit, d_h, d_c);
        const float low = (q & 1) != 0 ? back.gate[1] : back.gate[0];
        const float high = (q & 1) != 0 ? back.gate[3] : back.gate[2];
        const float mine = q >= 2 ? high : low;
        d[j % 2][q * kUnits + u] = mine;
        if (there) gates[static_cast<std::int64_t>(t) * v.gate_stride] = mine;
        c = memory_before;
        d_c = back.d_c;
      }
    }
    __syncthreads();  // before the next series writes
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
