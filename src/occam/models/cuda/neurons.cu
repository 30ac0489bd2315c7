// Series of the neuron on a GPU: one thread, one series (neuron_series.hpp).
#include <cuda_runtime.h>

#include "occam/models/neuron_series.hpp"

namespace occam {
namespace {

// A series takes as long however many run beside it: small blocks, spread over the processors.
constexpr int kThreads = 32;

__global__ void __launch_bounds__(kThreads)
    neurons_kernel(const NeuronsHead* in, float* out, std::int64_t items) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item < items) in->run(item, out);
}

}  // namespace

void launch_neurons(const std::byte* in, std::byte* out, std::int64_t items, void* stream) {
  const auto blocks = static_cast<unsigned>((items + kThreads - 1) / kThreads);
  neurons_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<const NeuronsHead*>(in), reinterpret_cast<float*>(out), items);
}

}  // namespace occam
