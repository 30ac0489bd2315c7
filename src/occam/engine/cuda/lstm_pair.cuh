// The recurrence of an LSTM of up to 128 units, whose weights are too many for the registers of one
// processor: two blocks of a cluster keep half of them each, and send what they computed into the shared
// memory of both. Needs compute capability 9.0.
//
// Nobody meets: a block goes on when all numbers of a step have come in, which a barrier in its own memory
// counts by bytes. A barrier of the cluster would also wait for everything on its way to the main memory.
// There are two mailboxes. Numbers of step t + 2 go where those of step t were; whoever sends them has
// received all of step t + 1, and those were sent after step t had been read.
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

// Numbers that both blocks send, and how many of their bytes have come in. The count starts anew when all
// have, and the parity of such rounds tells whether they did.
template <int kPart, int kParts>
struct Mailbox {
  static constexpr std::uint32_t kBytes = kPart * kParts * sizeof(float);
  Parts<kPart, kParts> numbers;
  alignas(8) std::uint64_t count;

  __device__ std::uint32_t counter() { return static_cast<std::uint32_t>(__cvta_generic_to_shared(&count)); }

  __device__ void open() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(counter()) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  // By one thread in each round; some of the numbers may be there already.
  __device__ void expect() {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(counter()), "n"(kBytes)
                 : "memory");
#endif
  }
  // Into this place of the mailbox that the block of this rank has.
  __device__ void send(int i, int rank, float value) {
#if __CUDA_ARCH__ >= 900
    const auto place = static_cast<std::uint32_t>(__cvta_generic_to_shared(&numbers[i]));
    std::uint32_t there, count_there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place), "r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(count_there) : "r"(counter()), "r"(rank));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                 :
                 : "r"(there), "r"(__float_as_uint(value)), "r"(count_there)
                 : "memory");
#endif
  }
  __device__ void wait(unsigned parity) {
#if __CUDA_ARCH__ >= 900
    std::uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{\n.reg .pred p;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(counter()), "r"(parity)
          : "memory");
    }
#endif
  }
};

// Both mailboxes of a block, whose rounds take turns.
template <int kPart, int kParts>
struct Mailboxes {
  Mailbox<kPart, kParts>* boxes;
  unsigned rounds = 0;  // received, of both

  __device__ explicit Mailboxes(Mailbox<kPart, kParts>* two) : boxes(two) {
    if (threadIdx.x == 0) {
      boxes[0].open();
      boxes[1].open();
    }
    meet_pair();
  }
  // Sends to the box whose turn it is; receive() follows.
  __device__ void expect() {
    if (threadIdx.x == 0) boxes[rounds % 2].expect();
  }
  __device__ void send(int i, int rank, float value) { boxes[rounds % 2].send(i, rank, value); }
  __device__ const Parts<kPart, kParts>& receive() {
    Mailbox<kPart, kParts>& box = boxes[rounds % 2];
    box.wait(rounds / 2 % 2);
    ++rounds;
    return box.numbers;
  }
};

// As lstm_kernel, but eight neighbouring threads share a unit.
__global__ void __launch_bounds__(kPairThreads)
    pair_lstm_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kPart = 16;
  __shared__ Mailbox<kPart, 8> mail[2];
  const int sets = feed.head->sets, H = v.units;
  const int pair = static_cast<int>(blockIdx.x) / 2, rank = static_cast<int>(blockIdx.x) % 2;
  if (pair >= sets) return;
  const int lane = threadIdx.x % 32, part = threadIdx.x % 8, q = threadIdx.x % 4;
  const int u = rank * kPairUnits + static_cast<int>(threadIdx.x) / 8;
  const bool there = u < H, writes = there && part < 4;
  Mailboxes<kPart, 8> h(mail);
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
    float c = 0, out = 0;
    for (int start = 0; start < n; start += kStepsAhead) {
#pragma unroll
      for (int j = 0; j < kStepsAhead; ++j) {
        const int t = start + j;
        if (t >= n) break;
        const std::int64_t row = t;
        float sums[4] = {0, 0, 0, 0};
        if (t > 0) add_part<kPart>(w, h.receive().part(part), sums);
        h.expect();
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
        if (q == 0) h.send(u, part / 4, out);
        if (writes) {
          gates[row * v.gate_stride] = y;
          if (q == 1) before[row * v.stride] = last;
          if (q == 2) memory[row * v.stride] = c;
        }
      }
    }
    if (n > 0) h.receive();  // the last, which nobody needs: the other block has done with this series, too
    if (writes && q == 0) v.out[static_cast<std::int64_t>(set) * v.out_stride + u] = out;
    if (rank == 0) write_log_n(v, feed, set);
  }
}

// As lstm_back_kernel, but the threads of a warp share four units.
__global__ void __launch_bounds__(kPairThreads)
    pair_lstm_back_kernel(LstmView v, Feed feed, const float* __restrict__ weights) {
  constexpr int kPart = 16;
  __shared__ Mailbox<kPart, 32> mail[2];
  const int sets = feed.head->sets, H = v.units;
  const int pair = static_cast<int>(blockIdx.x) / 2, rank = static_cast<int>(blockIdx.x) % 2;
  if (pair >= sets) return;
  const int lane = threadIdx.x % 32, q = lane / 4 % 4;
  const int four_units = rank * kPairUnits + static_cast<int>(threadIdx.x) / 32 * 4;
  const int u = four_units + lane % 4;
  const bool there = u < H;
  Mailboxes<kPart, 32> d(mail);
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
    for (int start = 0; start < n; start += kStepsAhead) {
#pragma unroll
      for (int j = 0; j < kStepsAhead; ++j) {
        const int t = n - 1 - (start + j);
        if (t < 0) break;
        if (t < n - 1) {
          float sums[4] = {0, 0, 0, 0};
          add_part<kPart>(w, d.receive().part(lane), sums);
          d_h = sum_of_four(sums, lane);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 4);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 8);
          d_h += __shfl_xor_sync(0xffffffffu, d_h, 16);
        }
        d.expect();
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
        d.send(q * 2 * kPairUnits + u, lane / 16, mine);
        if (there && lane < 16) gates[static_cast<std::int64_t>(t) * v.gate_stride] = mine;
        c = memory_before;
        d_c = back.d_c;
      }
    }
    if (n > 0) d.receive();  // as above; and nothing is on its way into the memory of a block that ends
  }
}

}  // namespace occam::gpu
