// The exact posterior of frequencies against brute-force quadrature, and what it promises about threads.
#include "occam/group/frequency_posterior.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/group/two_models.hpp"
#include "occam/group/variational.hpp"

namespace occam {
namespace {

Evidences random_evidences(std::int64_t N, std::int64_t J, double strength, std::uint64_t seed) {
  Rng rng(seed, Purpose::test, 0);
  Evidences result(J);
  std::vector<double> row(static_cast<std::size_t>(J));
  for (std::int64_t n = 0; n < N; ++n) {
    for (double& value : row) value = strength * rng.normal();
    row[static_cast<std::size_t>(rng.uniform_int(0, std::min<std::int64_t>(1, J - 1)))] += strength;
    result.add("s", row);
  }
  return result;
}

// Likelihood of three frequencies on a fine grid of the triangle, under the uniform prior.
struct Grid {
  std::vector<double> mean = {0, 0, 0}, exceedance = {0, 0, 0}, cdf_first;
  double log_marginal = 0;
  static constexpr int kSteps = 600;

  explicit Grid(const Evidences& evidences) : cdf_first(kSteps, 0.0) {
    double total = 0, cells = 0;
    for (int i = 0; i < kSteps; ++i) {
      for (int j = 0; i + j < kSteps; ++j) {
        const double a = (i + 1.0 / 3) / kSteps, b = (j + 1.0 / 3) / kSteps;
        add(evidences, {a, b, 1 - a - b}, i, total, cells);
        if (i + j + 1 < kSteps) {
          add(evidences, {a + 1.0 / 3 / kSteps, b + 1.0 / 3 / kSteps, 1 - a - b - 2.0 / 3 / kSteps}, i, total,
              cells);
        }
      }
    }
    for (auto* values : {&mean, &exceedance, &cdf_first}) {
      for (double& value : *values) value /= total;
    }
    for (std::size_t i = 1; i < cdf_first.size(); ++i) cdf_first[i] += cdf_first[i - 1];
    log_marginal = std::log(total / cells);
  }

