// train, compare and info as a user runs them: files, bytes, signals, bad input.
#include <algorithm>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

// Small enough to train in a second.
const std::string kQuick =
    " --iterations 80 --batch 16 --warmup 20 --validate-every 40 --validation-datasets 100 --quiet"
    " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4' --scope-reference 200 --scope-calibration "
    "200";

class TrainCompare : public ::testing::Test {
 protected:
  void train(const std::string& more = "") {
    const Outcome outcome = shell_("occam train beta-binomial -o net.occam" + kQuick + more);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "");
  }
  Shell shell_;
};

TEST_F(TrainCompare, SameBytesOnAnyNumberOfThreads) {
  train(" --threads 1");
  const std::string one = shell_.read("net.occam");
  train(" --threads 7");
  EXPECT_TRUE(one == shell_.read("net.occam"));
  train(" --threads 7 --seed 2");
  EXPECT_FALSE(one == shell_.read("net.occam"));
}

TEST_F(TrainCompare, TwoEnginesRunSideBySide) {
  const std::string seen = "two engines side by side, largest differences: ";
  std::string loud = kQuick;
  loud.replace(loud.find(" --quiet"), 8, "");
  const Outcome trained = shell_("occam train beta-binomial -o net.occam --device check" + loud);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find(seen), std::string::npos) << trained.err;
  EXPECT_NE(trained.err.find("over 80 steps"), std::string::npos) << trained.err;
  shell_.write("d.csv", "x\n1\n1\n0\n");
  const Outcome compared = shell_("occam compare net.occam d.csv --device check");
  EXPECT_EQ(compared.code, 0);
  EXPECT_NE(compared.err.find(seen), std::string::npos) << compared.err;
  const Outcome checked = shell_("occam check net.occam --device check --datasets 50");
  EXPECT_EQ(checked.code, 0);
  EXPECT_NE(checked.err.find(seen), std::string::npos) << checked.err;
  const Outcome unknown = shell_("occam compare net.occam d.csv --device abacus");
  EXPECT_EQ(unknown.code, 64);
  EXPECT_NE(unknown.err.find("abacus"), std::string::npos);
}

