// The problems of studies/exact-zoo: what they call exact has to fit what they simulate. True models are
// draws from the exact posterior, so its log-loss minus its entropy and its mean minus the shares of the
// models vanish but for chance. Each problem would fail by chance with probability 1e-4 if its seed were
// drawn; seeds are fixed.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "occam/check/evidence_fit.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/exact_posteriors.hpp"
#include "occam/simulate/simulator.hpp"
#include "occam/study/study.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
namespace {

constexpr double kLevel = 1e-4;

// More data sets on demand: OCCAM_ZOO_DATASETS=20000.
std::int64_t data_sets() {
  const char* wanted = std::getenv("OCCAM_ZOO_DATASETS");
  return wanted == nullptr ? 2000 : std::atoll(wanted);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const StudyNetwork& network : load_study("exact-zoo", "quick").networks) all.push_back(network.name);
  return all;
}

// Compiling takes longer than asking: half as long with little optimisation, unless somebody asks for other
// flags.
class ExactProblems : public OwnModels, public ::testing::WithParamInterface<std::string> {
 protected:
  ExactProblems() {
    if (free_) ::setenv("CXXFLAGS", "-O1", 1);
  }
  ~ExactProblems() override {
    if (free_) ::unsetenv("CXXFLAGS");
  }

 private:
  const bool free_ = std::getenv("CXXFLAGS") == nullptr;
};

class ExactZoo : public ExactProblems {};

TEST_P(ExactZoo, ExactPosteriorFitsTheSimulator) {
  // As `reproduce` runs it: from the texts inside the program.
  const Study study = unpacked(load_study("exact-zoo", "quick"), shell_.folder().path() + "/study");
  const Problem problem = study.problem(study.network(GetParam()));
  ASSERT_TRUE(problem.has_exact_posterior());
  ThreadPool pool(2);
  Simulator simulator(problem, 3, Purpose::test);
  const auto J = static_cast<std::size_t>(problem.J());
  EvidenceFit fit(J);
  double right = 0, loss = 0;
  Batch batch;
  const std::int64_t K = data_sets();
  for (std::int64_t first = 0; first < K; first += 500) {
    simulator.simulate_range(first, std::min<std::int64_t>(500, K - first), pool, batch);
    const std::vector<double> q = exact_posteriors(problem, batch, pool);
    for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
      const std::span<const double> one(q.data() + b * J, J);
      const auto truth = static_cast<std::size_t>(batch.models()[b]);
      fit.add(one, truth);
      right += static_cast<std::size_t>(std::max_element(one.begin(), one.end()) - one.begin()) == truth;
      loss -= std::log(one[truth]);
    }
  }
  const double accuracy = right / static_cast<double>(K), chance = 1 / static_cast<double>(J);
  loss /= static_cast<double>(K);
  std::printf("%-16s J %2zu accuracy %.4f loss %.4f z %5.2f largest z of a share %5.2f\n", GetParam().c_str(),
              J, accuracy, loss, fit.loss_z(), fit.share_z(fit.worst_model()));
  EXPECT_LT(fit.excess(kLevel), 1) << "log-loss: z = " << fit.loss_z() << ", share of "
                                   << problem.model_names()[fit.worst_model()]
                                   << ": z = " << fit.share_z(fit.worst_model());
  // Something is to be learned, and not everything is plain.
  EXPECT_GT(accuracy, chance + 0.02);
  EXPECT_LT(accuracy, 0.999);
  EXPECT_GT(loss, 0.01);
  EXPECT_LT(loss, -std::log(chance) - 0.003);
}

INSTANTIATE_TEST_SUITE_P(All, ExactZoo, ::testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Those of bench/unseen, which are trained on now and then only, still compile and know their answer. That it
// fits was seen with thousands of data sets.
std::vector<std::string> unseen_names() {
  std::vector<std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(OCCAM_SOURCE "/bench/unseen")) {
    if (file.path().extension() == ".toml") all.push_back(file.path().stem());
  }
  std::sort(all.begin(), all.end());
  return all;
}

class UnseenProblems : public ExactProblems {};

TEST_P(UnseenProblems, KnowTheirAnswer) {
  const Problem problem = load_problem(OCCAM_SOURCE "/bench/unseen/" + GetParam() + ".toml");
  ASSERT_TRUE(problem.has_exact_posterior());
  ThreadPool pool(2);
  Simulator simulator(problem, 3, Purpose::test);
  Batch batch;
  simulator.simulate_range(0, 40, pool, batch);
  const std::vector<double> q = exact_posteriors(problem, batch, pool);
  const auto J = static_cast<std::size_t>(problem.J());
  double right = 0;
  for (std::size_t b = 0; b < 40; ++b) {
    const std::span<const double> one(q.data() + b * J, J);
    EXPECT_NEAR(std::accumulate(one.begin(), one.end(), 0.0), 1, 1e-9);
    right += one[static_cast<std::size_t>(batch.models()[b])];
  }
  EXPECT_GT(right / 40, 1 / static_cast<double>(J)) << "mean probability of the true models";
}

INSTANTIATE_TEST_SUITE_P(All, UnseenProblems, ::testing::ValuesIn(unseen_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace occam::testing_support
