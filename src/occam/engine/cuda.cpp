// The engine `cuda`: a GPU, where this build and this machine have one.
#include "occam/engine/check.hpp"
#include "occam/engine/cuda/device_engine.hpp"

namespace occam {

void register_cuda(Registry<EngineKind>& registry) {
  // Ranks of one machine take its GPUs in turn.
  registry.add("cuda", {"the first GPU of NVIDIA in this machine",
                        [](const NetworkConfig& config, ThreadPool& pool) -> std::unique_ptr<Engine> {
                          return std::make_unique<TrialEngine>(
                              "cuda",
                              std::make_unique<gpu::DeviceEngine>(
                                  config, pool, gpu::make_cuda_device(pool.ranks().local_rank())),
                              config, pool);
                        }});
}

}  // namespace occam
