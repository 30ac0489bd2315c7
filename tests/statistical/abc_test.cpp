// ABC against exact posteriors. With the mean as the summary and epsilon 0 the approximation is none for coin
// tosses, so what is left is the noise of the particles: each check allows kSigmas = 4.9 standard errors
// (false alarm 1e-6), those of a weighted sum for SMC. Seeds are fixed.
#include "occam/abc/abc.hpp"

#include <cmath>

#include <boost/math/special_functions/beta.hpp>
#include <gtest/gtest.h>

#include "occam/io/csv.hpp"
#include "occam/simulate/catalogue.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

constexpr int kN = 20;
constexpr int kK = 14;

AbcResult toss_posterior(const AbcOptions& options, const Problem& problem) {
  std::vector<float> rows(kN, 0.0f);
  std::fill_n(rows.begin(), kK, 1.0f);
  ThreadPool pool(2);
  SilentProgress progress;
  return run_abc(problem, {rows.data(), kN, 1}, kN, options, 5, pool, progress);
}

double exact_share(const Problem& problem, std::size_t model) {
  std::vector<float> rows(kN, 0.0f);
  std::fill_n(rows.begin(), kK, 1.0f);
  return std::exp((*problem.exact_log_posterior({rows.data(), kN, 1}))[model]);
}

// The standard error of the share of a model, from the weights.
double share_error(const Particles& particles, std::int32_t model, double p) {
  double sum = 0;
  for (std::size_t k = 0; k < particles.weights.size(); ++k) {
    const double off = particles.weights[k] * ((particles.models[k] == model ? 1 : 0) - p);
    sum += off * off;
  }
  return std::sqrt(sum);
}

// Mean of theta under a model, and its standard error.
std::pair<double, double> weighted_mean(const Particles& particles, std::int32_t model) {
  double mean = 0;
  double total = 0;
  for (std::int64_t k = 0; k < particles.size(); ++k) {
    if (particles.models[static_cast<std::size_t>(k)] != model) continue;
    mean += particles.weights[static_cast<std::size_t>(k)] * particles.parameters(k)[0];
    total += particles.weights[static_cast<std::size_t>(k)];
  }
  mean /= total;
  double sum = 0;
  for (std::int64_t k = 0; k < particles.size(); ++k) {
    if (particles.models[static_cast<std::size_t>(k)] != model) continue;
    const double off =
        particles.weights[static_cast<std::size_t>(k)] / total * (particles.parameters(k)[0] - mean);
    sum += off * off;
  }
  return {mean, std::sqrt(sum)};
}

TEST(AbcExact, RejectionIsTheExactPosterior) {
  const Problem problem = builtin_problem("beta-binomial");
  AbcOptions options = abc_options(problem);
  options.method = "rejection";
  options.population_size = 20000;
  const AbcResult result = toss_posterior(options, problem);
  ASSERT_EQ(result.particles.size(), 20000);
  const double p = exact_share(problem, 0);
  EXPECT_NEAR(result.populations.back().p[0], p, kSigmas * std::sqrt(p * (1 - p) / 20000));
  // The parameters, too: theta | flat is Beta(1 + K, 1 + N - K).
  for (const auto& [model, a] : {std::pair{0, 1.0}, std::pair{1, 30.0}}) {
    std::vector<double> draws;
    for (std::int64_t k = 0; k < result.particles.size(); ++k) {
      if (result.particles.models[static_cast<std::size_t>(k)] == model)
        draws.push_back(result.particles.parameters(k)[0]);
    }
    EXPECT_GT(
        kolmogorov_smirnov(draws, [a = a](double x) { return boost::math::ibeta(a + kK, a + kN - kK, x); }),
        kFalseAlarm)
        << model;
  }
}

TEST(AbcExact, SmcAgrees) {
  const Problem problem = builtin_problem("beta-binomial");
  AbcOptions options = abc_options(problem);
  options.epsilons = {0.3, 0.1, 0.0};
  options.population_size = 10000;
  const AbcResult result = toss_posterior(options, problem);
  const double p = exact_share(problem, 0);
  EXPECT_NEAR(result.populations.back().p[0], p, kSigmas * share_error(result.particles, 0, p));
  for (const auto& [model, a] : {std::pair{0, 1.0}, std::pair{1, 30.0}}) {
    const auto [mean, error] = weighted_mean(result.particles, model);
    EXPECT_NEAR(mean, (a + kK) / (2 * a + kN), kSigmas * error) << model;
  }
}

// A model prior that is not even, and a model that is often proposed from the other.
TEST(AbcExact, SmcRespectsTheModelPriorAndTheModelKernel) {
  const auto family = make_family("bernoulli");
  ProblemSpec spec;
  spec.name = "uneven";
  spec.size = SizeDistribution::fixed(kN);
  spec.model_prior = {0.15, 0.6, 0.25};
  spec.models = {Model("flat", family, {{"theta", Prior::beta(1, 1)}}),
                 Model("fair", family, {{"theta", Prior::beta(30, 30)}}),
                 Model("exact", family, {{"theta", Prior::fixed(0.5)}})};
  const Problem problem(std::move(spec));
  AbcOptions options;
  options.summary = "moments order=1";
  options.scale = false;
  options.epsilons = {0.2, 0.1, 0.0};
  options.population_size = 10000;
  for (const double stay : {0.3, 0.9}) {
    options.stay = stay;
    const AbcResult result = toss_posterior(options, problem);
    for (std::int32_t model = 0; model < 3; ++model) {
      const auto j = static_cast<std::size_t>(model);
      const double p = exact_share(problem, j);
      EXPECT_NEAR(result.populations.back().p[j], p, kSigmas * share_error(result.particles, model, p))
          << model << " with stay " << stay;
    }
  }
}

// The published set-up on one path of autocatalysis with rate 2 whose exact posterior favours it (0.9925).
TEST(AbcJumpProcess, PicksTheModelThatMadeThePath) {
  const Problem problem = builtin_problem("jump-process");
  const CsvTable table = read_csv(OCCAM_SOURCE "/examples/jump-process/path.csv");
  std::vector<float> rows;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (const char* column : {"t", "z", "y"}) rows.push_back(static_cast<float>(table.numbers(column)[r]));
  }
  const DataView data{rows.data(), static_cast<std::int64_t>(table.rows()), 3};
  EXPECT_NEAR(std::exp((*problem.exact_log_posterior(data))[0]), 0.9925, 5e-4);
  AbcOptions options = abc_options(problem);
  EXPECT_EQ(options.min_epsilon, 0.7);
  EXPECT_EQ(options.populations, 15);
  EXPECT_EQ(options.population_size, 500);
  options.adaptive = false;  // for the sake of time
  ThreadPool pool(2);
  SilentProgress progress;
  const AbcResult result =
      run_abc(problem, data, size_to_simulate(problem, data.n), options, 1, pool, progress);
  EXPECT_GT(result.populations.back().p[0], 0.9);
  EXPECT_LT(result.populations.back().epsilon, 1);
  const auto [rate, error] = weighted_mean(result.particles, 0);
  EXPECT_NEAR(rate, 2, 0.5);
}

}  // namespace
}  // namespace occam
