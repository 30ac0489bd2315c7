#include "occam/abc/abc.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/abc/abc_result.hpp"
#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/problem_file.hpp"

namespace occam {
namespace {

const std::vector<float> kTosses = {1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1};

AbcResult toss_abc(AbcOptions options, int threads = 2, std::uint64_t seed = 1) {
  ThreadPool pool(threads);
  SilentProgress progress;
  const DataView data{kTosses.data(), static_cast<std::int64_t>(kTosses.size()), 1};
  return run_abc(builtin_problem("beta-binomial"), data, data.n, options, seed, pool, progress);
}

AbcOptions toss_options() {
  AbcOptions options = abc_options(builtin_problem("beta-binomial"));
  options.population_size = 200;
  return options;
}

std::string abc_refusal(const AbcOptions& options, ErrorKind kind) {
  try {
    toss_abc(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  return "";
}

TEST(Abc, PopulationsComeCloserUntilTheSmallestEpsilon) {
  AbcOptions options = toss_options();
  options.min_epsilon = 0.01;
  const AbcResult result = toss_abc(options);
  ASSERT_GT(result.populations.size(), 2u);
  std::int64_t simulations = result.calibration;
  for (std::size_t t = 0; t < result.populations.size(); ++t) {
    const AbcPopulation& one = result.populations[t];
    EXPECT_EQ(one.size, 200);
    EXPECT_NEAR(one.p[0] + one.p[1], 1, 1e-12);
    EXPECT_LE(one.ess, 200 + 1e-9);
    EXPECT_DOUBLE_EQ(one.acceptance, 200.0 / static_cast<double>(one.simulations));
    EXPECT_LE(one.epsilon, result.populations[t > 0 ? t - 1 : 0].epsilon);
    simulations += one.simulations;
  }
  EXPECT_EQ(result.simulations, simulations);
  EXPECT_EQ(result.populations.back().epsilon, 0.01);
  EXPECT_NE(result.stopped.find("--min-epsilon"), std::string::npos);
  for (const double distance : result.particles.distances) EXPECT_LE(distance, 0.01);
}

TEST(Abc, GivenEpsilonsAndSizesAreUsed) {
  AbcOptions options = toss_options();
  options.epsilons = {0.5, 0.2, 0.1};
  options.population_sizes = {50, 80, 30};
  const AbcResult result = toss_abc(options);
  ASSERT_EQ(result.populations.size(), 3u);
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(result.populations[t].epsilon, options.epsilons[t]);
    EXPECT_EQ(result.populations[t].size, options.population_sizes[t]);
  }
  EXPECT_EQ(result.calibration, 0);  // nothing to learn from it
}

TEST(Abc, AdaptiveSizesFollowTheAccuracyAskedFor) {
  AbcOptions options = toss_options();
  options.adaptive = true;
  options.populations = 3;
  options.min_epsilon = 0.05;
  options.mean_cv = 0.3;
  const std::int64_t coarse = toss_abc(options).populations.back().size;
  options.mean_cv = 0.1;
  const std::int64_t fine = toss_abc(options).populations.back().size;
  EXPECT_LT(coarse, 200);
  EXPECT_GT(fine, 2 * coarse);
  options.largest_population = 20;
  EXPECT_EQ(toss_abc(options).populations.back().size, 20);
}

TEST(Abc, LimitsEndARunWithWhatIsComplete) {
  AbcOptions options = toss_options();
  options.max_simulations = 1500;
  const AbcResult by_total = toss_abc(options);
  EXPECT_LE(by_total.simulations, 1500);
  EXPECT_NE(by_total.stopped.find("--max-simulations"), std::string::npos) << by_total.stopped;
  options.max_simulations = 0;
  options.min_acceptance = 0.4;
  const AbcResult by_rate = toss_abc(options);
  EXPECT_NE(by_rate.stopped.find("--min-acceptance"), std::string::npos) << by_rate.stopped;
  for (const AbcPopulation& one : by_rate.populations) EXPECT_GE(one.acceptance, 0.4);
  options = toss_options();
  options.populations = 2;
  EXPECT_EQ(toss_abc(options).populations.size(), 2u);
}

TEST(Abc, RejectionKeepsWhatItHas) {
  AbcOptions options = toss_options();
  options.method = "rejection";
  options.max_simulations = 1000;
  options.population_size = 5000;
  const AbcResult result = toss_abc(options);
  ASSERT_EQ(result.populations.size(), 1u);
  EXPECT_GT(result.populations[0].size, 20);
  EXPECT_LT(result.populations[0].size, 500);
  EXPECT_EQ(result.simulations, 1000);
  for (const double w : result.particles.weights)
    EXPECT_DOUBLE_EQ(w, 1 / static_cast<double>(result.particles.size()));
}

TEST(Abc, StopsAtOneModelOnlyWhenAsked) {
  // mu is 100 under one model and 0 under the other.
  const Problem problem = read_problem(
      "name = \"far\"\nn = 3\nfamily = \"normal\"\n[model.near]\nmu = 0\nsigma = \"uniform(0.5, 2)\"\n"
      "[model.far]\nmu = 100\nsigma = \"uniform(0.5, 2)\"\n",
      "far.toml");
  const std::vector<float> rows = {0.1f, -0.3f, 0.8f};
  ThreadPool pool(1);
  SilentProgress progress;
  AbcOptions options;
  options.summary = "moments";
  options.population_size = 100;
  options.populations = 4;
  const auto run = [&] { return run_abc(problem, {rows.data(), 3, 1}, 3, options, 1, pool, progress); };
  EXPECT_EQ(run().populations.size(), 4u);
  options.stop_at_one_model = true;
  const AbcResult result = run();
  EXPECT_LT(result.populations.size(), 4u);
  EXPECT_DOUBLE_EQ(result.populations.back().p[0], 1);
  EXPECT_EQ(result.populations.back().p[1], 0);
  const AbcRecord record{problem, options, 1, "d.csv", "d", 3, 3, std::nullopt};
  EXPECT_NE(abc_text(result, record).find("no particle of another model is left"), std::string::npos);
  EXPECT_TRUE(std::isinf(log_bayes_factors(problem, result.populations.back().p)[1]));
}

TEST(Abc, WhatCannotWorkIsRefused) {
  AbcOptions options = toss_options();
  options.epsilons = {0.1, 0.2};
  EXPECT_NE(abc_refusal(options, ErrorKind::usage).find("must not grow"), std::string::npos);
  options.epsilons = {0.2, 0.1};
  options.population_sizes = {10};
  EXPECT_NE(abc_refusal(options, ErrorKind::usage).find("as many of both"), std::string::npos);
  options = toss_options();
  options.adaptive = true;
  options.population_sizes = {10, 10};
  EXPECT_NE(abc_refusal(options, ErrorKind::usage).find("exclude each other"), std::string::npos);
  options = toss_options();
  options.summary_network = "net.occam";
  EXPECT_NE(abc_refusal(options, ErrorKind::usage).find("--summary-network"), std::string::npos);
  options = toss_options();
  options.epsilons = {0};
  options.max_simulations = 100;
  EXPECT_NE(abc_refusal(options, ErrorKind::bad_data).find("was given up"), std::string::npos);
}

TEST(Abc, SizesFollowTheRows) {
  EXPECT_EQ(size_to_simulate(builtin_problem("beta-binomial"), 37), 37);
  // Simulated with the design of the observed rows, as many as there are.
  EXPECT_EQ(size_to_simulate(builtin_problem("decision-making"), 201), 201);
  EXPECT_EQ(size_to_simulate(builtin_problem("decision-making:as_run"), 201), 201);
  EXPECT_EQ(size_to_simulate(builtin_problem("neuron"), 1101), 200);
  EXPECT_EQ(size_to_simulate(builtin_problem("jump-process"), 12), 41);  // a path may end early
  EXPECT_THROW(size_to_simulate(builtin_problem("neuron"), 1102), Error);
}

TEST(Abc, TablesOfProblemsAreCheckedAndComeBack) {
  for (const std::string& name : catalogue().problem_names()) {
    const Problem problem = builtin_problem(name);
    EXPECT_NO_THROW(abc_options(problem)) << name;
    if (problem.J() > 10) continue;
    EXPECT_EQ(read_problem(problem_toml(problem), "again.toml").abc(), problem.abc()) << name;
  }
  const std::string file = "name = \"p\"\nn = 3\nfamily = \"normal\"\n[model.a]\nmu = 0\n[model.b]\n[abc]\n";
  EXPECT_EQ(abc_options(read_problem(file + "populations = 3\n", "p.toml")).populations, 3);
  EXPECT_THROW(abc_options(read_problem(file + "populatons = 3\n", "p.toml")), Error);
  try {
    abc_options(read_problem(file + "summary = \"quantils\"\n", "p.toml"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    EXPECT_NE(std::string(error.what()).find("p [abc]: unknown summary 'quantils'"), std::string::npos);
  }
}

TEST(Abc, EveryFormSaysTheSame) {
  const Problem problem = builtin_problem("beta-binomial");
  const AbcResult result = toss_abc(toss_options());
  const AbcOptions options = toss_options();
  const AbcRecord record{problem, options, 1, "d.csv", "d", 12, 12, std::vector<double>{0.25, 0.75}};
  const nlohmann::json json = abc_json(result, record);
  EXPECT_EQ(json["populations"].size(), result.populations.size());
  EXPECT_EQ(json["p"]["flat"], result.populations.back().p[0]);
  EXPECT_EQ(json["exact"]["fair"], 0.75);
  EXPECT_EQ(json["log_bf"][json["best"].get<std::string>()], 0);
  EXPECT_TRUE(abc_csv(result, record)
                  .starts_with("population,epsilon,size,simulations,acceptance,ess,p_flat,p_fair\n1,"));
  EXPECT_NE(abc_text(result, record).find("     exact "), std::string::npos);
}

TEST(Abc, ParametersCalledLikeOtherColumnsAreToldApart) {
  const auto family = make_family("gaussian-mixture");
  ProblemSpec spec;
  spec.name = "mixtures";
  spec.models = {Model("a", family), Model("b", family, {{"mu0_x", Prior::normal(0, 1)}})};
  const Problem problem(std::move(spec));
  AbcResult result;
  result.particles = {5, {0, 1}, {0, 0, 0, 0, 0.25, 7, 0, 0, 0, 0.5}, {0.4, 0.6}, {1, 2}};
  const testing_support::TemporaryFolder folder;
  write_particles(folder / "p.csv", result, problem);
  EXPECT_EQ(read_file(folder / "p.csv"),
            "model,weight,distance,parameter_weight,mu0_x\na,0.4,1,0.25,\nb,0.6,2,0.5,7\n");
}

// Everything there is, with adaptive sizes, must not depend on the threads; nor on how many candidates are
// simulated at a time, which follows their number.
TEST(AbcThreaded, SameBytesOnAnyNumberOfThreads) {
  AbcOptions options = toss_options();
  options.adaptive = true;
  options.mean_cv = 0.15;
  options.populations = 4;
  const AbcResult one = toss_abc(options, 1);
  const AbcResult seven = toss_abc(options, 7);
  const Problem problem = builtin_problem("beta-binomial");
  const AbcRecord record{problem, options, 1, "", "", 12, 12, std::nullopt};
  EXPECT_EQ(abc_json(one, record).dump(), abc_json(seven, record).dump());
  EXPECT_EQ(one.particles.theta, seven.particles.theta);
  EXPECT_EQ(one.particles.weights, seven.particles.weights);
  EXPECT_NE(one.particles.theta, toss_abc(options, 7, 2).particles.theta);
}

}  // namespace
}  // namespace occam
