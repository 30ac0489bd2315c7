// Makes the scope reference of a network from simulations, after training. Asking it (scope.hpp) needs no
// simulation.
#pragma once

#include "occam/compare/comparator.hpp"
#include "occam/core/progress.hpp"
#include "occam/scope/scope_reference.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

struct ScopeOptions {
  std::int64_t reference = 20000;
  std::int64_t calibration = 20000;
  bool time = false;
};
Fields fields(ScopeOptions& o);

// Simulates data sets, half of them with sizes spread evenly over their logarithms, so that p-values hold at
// small sizes too. Error(interrupted) when `progress`
// asks to stop.
ScopeReference build_scope(Comparator& comparator, const Problem& problem, const ScopeOptions& options,
                           std::uint64_t seed, ProgressSink& progress);

// The same from data sets at hand, such as a reference table: `reference` and `calibration` are rows of it.
ScopeReference build_scope(Comparator& comparator, const Batch& all, std::span<const std::int64_t> reference,
                           std::span<const std::int64_t> calibration, bool ordered, bool time,
                           ProgressSink& progress);

}  // namespace occam