TEST_F(TrainCompare, AnswersInEveryFormatAgree) {
  train();
  shell_.write("d.csv", "subject,x\na,1\na,1\na,0\nb,1\nb,1\n");
  ASSERT_EQ(shell_("occam compare net.occam d.csv --by subject -o a.csv --quiet").code, 0);
  const CsvTable table = read_csv(shell_.folder() / "a.csv");
  EXPECT_EQ(table.columns(),
            (std::vector<std::string>{"dataset", "n", "best", "p_flat", "p_fair", "alpha_flat", "alpha_fair",
                                      "log_bf_flat", "log_bf_fair", "u", "flag", "note", "scope_p",
                                      "scope_p_flat", "scope_p_fair", "verdict", "explanation"}));
  EXPECT_EQ(table.text("dataset"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.numbers("n"), (std::vector<double>{3, 2}));
  for (std::size_t r = 0; r < 2; ++r) {
    const double p = table.numbers("p_flat")[r];
    const double a = table.numbers("alpha_flat")[r];
    const double b = table.numbers("alpha_fair")[r];
    EXPECT_NEAR(p, a / (a + b), 1e-12);
    EXPECT_NEAR(table.numbers("u")[r], 2 / (a + b), 1e-12);
    const bool flat = table.text("best")[r] == "flat";
    EXPECT_EQ(table.numbers(flat ? "log_bf_flat" : "log_bf_fair")[r], 0);
    EXPECT_NEAR(table.numbers(flat ? "log_bf_fair" : "log_bf_flat")[r], (flat ? 1 : -1) * std::log(b / a),
                1e-12);
  }
  ASSERT_EQ(shell_("occam compare net.occam d.csv --by subject -o a.json --quiet").code, 0);
  const json answers = json::parse(shell_.read("a.json"));
  EXPECT_EQ(answers["models"], (json{"flat", "fair"}));
  EXPECT_EQ(answers["data_sets"][1]["p_flat"].get<double>(), table.numbers("p_flat")[1]);
  // Standard output and standard input carry the same.
  EXPECT_EQ(shell_("occam compare net.occam d.csv --by subject -o - --quiet").out, shell_.read("a.csv"));
  EXPECT_EQ(shell_("cat d.csv | occam compare net.occam - --by subject -o - --quiet").out,
            shell_.read("a.csv"));
  const Outcome shown = shell_("occam compare net.occam d.csv --by subject --parameters --exact --quiet");
  EXPECT_NE(shown.out.find("models by probability"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("Rough point estimates"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("mean KL from the exact posterior"), std::string::npos) << shown.out;
}

TEST_F(TrainCompare, AnswersAsAPage) {
  train();
  shell_.write("d.csv", "subject,x\nann <b>,1\nann <b>,0\nbob,1\n");
  const std::string compare = "occam compare net.occam d.csv --by subject --quiet";
  ASSERT_EQ(shell_(compare + " --report page.html -o a.csv").code, 0);
  const std::string page = shell_.read("page.html");
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("beta-binomial: 2 data sets compared"), std::string::npos);
  EXPECT_NE(page.find("[\"ann \\u003cb>\",\"bob\"]"), std::string::npos);  // as data, not as html
  EXPECT_NE(
      page.find("<dt>command</dt><dd>occam compare net.occam d.csv --by subject --quiet --report page.html "
                "-o a.csv</dd>"),
      std::string::npos);
  // The table on the terminal is the same with and without a page; other endings are refused before any work.
  EXPECT_EQ(shell_(compare + " --report page.html").out, shell_(compare).out);
  const Outcome refused = shell_(compare + " --report page.pdf");
  EXPECT_EQ(refused.code, 64);
  EXPECT_EQ(refused.err, "occam: --report page.pdf: a report is written as .html\n");
  EXPECT_EQ(shell_(compare + " --report no/where.html").code, 74);
}

TEST_F(TrainCompare, ModelPriorIsChangedExactly) {
  train();
  shell_.write("d.csv", "x\n1\n1\n0\n");
  const auto p_flat = [&](const std::string& options) {
    const Outcome outcome = shell_("occam compare net.occam d.csv -o - --quiet" + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return CsvTable(outcome.out, "answers").numbers("p_flat").at(0);
  };
  const double even = p_flat("");
  EXPECT_NEAR(p_flat(" --model-prior flat=0.2,fair=0.8"), even * 0.2 / (even * 0.2 + (1 - even) * 0.8),
              1e-12);
  EXPECT_EQ(p_flat(" --model-prior flat=1"), 1);
}

TEST_F(TrainCompare, SizesOutsideTheTrainedRangeAreFlagged) {
  train();
  std::string rows = "x\n";
  for (int i = 0; i < 150; ++i) rows += i % 2 == 0 ? "1\n" : "0\n";
  shell_.write("long.csv", rows);
  const Outcome outcome = shell_("occam compare net.occam long.csv -o a.csv");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("which had 1 to 100 rows; do not trust"), std::string::npos) << outcome.err;
  const CsvTable answers = read_csv(shell_.folder() / "a.csv");
  EXPECT_EQ(answers.text("flag").at(0), "n above trained range (100)");
  EXPECT_EQ(answers.text("verdict").at(0), "outside-training");
}

TEST_F(TrainCompare, TheLogOfAnEnsembleNamesItsMembers) {
  const std::string train =
      "occam train beta-binomial -o log.occam --iterations 40 --batch 16 --validate-every 20 --quiet "
      "--validation-datasets 50 --scope-reference 0 --network 'inv_width=8 equiv_width=8 post_width=8' ";
  for (const bool several : {false, true}) {
    ASSERT_EQ(shell_(train + "--log a.log --ensemble " + (several ? "2" : "1")).code, 0);
    std::istringstream lines(shell_.read("a.log"));
    std::set<std::int64_t> members;
    for (std::string line; std::getline(lines, line);) {
      const json event = json::parse(line);
      EXPECT_EQ(event.contains("member"), several) << line;
      if (several) members.insert(event["member"].get<std::int64_t>());
    }
    EXPECT_EQ(members, several ? (std::set<std::int64_t>{1, 2}) : std::set<std::int64_t>{});
  }
}

TEST_F(TrainCompare, InfoDescribesAndVerifies) {
  train();
  const Outcome text = shell_("occam info net.occam");
  EXPECT_NE(text.out.find("beta-binomial"), std::string::npos);
  EXPECT_NE(text.out.find("flat, fair"), std::string::npos);
  const json all = json::parse(shell_("occam info net.occam --json").out);
  EXPECT_EQ(all["record"]["seed"], 1);
  EXPECT_EQ(all["record"]["options"]["iterations"], 80);
  std::string damaged = shell_.read("net.occam");
  damaged[damaged.size() - 2000] ^= 0x40;
  shell_.write("damaged.occam", damaged);
  EXPECT_EQ(shell_("occam info damaged.occam").code, 78);
  shell_.write("cut.occam", damaged.substr(0, damaged.size() / 2));
  EXPECT_EQ(shell_("occam info cut.occam").code, 78);
}

TEST_F(TrainCompare, AnInterruptedRunResumesToTheSameBytes) {
  const std::string options =
      "occam train beta-binomial -o net.occam --iterations 4000 --batch 16 --validation-datasets 100"
      " --validate-every 50 --scope-reference 200 --scope-calibration 200"
      " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4' ";
  ASSERT_EQ(shell_(options).code, 0);
  const std::string whole = shell_.read("net.occam");
  std::filesystem::remove(shell_.folder() / "net.occam");
  // Stopped as soon as its log has a line, however busy the machine is; by SIGTERM, which the program takes
  // as it does Ctrl-C: a shell without a terminal makes its background jobs deaf to SIGINT. Several at a time
  // are one wish, as from `timeout`, which signals a process and its group.
  const Outcome stopped =
      shell_(options +
             "--log run.log & pid=$!; await '[ -s run.log ]'; for i in 1 2 3 4 5; do kill -TERM $pid; done; "
             "wait $pid; echo $? > code");
  if (std::filesystem::exists(shell_.folder() / "net.occam"))
    GTEST_SKIP() << "the run ended before the signal";
  EXPECT_EQ(shell_.read("code"), "130\n");
  EXPECT_NE(stopped.err.find("continue with --resume"), std::string::npos) << stopped.err;
  EXPECT_TRUE(std::filesystem::exists(shell_.folder() / "net.occam.checkpoint"));
  const Outcome resumed = shell_(options + "--resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(whole == shell_.read("net.occam"));
  EXPECT_FALSE(std::filesystem::exists(shell_.folder() / "net.occam.checkpoint"));
}

TEST_F(TrainCompare, LogAndTableAndTime) {
  train(" --log log.jsonl");
  const std::string log = shell_.read("log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
  EXPECT_EQ(json::parse(log.substr(0, log.find('\n')))["step"], 40);
  ASSERT_EQ(shell_("occam simulate beta-binomial --datasets 400 -o t.npz --with-parameters --quiet").code, 0);
  ASSERT_EQ(shell_("occam train beta-binomial -o from_table.occam --table t.npz" + kQuick).code, 0);
  EXPECT_NE(shell_("occam info from_table.occam").out.find("data sets from table"), std::string::npos);
  const Outcome timed = shell_(
      "occam train beta-binomial -o t.occam --minutes 0.02 --warmup 10 --validation-datasets 100"
      " --network 'inv_width=8 equiv_width=8 post_width=8'");
  EXPECT_EQ(timed.code, 0) << timed.err;
  EXPECT_NE(timed.err.find("the same result again: --iterations"), std::string::npos) << timed.err;
}

TEST_F(TrainCompare, ExtendAddsAModelAndSaysWhatBecameOfTheOthers) {
  train();
  const std::string problem = shell_("occam models --show beta-binomial").out;
  shell_.write("three.toml", problem.substr(0, problem.find("[network]")) +
                                 "[model.biased]\ntheta = \"beta(8, 3)\"\n[train]\niterations = 90\n");
  const std::string command = "occam extend net.occam three.toml -o three.occam --retention-datasets 50";
  const Outcome extended = shell_(command);
  ASSERT_EQ(extended.code, 0) << extended.err;
  EXPECT_NE(extended.err.find("new: biased"), std::string::npos) << extended.err;
  EXPECT_NE(extended.out.find("models known before (flat, fair)"), std::string::npos) << extended.out;
  const json info = json::parse(shell_("occam info three.occam --json").out);
  EXPECT_EQ(info["models"], (json{"flat", "fair", "biased"}));
  EXPECT_EQ(info["record"]["steps"], 30);  // a third
  EXPECT_EQ(info["record"]["extended"]["models"], (json{"flat", "fair"}));
  EXPECT_TRUE(info["record"]["extended"]["after"].contains("kl"));
  const std::string bytes = shell_.read("three.occam");
  ASSERT_EQ(shell_(command + " --threads 7 --quiet").code, 0);
  EXPECT_TRUE(bytes == shell_.read("three.occam"));
}

TEST_F(TrainCompare, TellsDataThatNoModelMakes) {
  // Gaussian observations around a mean; then some of another world.
  ASSERT_EQ(
      shell_("occam train one-sample -o net.occam --iterations 200 --batch 32 --quiet --scope-reference 1000 "
             "--scope-calibration 1500 --network 'inv_width=8 equiv_width=8 post_width=8 summary=4'")
          .code,
      0);
  std::string data = "subject,x\n";
  for (int i = 0; i < 25; ++i) data += "usual," + std::to_string(std::sin(2.0 * i) * 1.4) + "\n";
  for (int i = 0; i < 25; ++i) data += "foreign," + std::to_string(40 + 7.0 * (i % 5)) + "\n";
  shell_.write("d.csv", data);
  const Outcome shown = shell_("occam compare net.occam d.csv --by subject");
  EXPECT_NE(shown.out.find("out-of-scope"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("in simulations mostly"), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("1 of 2 data sets are out of scope"), std::string::npos) << shown.err;
  ASSERT_EQ(shell_("occam compare net.occam d.csv --by subject -o a.csv --quiet").code, 0);
  const CsvTable table = read_csv(shell_.folder() / "a.csv");
  EXPECT_GT(table.numbers("scope_p")[0], 0.01);
  EXPECT_LT(table.numbers("scope_p")[1], 0.01);
  EXPECT_EQ(table.text("verdict")[1], "out-of-scope");
  // What the network was not trained for is not counted among what no model makes.
  for (int i = 0; i < 3000; ++i) data += "long," + std::to_string(40 + 7.0 * (i % 5)) + "\n";
  shell_.write("long.csv", data);
  const Outcome mixed = shell_("occam compare net.occam long.csv --by subject --report a.html");
  EXPECT_NE(mixed.err.find("1 of 2 data sets that can be judged are out of scope"), std::string::npos)
      << mixed.err;
  EXPECT_NE(mixed.err.find("1 of 3 data sets is unlike those that"), std::string::npos) << mixed.err;
  EXPECT_NE(shell_.read("a.html").find("1 of 3 data sets could not be judged"), std::string::npos);
  // The answers themselves do not depend on the scope reference.
  ASSERT_EQ(shell_("occam scope net.occam -o bare.occam --scope-reference 0 --quiet").code, 0);
  ASSERT_EQ(shell_("occam compare bare.occam d.csv --by subject -o b.csv --quiet").code, 0);
  const CsvTable bare = read_csv(shell_.folder() / "b.csv");
  EXPECT_EQ(bare.text("p_null"), table.text("p_null"));
  EXPECT_NE(bare.text("verdict")[1], "out-of-scope");
  // A level below what the calibration can tell is said to be out of reach.
  EXPECT_NE(
      shell_("occam compare net.occam d.csv --by subject --scope-level 0.001").err.find("cannot be reached"),
      std::string::npos);
  // Same seed, same bytes, any number of threads.
  ASSERT_EQ(shell_("occam scope bare.occam -o one.occam --threads 1 --scope-reference 300 "
                   "--scope-calibration 300 --quiet")
                .code,
            0);
  ASSERT_EQ(shell_("occam scope bare.occam -o seven.occam --threads 7 --scope-reference 300 "
                   "--scope-calibration 300 --quiet")
                .code,
            0);
  EXPECT_TRUE(shell_.read("one.occam") == shell_.read("seven.occam"));
  const Outcome few = shell_("occam scope bare.occam -o few.occam --scope-reference 20 --quiet");
  EXPECT_EQ(few.code, 64) << few.err;
  EXPECT_EQ(shell_("occam scope bare.occam --quiet").code, 64);
}

TEST_F(TrainCompare, BadInputIsOneMessageAndACode) {
  train();
  shell_.write("good.csv", "x\n1\n");
  shell_.write("column.csv", "y\n1\n");
  shell_.write("cell.csv", "x\n1\nmany\n");
  shell_.write("nan.csv", "x\n1\nNaN\n");
  shell_.write("empty.csv", "");
  shell_.write("header.csv", "x\n");
  shell_.write("foreign.occam", "not a network");
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"occam compare net.occam column.csv -o out.csv", 65, "'x'"},
      {"occam compare net.occam cell.csv -o out.csv", 65, "cell.csv:3: column 'x': 'many'"},
      {"occam compare net.occam nan.csv -o out.csv", 65, "nan.csv:3"},
      {"occam compare net.occam empty.csv -o out.csv", 65, "empty.csv"},
      {"occam compare net.occam header.csv -o out.csv", 65, "no data"},
      {"occam compare cell.csv net.occam -o out.csv", 78, "by its name this is a file with data"},
      {"occam compare net.occam none.csv -o out.csv", 66, "none.csv"},
      {"occam compare none.occam good.csv -o out.csv", 66, "none.occam"},
      {"occam compare foreign.occam good.csv -o out.csv", 78, "foreign.occam"},
      {"occam compare net.occam good.csv -o out.xlsx", 64, ".csv, .tsv or .json"},
      {"occam compare net.occam good.csv -o nowhere/out.csv", 74, "nowhere"},
      {"occam compare net.occam good.csv --model-prior flat=2 -o out.csv", 64, "sums to 2"},
      {"occam compare net.occam good.csv --model-prior flet=1 -o out.csv", 64, "did you mean 'flat'?"},
      {"occam compare net.occam good.csv --by subject -o out.csv", 65, "subject"},
      {"occam train beta-binomial", 64, "-o FILE"},
      {"occam train beta-binomial -o nowhere/out.csv", 74, "nowhere"},
      {"occam train beta-binomial -o out.csv --log nowhere/log", 74, "nowhere/log"},
      {"occam train beta-binomal -o out.csv", 64, "did you mean 'beta-binomial'?"},
      {"occam train beta-binomial -o out.csv --iterations -1", 64, "at least 0"},
      {"occam train beta-binomial -o out.csv --link cube", 64, "exp, softplus, relu"},
      {"occam train beta-binomial -o out.csv --network wide", 64, "KEY=VALUE"},
      {"occam train beta-binomial -o out.csv --network inv_widht=3", 78, "did you mean 'inv_width'?"},
      {"occam train beta-binomial -o out.csv --table none.npz", 66, "none.npz"},
      {"occam train beta-binomial -o out.csv --table good.csv", 65, "good.csv"},
      {"occam extend net.occam beta-binomial", 64, "-o FILE"},
      {"occam extend none.occam beta-binomial -o out.csv", 66, "none.occam"},
      {"occam extend net.occam gaussian-mixtures -o out.csv", 64, "the network reads columns x, but"},
      {"occam extend net.occam one-sample -o out.csv", 64, "none of the models of 'one-sample'"},
  };
  for (const auto& [command, code, says] : cases) {
    const Outcome outcome = shell_(command + " --quiet");
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << command << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << command << "\n" << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(shell_.folder() / "out.csv")) << command;
  }
}

// Of a run of given length, unless earlier weights were better by more than chance; with so few data sets the
// least validation is somewhere before the end in nearly every run.
TEST(Train, KeepsItsLastWeightsThoughSomeValidationBeforeWasLowerByChance) {
  const Shell run;
  int lower_before = 0, kept_last = 0;
  for (const char* seed : {"1", "2", "3", "4"}) {
    const Outcome made =
        run(std::string("occam train beta-binomial -o t.occam --iterations 200 --batch 16 ") +
            "--validate-every 10 --validation-datasets 100 --scope-reference 0 --quiet --seed " + seed);
    ASSERT_EQ(made.code, 0) << made.err;
    const json record = json::parse(run("occam info t.occam --json").out)["record"];
    const json& history = record["validation_history"];
    const bool lower = std::any_of(history.begin(), history.end(), [&](const json& one) {
      return one[1].get<double>() < history.back()[1].get<double>();
    });
    if (!lower) continue;
    ++lower_before;
    kept_last += record["best_step"] == 200 ? 1 : 0;
  }
  EXPECT_GE(lower_before, 1);
  EXPECT_GE(kept_last, 1);
}

// A few data sets are asked often, all of them now and then. Their losses are told as one curve: single data
// sets differ far more than networks do.
TEST(Train, ValidationsByFewAndByAllAreOneCurve) {
  const Shell run;
  const Outcome made = run(
      "occam train beta-binomial -o t.occam --iterations 0 --first-look 100 --most-iterations 400 --batch 16 "
      "--validate-every 20 --scope-reference 0 --quiet --seed 1");
  ASSERT_EQ(made.code, 0) << made.err;
  const json record = json::parse(run("occam info t.occam --json").out)["record"];
  ASSERT_GE(record["looks"].size(), 2u);
  const json& history = record["validation_history"];
  for (std::size_t i = 1; i < record["looks"].size(); ++i) {  // before, every step changes much
    const json& look = record["looks"][i];
    const auto same =
        std::find_if(history.begin(), history.end(), [&](const json& x) { return x[0] == look[0]; });
    ASSERT_NE(same, history.end()) << look;
    EXPECT_NEAR((*same)[1].get<double>(), look[1].get<double>(), 0.008) << look;
  }
}

// 400 data sets are known by heart after a hundred steps or two. A run that finds out its end goes back and
// ends soon; one of given length keeps what it had before.
TEST(Train, ATableIsNotLearnedByHeart) {
  const Shell run;
  ASSERT_EQ(run("occam simulate one-sample --datasets 400 --seed 3 -o t.npz --quiet").code, 0);
  for (const char* length : {"0", "2000"}) {
    const Outcome made =
        run(std::string("occam train one-sample --table t.npz -o t.occam --scope-reference 0 ") +
            "--seed 2 --quiet --iterations " + length);
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(made.err, "");
    const json record = json::parse(run("occam info t.occam --json").out)["record"];
    const json& history = record["validation_history"];
    EXPECT_LT(record["best_step"].get<int>(), 1000);
    EXPECT_LT(record["steps"].get<int>(), 2001);
    double least = 1;
    for (const json& one : history) least = std::min(least, one[1].get<double>());
    EXPECT_LT(record["validation_loss"].get<double>(), least + 0.05);
  }
}

}  // namespace
}  // namespace occam::testing_support
