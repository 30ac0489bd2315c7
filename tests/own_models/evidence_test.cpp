// Exact evidences in a C++ file of the user's own: asked for in the worker, wrong ones found.
#include <cmath>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/json_file.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/problem_file.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
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
  shell_.write("coin.cpp", kCppCoin + evidence(R"(
  switch (static_cast<int>(p["mistake"])) {
    case 1: throw std::runtime_error("no idea");
    case 2: return std::nan("");
    case 3: return INFINITY;
    case 4: return data(data.n(), 0);
    case 5: std::abort();
    default: for (volatile long forever = 0;;) forever = forever + 1;
  })"));
  const std::pair<int, std::string> mistakes[] = {
      {1, "log_evidence: no idea, at data with n = "},
      {2, "log_evidence() returned nan, at data with n = "},
      {3, "log_evidence() returned inf"},
      {4, "log_evidence: cell ("},
      {5, "signal 6"},
      {6, "log_evidence: it gave no answer within 3 s (simulator_timeout_s), at data with n = "}};
  for (const auto& [number, says] : mistakes) {
    shell_.write("p.toml",
                 coins("\"coin.cpp\"", (number == 6 ? "simulator_timeout_s = 3\n" : "") +
                                           std::string("[parameters]\nmistake = ") + std::to_string(number)));
    fails(exact_, 65, {"model 'flat' (simulator `coin.cpp`)", says});
  }
}

// The exact posterior of simulated data is calibrated; one under other priors is not.
TEST_F(Evidence, ThatDoesNotFitTheSimulatorIsFound) {
  shell_.write("coin.cpp", kCppCoin + evidence("", "p[\"claimed\"]"));
  const auto check = [&](const std::string& claimed) {
    shell_.write("p.toml", coins("\"coin.cpp\"", "[parameters]\nclaimed = " + claimed));
    must("occam train p.toml -o net.occam --scope-reference 0" + quick_);
    const std::string said = must("occam check net.occam --problem p.toml --datasets 4000 --quiet -o report");
    EXPECT_TRUE(read_json(shell_.folder().path() + "/report/metrics.json", ErrorKind::io)["findings"]["exact"]
                    .contains("kl"));
    return said.find("does not fit the data sets") != std::string::npos;
  };
  EXPECT_FALSE(check("30"));  // theta ~ beta(30, 30), as in the problem file
  EXPECT_TRUE(check("8"));
  EXPECT_TRUE(check("200"));
}

// Of observed data as well, where the problem file is named; under another model prior if one was asked for.
TEST_F(Evidence, OfObservedDataIsShownBesideTheAnswer) {
  file(evidence());
  must("occam train p.toml -o net.occam --scope-reference 0" + quick_);
  shell_.write("d.csv", "x\n1\n1\n0\n1\n");
  const std::string compare = "occam compare net.occam d.csv --quiet --exact";
  fails(compare, 64, {"the exact posterior", "is not known", "--problem FILE.toml"});
  fails("occam compare net.occam d.csv --quiet --problem p.toml", 64, {"--problem belongs to --exact"});
  fails(compare + " --problem missing.toml", 66, {"missing.toml"});

  const auto exact = [&](const std::string& options) {
    const std::string said = must(compare + " --problem p.toml" + options);
    const std::size_t at = said.rfind("flat ");  // of the table below the answers
    EXPECT_NE(said.find("mean KL from the exact posterior"), std::string::npos) << said;
    return std::stod(said.substr(at + 5));
  };
  // Three heads of four: beta(4, 2), and beta(33, 31) over beta(30, 30).
  const double flat = std::exp(std::lgamma(4) + std::lgamma(2) - std::lgamma(6));
  const double fair =
      std::exp(std::lgamma(33) + std::lgamma(31) - std::lgamma(64) + std::lgamma(60) - 2 * std::lgamma(30));
  EXPECT_NEAR(exact(""), flat / (flat + fair), 6e-4);
  EXPECT_NEAR(exact(" --model-prior flat=0.9,fair=0.1"), 9 * flat / (9 * flat + fair), 6e-4);
  EXPECT_NEAR(exact(" --model-prior flat=1,fair=0"), 1, 6e-4);

  shell_.write("coin.cpp", kCppCoin + evidence("", "8"));
  fails(compare + " --problem p.toml", 78, {"not what the network was trained with"});
}

}  // namespace
}  // namespace occam::testing_support
