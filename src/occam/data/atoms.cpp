#include "occam/data/atoms.hpp"

#include <algorithm>

namespace occam {
namespace {

// A value, and how many have it.
struct Run {
  float value;
  double count;
};

}  // namespace

std::vector<float> find_atoms(const std::vector<float>& sorted) {
  std::vector<Run> most;  // the most frequent values, one more than may be atoms
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto end = std::upper_bound(first, sorted.end(), *first);
    most.push_back({*first, static_cast<double>(end - first)});
    std::sort(most.begin(), most.end(), [](const Run& a, const Run& b) { return a.count > b.count; });
    if (most.size() > kMostAtoms + 1) most.pop_back();
    first = end;
  }
  if (most.size() < kMostAtoms + 1) return {};
  const double enough = kAtomShare * static_cast<double>(sorted.size());
  for (std::size_t atoms = kMostAtoms; atoms > 0; --atoms) {
    if (most[atoms - 1].count < std::max(enough, kAtomAboveOthers * most[atoms].count)) continue;
    std::vector<float> found;
    for (std::size_t k = 0; k < atoms; ++k) found.push_back(most[k].value);
    std::sort(found.begin(), found.end());
    return found;
  }
  return {};
}

}  // namespace occam
