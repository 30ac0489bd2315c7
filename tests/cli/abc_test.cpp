// occam abc as a user runs it: files, bytes, signals, bad input.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "occam/io/npz.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

const std::string kTosses = "coin,x\na,1\na,1\na,0\na,1\na,1\na,1\nb,0\nb,1\nb,0\nb,0\n";
const std::string kQuickAbc = " --population-size 100 --populations 3 --quiet";

TEST(AbcVerb, EveryFormSaysTheSame) {
  Shell shell;
  shell.write("d.csv", "x\n1\n1\n0\n1\n1\n");
  const std::string abc = "occam abc beta-binomial d.csv" + kQuickAbc;
  const Outcome shown = shell(abc);
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.err, "");
  EXPECT_NE(shown.out.find("\n     exact "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("is the most probable model"), std::string::npos) << shown.out;
  ASSERT_EQ(shell(abc + " -o a.csv --particles p.csv").code, 0);
  ASSERT_EQ(shell(abc + " -o a.json --particles p.npz").code, 0);
  EXPECT_EQ(shell(abc + " -o -").out, shell.read("a.csv"));
  EXPECT_EQ(shell("cat d.csv | occam abc beta-binomial - -o -" + kQuickAbc).out, shell.read("a.csv"));
  const CsvTable table = read_csv(shell.folder() / "a.csv");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"population", "epsilon", "size", "simulations",
                                                       "acceptance", "ess", "p_flat", "p_fair"}));
  ASSERT_EQ(table.rows(), 3u);
  const json all = json::parse(shell.read("a.json"));
  EXPECT_EQ(all["populations"][2]["p_flat"].get<double>(), table.numbers("p_flat")[2]);
  EXPECT_EQ(all["p"]["fair"].get<double>(), table.numbers("p_fair")[2]);
  EXPECT_EQ(all["seed"], 1);
  EXPECT_EQ(all["settings"]["population_size"], 100);
  EXPECT_EQ(all["data"]["dataset"], "d");
  EXPECT_NEAR(all["exact"]["flat"].get<double>() + all["exact"]["fair"].get<double>(), 1, 1e-12);
  const CsvTable particles = read_csv(shell.folder() / "p.csv");
  EXPECT_EQ(particles.columns(), (std::vector<std::string>{"model", "weight", "distance", "theta"}));
  ASSERT_EQ(particles.rows(), 100u);
  double flat = 0;
  for (std::size_t k = 0; k < 100; ++k)
    flat += particles.text("model")[k] == "flat" ? particles.numbers("weight")[k] : 0;
  EXPECT_NEAR(flat, table.numbers("p_flat")[2], 1e-12);
  const NpzReader npz(shell.folder() / "p.npz");
  EXPECT_EQ(npz.read("weight").as_double(), particles.numbers("weight"));
  EXPECT_EQ(npz.read("parameters").as_double(), particles.numbers("theta"));
}

TEST(AbcVerb, SameBytesOnAnyNumberOfThreads) {
  Shell shell;
  shell.write("d.csv", "x\n1\n1\n0\n1\n1\n");
  const std::string abc =
      "occam abc beta-binomial d.csv --adaptive --mean-cv 0.2" + kQuickAbc + " -o a.json --particles p.csv";
  ASSERT_EQ(shell(abc + " --threads 1").code, 0);
  const std::string one = shell.read("a.json") + shell.read("p.csv");
  ASSERT_EQ(shell(abc + " --threads 7").code, 0);
  EXPECT_TRUE(one == shell.read("a.json") + shell.read("p.csv"));
  ASSERT_EQ(shell(abc + " --seed 2").code, 0);
  EXPECT_FALSE(one == shell.read("a.json") + shell.read("p.csv"));
}

TEST(AbcVerb, TakesOneOfSeveralDataSets) {
  Shell shell;
  shell.write("d.csv", kTosses);
  const Outcome several = shell("occam abc beta-binomial d.csv --by coin");
  EXPECT_EQ(several.code, 64);
  EXPECT_EQ(several.err,
            "occam: d.csv holds 2 data sets (a, b), and abc takes one: choose it with --dataset a\n");
  const Outcome unknown = shell("occam abc beta-binomial d.csv --by coin --dataset c");
  EXPECT_EQ(unknown.code, 64);
  EXPECT_NE(unknown.err.find("no data set 'c'"), std::string::npos) << unknown.err;
  shell.write("b.csv", "x\n0\n1\n0\n0\n");
  EXPECT_EQ(shell("occam abc beta-binomial d.csv --by coin --dataset b -o -" + kQuickAbc).out,
            shell("occam abc beta-binomial b.csv -o -" + kQuickAbc).out);
}

