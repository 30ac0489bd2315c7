// Evidence as data come in, held against the exact posterior of the observations so far.
#include "occam/compare/sequential.hpp"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "occam/compare/comparator.hpp"
#include "occam/simulate/simulator.hpp"
#include "training_support.hpp"

namespace occam {
namespace {

using namespace testing_support;

// KL of the answer from the exact posterior of the same rows.
double distance(const std::vector<double>& exact, const double* log_alpha) {
  double log_total = -INFINITY, sum = 0;
  for (std::size_t j = 0; j < exact.size(); ++j)
    log_total =
        std::max(log_total, log_alpha[j]) + std::log1p(std::exp(-std::fabs(log_total - log_alpha[j])));
  for (std::size_t j = 0; j < exact.size(); ++j)
    sum += std::exp(exact[j]) * (exact[j] - (log_alpha[j] - log_total));
  return sum;
}

// Seen: .0001 (20 observations) to .0011 nats (5).
TEST(Sequential, EveryPrefixIsNearTheExactPosterior) {
  ThreadPool pool(2);
  const Problem problem = load_problem("beta-binomial");
  TrainOptions options;
  options.iterations = 3000;
  options.batch = 128;
  Listener listener;
  Comparator comparator(Trainer(problem, {}, options, {}, pool, listener).train(), pool);

  SimulatorOptions of_full_size;
  of_full_size.n = 100;
  Batch batch;
  Simulator(problem, 5, Purpose::test, of_full_size).simulate_range(0, 1000, pool, batch);
  SequentialOptions sizes;
  sizes.sizes = {1, 2, 3, 5, 10, 20, 50};
  std::map<std::int64_t, double> kl;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const Ragged<const float> all = batch.view();
    const Prefixes prefixes(all.x.rows_from(all.offsets[b], all.size(b)), b, sizes);
    const Ragged<const float> view = prefixes.view();
    const NetworkOutputs outputs = comparator.outputs(view);
    for (std::size_t i = 0; i < prefixes.list().size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const DataView rows{view.x.row(view.offsets[at]), view.size(at), view.x.columns};
      kl[prefixes.list()[i].k] +=
          distance(problem.exact_log_posterior(rows).value(), outputs.log_alpha.data() + 2 * i) / 1000;
    }
  }
  EXPECT_EQ(kl.size(), 8u);
  for (const auto& [k, value] : kl) {
    RecordProperty("after_" + std::to_string(k), std::to_string(value));
    EXPECT_LT(value, 0.002) << "after " << k << " observations";
    EXPECT_GT(value, 0) << k;
  }
}

}  // namespace
}  // namespace occam
