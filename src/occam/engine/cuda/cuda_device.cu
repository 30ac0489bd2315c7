// The device `cuda`: memory, streams and the launches of a step, which are captured once as a graph.
#include <algorithm>
#include <cuda_runtime.h>
#include <vector>

#include "occam/engine/cuda/chain.cuh"
#include "occam/engine/cuda/device.hpp"
#include "occam/engine/cuda/factor.cuh"
#include "occam/engine/cuda/input.cuh"
#include "occam/engine/cuda/labels.cuh"
#include "occam/engine/cuda/latent.cuh"
#include "occam/engine/cuda/learning.cuh"
#include "occam/engine/cuda/lstm.cuh"
#include "occam/engine/cuda/lstm_digits.cuh"
#include "occam/engine/cuda/pool.cuh"

namespace occam::gpu {
namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();
  if (result == cudaErrorMemoryAllocation) {
    throw_usage("the GPU has too little memory for this network and batch; use --device cpu");
  }
  throw_internal(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(result));
}

Chain make_chain(const Program& program, const Launch& launch, int most_rows) {
  Chain chain;
  chain.count = launch.count;
  chain.width = launch.width;
  chain.most_rows = most_rows;
  chain.of_sets = launch.of_sets;
  chain.level = launch.level;
  for (std::int32_t i = 0; i < launch.count; ++i) {
    const Op& op = program.ops[static_cast<std::size_t>(launch.first + i)];
    if (op.kind == OpKind::loss) chain.loss = op;
    if (op.add == Add::windows) {
      chain.window = op.window;
    } else if (op.add != Add::none && op.add != Add::set_row && op.add != Add::thinned) {
      chain.pool = op.pool;
    }
    TileOp& own = chain.ops[i];
    own.kind = static_cast<std::int8_t>(op.kind);
    own.add = static_cast<std::int8_t>(op.add);
    own.activation = static_cast<std::int8_t>(op.activation);
    own.sources = static_cast<std::int8_t>(op.sources);
    own.back = op.y != nullptr;
    own.out = static_cast<std::int8_t>(op.out);
    own.columns = static_cast<std::int16_t>(op.columns);
    own.bias = static_cast<std::int32_t>(op.bias);
    if (op.kind == OpKind::product) {
      own.across = warps_across(op.columns);
    } else {
      own.noise = op.noise;
    }
    own.other = op.y != nullptr ? op.y : op.from;
    own.store = op.store;
    for (std::int32_t s = 0; s < op.sources; ++s) {
      own.source[s] = {static_cast<std::int32_t>(op.source[s].panels),
                       static_cast<std::int16_t>(op.source[s].buffer),
                       static_cast<std::int16_t>(padded16(op.source[s].inner) / kBlock)};
    }
  }
  return chain;
}

// On the device.
struct GradientJobs {
  const GradientJob* jobs = nullptr;
  unsigned count = 0;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int number);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  void* take(std::size_t bytes) override;
  void give(void* memory) override;
  void* take_host(std::size_t bytes) override;
  void give_host(void* memory) override { cudaFreeHost(memory); }
  void write(void* to, const void* from, std::size_t bytes) override;
  void read(void* to, const void* from, std::size_t bytes) override;
  void prepare(const Program& program, const Learning& learning, const Feed (&feeds)[kSlots]) override;
  void wait_for_slot(int slot) override { check(cudaEventSynchronize(copied_[slot]), "waiting for a copy"); }
  void step(int slot, void* to, const void* from, std::size_t bytes) override;
  void answer(int slot, const float* weights) override;

 private:
  template <class T>
  const T* keep(const std::vector<T>& values);
  void forget();
  void wait() { check(cudaStreamSynchronize(stream_), "a step"); }
  cudaGraphExec_t captured(int slot);
  template <int kSide>
  void enqueue_gradients(const GradientJobs& jobs, const Feed& feed, cudaStream_t stream);
  void enqueue_step(const Feed& feed);
  void enqueue_input(const Feed& feed, const float* weights);
  void enqueue_all(const std::vector<Launch>& launches, const Feed& feed, const float* weights);
  void enqueue(const Launch& what, const Feed& feed, const float* weights, cudaStream_t stream);
  void enqueue_lstm(const LstmView& v, bool back, const Feed& feed, const float* weights,
                    cudaStream_t stream);
  void follow(cudaStream_t stream, cudaStream_t other);
  void enqueue_muon(const Feed& feed);

  int processors_ = 0;
  int shared_bytes_ = 0;
  cudaStream_t stream_ = nullptr, copies_ = nullptr, beside_ = nullptr;
  cudaEvent_t copied_[kSlots] = {}, done_[kSlots] = {}, met_ = nullptr;
  cudaGraphExec_t graphs_[kSlots] = {};

  const Program* program_ = nullptr;
  Learning learning_;
  Feed feeds_[kSlots];
  // What kernels read, on the device.
  std::vector<void*> kept_;
  const Source* packs_ = nullptr;
  const std::int64_t* pack_ends_ = nullptr;
  std::int64_t pack_lanes_ = 0;
  uint4* panels_ = nullptr;
  const Gradient* gradients_ = nullptr;
  GradientJobs jobs_[kSquares];
  int squares_ = 0;  // of these that the GPU has room for
  int parts_ = 1;
  const MuonMatrix* muon_ = nullptr;
  const MuonJob *gram_jobs_ = nullptr, *next_jobs_ = nullptr;
  int gram_job_count_ = 0, next_job_count_ = 0;
};

