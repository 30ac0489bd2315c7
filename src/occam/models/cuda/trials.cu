// Trials of the decision model on a GPU: one thread, one trial (decision_trial.hpp).
#include <cuda_runtime.h>

#include "occam/models/decision_trial.hpp"

namespace occam {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    trials_kernel(const TrialsHead* in, TrialOutput* out, std::int64_t items) {
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item < items) out[item] = in->run(item);
}

}  // namespace

void launch_trials(const std::byte* in, std::byte* out, std::int64_t items, void* stream) {
  const auto blocks = static_cast<unsigned>((items + kThreads - 1) / kThreads);
  trials_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      reinterpret_cast<const TrialsHead*>(in), reinterpret_cast<TrialOutput*>(out), items);
}

}  // namespace occam
