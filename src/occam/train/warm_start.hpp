// Networks that grow: a new network that begins with what a trained one knows, for a problem with more
// models, fewer models, or other priors. Models and parameters are matched by name; everything below the
// heads keeps its weights and its standardisation. The evidence of a model that is new begins as the mean of
// the old ones: neither favoured nor excluded.
#pragma once

#include <string>
#include <vector>

#include "occam/engine/engine.hpp"
#include "occam/networks/network_file.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// Error(usage) unless the network reads the problem's columns in the problem's order and knows at least one
// of its models.
void check_warm_start(const NetworkFile& from, const Problem& problem);

// Overwrites what a member of the old network knows in freshly initialised weights of the new one.
void grow_weights(const NetworkFile& from, std::size_t member, const Problem& problem,
                  const Network<float>& to, std::vector<float>& weights);

// Parameters that the old network estimates keep the scale of their estimates.
void keep_scales(const NetworkFile& from, const Problem& problem, ParameterTargets& targets);

// 16 hexadecimal digits.
std::string weight_checksum(const std::vector<float>& weights);

}  // namespace occam
