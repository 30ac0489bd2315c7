// Statistics of weighted values.
#pragma once

#include <span>
#include <vector>

namespace occam {

// The value below which a part of the weight lies, by linear interpolation between the sorted values, each of
// which stands at the middle of its weight. Weights are not negative and need not sum to one.
double weighted_quantile(std::span<const double> values, std::span<const double> weights, double part);

// How many unweighted values the weights are worth: (sum w)^2 / sum w^2.
double effective_size(std::span<const double> weights);

// Half of the values lie within this of their median. Where that is 0, the mean absolute deviation; 1 where
// all are equal, so that it can be divided by. Reorders the values.
double robust_scale(std::vector<double>& values);

}  // namespace occam
