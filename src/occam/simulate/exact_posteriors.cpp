#include "occam/simulate/exact_posteriors.hpp"

#include <algorithm>
#include <cmath>

namespace occam {
namespace {

// Data sets that go to a family together: a round trip to a worker process is then cheap for each.
constexpr std::int64_t kTogether = 16;

}  // namespace

std::vector<double> exact_log_posteriors(const Problem& problem, const Batch& batch, ThreadPool& pool) {
  const auto J = static_cast<std::size_t>(problem.J());
  std::vector<double> log_p(static_cast<std::size_t>(batch.size()) * J);
  pool.for_each((batch.size() + kTogether - 1) / kTogether, [&](std::int64_t part, int) {
    const std::int64_t first = part * kTogether;
    std::vector<DataView> data;
    for (std::int64_t b = first; b < std::min(first + kTogether, batch.size()); ++b) data.push_back(batch[b]);
    const std::vector<double> of_part = problem.exact_log_posteriors(data).value();
    std::copy(of_part.begin(), of_part.end(), log_p.begin() + first * problem.J());
  });
  return log_p;
}

std::vector<double> exact_posteriors(const Problem& problem, const Batch& batch, ThreadPool& pool) {
  std::vector<double> p = exact_log_posteriors(problem, batch, pool);
  for (double& one : p) one = std::exp(one);
  return p;
}

}  // namespace occam
