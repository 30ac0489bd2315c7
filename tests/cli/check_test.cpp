// check as a user runs it: the table, the verdict, the report, predictions out and in, bad input.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

// A network that has learned a little, in a second.
const std::string kTrain =
    "occam train beta-binomial -o net.occam --iterations 80 --batch 16 --warmup 20 --validate-every 40"
    " --validation-datasets 100 --quiet --network 'inv_width=8 equiv_width=8 post_width=8 summary=4'";

class Check : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shell_ = new Shell;
    ASSERT_EQ((*shell_)(kTrain).code, 0);
  }
  static void TearDownTestSuite() { delete shell_; }
  static json metrics(const std::string& folder) {
    return json::parse(shell_->read(folder + "/metrics.json"));
  }
  static std::string column(const std::string& text, const std::string& first_cell) {
    const auto at = text.find("\n" + std::string(8 - first_cell.size(), ' ') + first_cell + " ");
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  }

  static Shell* shell_;
};
Shell* Check::shell_ = nullptr;

TEST_F(Check, PrintsATableBySizeAndAVerdict) {
  const Outcome outcome = (*shell_)("occam check net.occam --datasets 300 --n 5,20 --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("       n  data sets  accuracy  log-loss")) << outcome.out;
  for (const char* row : {"5", "20", "all"}) {
    EXPECT_NE(column(outcome.out, row).find(" 300 "), std::string::npos) << outcome.out;
  }
  EXPECT_NE(outcome.out.find("KL [nats]"), std::string::npos);
  EXPECT_NE(outcome.out.find("\nVerdict: "), std::string::npos);
  const std::string seven =
      (*shell_)("occam check net.occam --datasets 300 --n 5,20 --quiet --threads 7").out;
  EXPECT_EQ((*shell_)("occam check net.occam --datasets 300 --n 5,20 --quiet --threads 1").out, seven);
  EXPECT_NE((*shell_)("occam check net.occam --datasets 300 --n 5,20 --quiet --seed 2").out, seven);
}

// What is wrong there is not the network's fault, nor that of its scope reference.
TEST_F(Check, ASizeOutsideTheTrainingIsSaidToBeSo) {
  const Outcome outcome = (*shell_)("occam check net.occam --datasets 300 --n 20,500 --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("N = 500 lies outside the sizes of the training, 1 to 100"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(outcome.out.find("N = 500: "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("N = 20 lies"), std::string::npos) << outcome.out;
}

// "1" may be the name of the first model and the index of the second.
TEST_F(Check, TrueModelsAreNamesOrIndicesInAllRows) {
  const auto check = [&](const std::string& names, const std::string& truths) {
    const auto comma = names.find(',');
    std::string text = "true,p_" + names.substr(0, comma) + ",p_" + names.substr(comma + 1) + "\n";
    for (const char truth : truths) text += std::string(1, truth) + ",0.9,0.1\n";
    shell_->write("odd.csv", text);
    return (*shell_)("occam check --predictions odd.csv --quiet");
  };
  const auto accuracy = [](const Outcome& outcome) { return column(outcome.out, "all").substr(21, 8); };
  const Outcome by_name = check("1,2", std::string(300, '1') + '2');
  EXPECT_EQ(by_name.code, 0) << by_name.err;
  EXPECT_EQ(accuracy(by_name).find("1.0"), std::string::npos);
  EXPECT_NE(accuracy(by_name).find("0.99"), std::string::npos) << by_name.out;
  const Outcome by_index = check("1,2", std::string(300, '0') + '1');
  EXPECT_EQ(by_index.code, 0) << by_index.err;
  EXPECT_NE(accuracy(by_index).find("0.99"), std::string::npos) << by_index.out;
  for (const auto& [names, truths, said] : std::vector<std::array<std::string, 3>>{
           {"1,2", "111", "odd.csv: column 'true' can be read in two ways"},
           {"1,2", "120",
            "odd.csv:4: column 'true': '0' is an index, and the rows before have names of models"},
           {"a,b", "ab1",
            "odd.csv:4: column 'true': '1' is an index, and the rows before have names of models"},
           {"a,b", "01a",
            "odd.csv:4: column 'true': 'a' is the name of a model, and the rows before have indices"},
           {"a,b", "c", "is neither a model nor an index from 0 to 1"}}) {
    const Outcome refused = check(names, truths);
    EXPECT_EQ(refused.code, 65) << names << " " << truths;
    EXPECT_NE(refused.err.find(said), std::string::npos) << refused.err;
  }
  EXPECT_EQ(check("0,1", std::string(100, '0') + '1').code, 0);
}

TEST_F(Check, ReportHasMetricsPageAndTables) {
  const Outcome outcome = (*shell_)(
      "occam check net.occam --datasets 200 --robustness all --robustness-datasets 20 -o report --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json all = metrics("report");
  for (const char* finding : {"accuracy", "scores", "calibration", "overconfidence", "model_shares", "exact",
                              "mean_probabilities", "uncertainty", "robustness"}) {
    EXPECT_TRUE(all["findings"].contains(finding)) << finding;
  }
  EXPECT_GT(shell_->read("report/report.html").size(), 1000u);
  for (const char* table : {"sizes", "calibration", "confusion", "accuracy_by_n", "kl_by_n", "bayes_factors",
                            "robustness_autocorrelation", "robustness_autocorrelation_chosen"}) {
    const CsvTable read = read_csv(shell_->folder() / ("report/" + std::string(table) + ".csv"));
    EXPECT_GT(read.rows(), 0u) << table;
  }
}

// A network that has seen two batches says much the same of all data: no worse calibrated than others, and
// blind.
TEST_F(Check, SaysWhatABlindNetworkMissed) {
  ASSERT_EQ((*shell_)("occam train beta-binomial -o blind.occam --iterations 2 --batch 16 --warmup 1 --quiet "
                      "--validation-datasets 100 --restarts 0 --scope-reference 0 "
                      "--network 'inv_width=8 equiv_width=8 post_width=8 summary=4'")
                .code,
            0);
  const Outcome outcome = (*shell_)("occam check blind.occam --datasets 200 -o blind --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("What was missed [serious]: The network leaves at least 0."), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("The exact posterior is known: "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("no fault was found"), std::string::npos) << outcome.out;
  const json missed = metrics("blind")["findings"]["missed"];
  const double bound = missed["missed_bound"]["value"].get<double>();
  EXPECT_GT(bound, 0.08);
  EXPECT_LT(bound, metrics("blind")["findings"]["exact"]["kl"]["value"].get<double>());
  EXPECT_GT(missed["missed_estimate"]["value"].get<double>(), bound);
  EXPECT_EQ(missed["missed_data_sets"]["value"].get<double>(), 2000);
  EXPECT_GT(read_csv(shell_->folder() / "blind/missed_by_n.csv").rows(), 0u);
  EXPECT_GT(read_csv(shell_->folder() / "blind/missed_statistics.csv").rows(), 0u);
}

TEST_F(Check, LooksForWhatWasMissedInAsManyDataSetsAsAsked) {
  const auto data_sets = [&](const std::string& options) -> double {
    EXPECT_EQ((*shell_)("occam check net.occam --datasets 100 -o many --quiet " + options).code, 0)
        << options;
    const json findings = metrics("many")["findings"];
    return findings.contains("missed") ? findings["missed"]["missed_data_sets"]["value"].get<double>() : 0;
  };
  EXPECT_EQ(data_sets(""), 1000);
  EXPECT_EQ(data_sets("--missed-datasets 1500"), 1500);
  EXPECT_EQ(data_sets("--missed-datasets 0"), 0);
  EXPECT_EQ(data_sets("--missed-datasets 900"), 0) << "too few to learn from";
  ASSERT_EQ((*shell_)("occam simulate beta-binomial --datasets 1200 -o table.npz --quiet").code, 0);
  ASSERT_EQ((*shell_)("occam check net.occam --table table.npz -o many --quiet").code, 0);
  EXPECT_EQ(metrics("many")["findings"]["missed"]["missed_data_sets"]["value"].get<double>(), 1200);
}

// Names of disturbances have capitals where the parameters have them; names of files do not.
TEST_F(Check, RobustnessOfANeuronIsReported) {
  const Outcome trained = (*shell_)(
      "occam train neuron -o neuron.occam --iterations 2 --batch 4 --warmup 1 --validation-datasets 10 "
      "--restarts 0"
      " --quiet --network 'lstm=4 post_width=8'");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Outcome outcome = (*shell_)(
      "occam check neuron.occam --datasets 20 --robustness g_K_low,sign_flip --robustness-datasets 4 -o "
      "neuron"
      " --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const CsvTable table = read_csv(shell_->folder() / "neuron/robustness_g_k_low.csv");
  EXPECT_EQ(table.numbers("strength").front(), 2.0);
  EXPECT_EQ(table.numbers("strength").back(), 0.05);
  // Advice that several judgements share is given once.
  const auto advice = outcome.out.find("Neither p nor u");
  EXPECT_EQ(outcome.out.find("Neither p nor u", advice + 1), std::string::npos) << outcome.out;
}

TEST_F(Check, SavedPredictionsGiveTheSameFindings) {
  for (const char* name : {"saved.csv", "saved.npz"}) {
    const std::string file = name;
    ASSERT_EQ(
        (*shell_)("occam check net.occam --datasets 250 --save-predictions " + file + " -o a --quiet").code,
        0);
    const Outcome again = (*shell_)("occam check --predictions " + file + " -o b --quiet");
    ASSERT_EQ(again.code, 0) << again.err;
    json a = metrics("a")["findings"];
    json b = metrics("b")["findings"];
    for (const char* finding :
         {"accuracy", "scores", "calibration", "overconfidence", "model_shares", "exact", "uncertainty"}) {
      EXPECT_EQ(a[finding], b[finding]) << finding;
    }
  }
}

TEST_F(Check, StrictTurnsAWarningIntoAnExitCode) {
  std::string text = "true,p_a,p_b\n";
  for (int k = 0; k < 400; ++k) text += k % 2 == 0 ? "a,0.99,0.01\n" : "b,0.99,0.01\n";
  shell_->write("bad.csv", text);
  EXPECT_EQ((*shell_)("occam check --predictions bad.csv --quiet").code, 0);
  const Outcome strict = (*shell_)("occam check --predictions bad.csv --strict --quiet");
  EXPECT_EQ(strict.code, 1);
  EXPECT_NE(strict.out.find("not to be trusted"), std::string::npos) << strict.out;
  text = "true,p_a,p_b\n";
  for (int k = 0; k < 400; ++k) text += k % 2 == 0 ? "a,0.5,0.5\n" : "b,0.5,0.5\n";
  shell_->write("honest.csv", text);
  EXPECT_EQ((*shell_)("occam check --predictions honest.csv --strict --quiet").code, 0);
}

TEST_F(Check, BadInputIsOneMessageAndACode) {
  shell_->write("sum.csv", "true,p_a,p_b\na,0.5,0.5\nb,0.5,0.6\n");
  shell_->write("good.csv", "true,p_a,p_b\na,0.5,0.5\n");
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"occam check", 64, "NET is missing"},
      {"occam check none.occam", 66, "none.occam"},
      {"occam check good.csv", 78, "good.csv"},
      {"occam check --predictions sum.csv", 65, "sum.csv:3: the probabilities p_a to p_b sum to 1.1"},
      {"occam check --predictions none.csv", 66, "none.csv"},
      {"occam check net.occam --predictions good.csv", 64, "one is wanted"},
      {"occam check --predictions good.csv --n 5", 64, "--n needs a network"},
      {"occam check --predictions good.csv --missed-datasets 5", 64, "--missed-datasets needs a network"},
      {"occam check --predictions good.csv --save-predictions x.csv", 64,
       "--save-predictions needs a network"},
      {"occam check --predictions good.csv --model-prior a=0.5,c=0.5", 64, "unknown model 'c'"},
      {"occam check net.occam --model-prior flat=1", 64, "--predictions"},
      {"occam check net.occam --robustness shfit", 64, "no disturbance 'shfit'"},
      {"occam check net.occam --save-predictions x.xlsx", 64, ".csv, .tsv or .npz"},
      {"occam check net.occam --save-predictions nowhere/x.csv", 74, "nowhere"},
      {"occam check net.occam --n 0", 64, "at least 1"},
      {"occam check net.occam --bins 1", 64, "at least 2"},
      {"occam check net.occam --false-alarm 0", 64, "above 0"},
      {"occam simulate one-sample --disturb shfit=1 -o x.csv", 64, "did you mean 'shift'?"},
      {"occam simulate beta-binomial --disturb autocorrelation -o x.csv", 64, "NAME=STRENGTH"},
  };
  for (const auto& [command, code, says] : cases) {
    const Outcome outcome = (*shell_)(command + " --quiet");
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << command;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << command << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << command << "\n" << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(shell_->folder() / "x.csv")) << command;
  }
}

}  // namespace
}  // namespace occam::testing_support
