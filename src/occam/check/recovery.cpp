#include "occam/check/recovery.hpp"

#include <algorithm>
#include <cmath>

namespace occam {
namespace {

// Data sets simulated and judged at a time.
constexpr std::int64_t kChunk = 1000;

std::int64_t largest(std::span<const double> p) {
  return std::max_element(p.begin(), p.end()) - p.begin();
}

double divergence(std::span<const double> log_exact, std::span<const double> log_network) {
  double sum = 0;
  for (std::size_t j = 0; j < log_exact.size(); ++j) {
    const double p = std::exp(log_exact[j]);
    if (p > 0) sum += p * (log_exact[j] - log_network[j]);
  }
  return sum;
}

}  // namespace

Recovery measure_recovery(Comparator& comparator, const Problem& problem, std::uint64_t seed,
                          std::int64_t data_sets, std::optional<std::int64_t> n, ThreadPool& pool) {
  Recovery result;
  result.data_sets = data_sets;
  if (problem.has_exact_posterior()) result.exact.emplace();
  SimulatorOptions options;
  options.n = n;
  Simulator simulator(problem, seed, Purpose::test, options);
  double squares = 0;
  Batch batch;
  for (std::int64_t first = 0; first < data_sets; first += kChunk) {
    const std::int64_t count = std::min(kChunk, data_sets - first);
    simulator.simulate_range(first, count, pool, batch);
    ModelPosterior answers = comparator.empty_posterior();
    comparator.compare(std::vector<std::string>(static_cast<std::size_t>(count)),
                       {{batch.data().data(), batch.rows(), batch.columns(), batch.columns()},
                        batch.offsets().data(),
                        count},
                       answers);
    std::vector<std::vector<double>> exact(static_cast<std::size_t>(count));
    if (result.exact) {
      pool.for_each(count, [&](std::int64_t b, int) {
        exact[static_cast<std::size_t>(b)] = *problem.exact_log_posterior(batch[b]);
      });
    }
    for (std::int64_t b = 0; b < count; ++b) {
      const std::int64_t truth = batch.models()[static_cast<std::size_t>(b)];
      result.accuracy += answers.best(b) == truth ? 1 : 0;
      const std::vector<double> log_p = answers.log_probabilities(b);
      result.log_loss -= log_p[static_cast<std::size_t>(truth)];
      if (!result.exact) continue;
      const auto& log_exact = exact[static_cast<std::size_t>(b)];
      result.exact->accuracy += largest(log_exact) == truth ? 1 : 0;
      result.exact->log_loss -= log_exact[static_cast<std::size_t>(truth)];
      const double kl = divergence(log_exact, log_p);
      result.exact->kl += kl;
      squares += kl * kl;
    }
  }
  const auto K = static_cast<double>(data_sets);
  result.accuracy /= K;
  result.log_loss /= K;
  if (result.exact) {
    result.exact->accuracy /= K;
    result.exact->log_loss /= K;
    result.exact->kl /= K;
    result.exact->kl_se = std::sqrt(std::max(0.0, squares / K - result.exact->kl * result.exact->kl) / K);
  }
  return result;
}

}  // namespace occam
