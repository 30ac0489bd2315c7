// The scope reference of a network: built from simulations after training, kept in the network file, asked
// for every observed data set.
#pragma once

#include <optional>

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

// Into a network file, and from it; nothing where it has none. Error(bad_config) where it is damaged or does
// not belong to the network.
void put_scope(const ScopeReference& scope, NetworkFile& file);
std::optional<ScopeReference> scope_of(const NetworkFile& file);

// One answer per data set, on all threads of the comparator.
std::vector<ScopeAnswer> judge_scope(const ScopeReference& scope, const Comparator& comparator,
                                     Ragged<const float> data, const NetworkOutputs& outputs);

}  // namespace occam
