// The bound of what was missed, on problems whose posterior is exact. Where nothing is missing, a bound that
// holds with probability .975 is above zero in at most one check of forty: of 40 checks more than 6 have
// probability below 1e-4, and more than 2 alarms at the level of a whole check (.00125) below 2e-5. Where
// something is missing, the bound is below it and finds a third of it.
#include "occam/check/missed/missed.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "occam/check/missed/rich_statistics.hpp"
#include "occam/check/missed/second_learner.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

// Changes exact log p to what a network with a fault would say.
using Fault = std::function<void(std::vector<double>& log_p)>;

struct Checked {
  Missed missed;
  double gap = 0;  // mean KL of what is said from the exact posterior
};

Checked checked(const std::string& name, std::uint64_t seed, std::int64_t B, const Fault& fault) {
  static ThreadPool pool(2);
  const Problem problem = builtin_problem(name);
  Simulator simulator(problem, seed, Purpose::missed);
  Batch batch;
  simulator.simulate_range(0, B, pool, batch);
  std::vector<std::string> columns;
  for (const Column& column : problem.columns()) columns.push_back(column.name);
  const RichStatistics rich = RichStatistics::learn(batch.view(), columns, problem.ordered());
  const auto J = static_cast<std::size_t>(problem.J());
  const auto F = static_cast<std::size_t>(rich.size()) + J;
  SecondLearnerInput input;
  input.J = problem.J();
  input.statistics = static_cast<std::int64_t>(F);
  input.truth.assign(batch.models().begin(), batch.models().end());
  input.values.resize(static_cast<std::size_t>(B) * F);
  input.log_p.resize(static_cast<std::size_t>(B) * J);
  std::vector<double> gaps(static_cast<std::size_t>(B));
  pool.for_each(B, [&](std::int64_t b, int) {
    const auto at = static_cast<std::size_t>(b);
    const std::vector<double> exact = *problem.exact_log_posterior(batch[b]);
    std::vector<double> said = exact;
    if (fault) fault(said);
    double sum = 0;
    for (const double one : said) sum += std::exp(one);
    for (std::size_t j = 0; j < J; ++j) {
      said[j] = std::max(said[j] - std::log(sum), -600.0);
      input.log_p[at * J + j] = said[j];
      input.values[at * F + j] = static_cast<float>(said[j]);
      gaps[at] += std::exp(exact[j]) * (std::max(exact[j], -600.0) - said[j]);
    }
    rich.of({batch[b].data, batch[b].n, batch[b].D, batch[b].D}, {input.values.data() + at * F + J, F - J});
  });
  Checked result;
  result.missed.gain = second_opinion(input, seed, pool).gain;
  for (const double gap : gaps) result.gap += gap / static_cast<double>(B);
  return result;
}

TEST(Missed, CallsNothingMissedWhereNothingIs) {
  int above_zero = 0, alarms = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Missed missed = checked(seed % 4 == 0 ? "regression" : "beta-binomial", seed, 1200, nullptr).missed;
    above_zero += missed.bound() > 0 ? 1 : 0;
    alarms += missed.bound(0.00125) > 0 ? 1 : 0;
  }
  RecordProperty("above_zero", above_zero);
  EXPECT_LE(above_zero, 6);
  EXPECT_LE(alarms, 2);
}

TEST(Missed, BoundsWhatIsMissingFromBelow) {
  const Fault blind = [](std::vector<double>& log_p) { std::fill(log_p.begin(), log_p.end(), 0.0); };
  const Fault timid = [](std::vector<double>& log_p) {
    for (double& one : log_p) one *= 0.3;
  };
  const Fault rash = [](std::vector<double>& log_p) {
    for (double& one : log_p) one *= 3;
  };
  for (const char* problem : {"beta-binomial", "regression", "correlation"}) {
    for (const Fault& fault : {blind, timid, rash}) {
      const Checked result = checked(problem, 1, 3000, fault);
      EXPECT_GT(result.gap, 0.05) << problem;
      EXPECT_LT(result.missed.bound(), result.gap) << problem;
      EXPECT_GT(result.missed.bound(), result.gap / 3) << problem;
    }
  }
}

}  // namespace
}  // namespace occam
