// How often intervals of model frequencies hold the truth, on populations whose frequencies come from the
// prior: 95 % within kSigmas standard errors, in 4 checks with false-alarm probability 1e-6 each. A longer
// run stands in docs/groups.md (bench/group_coverage.cpp).
#include <cmath>

#include <gtest/gtest.h>

#include "occam/group/dirichlet.hpp"
#include "occam/group/frequency_posterior.hpp"
#include "occam/group/population.hpp"
#include "occam/group/variational.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

// Of the first model, so that populations are independent checks.
struct Coverage {
  double exact = 0, variational = 0;
};

Coverage coverage(std::int64_t N, std::int64_t J, double d, std::int64_t populations,
                  const FrequencyOptions& options) {
  ThreadPool pool(1);
  Coverage result;
  for (std::int64_t i = 0; i < populations; ++i) {
    const Population population =
        simulate_population(N, J, d, {}, Rng(15, Purpose::test, static_cast<std::uint64_t>(i)));
    const double r = population.frequency[0];
    const ModelFrequencies exact = frequency_posterior(population.evidences, options, pool);
    const std::vector<double> alpha = variational_alpha(population.evidences, 1);
    double sum = 0;
    for (const double a : alpha) sum += a;
    const FrequencyInterval other = dirichlet_interval(alpha[0], sum, options.level);
    result.exact += exact.low[0] <= r && r <= exact.high[0] ? 1 : 0;
    result.variational += other.low <= r && r <= other.high ? 1 : 0;
  }
  result.exact /= static_cast<double>(populations);
  result.variational /= static_cast<double>(populations);
  return result;
}

double bound(std::int64_t populations) {
  return kSigmas * std::sqrt(0.95 * 0.05 / static_cast<double>(populations));
}

TEST(GroupStatistics, IntervalsOfTwoModelsCover) {
  for (const std::int64_t N : {10, 20, 50}) {
    const Coverage share = coverage(N, 2, 1, 2000, {});
    EXPECT_NEAR(share.exact, 0.95, bound(2000)) << N;
    // Why the exact posterior is worth its time.
    EXPECT_LT(share.variational, 0.95 - bound(2000)) << N;
  }
}

TEST(GroupStatistics, SampledIntervalsCover) {
  // So few draws misplace the bounds a little: half a per cent is allowed for that.
  EXPECT_NEAR(coverage(10, 3, 1, 500, {.sweeps = 32}).exact, 0.95, bound(500) + 0.005);
}

}  // namespace
}  // namespace occam
