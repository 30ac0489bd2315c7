// The exact posterior of many data sets, on all threads.
#pragma once

#include <vector>

#include "occam/data/batch.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// log p(model | data), (B, J), of a problem that has_exact_posterior().
std::vector<double> exact_log_posteriors(const Problem& problem, const Batch& batch, ThreadPool& pool);
// The probabilities themselves.
std::vector<double> exact_posteriors(const Problem& problem, const Batch& batch, ThreadPool& pool);

}  // namespace occam
