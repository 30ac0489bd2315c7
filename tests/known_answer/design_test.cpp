// A network for data with a design, held against the exact posterior given the design, in every band of it.
#include <gtest/gtest.h>

#include "occam/check/check_network.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/simulate/problem_file.hpp"
#include "training_support.hpp"

namespace occam {
namespace {

using namespace testing_support;

TEST(DesignTraining, IsNearTheExactPosteriorAndCalibratedInEveryBandOfTheDesign) {
  ThreadPool pool(2);
  const Problem problem = load_problem("regression");
  TrainOptions options;
  options.iterations = 700;
  options.batch = 256;
  Listener listener;
  Comparator comparator(Trainer(problem, {}, options, {}, pool, listener).train(), pool);
  CheckRequest request;
  request.seed = 5;
  request.data_sets = 5000;
  SilentProgress progress;
  const CheckResult result = check_network(comparator, problem, request, pool, progress);
  for (const Finding& finding : result.report.findings) {
    if (finding.name != "conditions") continue;
    ASSERT_EQ(finding.judgements.size(), 1u);
    EXPECT_EQ(finding.judgements[0].severity, Severity::fine) << finding.judgements[0].text;
    const Table& table = finding.tables.at(0);
    ASSERT_EQ(table.rows.size(), 15u);  // five of N, of the mean of x, of its standard deviation
    ASSERT_EQ(table.columns[10], "kl");
    for (const auto& row : table.rows) {
      EXPECT_LT(std::get<double>(row[10]), 0.03) << std::get<std::string>(row[1]);
      EXPECT_NEAR(static_cast<double>(std::get<std::int64_t>(row[4])), 1000, 150);
    }
    return;
  }
  ADD_FAILURE() << "no finding 'conditions'";
}

}  // namespace
}  // namespace occam