TEST(AbcVerb, ProblemFilesSetDefaultsAndTheCommandLineHasTheLastWord) {
  Shell shell;
  shell.write("d.csv", "x\n0.3\n1.2\n-0.4\n");
  shell.write("p.toml",
              "name = \"p\"\nn = 3\nfamily = \"normal\"\n[model.null]\nmu = 0\n[model.effect]\n"
              "[abc]\nsummary = \"moments order=1\"\npopulation_size = 50\npopulations = 2\n");
  const auto settings = [&](const std::string& more) {
    const Outcome outcome = shell("occam abc p.toml d.csv -o a.json --quiet" + more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(shell.read("a.json"));
  };
  EXPECT_EQ(settings("")["populations"].size(), 2u);
  const json changed = settings(" --populations 1 --summary 'quantiles count=3'");
  EXPECT_EQ(changed["populations"].size(), 1u);
  EXPECT_EQ(changed["settings"]["summary"], "quantiles count=3");
  EXPECT_EQ(changed["settings"]["population_size"], 50);
}

TEST(AbcVerb, ReadsThroughATrainedNetwork) {
  Shell shell;
  shell.write("d.csv", "x\n1\n1\n0\n1\n1\n1\n1\n1\n");
  ASSERT_EQ(shell("occam train beta-binomial -o net.occam --iterations 80 --batch 16 --warmup 20 --quiet"
                  " --validate-every 40 --validation-datasets 100 --scope-reference 0"
                  " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4'")
                .code,
            0);
  for (const std::string output : {"summary", "log-p"}) {
    const Outcome outcome = shell("occam abc beta-binomial d.csv --summary 'network output=" + output +
                                  "' --summary-network net.occam --scale -o a.csv" + kQuickAbc);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(read_csv(shell.folder() / "a.csv").rows(), 3u);
  }
  const Outcome other =
      shell("occam abc one-sample d.csv --summary network --summary-network net.occam --dataset d -o b.csv" +
            kQuickAbc);
  EXPECT_EQ(other.code, 0) << other.err;  // the same column: any network may summarise
  EXPECT_EQ(shell("occam abc jump-process " OCCAM_SOURCE "/examples/jump-process/path.csv --summary network "
                  "--summary-network net.occam")
                .code,
            78);
}

TEST(AbcVerb, AnInterruptedRunLeavesNothing) {
  Shell shell;
  shell.write("d.csv", "x\n0.3\n1.2\n-0.4\n");
  // Would run for ever: no simulated mean is exactly the observed one.
  const Outcome stopped = shell(
      "occam abc one-sample d.csv --min-epsilon 0 --populations 10000 --min-acceptance 1e-9 -o a.csv "
      "--particles p.csv 2>log & pid=$!; await 'heeds_term $pid'; kill -TERM $pid; wait $pid");
  EXPECT_EQ(stopped.code, 130);
  EXPECT_NE(shell.read("log").find("interrupted in population"), std::string::npos) << shell.read("log");
  EXPECT_EQ(shell.folder().count_files(), 2u);  // d.csv and log
}

struct BadAbc {
  const char* what;
  std::string options;  // behind `occam abc`
  int code;
  std::vector<std::string> says;
};

void PrintTo(const BadAbc& bad, std::ostream* out) {
  *out << bad.options;
}

class EveryBadAbc : public ::testing::TestWithParam<BadAbc> {};

TEST_P(EveryBadAbc, IsOneMessageACodeAndNoFile) {
  const BadAbc& bad = GetParam();
  Shell shell;
  shell.write("d.csv", "x\n1\n1\n0\n");
  shell.write("empty.csv", "x\n");
  shell.write("word.csv", "x\n1\ntwo\n");
  shell.write("gap.csv", "x\n1\n\"\"\n");
  shell.write(
      "p.toml",
      "name = \"p\"\nn = 3\nfamily = \"bernoulli\"\n[model.a]\n[model.b]\ntheta = 0.5\n[abc]\nfoo = 1\n");
  shell.write("table.toml", "name = \"t\"\ncolumns = [\"x\"]\n[model.a]\na = 1\n[model.b]\nb = 2\n");
  const Outcome outcome = shell("occam abc " + bad.options + " --quiet");
  EXPECT_EQ(outcome.code, bad.code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("occam: ")) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const std::string& part : bad.says)
    EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
  EXPECT_EQ(shell.folder().count_files(), 6u) << "a file was left";
}

