// Kinds of problems that came out wrong, or not at all, before inputs were tamed and networks chosen for
// them: each with a small part of the default training, and a bound that the whole of it missed then.
#include <algorithm>

#include "occam/check/check_network.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/study/study.hpp"
#include "occam/train/trainer.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
namespace {

struct Case {
  std::string name;
  std::int64_t iterations;
  double largest_kl;  // [nats] from the exact posterior
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class ZooTraining : public OwnModels, public ::testing::WithParamInterface<Case> {};

TEST_P(ZooTraining, ComesNearTheExactPosterior) {
  const Study study = unpacked(load_study("exact-zoo", "quick"), shell_.folder().path() + "/study");
  const Problem problem = study.problem(study.network(GetParam().name));
  TrainOptions options;
  options.iterations = GetParam().iterations;
  ThreadPool pool(2);
  SilentProgress progress;
  Trainer trainer(problem, {}, options, {}, pool, progress);
  Comparator comparator(trainer.train(), pool);
  CheckRequest request;
  request.seed = 5;
  request.data_sets = 2000;
  const double kl =
      metric_value(check_network(comparator, problem, request, pool, progress).report.findings, "kl");
  std::printf("%s: %.4f nats from exact after %lld steps\n", GetParam().name.c_str(), kl,
              static_cast<long long>(GetParam().iterations));
  EXPECT_LT(kl, GetParam().largest_kl);
}

INSTANTIATE_TEST_SUITE_P(All, ZooTraining,
                         ::testing::Values(Case{"heavy-tails", 300, 0.02},    // was .040
                                           Case{"nine-columns", 400, 0.1},    // was .136
                                           Case{"autoregressive", 200, 0.1},  // was .68, at chance
                                           Case{"change-point", 200, 0.03}),  // had no network
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace occam::testing_support