CudaDevice::CudaDevice(int number) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    cudaGetLastError();
    throw_usage(
        "no GPU found: there is none of NVIDIA, or its driver is missing or too old; use "
        "--device cpu");
  }
  cudaDeviceProp properties{};
  check(cudaSetDevice(number % count), "choosing a GPU");
  check(cudaGetDeviceProperties(&properties, number % count), "looking at the GPU");
  if (properties.major < 8) {
    throw_usage(std::string("the GPU (") + properties.name +
                ") is too old: compute capability 8.0 is needed; use --device cpu");
  }
  processors_ = properties.multiProcessorCount;
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check(cudaStreamCreateWithFlags(&copies_, cudaStreamNonBlocking), "making a stream");
  check(cudaStreamCreateWithFlags(&beside_, cudaStreamNonBlocking), "making a stream");
  check(cudaEventCreateWithFlags(&met_, cudaEventDisableTiming), "making an event");
  for (int slot = 0; slot < kSlots; ++slot) {
    check(cudaEventCreateWithFlags(&copied_[slot], cudaEventDisableTiming), "making an event");
    check(cudaEventCreateWithFlags(&done_[slot], cudaEventDisableTiming), "making an event");
  }
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, chain_kernel), "looking at a kernel");
  shared_bytes_ =
      static_cast<int>(properties.sharedMemPerBlockOptin) - static_cast<int>(attributes.sharedSizeBytes);
  check(cudaFuncSetAttribute(chain_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes_),
        "asking for shared memory");
  const int square = static_cast<int>(sizeof(SquareMemory<kMuonSide>));
  const auto more = cudaFuncAttributeMaxDynamicSharedMemorySize;
  check(cudaFuncSetAttribute(muon_kernel<MuonStage::gram>, more, square), "asking for shared memory");
  check(cudaFuncSetAttribute(muon_kernel<MuonStage::mixed>, more, square), "asking for shared memory");
  check(cudaFuncSetAttribute(muon_kernel<MuonStage::next>, more, square), "asking for shared memory");
  // GPUs for desktops have less than half the shared memory of those for servers: no room for the largest.
  const auto offer_square = [&]<int kSide>() {
    constexpr std::size_t kBytes = sizeof(GradientMemory<kSide>);
    if (kBytes > properties.sharedMemPerBlockOptin) return;
    check(cudaFuncSetAttribute(gradient_kernel<kSide>, more, kBytes), "asking for shared memory");
    ++squares_;
  };
  offer_square.operator()<kSides[0]>();
  offer_square.operator()<kSides[1]>();
  offer_square.operator()<kSides[2]>();
}

CudaDevice::~CudaDevice() {
  cudaStreamSynchronize(stream_);
  forget();
  for (int slot = 0; slot < kSlots; ++slot) {
    cudaEventDestroy(copied_[slot]);
    cudaEventDestroy(done_[slot]);
  }
  cudaEventDestroy(met_);
  cudaStreamDestroy(beside_);
  cudaStreamDestroy(copies_);
  cudaStreamDestroy(stream_);
}

