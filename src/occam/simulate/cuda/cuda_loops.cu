// Loops of simulations on a GPU: each lane has a stream of its own, memory of the host from which copies do
// not wait, and memory of the device.
#include <cuda_runtime.h>

#include "occam/simulate/cuda/cuda_loops.hpp"

namespace occam {
namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();
  if (result == cudaErrorMemoryAllocation) {
    throw_no_device("the GPU has too little memory for these simulations; use --device cpu");
  }
  throw_device_failed(std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(result));
}

void choose_device(int number) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    cudaGetLastError();
    throw_no_device(
        "no GPU found: there is none of NVIDIA, or its driver is missing or too old; use "
        "--device cpu");
  }
  check(cudaSetDevice(number % count), "choosing a GPU");
}

// The same bytes on both sides; new ones hold nothing of the old.
class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { release(); }

  void grow(std::size_t bytes) {
    if (bytes <= size_) return;
    release();
    const std::size_t size = bytes + bytes / 4;  // batches differ a little in size
    check(cudaMallocHost(&host_, size), "taking memory of the host");
    check(cudaMalloc(&device_, size), "taking memory");
    size_ = size;
  }
  std::byte* host() const { return static_cast<std::byte*>(host_); }
  std::byte* device() const { return static_cast<std::byte*>(device_); }

 private:
  void release() {
    if (host_ != nullptr) cudaFreeHost(host_);
    if (device_ != nullptr) cudaFree(device_);
    host_ = device_ = nullptr;
    size_ = 0;
  }
  void* host_ = nullptr;
  void* device_ = nullptr;
  std::size_t size_ = 0;
};

class CudaLane final : public LoopLane {
 public:
  explicit CudaLane(int number) : number_(number) {
    choose_device(number_);
    // Before the kernels of a training step: what they need next must not be late.
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "looking at the GPU");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "making a stream");
  }
  ~CudaLane() override {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;

  std::byte* input(std::size_t bytes) override {
    // The lane may have been another thread's, and each thread has a GPU of its own in mind.
    choose_device(number_);
    in_.grow(bytes);
    in_bytes_ = bytes;
    return in_.host();
  }

  const std::byte* run(const DeviceLoop& loop, std::int64_t items, std::size_t out_bytes) override {
    out_.grow(out_bytes);
    check(cudaMemcpyAsync(in_.device(), in_.host(), in_bytes_, cudaMemcpyHostToDevice, stream_),
          "sending a simulation");
    loop.launch(in_.device(), out_.device(), items, stream_);
    check(cudaGetLastError(), "beginning a simulation");
    check(cudaMemcpyAsync(out_.host(), out_.device(), out_bytes, cudaMemcpyDeviceToHost, stream_),
          "fetching a simulation");
    check(cudaStreamSynchronize(stream_), "a simulation");
    return out_.host();
  }

 private:
  int number_;
  cudaStream_t stream_ = nullptr;
  Memory in_, out_;
  std::size_t in_bytes_ = 0;
};

class CudaLoops final : public LoopDevice {
 public:
  explicit CudaLoops(int number) : number_(number) {}

 private:
  std::unique_ptr<LoopLane> make_lane() override { return std::make_unique<CudaLane>(number_); }
  int number_;
};

}  // namespace

std::shared_ptr<LoopDevice> make_cuda_loops(int number) {
  return std::make_shared<CudaLoops>(number);
}

}  // namespace occam
