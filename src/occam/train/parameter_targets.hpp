// Learns from simulations how parameters become targets of the output `parameters`.
#pragma once

#include "occam/engine/engine.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// With `robust`, long tails are tamed first.
ParameterTargets learn_targets(const Problem& problem, const Batch& sample, bool robust);

}  // namespace occam
