// The scope reference of a network in use: kept in the network file, asked for every observed data set. How
// it is made is told in build_scope.hpp.
#pragma once

#include <algorithm>
#include <optional>

#include "occam/compare/comparator.hpp"
#include "occam/scope/scope_reference.hpp"

namespace occam {

// Into a network file, and from it; nothing where it has none. Error(bad_config) where it is damaged or does
// not belong to the network.
void put_scope(const ScopeReference& scope, NetworkFile& file);
std::optional<ScopeReference> scope_of(const NetworkFile& file);

// Data sets as the scope test sees them; true models are not known.
std::vector<ScopePoint> scope_points(const Sketch& sketch, const Comparator& comparator,
                                     Ragged<const float> data, const NetworkOutputs& outputs);

// Calls visit(first, points) for blocks of them, on all threads.
template <class Visit>
void for_blocks(ThreadPool& pool, const std::vector<ScopePoint>& points, const Visit& visit) {
  constexpr auto kBlock = static_cast<std::size_t>(NeighbourSpace::kBlock);
  const auto blocks = static_cast<std::int64_t>((points.size() + kBlock - 1) / kBlock);
  pool.for_each(blocks, [&](std::int64_t block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    visit(first, std::span(points).subspan(first, std::min(kBlock, points.size() - first)));
  });
}

// One answer per data set, on all threads of the comparator.
std::vector<ScopeAnswer> judge_scope(const ScopeReference& scope, const Comparator& comparator,
                                     Ragged<const float> data, const NetworkOutputs& outputs);

}  // namespace occam
