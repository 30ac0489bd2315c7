// Exact evidences in a C++ file of the user's own: asked for in the worker, wrong ones found.
#include <cmath>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/json_file.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/problem_file.hpp"
#include "own_support.hpp"

namespace occam::testing {
namespace {

// What a coin with a beta prior has for evidence; `more` is done first.
std::string evidence(const std::string& more = "", const std::string& fair = "30") {
  return "\ndouble log_evidence(const occam::Parameters& p, const occam::Data& data) {\n" + more +
         "\n  const double a = p.is(\"flat\") ? 1 : " + fair +
         ";\n"
         "  double heads = 0;\n"
         "  for (long i = 0; i < data.n(); ++i) heads += data(i, \"x\");\n"
         "  return std::lgamma(a + heads) + std::lgamma(a + data.n() - heads) - std::lgamma(2 * a + "
         "data.n()) +\n"
         "         std::lgamma(2 * a) - 2 * std::lgamma(a);\n"
         "}\n";
}

class Evidence : public OwnModels {
 protected:
  void file(const std::string& evidence, const std::string& more = "") {
    shell_.write("coin.cpp", kCppCoin + evidence);
    shell_.write("p.toml", coins("\"coin.cpp\"", more));
  }
  const std::string exact_ = "occam simulate p.toml --datasets 40 --exact --quiet";
};

TEST_F(Evidence, IsThatOfTheBuiltInFamily) {
  file(evidence());
  const Problem own = load_problem(shell_.folder().path() + "/p.toml");
  const Problem builtin = builtin_problem("beta-binomial");
  ASSERT_TRUE(own.has_exact_posterior());
  const std::vector<float> tosses = {1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0};
  for (std::int64_t n = 1; n <= 12; ++n) {
    const DataView data{tosses.data(), n, 1};
    const std::vector<double> ours = *own.exact_log_posterior(data);
    const std::vector<double> theirs = *builtin.exact_log_posterior(data);
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(ours[j], theirs[j], 1e-9);
  }
}

TEST_F(Evidence, DoesNotDependOnThreads) {
  file(evidence());
  const std::string one = must(exact_ + " --threads 1");
  EXPECT_NE(one.find("exact_flat"), std::string::npos);
  EXPECT_EQ(one, must(exact_ + " --threads 3"));
}

TEST_F(Evidence, AFileWithoutItKnowsNone) {
  file("");
  fails(exact_, 64, {"has no exact posterior"});
  // To look at a problem needs no compiler.
  must("CXX=no-such-compiler occam models --show p.toml --json");
}

TEST_F(Evidence, KnowsFixedParametersOnly) {
  file(evidence("  if (p[\"side\"] != 2) throw std::runtime_error(\"side\");"), "[parameters]\nside = 2\n");
  must(exact_);
  file(evidence("  p[\"theta\"];"));
  fails(exact_, 65,
        {"model 'flat' (simulator `coin.cpp`): log_evidence: ", "parameter 'theta' of model 'flat' is free",
         "at data with n = "});
}

TEST_F(Evidence, MistakesAreShown) {
  file("\ndouble log_evidence(const char* model, const occam::Data&) { return model[0]; }\n");
  fails(exact_, 78, {"its log_evidence() has other arguments than expected"});
  const std::pair<std::string, std::string> mistakes[] = {
      {"  throw std::runtime_error(\"no idea\");", "log_evidence: no idea, at data with n = "},
      {"  return std::nan(\"\");", "log_evidence() returned nan, at data with n = "},
      {"  return INFINITY;", "log_evidence() returned inf"},
      {"  data(data.n(), 0);", "log_evidence: cell ("},
      {"  std::abort();", "signal 6"},
      {"  for (volatile long forever = 0;; ++forever) {}", "longer than 1 s"}};
  for (const auto& [more, says] : mistakes) {
    file(evidence(more), "simulator_timeout_s = 1\n");
    fails(exact_, 65, {"model 'flat' (simulator `coin.cpp`)", says});
  }
}

// The exact posterior of simulated data is calibrated; one under other priors is not.
TEST_F(Evidence, ThatDoesNotFitTheSimulatorIsFound) {
  const auto check = [&](const std::string& text) {
    file(text);
    must("occam train p.toml -o net.occam --scope-reference 0" + quick_);
    const std::string said = must("occam check net.occam --problem p.toml --datasets 4000 --quiet -o report");
    EXPECT_TRUE(read_json(shell_.folder().path() + "/report/metrics.json", ErrorKind::io)["findings"]["exact"]
                    .contains("kl"));
    return said;
  };
  const std::string misfit = "does not fit the data sets";
  EXPECT_EQ(check(evidence()).find(misfit), std::string::npos);
  EXPECT_NE(check(evidence("", "20")).find(misfit), std::string::npos);  // another prior
  EXPECT_NE(check(evidence("  if (p.is(\"fair\")) return -0.6 * data.n();")).find(misfit), std::string::npos);
}

}  // namespace
}  // namespace occam::testing
