// Which instruction set the SIMD code (files x_simd.cpp) computes with: the best that was compiled and that
// the processor has, unless another is chosen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occam {

// Those that can be chosen here, by Highway's names ("AVX3", "AVX2", "NEON", ...), the best first.
std::vector<std::string> simd_targets();

// From now on computes with this one. The kernels of networks keep what they started with, so choose before
// anything is computed. Throws Error(usage) if it cannot be chosen here.
void use_simd_target(std::string_view name);

// Back to the best.
void use_best_simd_target();

}  // namespace occam
