// The recurrence of an LSTM of up to 128 units, whose weights are too many for the registers of one
// processor: two blocks of a cluster keep half of them each, and write what they computed into the shared
// memory of both. Needs compute capability 9.0.
#pragma once

#include "occam/engine/cuda/lstm.cuh"

namespace occam::gpu {

inline constexpr int kPairThreads = 512;
inline constexpr int kPairUnits = 64;  // of a block

// All threads of both blocks meet, and see what any of them wrote.
__device__ inline void meet_pair() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Writes to where `to` lies, in the shared memory of the block of this rank.
__device__ inline void write_to_block(float* to, int rank, float value) {
#if __CUDA_ARCH__ >= 900
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  std::uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" : : "r"(there), "f"(value) : "memory");
#endif
}

// As lstm_kernel, but eight neighbouring threads share a unit.
__global__ void __launch_bounds__(kPairThreads)
    pair_lstm_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kPart = 16;
  __shared__ Parts<kPart, 8> h[2];
  const int sets = feed.head->sets, H = v.units;
  const int pair = static_cast<int>(blockIdx.x) / 2, rank = static_cast<int>(blockIdx.x) % 2;
  if (pair >= sets) return;
  const int lane = threadIdx.x % 32, part = threadIdx.x % 8, q = threadIdx.x % 4;
  const int u = rank * kPairUnits + static_cast<int>(threadIdx.x) / 8;
  const bool there = u < H, writes = there && part < 4;
  float w[4][kPart];
#pragma unroll
  for (int gate = 0; gate < 4; ++gate) {
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      const int from = part * kPart + k;
      w[gate][k] = there && from < H ? weights[v.weight + from * 4 * H + gate * H + u] : 0.0f;
    }
  }
  for (int set = pair; set < sets; set += static_cast<int>(gridDim.x) / 2) {
    const int first = feed.offsets[set], n = feed.offsets[set + 1] - first;
    float* const gates = v.gates + static_cast<std::int64_t>(first) * v.gate_stride + q * H + u;
    float* const memory = v.c + static_cast<std::int64_t>(first) * v.stride + u;
    float* const before = v.before + static_cast<std::int64_t>(first) * v.stride + u;
    float ahead[kStepsAhead];
#pragma unroll
    for (int j = 0; j < kStepsAhead; ++j) {
      ahead[j] = there && j < n ? gates[static_cast<std::int64_t>(j) * v.gate_stride] : 0.0f;
    }
    if (threadIdx.x < 2 * kPairUnits) h[0][threadIdx.x] = 0;
    float c = 0, out = 0;
    meet_pair();
    for (int start = 0; start < n; start += kStepsAhead) {
#pragma unroll
      for (int j = 0; j < kStepsAhead; ++j) {
        const int t = start + j;
        if (t >= n) break;
        const std::int64_t row = t;
        float sums[4] = {0, 0, 0, 0};
        add_part<kPart>(w, h[j % 2].part(part), sums);
        float sum = sum_of_four(sums, lane);
        sum += __shfl_xor_sync(0xffffffffu, sum, 4);
        const float y = gate_value(q, sum + ahead[j]);
        ahead[j] = there && t + kStepsAhead < n ? gates[(row + kStepsAhead) * v.gate_stride] : 0.0f;
        const int group = lane & 28;
        const float input = __shfl_sync(0xffffffffu, y, group), keep = __shfl_sync(0xffffffffu, y, group + 1);
        const float fresh = __shfl_sync(0xffffffffu, y, group + 2),
                    shown = __shfl_sync(0xffffffffu, y, group + 3);
        const float last = out;
        c = keep * c + input * fresh;
        out = shown * quick_tanh(c);
        if (q == 0) write_to_block(&h[(j + 1) % 2][u], part / 4, out);
        meet_pair();
        if (writes) {
          gates[row * v.gate_stride] = y;
          if (q == 1) before[row * v.stride] = last;
          if (q == 2) memory[row * v.stride] = c;
        }
      }
    }
    if (writes && q == 0) v.out[static_cast<std::int64_t>(set) * v.out_stride + u] = out;
    if (rank == 0) write_log_n(v, feed, set);
  }
}

// As lstm_back_kernel, but the threads of a warp share four units.
__global__ void __launch_bounds__(kPairThreads)
    pair_lstm_back_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kPart = 16;
  __shared__ Parts<kPart, 32> d[2];
  const int sets = feed.head->sets, H = v.units;
  const int pair = static_cast<int>(blockIdx.x) / 2, rank = static_cast<int>(blockIdx.x) % 2;
  if (pair >= sets) return;
  const int lane = threadIdx.x % 32, q = lane / 4 % 4;
  const int four_units = rank * kPairUnits + static_cast<int>(threadIdx.x) / 32 * 4;
  const int u = four_units + lane % 4;
  const bool there = u < H;
  float w[4][kPart];
#pragma unroll
  for (int a = 0; a < 4; ++a) {
#pragma unroll
    for (int k = 0; k < kPart; ++k) {
      const int unit = four_units + a, from = lane % 8 * kPart + k;
      w[a][k] = unit < H && from < H ? weights[v.weight + unit * 4 * H + lane / 8 * H + from] : 0.0f;
    }
  }
  for (int set = pair; set < sets; set += static_cast<int>(gridDim.x) / 2) {
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
    meet_pair();  // the other block may still read what the last series left
    for (int start = 0; start < n; start += kStepsAhead) {
#pragma unroll
      for (int j = 0; j < kStepsAhead; ++j) {
        const int t = n - 1 - (start + j);
        if (t < 0) break;
        if (t < n - 1) {
          meet_pair();
          float sums[4] = {0, 0, 0, 0};
          add_part<kPart>(w, d[(j + 1) % 2].part(lane), sums);
          d_h = sum_of_four(sums, lane);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 4);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 8);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 16);
        }
        const float own = gate_ahead[j], memory_before = memory_ahead[j];
        gate_ahead[j] = gate_at(t - kStepsAhead);
        memory_ahead[j] = memory_at(t - 1 - kStepsAhead);
        const int group = lane % 4;
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
        write_to_block(&d[j % 2][q * 2 * kPairUnits + u], lane / 16, mine);
        if (there && lane < 16) gates[static_cast<std::int64_t>(t) * v.gate_stride] = mine;
        c = memory_before;
        d_c = back.d_c;
      }
    }
  }
  meet_pair();  // nothing is on its way into the memory of a block that ends
}

}  // namespace occam::gpu
