// Robustness curves: what a network says as the data become ever more unlike what its models make. For each
// disturbance of the problem and each of a few strengths: mean largest p, entropy, u, which models are
// chosen, and how often the scope test notices, where the network has one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "occam/check/finding.hpp"

namespace occam {

class Problem;
struct Predictor;
class ThreadPool;

struct RobustnessRequest {
  std::vector<std::string> names;  // of disturbances; empty: all that the problem has
  std::int64_t steps = 9;          // strengths per disturbance, from the mildest to the strongest
  std::int64_t data_sets = 200;    // per strength
  std::optional<std::int64_t> n;   // their size; none: the problem's own sizes
  std::uint64_t seed = 1;
};

// How many data sets measure_robustness simulates. Throws Error(usage) on an unknown name.
std::int64_t robustness_data_sets(const Problem& problem, const RobustnessRequest& request);

// `done` is called with the number of data sets behind; it may throw to stop.
Finding measure_robustness(const Predictor& predictor, const Problem& problem,
                           const RobustnessRequest& request, ThreadPool& pool,
                           const std::function<void(std::int64_t)>& done);

}  // namespace occam