void* CudaDevice::take(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)), "taking memory");
  check(cudaMemsetAsync(memory, 0, std::max<std::size_t>(bytes, 1), stream_), "clearing memory");
  return memory;
}

void CudaDevice::give(void* memory) {
  cudaStreamSynchronize(stream_);
  cudaFree(memory);
}

void* CudaDevice::take_host(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, std::max<std::size_t>(bytes, 1)), "taking memory of the host");
  return memory;
}

void CudaDevice::write(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "a copy to the GPU");
  wait();
}

void CudaDevice::read(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "a copy from the GPU");
  wait();
}

template <class T>
const T* CudaDevice::keep(const std::vector<T>& values) {
  kept_.push_back(take(values.size() * sizeof(T)));
  if (!values.empty()) write(kept_.back(), values.data(), values.size() * sizeof(T));
  return static_cast<const T*>(kept_.back());
}

void CudaDevice::forget() {
  for (cudaGraphExec_t& graph : graphs_) {
    if (graph != nullptr) cudaGraphExecDestroy(graph);
    graph = nullptr;
  }
  for (void* memory : kept_) cudaFree(memory);
  kept_.clear();
}

void CudaDevice::prepare(const Program& program, const Learning& learning, const Feed (&feeds)[kSlots]) {
  wait();
  forget();
  program_ = &program;
  learning_ = learning;
  std::copy(feeds, feeds + kSlots, feeds_);
  for (const Launch& launch : program.training) {
    if (launch.count > kMostOps) throw_usage("the network has too many layers for the CUDA engine");
    if (launch.kind != LaunchKind::rows) continue;
    if (launch.buffers * row_stride(launch.width) * kBlock <= shared_bytes_) continue;
    throw_usage("layers of " + std::to_string(launch.width) +
                " units do not fit into the shared memory of this GPU; use --device cpu");
  }
  packs_ = keep(program.packs);
  std::vector<std::int64_t> ends;
  pack_lanes_ = 0;
  for (const Source& pack : program.packs) {
    pack_lanes_ +=
        static_cast<std::int64_t>(padded16(pack.inner) / kBlock) * (padded16(pack.columns) / kBlock) * 32;
    ends.push_back(pack_lanes_);
  }
  pack_ends_ = keep(ends);
  kept_.push_back(take(static_cast<std::size_t>(program.panels) * sizeof(uint4)));
  panels_ = static_cast<uint4*>(kept_.back());

  gradients_ = keep(program.gradients);
  std::vector<GradientJob> jobs[kSquares];
  double places = 0;  // of processors, for one part of what has many rows
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(program.gradients.size()); ++i) {
    const Gradient& g = program.gradients[static_cast<std::size_t>(i)];
    const int square = square_of(g.inner, g.columns, squares_), side = kSides[square];
    for (int k = 0; k < g.inner; k += side) {
      for (int n = 0; n < g.columns; n += side) {
        jobs[square].push_back({i, k, n});
        if (!g.of_sets) places += 1.0 / square_blocks(side);
      }
    }
  }
  for (int s = 0; s < kSquares; ++s) jobs_[s] = {keep(jobs[s]), static_cast<unsigned>(jobs[s].size())};
  // So many parts that all blocks are at work at the same time.
  parts_ = std::clamp(static_cast<int>(processors_ / std::max(places, 1.0)), 1, kMostParts);

  muon_ = keep(program.muon);
  std::vector<MuonJob> gram, next;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(program.muon.size()); ++i) {
    const MuonMatrix& m = program.muon[static_cast<std::size_t>(i)];
    for (int n = 0; n < m.narrow(); n += kMuonSide) {
      for (int k = 0; k < m.narrow(); k += kMuonSide) gram.push_back({i, k, n});
      for (int k = 0; k < m.tall(); k += kMuonSide) next.push_back({i, k, n});
    }
  }
  gram_jobs_ = keep(gram);
  next_jobs_ = keep(next);
  gram_job_count_ = static_cast<int>(gram.size());
  next_job_count_ = static_cast<int>(next.size());
}

