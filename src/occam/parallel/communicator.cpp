#include "occam/parallel/communicator.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace occam {

void Communicator::gather(std::span<const std::byte> own, std::vector<std::byte>& all,
                          std::vector<std::int64_t>& ends) {
  all.assign(own.begin(), own.end());
  ends.assign(1, static_cast<std::int64_t>(own.size()));
}

void Communicator::exchange(const std::byte* from, std::span<const std::int64_t> from_ends, std::byte* to,
                            std::span<const std::int64_t>) {
  std::copy_n(from, from_ends[0], to);
}

void Communicator::abort(int code) {
  std::_Exit(code);
}

Communicator& alone() {
  static Communicator one;
  return one;
}

int started_processes() {
  // Open MPI; MPICH, Intel MPI and srun --mpi=pmi2; srun --mpi=pmix, which says how many with the step.
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
  };
  const int slurm = std::getenv("PMIX_RANK") != nullptr ? number("SLURM_STEP_NUM_TASKS") : 0;
  return std::max({1, number("OMPI_COMM_WORLD_SIZE"), number("PMI_SIZE"), slurm});
}

}  // namespace occam
