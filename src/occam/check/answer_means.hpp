// What a network says of a batch of data sets, on average: for data that may or may not come from its models.
#pragma once

#include <vector>

#include "occam/check/predictions.hpp"
#include "occam/check/statistics.hpp"

namespace occam {

// Data sets whose scope_p is at most this count as noticed.
inline constexpr double kScopeLevel = 0.05;

struct AnswerMeans {
  Mean largest;                // largest p
  Mean entropy;                // of p, as a part of log J
  Mean u;                      // empty where the network has none
  Mean caught;                 // by the scope test; empty without one
  std::vector<double> chosen;  // (J) share of the data sets whose most probable model it is
};

AnswerMeans answer_means(const Predictor& predictor, const Batch& batch);

}  // namespace occam
