// The ranks that mpirun or srun started. In programs that link the target occam_mpi alone, so that neither
// the library nor a plain run depends on MPI; mpi.h is included in mpi_communicator.cpp and nowhere else.
#pragma once

#include <memory>

#include "occam/parallel/communicator.hpp"

namespace occam {

// Once in a program, from its main thread. What is joined must be left (Communicator::leave).
std::unique_ptr<Communicator> join_mpi();

}  // namespace occam
