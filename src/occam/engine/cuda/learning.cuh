// From gradients of layers to new weights: parts of the gradient, their sum and norm, Muon, Adam, the
// average.
#pragma once

#include <algorithm>

#include "occam/engine/cuda/input.cuh"
#include "occam/engine/cuda/transposed.cuh"

namespace occam::gpu {

// A block's share of the gradients: a square of one of them, of the smallest side that the matrix fits in. What
// it is made of is then read from memory once.
inline constexpr int kSquares = 3;
inline constexpr int kSides[kSquares] = {64, 96, 128};
constexpr int square_blocks(int side) {  // to a processor
  return side == 64 ? 3 : 2;
}
inline int square_of(int inner, int columns, int squares) {
  int square = 0;
  while (square + 1 < squares && std::max(inner, columns) > kSides[square]) ++square;
  return square;
}

template <int kSide>
struct GradientMemory {
  SquareMemory<kSide> rows;
  float4 sums[square_threads(kSide)];
};

struct GradientJob {
  std::int32_t gradient, k0, n0;
};

template <int kSide>
__global__ void __launch_bounds__(square_threads(kSide), square_blocks(kSide))
    gradient_kernel(const Gradient* gradients, const GradientJob* jobs, int parts, Feed feed,
                    Learning learning) {
  extern __shared__ __align__(16) unsigned char memory[];
  GradientMemory<kSide>& shared = *reinterpret_cast<GradientMemory<kSide>*>(memory);
  const GradientJob job = jobs[blockIdx.x];
  const Gradient g = gradients[job.gradient];
  const int rows = rows_of(feed, g.of_sets, g.level);
  const int part = static_cast<int>(blockIdx.y);
  if (part >= parts_of(rows, parts)) return;
  const int first = part * part_rows(rows, parts), last = min(rows, first + part_rows(rows, parts));
  Results<kSide> results;
  float4 sums = {0, 0, 0, 0};
  transposed_product<kSide>({g.x, padded16(g.inner)}, {g.d, padded16(g.columns)}, job.k0, job.n0, first, last,
                            shared.rows, results, sums);
  float* const out = learning.parts + part * learning.size;
  results.each([&](int k, int n, float a, float b) {
    k += job.k0;
    n += job.n0;
    if (k >= g.inner) return;
    float* to = out + g.weight + static_cast<std::int64_t>(k) * g.columns + n;
    if (n < g.columns) to[0] = a;
    if (n + 1 < g.columns) to[1] = b;
  });
  if (g.bias < 0 || job.k0 != 0) return;
  shared.sums[threadIdx.x] = sums;
  __syncthreads();
  const int n = job.n0 + static_cast<int>(threadIdx.x);
  if (threadIdx.x >= kSide || n >= g.columns) return;
  float sum = 0;
  for (int i = 0; i < 8; ++i) {
    sum += reinterpret_cast<const float*>(&shared.sums[i * kSide / 4 + threadIdx.x / 4])[threadIdx.x % 4];
  }
  out[g.bias + n] = sum;
}

inline constexpr int kReduceThreads = 256;

// Whether the step is finite, its loss, and how far its gradient is to be cut.
__device__ inline void judge(const Feed& feed, const Learning& learning, const double* losses, int blocks) {
  const StepHead& head = *feed.head;
  double squares = 0, loss = 0;
  for (int i = threadIdx.x; i < blocks; i += kReduceThreads) squares += __ldcg(learning.norms + i);
  for (int i = threadIdx.x; i < head.sets; i += kReduceThreads) loss += losses[i];
  squares = block_sum<kReduceThreads>(squares);
  loss = block_sum<kReduceThreads>(loss) / head.sets;
  if (threadIdx.x != 0) return;
  Report& report = *learning.report;
  if (head.fresh != 0) report.fault = 0;
  if (report.fault == 0 && !(isfinite(loss) && isfinite(squares))) {
    report.fault = 1;
    report.fault_at = head.loss_at;
  }
  report.active = report.fault == 0 ? 1 : 0;
  report.losses[head.loss_at] = loss;
  report.clip = clip_factor(head.clip, squares);
}

// The parts in order; the last block to be done judges.
__global__ void __launch_bounds__(kReduceThreads)
    reduce_kernel(int most_parts, Feed feed, Learning learning, const double* losses) {
  __shared__ bool last;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kReduceThreads + threadIdx.x;
  float sum = 0;
  if (i < learning.size) {
    const int kind = learning.kind[i];
    const int parts = parts_of(rows_of(feed, (kind & kOfSets) != 0, kind >> kLevelShift), most_parts);
#pragma unroll 8
    for (int part = 0; part < parts; ++part) sum += learning.parts[part * learning.size + i];
    sum *= feed.head->scale;
    learning.gradient[i] = sum;
  }
  const double squares = block_sum<kReduceThreads>(static_cast<double>(sum) * sum);
  if (threadIdx.x == 0) {
    learning.norms[blockIdx.x] = squares;
    __threadfence();
    last = atomicAdd(learning.done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  judge(feed, learning, losses, static_cast<int>(gridDim.x));
  if (threadIdx.x == 0) *learning.done = 0;
}

__global__ void adam_kernel(Feed feed, Learning learning) {
  if (learning.report->active == 0) return;
  const StepHead head = *feed.head;
  const float clip = learning.report->clip;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= learning.size) return;
  const float gradient = (learning.kind[i] & kOfMuon) != 0 ? 0.0f : learning.gradient[i] * clip;
  float m = learning.first_moment[i], v = learning.second_moment[i], weight = learning.weights[i];
  adam_step(gradient, head.adam_rate, head.adam_root, m, v, weight);
  learning.first_moment[i] = m;
  learning.second_moment[i] = v;
  learning.weights[i] = weight;
  learning.average[i] += head.average_rate * (weight - learning.average[i]);
}

inline constexpr int kMuonThreads = 1024;
inline constexpr int kMuonAtOnce = 8;  // numbers that a thread asks for before it looks at the first
inline constexpr int kMuonSide = 64;
inline constexpr int kMuonSquareThreads = square_threads(kMuonSide);

// Where element (r, c) of the tall form of a matrix lies in the flat vectors.
__device__ inline std::int64_t muon_flat(const MuonMatrix& m, int r, int c) {
  return m.first + (m.rows < m.columns ? static_cast<std::int64_t>(c) * m.columns + r
                                       : static_cast<std::int64_t>(r) * m.columns + c);
}

// Calls use(i, gradient, momentum) for all i of a matrix. Writing to the device would keep the compiler from asking
// for the next numbers, and the way there is long.
template <class Use>
__device__ inline void each_momentum(const MuonMatrix& m, const Learning& learning, const Use& use) {
  const int size = m.rows * m.columns;
  for (int first = threadIdx.x; first < size; first += kMuonThreads * kMuonAtOnce) {
    float gradient[kMuonAtOnce], momentum[kMuonAtOnce];
#pragma unroll
    for (int j = 0; j < kMuonAtOnce; ++j) {
      const int i = first + j * kMuonThreads;
      gradient[j] = i < size ? learning.gradient[m.first + i] : 0;
      momentum[j] = i < size ? learning.momentum[m.first + i] : 0;
    }
#pragma unroll
    for (int j = 0; j < kMuonAtOnce; ++j) {
      const int i = first + j * kMuonThreads;
      if (i < size) use(i, gradient[j], momentum[j]);
    }
  }
}

// Momentum of one matrix, scaled to norm 1, and its transpose.
__global__ void __launch_bounds__(kMuonThreads)
    muon_begin_kernel(const MuonMatrix* matrices, Learning learning) {
  if (learning.report->active == 0) return;
  const MuonMatrix m = matrices[blockIdx.x];
  double squares = 0;
  each_momentum(m, learning, [&](int i, float g, float before) {
    const float momentum = kMuonKeep * before + (1 - kMuonKeep) * g;
    const float ahead = kMuonKeep * momentum + (1 - kMuonKeep) * g;
    learning.momentum[m.first + i] = momentum;
    squares += static_cast<double>(ahead) * ahead;
  });
  squares = block_sum<kMuonThreads>(squares);
  // A gradient that has faded away is not blown up again.
  const float factor = squares < kMuonLeastSquares ? 0.0f : static_cast<float>(1 / sqrt(squares));
  const bool wide = m.rows < m.columns;
  float* const along = wide ? m.transposed[0] : m.x[0];
  float* const across = wide ? m.x[0] : m.transposed[0];
  each_momentum(m, learning, [&](int i, float g, float momentum) {
    const int r = i / m.columns, c = i % m.columns;
    const float v = factor * (kMuonKeep * momentum + (1 - kMuonKeep) * g);
    along[static_cast<std::int64_t>(r) * padded16(m.columns) + c] = v;
    across[static_cast<std::int64_t>(c) * padded16(m.rows) + r] = v;
  });
}

// The three products of an iteration: gram = x' x, mixed = polynomial of it, x mixed.
enum class MuonStage { gram, mixed, next };

struct MuonJob {
  std::int32_t matrix, k0, n0;
};

template <MuonStage kStage>
__global__ void __launch_bounds__(kMuonSquareThreads)
    muon_kernel(const MuonMatrix* matrices, const MuonJob* jobs, int turn, bool last, Feed feed,
                Learning learning) {
  extern __shared__ __align__(16) unsigned char shared[];
  SquareMemory<kMuonSide>& memory = *reinterpret_cast<SquareMemory<kMuonSide>*>(shared);
  if (learning.report->active == 0) return;
  const MuonJob job = jobs[blockIdx.x];
  const MuonMatrix& m = matrices[job.matrix];
  const int tall = m.tall(), narrow = m.narrow();
  const int wide_stride = padded16(tall), stride = padded16(narrow);
  Results<kMuonSide> results;
  float4 sums = {0, 0, 0, 0};
  if constexpr (kStage == MuonStage::gram) {
    const Operand x = {m.x[turn], stride};
    transposed_product<kMuonSide>(x, x, job.k0, job.n0, 0, tall, memory, results, sums);
  } else if constexpr (kStage == MuonStage::mixed) {
    const Operand gram = {m.gram, stride};
    transposed_product<kMuonSide>(gram, gram, job.k0, job.n0, 0, narrow, memory, results, sums);
  } else {
    transposed_product<kMuonSide>({m.transposed[turn], wide_stride}, {m.mixed, stride}, job.k0, job.n0, 0,
                                  narrow, memory, results, sums);
  }
  const float rate = feed.head->muon_rate * m.length;
  const auto write = [&](int k, int n, float v) {
    if (n >= narrow || k >= (kStage == MuonStage::next ? tall : narrow)) return;
    const std::int64_t at = static_cast<std::int64_t>(k) * stride + n;
    if constexpr (kStage == MuonStage::gram) {
      m.gram[at] = v;
    } else if constexpr (kStage == MuonStage::mixed) {
      m.mixed[at] = muon_mixed(m.gram[at], v, k == n);
    } else if (last) {
      learning.weights[muon_flat(m, k, n)] -= rate * v;
    } else {
      m.x[1 - turn][at] = v;
      m.transposed[1 - turn][static_cast<std::int64_t>(n) * wide_stride + k] = v;
    }
  };
  results.each([&](int k, int n, float a, float b) {
    write(job.k0 + k, job.n0 + n, a);
    write(job.k0 + k, job.n0 + n + 1, b);
  });
}

}  // namespace occam::gpu
