// From models of the user's own to answers: a network that travels without its simulator, a simulator that
// has changed, tables in place of simulators, and the examples.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "occam/check/check_network.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/io/csv.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/trainer.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
namespace {

class OwnNetworks : public OwnModels {};

TEST_F(OwnNetworks, ANetworkAnswersWithoutItsSimulator) {
  shell_.write("coin.cpp", kCppCoin);
  shell_.write("p.toml", coins("\"coin.cpp\""));
  shell_.write("d.csv", "x\n1\n1\n0\n");
  must("mkdir away; occam train p.toml -o away/net.occam" + quick_);
  // Even where the simulator is at hand, it is not run without the user's word (hostile_networks_test.cpp).
  fails("occam check away/net.occam --datasets 50", 66,
        {"the simulators of 'coins' are needed", "`coin.cpp`", "--problem"});
  must("occam check away/net.occam --datasets 50 --quiet --problem p.toml");
  must("mkdir elsewhere; cp coin.cpp p.toml elsewhere/; mv coin.cpp hidden");
  const std::string answer = must("occam compare away/net.occam d.csv -o -");
  EXPECT_TRUE(answer.starts_with("dataset,n,best,p_flat,p_fair")) << answer;
  must("occam info away/net.occam");
  fails("occam check away/net.occam --datasets 50", 66,
        {"the simulators of 'coins' are needed", "--problem"});
  must("occam check away/net.occam --datasets 50 --quiet --problem elsewhere/p.toml");
  // A simulator that has changed is noticed.
  must("echo '// another' >> elsewhere/coin.cpp");
  fails("occam check away/net.occam --datasets 50 --problem elsewhere/p.toml", 78,
        {"elsewhere/p.toml", "a simulator has changed since"});
}

TEST_F(OwnNetworks, ATableTakesThePlaceOfASimulator) {
  must("occam simulate beta-binomial --datasets 400 --with-parameters --quiet -o t.csv");
  must("occam simulate beta-binomial --datasets 400 --with-parameters --quiet -o t.npz");
  must("occam simulate beta-binomial --datasets 100 --seed 2 --quiet -o fresh.csv");
  shell_.write("p.toml",
               "name = \"coins\"\ncolumns = [\"x\"]\n[model.flat]\ntheta = \"beta(1, "
               "1)\"\n[model.fair]\ntheta = \"beta(30, 30)\"\n");
  shell_.write("names.toml", "name = \"coins\"\ncolumns = [\"x\"]\n[model.flat]\n[model.fair]\n");
  must("occam train p.toml -o csv.occam --table t.csv" + quick_);
  must("occam train p.toml -o npz.occam --table t.npz" + quick_);
  EXPECT_TRUE(shell_.read("csv.occam") == shell_.read("npz.occam"));  // also the parameters were read
  must("occam train names.toml -o names.occam --table t.csv" + quick_);
  shell_.write("d.csv", "x\n1\n1\n0\n");
  must("occam compare names.occam d.csv -o -");
  // A table that the network knows counts only where it was set aside.
  const Outcome known = shell_("occam check csv.occam --table t.csv");
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_NE(known.err.find("taking the tenth that was set aside"), std::string::npos) << known.err;
  EXPECT_NE(known.out.find("all         40 "), std::string::npos) << known.out;
  EXPECT_NE(must("occam check csv.occam --table fresh.csv --quiet").find("all        100 "),
            std::string::npos);
  // What it cannot do is said.
  fails("occam simulate p.toml -o a.csv", 64, {"has no simulator: its data come from a table"});
  fails("occam train p.toml -o a.occam", 64, {"has no simulator"});
  fails("occam check csv.occam", 64, {"has no simulator"});
}

TEST_F(OwnNetworks, BadTablesAreToldWithTheirLine) {
  shell_.write("p.toml", "name = \"coins\"\ncolumns = [\"x\"]\n[model.flat]\n[model.fair]\n");
  const auto refused = [&](const std::string& text, const std::string& says) {
    shell_.write("t.csv", text);
    fails("occam train p.toml -o a.occam --quiet --table t.csv", 65, {says});
  };
  refused("dataset,model,y\n0,flat,1\n", "'x'");
  refused("dataset,x\n0,1\n", "'model'");
  refused("dataset,model,x\n0,flet,1\n",
          "t.csv:2: problem 'coins' has no model 'flet' (did you mean 'flat'?)");
  refused("dataset,model,x\n0,flat,1\n0,fair,1\n",
          "t.csv:3: data set '0' is of model 'flat' above, here of 'fair'");
  refused("dataset,model,x\n0,flat,1\n1,fair,1\n0,flat,1\n", "t.csv:4: data set '0' begins again");
  refused("dataset,model,x\n0,flat,1\n1,fair,\n", "t.csv:3: column 'x' holds no usable number");
  refused("dataset,model,x\n", "no data");
  std::string one_sided = "dataset,model,x\n";
  for (int k = 0; k < 100; ++k) one_sided += std::to_string(k) + ",flat,1\n";
  refused(one_sided, "it holds no data set of model 'fair'");
  for (int k = 100; k < 120; ++k) one_sided += std::to_string(k) + ",fair,1\n";
  shell_.write("t.csv", one_sided);
  const Outcome biased =
      shell_("occam train p.toml -o a.occam --table t.csv --iterations 3 --batch 4 --warmup 1");
  EXPECT_EQ(biased.code, 0) << biased.err;
  EXPECT_NE(biased.err.find("83.3 % of the data sets are of model 'flat', whose prior probability is 50 %"),
            std::string::npos)
      << biased.err;
  must("occam simulate one-sample --datasets 40 --quiet -o other.npz");
  fails("occam train p.toml -o b.occam --table other.npz", 65,
        {"other.npz: it holds simulations of the models"});
}

TEST_F(OwnNetworks, ObservedDataInAnotherUnitAreNoticed) {
  shell_.write("coin.cpp", kCppCoin);
  shell_.write("p.toml", coins("\"coin.cpp\""));
  must("occam train p.toml -o net.occam" + quick_);
  shell_.write("d.csv", "who,when,x\na,1,1\na,1,\na,2,1\nb,1,2\nb,2,NA\n");
  fails("occam compare net.occam d.csv --by who,when -o -", 65, {"d.csv:3"});
  const Outcome outcome = shell_("occam compare net.occam d.csv --by who,when --missing drop -o a.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("d.csv: left out 2 rows with missing values"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("data set 'b/2' has no row"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("column 'x': 1 of 3 values lie outside what the network was trained on (0 to 1"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(read_csv(shell_.folder() / "a.csv").text("dataset"),
            (std::vector<std::string>{"a/1", "a/2", "b/1"}));
  fails("occam compare net.occam d.csv --by when --missing maybe", 64, {"refuse, drop"});
}

// A Python simulator of the beta-binomial problem trains as well as the built-in one: after the same number
// of data sets both are within 0.01 nats of the exact posterior,
// and neither is much further from it than the other.
TEST_F(OwnNetworks, PythonTrainsAsWellAsTheBuiltIn) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("coin.py", kPythonCoins);
  shell_.write("p.toml", coins("\"coin.py\""));
  const Problem builtin = load_problem("beta-binomial");
  ThreadPool pool(2);
  const auto distance = [&](const Problem& problem) {
    TrainOptions options;
    options.iterations = 600;
    options.learning_rate = 3e-3;
    options.warmup = 50;
    options.validate_every = 200;
    options.validation_datasets = 300;
    SilentProgress progress;
    Trainer trainer(
        problem, {{"inv_width", 16}, {"equiv_width", 16}, {"modules", 1}, {"post_width", 16}, {"summary", 8}},
        options, {}, pool, progress);
    Comparator comparator(trainer.train(), pool);
    CheckRequest request;
    request.seed = 5;
    return metric_value(check_network(comparator, builtin, request, pool, progress).report.findings, "kl");
  };
  const double own = distance(load_problem(shell_.folder() / "p.toml"));
  const double reference = distance(builtin);
  EXPECT_LT(own, 0.01);
  EXPECT_LT(reference, 0.01);
  EXPECT_LT(std::abs(own - reference), 0.005);
}

class Examples : public OwnModels {
 protected:
  // Trains shortly and compares, as the example's README says.
  void runs(const std::string& folder, const std::string& compare, const std::vector<std::string>& ids) {
    std::filesystem::copy(OCCAM_SOURCE "/examples/" + folder, shell_.folder() / folder);
    must("occam train " + folder +
         "/problem.toml -o net.occam --quiet --iterations 4 --batch 8 --warmup 2"
         " --validation-datasets 20 --validate-every 4");
    must("occam compare net.occam " + compare + " -o a.csv --quiet");
    EXPECT_EQ(read_csv(shell_.folder() / "a.csv").text("dataset"), ids);
    // The file printed by occam is the same problem.
    const auto fingerprint = [&](const std::string& path) {
      return nlohmann::json::parse(must("occam models --json --show " + path))["fingerprint"];
    };
    must("occam models --show " + folder + "/problem.toml > " + folder + "/again.toml");
    EXPECT_EQ(fingerprint(folder + "/problem.toml"), fingerprint(folder + "/again.toml"));
  }
};

TEST_F(Examples, PythonLearning) {
  OCCAM_NEEDS_NUMPY();
  runs("python-learning", "python-learning/choices.csv --by subject",
       {"anna", "bilal", "chen", "dora", "emil", "fatou"});
}

TEST_F(Examples, RForgetting) {
  if (!has_r()) GTEST_SKIP() << "there is no Rscript";
  runs("r-forgetting", "r-forgetting/recall.csv --by participant", {"P01", "P02", "P03", "P04", "P05"});
}

TEST_F(Examples, CppEpidemic) {
  runs("cpp-epidemic", "cpp-epidemic/cases.csv --by town", {"northtown", "eastport", "southby", "westham"});
}

TEST_F(Examples, ResponseTimes) {
  runs("response-times", "response-times/rt.csv --by subject,session --missing drop",
       {"s1/1", "s1/2", "s2/1", "s2/2", "s3/1"});
}

}  // namespace
}  // namespace occam::testing_support
