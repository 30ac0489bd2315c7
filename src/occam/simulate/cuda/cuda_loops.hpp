// Loops of simulations on a GPU.
#pragma once

#include <memory>
#include <string>

#include "occam/parallel/loop_device.hpp"

namespace occam {

class ThreadPool;

// A GPU of this machine, counted from 0 and beyond the last from the first again. It is looked for when the
// first loop runs: Error(usage) then where there is none, or where this build has no CUDA.
std::shared_ptr<LoopDevice> make_cuda_loops(int number);

// What simulates for an engine of this name: a GPU for `cuda`, else nothing but the threads themselves.
// Simulations on this pool go there from now on, as far as their families have code for it.
void simulate_beside(const std::string& engine, ThreadPool& pool);

// Errors of loops: nvcc does not take the headers that Error needs.
[[noreturn]] void throw_no_device(const std::string& message);
[[noreturn]] void throw_device_failed(const std::string& message);

}  // namespace occam