INSTANTIATE_TEST_SUITE_P(
    Abc, EveryBadAbc,
    ::testing::Values(
        BadAbc{"NoData", "beta-binomial", 64, {"DATA is missing"}},
        BadAbc{"UnknownProblem", "beta-binomal d.csv", 64, {"did you mean 'beta-binomial'?"}},
        BadAbc{"MissingFile", "beta-binomial no.csv", 66, {"no.csv"}},
        BadAbc{"NoRows", "beta-binomial empty.csv", 65, {"empty.csv"}},
        BadAbc{"NotANumber", "beta-binomial word.csv", 65, {"word.csv:3", "two"}},
        BadAbc{"MissingValue", "beta-binomial gap.csv", 65, {"gap.csv:3"}},
        BadAbc{"MissingColumn", "jump-process d.csv", 65, {"d.csv", "'t'"}},
        BadAbc{"UnknownFormat", "beta-binomial d.csv -o a.xlsx", 64, {"'a.xlsx'", ".csv, .tsv or .json"}},
        BadAbc{"UnknownParticleFormat", "beta-binomial d.csv --particles a.json", 64, {".csv, .tsv or .npz"}},
        BadAbc{"MissingFolder", "beta-binomial d.csv -o nowhere/a.csv", 74, {"nowhere"}},
        BadAbc{"UnknownSummary", "beta-binomial d.csv --summary quantils", 64, {"did you mean 'quantiles'?"}},
        BadAbc{"UnknownSummaryOption",
               "beta-binomial d.csv --summary 'quantiles cuont=3'",
               64,
               {"did you mean 'count'?"}},
        BadAbc{"UnknownColumn", "beta-binomial d.csv --summary 'moments columns=y'", 64, {"no column 'y'"}},
        BadAbc{"NoTimeColumn", "beta-binomial d.csv --summary time-grid", 64, {"no column 't'"}},
        BadAbc{"NetworkNotNamed", "beta-binomial d.csv --summary network", 64, {"--summary-network"}},
        BadAbc{"NetworkMissing",
               "beta-binomial d.csv --summary network --summary-network no.occam",
               66,
               {"no.occam"}},
        BadAbc{
            "NetworkForeign", "beta-binomial d.csv --summary network --summary-network d.csv", 78, {"d.csv"}},
        BadAbc{"NetworkForNothing", "beta-binomial d.csv --summary-network d.csv", 64, {"--summary network"}},
        BadAbc{"UnknownDistance", "beta-binomial d.csv --distance manhattan", 64, {"mean-absolute"}},
        BadAbc{"GrowingEpsilons", "beta-binomial d.csv --epsilons 0.1,0.2", 64, {"must not grow"}},
        BadAbc{"NegativeEpsilon", "beta-binomial d.csv --min-epsilon -1", 64, {"--min-epsilon: '-1'"}},
        BadAbc{"ListsOfTwoLengths",
               "beta-binomial d.csv --epsilons 0.2,0.1 --population-sizes 10",
               64,
               {"as many of both"}},
        BadAbc{"AdaptiveAndAList",
               "beta-binomial d.csv --adaptive --population-sizes 10,10",
               64,
               {"exclude each other"}},
        BadAbc{"OneParticle", "beta-binomial d.csv --population-size 1", 64, {"at least 2"}},
        BadAbc{"NoQuantile", "beta-binomial d.csv --quantile 0", 64, {"--quantile: '0'"}},
        BadAbc{"NeverClose",
               "one-sample d.csv --method rejection --min-epsilon 0 --max-simulations 2000",
               65,
               {"0 of", "--max-simulations", "raise --min-epsilon"}},
        BadAbc{"SizesDiffer",
               "beta-binomial d.csv --n 5 --summary values",
               64,
               {"3 rows were observed and 5 simulated"}},
        BadAbc{"BadTable", "p.toml d.csv", 78, {"p [abc]", "unknown key 'foo'"}},
        BadAbc{"NothingSimulates", "table.toml d.csv", 64, {"cannot be simulated"}}),
    [](const ::testing::TestParamInfo<BadAbc>& bad) { return std::string(bad.param.what); });

}  // namespace
}  // namespace occam::testing_support