void CudaDevice::enqueue_input(const Feed& feed, const float* weights) {
  const int sets = 2 * processors_;
  const auto packs = static_cast<int>((pack_lanes_ + kInputThreads - 1) / kInputThreads);
  begin_kernel<<<static_cast<unsigned>(sets + packs), kInputThreads, 0, stream_>>>(
      program_->input, feed, sets, packs_, pack_ends_, static_cast<int>(program_->packs.size()), weights,
      panels_);
}

// What is enqueued next in one stream waits for all that the other was given so far.
void CudaDevice::follow(cudaStream_t stream, cudaStream_t other) {
  check(cudaEventRecord(met_, other), "putting streams in order");
  check(cudaStreamWaitEvent(stream, met_, 0), "putting streams in order");
}

void CudaDevice::enqueue_all(const std::vector<Launch>& launches, const Feed& feed, const float* weights) {
  bool apart = false;
  for (const Launch& what : launches) {
    if (what.beside && !apart) follow(beside_, stream_);
    if (what.joins && apart) follow(stream_, beside_);
    apart = what.beside || (apart && !what.joins);
    enqueue(what, feed, weights, what.beside ? beside_ : stream_);
  }
  if (apart) follow(stream_, beside_);
}

void CudaDevice::enqueue(const Launch& what, const Feed& feed, const float* weights, cudaStream_t stream) {
  if (what.kind == LaunchKind::pooling) {
    const dim3 grid(static_cast<unsigned>(pool_blocks(what.pool)), static_cast<unsigned>(processors_));
    pool_kernel<<<grid, kPoolThreads, 0, stream>>>(what.pool, feed);
    return;
  }
  if (what.kind == LaunchKind::lstm || what.kind == LaunchKind::lstm_back) {
    enqueue_lstm(what.lstm, what.kind == LaunchKind::lstm_back, feed, weights, stream);
    return;
  }
  if (what.kind == LaunchKind::factor) {
    factor_kernel<false><<<4 * processors_, kFactorThreads, 0, stream>>>(what.factor, feed);
    return;
  }
  if (what.kind == LaunchKind::factor_back) {
    factor_kernel<true><<<4 * processors_, kFactorThreads, 0, stream>>>(what.factor, feed);
    return;
  }
  if (what.kind == LaunchKind::latent) {
    latent_kernel<<<processors_, kLatentThreads, 0, stream>>>(what.latent, feed);
    return;
  }
  if (what.kind == LaunchKind::latent_back) {
    latent_back_kernel<<<processors_, kLatentThreads, 0, stream>>>(what.latent, feed);
    return;
  }
  if (what.kind == LaunchKind::labels) {
    label_kernel<false><<<8 * processors_, kLabelThreads, 0, stream>>>(what.labels, feed);
    return;
  }
  if (what.kind == LaunchKind::labels_back) {
    label_kernel<true><<<8 * processors_, kLabelThreads, 0, stream>>>(what.labels, feed);
    return;
  }
  const int bytes = what.buffers * row_stride(what.width);
  const int most = std::min(kMostTileRows, shared_bytes_ / bytes / kBlock * kBlock);
  chain_kernel<<<processors_, kChainThreads, static_cast<std::size_t>(most) * bytes, stream>>>(
      make_chain(*program_, what, most), feed, program_->input.set_of_row, weights, panels_);
}

// As many blocks as may run at the same time: they take series in turn.
void CudaDevice::enqueue_lstm(const LstmView& v, bool back, const Feed& feed, const float* weights,
                              cudaStream_t stream) {
  const auto launch = [&](auto forward, auto backward, int threads, int bytes) {
    const auto kernel = back ? backward : forward;
    kernel<<<2 * processors_, threads, static_cast<std::size_t>(bytes), stream>>>(v, feed, weights);
  };
  const auto kept = [&]<int kUnits>() {
    launch(lstm_kernel<kUnits>, lstm_back_kernel<kUnits>, kLstmThreads<kUnits>, 0);
  };
  if (v.units <= 16) return kept.template operator()<16>();
  if (v.units <= 32) return kept.template operator()<32>();
  if (v.units <= 64) return kept.template operator()<64>();
  if (v.units <= kDigitUnits) return launch(digit_lstm_kernel, digit_lstm_back_kernel, kDigitThreads, 0);
  launch(wide_lstm_kernel, wide_lstm_back_kernel, kWideLstmThreads, wide_lstm_bytes(v.units));
}

