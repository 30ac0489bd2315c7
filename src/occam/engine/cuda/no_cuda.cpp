// In place of the kernels where a build has no CUDA.
#include "occam/core/error.hpp"
#include "occam/engine/cuda/device.hpp"

namespace occam::gpu {

std::unique_ptr<Device> make_cuda_device(int) {
  throw Error(ErrorKind::usage,
              "this build has no CUDA engine: configure with -D OCCAM_CUDA=ON where nvcc is installed "
              "(docs/gpu.md), or use --device cpu");
}

}  // namespace occam::gpu
