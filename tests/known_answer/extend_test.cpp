// Networks that grow, on coins whose exact posterior is known: two kinds of coin, then three.
#include <gtest/gtest.h>

#include "occam/check/check_network.hpp"
#include "occam/check/retention.hpp"
#include "occam/core/error.hpp"
#include "occam/core/progress.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/trainer.hpp"

namespace occam {
namespace {

Problem coins(const std::string& flat_prior, bool third) {
  return read_problem(
      "name = \"coins\"\nn = \"uniform(1, 100)\"\nfamily = \"bernoulli\"\n[model.flat]\ntheta = \"" +
          flat_prior + "\"\n[model.fair]\ntheta = \"beta(30, 30)\"\n" +
          (third ? "[model.biased]\ntheta = \"beta(8, 3)\"\n" : ""),
      "coins");
}

NetworkFile train(const Problem& problem, std::int64_t iterations, std::shared_ptr<const NetworkFile> start,
                  ThreadPool& pool) {
  TrainOptions options;
  options.iterations = iterations;
  options.batch = 64;
  options.learning_rate = 2e-3;
  options.validation_datasets = 500;
  TrainRun run;
  run.start = std::move(start);
  SilentProgress silent;
  return Trainer(problem, {{"inv_width", 32}, {"equiv_width", 32}, {"post_width", 32}}, options, run, pool,
                 silent)
      .train();
}

double distance(const NetworkFile& file, const Problem& problem, ThreadPool& pool) {
  Comparator comparator(file, pool);
  CheckRequest request;
  request.seed = 3;
  request.data_sets = 4000;
  SilentProgress progress;
  return metric_value(check_network(comparator, problem, request, pool, progress).report.findings, "kl");
}

TEST(Extend, AThirdModelTakesAThirdOfTheDataAndLeavesTheOldPairAsItWas) {
  ThreadPool pool(2);
  const auto two = std::make_shared<NetworkFile>(train(coins("beta(1, 1)", false), 3600, nullptr, pool));
  const Problem three = coins("beta(1, 1)", true);
  const NetworkFile grown = train(three, 1200, two, pool);
  EXPECT_LT(distance(grown, three, pool),
            0.005);  // no training from scratch could be further ahead than that
  Comparator before(*two, pool), after(grown, pool);
  const auto retention = measure_retention(before, after, three, 4, 4000, pool);
  ASSERT_TRUE(retention.has_value());
  EXPECT_EQ(retention->models, (std::vector<std::string>{"flat", "fair"}));
  EXPECT_LT(*retention->after.kl, *retention->before.kl + 0.002);
}

TEST(Extend, TunesToOtherPriors) {
  ThreadPool pool(2);
  const auto old = std::make_shared<NetworkFile>(train(coins("beta(1, 1)", false), 1200, nullptr, pool));
  const Problem changed = coins("beta(4, 1)", false);
  EXPECT_GT(distance(*old, changed, pool), 0.03);  // the old answers are wrong there
  EXPECT_LT(distance(train(changed, 600, old, pool), changed, pool), 0.008);
}

TEST(Extend, RetentionNeedsTwoSharedModels) {
  ThreadPool pool(1);
  const Problem three = coins("beta(1, 1)", true);
  const NetworkFile file = train(three, 5, nullptr, pool);
  NetworkFile stranger = file;
  stranger.model_names = {"flat", "other", "another"};
  Comparator before(stranger, pool), after(file, pool);
  EXPECT_FALSE(measure_retention(before, after, three, 1, 10, pool).has_value());
}

}  // namespace
}  // namespace occam