void CudaDevice::enqueue_muon(const Feed& feed) {
  if (program_->muon.empty()) return;
  muon_begin_kernel<<<static_cast<unsigned>(program_->muon.size()), kMuonThreads, 0, stream_>>>(muon_,
                                                                                                learning_);
  const auto grams = static_cast<unsigned>(gram_job_count_), nexts = static_cast<unsigned>(next_job_count_);
  for (int iteration = 0; iteration < kMuonIterations; ++iteration) {
    const int turn = iteration % 2;
    const bool last = iteration + 1 == kMuonIterations;
    muon_kernel<MuonStage::gram><<<grams, kMuonSquareThreads, sizeof(SquareMemory<kMuonSide>), stream_>>>(
        muon_, gram_jobs_, turn, last, feed, learning_);
    muon_kernel<MuonStage::mixed><<<grams, kMuonSquareThreads, sizeof(SquareMemory<kMuonSide>), stream_>>>(
        muon_, gram_jobs_, turn, last, feed, learning_);
    muon_kernel<MuonStage::next><<<nexts, kMuonSquareThreads, sizeof(SquareMemory<kMuonSide>), stream_>>>(
        muon_, next_jobs_, turn, last, feed, learning_);
  }
}

template <int kSide>
void CudaDevice::enqueue_gradients(const GradientJobs& jobs, const Feed& feed, cudaStream_t stream) {
  if (jobs.count == 0) return;
  const dim3 grid(jobs.count, static_cast<unsigned>(parts_));
  gradient_kernel<kSide><<<grid, square_threads(kSide), sizeof(GradientMemory<kSide>), stream>>>(
      gradients_, jobs.jobs, parts_, feed, learning_);
}

void CudaDevice::enqueue_step(const Feed& feed) {
  enqueue_input(feed, learning_.weights);
  enqueue_all(program_->training, feed, learning_.weights);
  // Squares of different sides beside each other.
  follow(beside_, stream_);
  enqueue_gradients<kSides[0]>(jobs_[0], feed, beside_);
  enqueue_gradients<kSides[1]>(jobs_[1], feed, stream_);
  enqueue_gradients<kSides[2]>(jobs_[2], feed, stream_);
  follow(stream_, beside_);
  const auto blocks = static_cast<unsigned>((learning_.size + kReduceThreads - 1) / kReduceThreads);
  reduce_kernel<<<blocks, kReduceThreads, 0, stream_>>>(parts_, feed, learning_, program_->losses);
  enqueue_muon(feed);
  adam_kernel<<<blocks, kReduceThreads, 0, stream_>>>(feed, learning_);
}

cudaGraphExec_t CudaDevice::captured(int slot) {
  if (graphs_[slot] != nullptr) return graphs_[slot];
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capturing a step");
  enqueue_step(feeds_[slot]);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream_, &graph), "capturing a step");
  const cudaError_t result = cudaGraphInstantiate(&graphs_[slot], graph, 0);
  cudaGraphDestroy(graph);
  check(result, "making a graph of a step");
  return graphs_[slot];
}

void CudaDevice::step(int slot, void* to, const void* from, std::size_t bytes) {
  const cudaGraphExec_t graph = captured(slot);
  check(cudaStreamWaitEvent(copies_, done_[slot], 0), "waiting for a step");
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, copies_), "sending a batch");
  check(cudaEventRecord(copied_[slot], copies_), "sending a batch");
  check(cudaStreamWaitEvent(stream_, copied_[slot], 0), "waiting for a batch");
  check(cudaGraphLaunch(graph, stream_), "a step");
  check(cudaEventRecord(done_[slot], stream_), "a step");
}

void CudaDevice::answer(int slot, const float* weights) {
  enqueue_input(feeds_[slot], weights);
  enqueue_all(program_->forward, feeds_[slot], weights);
  check(cudaGetLastError(), "an answer");
}

}  // namespace

std::unique_ptr<Device> make_cuda_device(int number) {
  return std::make_unique<CudaDevice>(number);
}

}  // namespace occam::gpu
