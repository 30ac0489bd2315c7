// In place of loops on a GPU where a build has no CUDA.
#include "occam/simulate/cuda/cuda_loops.hpp"

namespace occam {
namespace {

class NoLoops final : public LoopDevice {
  std::unique_ptr<LoopLane> make_lane() override {
    throw_no_device(
        "this build has no CUDA engine: configure with -D OCCAM_CUDA=ON where nvcc is installed "
        "(docs/gpu.md), or use --device cpu");
  }
};

}  // namespace

std::shared_ptr<LoopDevice> make_cuda_loops(int) {
  return std::make_shared<NoLoops>();
}

}  // namespace occam
