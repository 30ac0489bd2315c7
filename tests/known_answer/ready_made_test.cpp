// Ready-made networks whose exact posterior is known, on data sets that they never saw.
#include <filesystem>

#include <gtest/gtest.h>

#include "occam/check/check_network.hpp"
#include "occam/check/network_problem.hpp"
#include "occam/compare/comparator.hpp"

namespace occam {
namespace {

double mean_kl(const std::string& path) {
  ThreadPool pool(2);
  Comparator comparator(read_network_file(path), pool);
  CheckRequest request;
  request.seed = 20240607;
  request.data_sets = 5000;
  SilentProgress progress;
  const CheckResult result =
      check_network(comparator, told_problem(comparator.file()), request, pool, progress);
  return metric_value(result.report.findings, "kl");
}

struct Aim {
  const char* network;
  double kl;  // nats
};

class ReadyMadeAim : public ::testing::TestWithParam<Aim> {};

TEST_P(ReadyMadeAim, IsReachedOnFreshSimulations) {
  const std::string path = OCCAM_SOURCE "/networks/" + std::string(GetParam().network) + ".occam";
  const double kl = mean_kl(path);
  EXPECT_LT(kl, GetParam().kl);
  EXPECT_GT(kl, 0);
}

INSTANTIATE_TEST_SUITE_P(ReadyMade, ReadyMadeAim,
                         ::testing::Values(Aim{"beta-binomial", 0.001}, Aim{"one-sample", 0.001}),
                         [](const auto& aim) { return aim.index == 0 ? "beta_binomial" : "one_sample"; });

}  // namespace
}  // namespace occam
