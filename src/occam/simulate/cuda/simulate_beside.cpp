#include "occam/core/error.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"

namespace occam {

// Ranks of one machine take its GPUs in turn, as their engines do.
void simulate_beside(const std::string& engine, ThreadPool& pool) {
  pool.set_loop_device(engine == "cuda" ? make_cuda_loops(pool.ranks().local_rank()) : nullptr);
}

void throw_no_device(const std::string& message) {
  throw Error(ErrorKind::usage, "{}", message);
}

void throw_device_failed(const std::string& message) {
  throw Error(ErrorKind::internal, "{}", message);
}

}  // namespace occam