  void add(const Evidences& evidences, const std::vector<double>& r, int i, double& total, double& cells) {
    double density = 1;
    for (std::int64_t n = 0; n < evidences.N(); ++n) {
      const auto w = evidences.row(n);
      density *= r[0] * w[0] + r[1] * w[1] + r[2] * w[2];
    }
    for (std::size_t k = 0; k < 3; ++k) mean[k] += density * r[k];
    exceedance[static_cast<std::size_t>(std::max_element(r.begin(), r.end()) - r.begin())] += density;
    cdf_first[static_cast<std::size_t>(i)] += density;
    total += density;
    cells += 1;
  }
};

// Sampled: bounds are four standard errors, each broken by correct code with probability about 6e-5; seeds
// are fixed.
TEST(FrequencyPosterior, OfThreeModelsAgreesWithAGrid) {
  ThreadPool pool(1);
  for (const double strength : {0.2, 1.5, 20.0}) {
    const Evidences evidences = random_evidences(12, 3, strength, 3);
    const Grid grid(evidences);
    const ModelFrequencies ours = frequency_posterior(evidences, {}, pool);
    EXPECT_LT(ours.error, 0.006);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(ours.mean[k], grid.mean[k], 4 * ours.error) << strength;
      EXPECT_NEAR(ours.exceedance[k], grid.exceedance[k], 4 * ours.error + 0.002) << strength;
    }
    const auto cdf = [&](double r) { return grid.cdf_first[static_cast<std::size_t>(r * Grid::kSteps)]; };
    EXPECT_NEAR(cdf(ours.low[0]), 0.025, 0.008) << strength;
    EXPECT_NEAR(cdf(ours.high[0]), 0.975, 0.008) << strength;
    const LogMarginal marginal = log_marginal(evidences, {}, pool);
    EXPECT_LT(marginal.error, 0.02);
    EXPECT_NEAR(marginal.value, grid.log_marginal, 4 * marginal.error + 1e-3) << strength;
  }
}

TEST(FrequencyPosterior, OfTwoModelsIsExact) {
  ThreadPool pool(1);
  const Evidences evidences = random_evidences(15, 2, 1, 4);
  double total = 0, mean = 0, above = 0;
  const int steps = 200000;
  for (int i = 0; i < steps; ++i) {
    const double r = (i + 0.5) / steps;
    double density = 1;
    for (std::int64_t n = 0; n < evidences.N(); ++n) {
      density *= r * evidences.row(n)[0] + (1 - r) * evidences.row(n)[1];
    }
    total += density / steps;
    mean += density * r / steps;
    above += r > 0.5 ? density / steps : 0;
  }
  const TwoModelPosterior ours(evidences, 1);
  EXPECT_NEAR(ours.log_marginal(), std::log(total), 1e-8);
  EXPECT_NEAR(ours.mean(), mean / total, 1e-8);
  EXPECT_NEAR(1 - ours.cdf(0.5), above / total, 1e-8);
  EXPECT_NEAR(ours.cdf(ours.quantile(0.3)), 0.3, 1e-10);
  const ModelFrequencies result = frequency_posterior(evidences, {}, pool);
  EXPECT_EQ(result.error, 0);
  EXPECT_NEAR(result.low[1], 1 - result.high[0], 1e-12);
  EXPECT_NEAR(ours.cdf(result.low[0]), 0.025, 1e-10);
}

// Many data sets that say nothing leave the prior as it was, where the variational posterior is sure.
TEST(FrequencyPosterior, WithoutEvidenceStaysThePrior) {
  ThreadPool pool(1);
  Evidences none(2);
  for (int n = 0; n < 1000; ++n) none.add("s", std::vector<double>{3.0, 3.0});
  const TwoModelPosterior exact(none, 1);
  EXPECT_NEAR(exact.quantile(0.025), 0.025, 1e-9);
  EXPECT_NEAR(exact.log_marginal(), 0, 1e-9);
  Evidences three(3);
  for (int n = 0; n < 300; ++n) three.add("s", std::vector<double>{0.0, 0.0, 0.0});
  const ModelFrequencies sampled = frequency_posterior(three, {.sweeps = 256}, pool);
  // Beta(1, 2): 1 - sqrt(1 - p).
  EXPECT_NEAR(sampled.low[0], 1 - std::sqrt(0.975), 0.005);
  EXPECT_NEAR(sampled.high[0], 1 - std::sqrt(0.025), 0.02);
  EXPECT_LT(sampled.error, 0.02);
  EXPECT_NEAR(log_marginal(three, {}, pool).value, 0, 1e-9);
}

// A decisive member each: the posterior is Dirichlet(1 + counts), as is the variational one.
TEST(FrequencyPosterior, WithDecisiveEvidenceCounts) {
  ThreadPool pool(1);
  Evidences evidences(3);
  for (const std::size_t k : {0U, 0U, 0U, 1U}) {
    std::vector<double> row(3, -1e4);
    row[k] = 0;
    evidences.add("s", row);
  }
  const ModelFrequencies ours = frequency_posterior(evidences, {}, pool);
  EXPECT_NEAR(ours.mean[0], 4.0 / 7, 1e-12);  // nothing to sample
  EXPECT_NEAR(ours.mean[2], 1.0 / 7, 1e-12);
  EXPECT_NEAR(log_marginal(evidences, {}, pool).value, std::log(2.0 * 6 / 720), 1e-9);
  EXPECT_NEAR(ours.exceedance[0], variational_frequencies(evidences, 1).exceedance[0], 0.01);
}

TEST(FrequencyPosterior, TakesAnotherPrior) {
  ThreadPool pool(1);
  Evidences evidences(3);
  evidences.add("s", std::vector<double>{0.0, -INFINITY, -INFINITY});
  for (const double alpha0 : {0.2, 3.0}) {
    const ModelFrequencies ours = frequency_posterior(evidences, {.alpha0 = alpha0}, pool);
    EXPECT_NEAR(ours.mean[0], (1 + alpha0) / (1 + 3 * alpha0), 1e-12);
    EXPECT_NEAR(log_marginal(evidences, {.alpha0 = alpha0}, pool).value, -std::log(3.0), 1e-12);
  }
}

TEST(FrequencyPosteriorThreaded, DoesNotDependOnThreads) {
  const Evidences evidences = random_evidences(9, 5, 1, 6);
  ThreadPool one(1), many(5);
  const FrequencyOptions options{.seed = 7, .sweeps = 64, .particles = 64};
  const ModelFrequencies a = frequency_posterior(evidences, options, one);
  const ModelFrequencies b = frequency_posterior(evidences, options, many);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.exceedance, b.exceedance);
  EXPECT_EQ(log_marginal(evidences, options, one).value, log_marginal(evidences, options, many).value);
  EXPECT_NE(a.mean, frequency_posterior(evidences, {.seed = 8, .sweeps = 64}, one).mean);
}

}  // namespace
}  // namespace occam
