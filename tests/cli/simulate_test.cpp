// occam simulate: same bytes on any number of threads, and files that hold what docs/data.md says.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "occam/io/npz.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

// An Outcome that went well, with nothing on standard error.
void expect_success(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST(SimulateVerb, SameBytesOnAnyNumberOfThreadsAndAgain) {
  Shell shell;
  const std::string command = "occam simulate gaussian-mixtures --datasets 1000 --seed 7 ";
  expect_success(shell(command + "--threads 1 -o a.npz"));
  expect_success(shell(command + "--threads 7 -o b.npz"));
  expect_success(shell(command + "--threads 7 -o c.npz"));
  const std::string bytes = shell.read("a.npz");
  EXPECT_GT(bytes.size(), 100'000u);
  EXPECT_TRUE(bytes == shell.read("b.npz"));
  EXPECT_TRUE(bytes == shell.read("c.npz"));
  expect_success(shell("occam simulate gaussian-mixtures --datasets 1000 --seed 8 -o d.npz"));
  EXPECT_FALSE(bytes == shell.read("d.npz"));
}

TEST(SimulateVerb, CsvIsTheSameOnAnyNumberOfThreadsAndThroughAPipe) {
  Shell shell;
  const std::string command = "occam simulate beta-binomial --datasets 1500 --seed 3 --exact ";
  expect_success(shell(command + "--threads 1 -o a.csv"));
  expect_success(shell(command + "--threads 7 -o b.csv"));
  expect_success(shell(command + "> c.csv"));
  expect_success(shell(command + "-o - | cat > d.csv"));
  expect_success(shell(command + "-o /dev/stdout > e.csv"));
  const std::string bytes = shell.read("a.csv");
  for (const char* other : {"b.csv", "c.csv", "d.csv", "e.csv"}) {
    EXPECT_TRUE(bytes == shell.read(other)) << other;
  }
}

TEST(SimulateVerb, TheFirstDataSetsDoNotDependOnHowManyFollow) {
  Shell shell;
  const std::string few = shell("occam simulate one-sample --datasets 3").out;
  const std::string many = shell("occam simulate one-sample --datasets 2000").out;
  EXPECT_GT(few.size(), 100u);
  EXPECT_TRUE(many.starts_with(few));
}

TEST(SimulateVerb, CsvHoldsDataParametersAndExactPosteriors) {
  Shell shell;
  expect_success(shell(
      "occam simulate beta-binomial --datasets 20 --n 5 --model flat --with-parameters --exact -o a.csv"));
  const CsvTable table = read_csv(shell.folder() / "a.csv");
  EXPECT_EQ(table.columns(),
            (std::vector<std::string>{"dataset", "model", "x", "theta", "exact_flat", "exact_fair"}));
  ASSERT_EQ(table.rows(), 100u);
  EXPECT_EQ(table.cell(0, 0), "0");
  EXPECT_EQ(table.cell(99, 0), "19");
  for (const std::string& model : table.text("model")) EXPECT_EQ(model, "flat");
  const auto flat = table.numbers("exact_flat");
  const auto fair = table.numbers("exact_fair");
  const auto theta = table.numbers("theta");
  for (std::size_t row = 0; row < flat.size(); ++row) {
    EXPECT_NEAR(flat[row] + fair[row], 1.0, 1e-12);
    EXPECT_EQ(theta[row], theta[row / 5 * 5]);
  }
}

TEST(SimulateVerb, ParametersThatAModelLacksAreEmptyCells) {
  Shell shell;
  expect_success(
      shell("occam simulate one-sample --datasets 1 --n 2 --model null --with-parameters -o a.tsv"));
  const std::string text = shell.read("a.tsv");
  EXPECT_TRUE(text.starts_with("dataset\tmodel\tx\tmu\n0\tnull\t")) << text;
  EXPECT_TRUE(text.ends_with("\t\n")) << text;
}

TEST(SimulateVerb, NpzHoldsWhatTheDocsSay) {
  Shell shell;
  expect_success(
      shell("occam simulate one-sample --datasets 30 --with-parameters --exact --seed 5 -o a.npz"));
  const NpzReader npz(shell.folder() / "a.npz");
  EXPECT_EQ(npz.names(), (std::vector<std::string>{"data", "n", "model", "parameters", "exact", "meta"}));
  const auto n = npz.read("n").as_int64();
  const auto model = npz.read("model").as_int64();
  std::int64_t rows = 0;
  for (const std::int64_t value : n) rows += value;
  EXPECT_EQ(npz.header("data").shape, (Shape{rows, 1}));
  EXPECT_EQ(npz.header("data").dtype, DType::float32);
  EXPECT_EQ(npz.header("n").dtype, DType::int64);
  EXPECT_EQ(npz.header("model").shape, (Shape{30}));
  EXPECT_EQ(npz.header("exact").shape, (Shape{30, 2}));
  ASSERT_EQ(npz.header("parameters").shape, (Shape{30, 1}));
  const auto mu = npz.read("parameters").as_double();
  for (std::size_t k = 0; k < mu.size(); ++k) EXPECT_EQ(std::isnan(mu[k]), model[k] == 0) << k;

  const NdArray meta = npz.read("meta");
  const auto about = nlohmann::json::parse(meta.view<std::uint8_t>());
  EXPECT_EQ(about["problem"], "one-sample");
  EXPECT_EQ(about["seed"], 5);
  EXPECT_EQ(about["models"], (std::vector<std::string>{"null", "effect"}));
  EXPECT_EQ(about["columns"], (std::vector<std::string>{"x"}));
  EXPECT_EQ(about["parameters"], (std::vector<std::string>{"mu"}));
  EXPECT_EQ(about["fingerprint"].get<std::string>().size(), 16u);
}

TEST(SimulateVerb, AReaderThatLeavesIsNoCrashAndNoMessage) {
  Shell shell;
  const Outcome outcome = shell("{ occam simulate one-sample --datasets 20000; echo $? >&2; } | head -n 1");
  EXPECT_EQ(outcome.out, "dataset,model,x\n");
  EXPECT_EQ(outcome.err, "74\n");
}

// Its trials take hours: nothing but the simulator itself can notice the wish to stop.
TEST(SimulateVerb, OneWishToStopEndsSlowTrials) {
  Shell shell;
  shell.write("slow.toml",
              "name = \"slow\"\nn = 600\nfamily = \"levy-accumulator\"\n[settings]\nmax_steps = 16777216\n"
              "[parameters]\na = 1e6\nv1 = 0\nv2 = 0\nalpha = 1.5\n[model.a]\n[model.b]\nst0 = 0.1\n");
  const Outcome outcome = shell(
      "occam simulate slow.toml --datasets 10 --threads 1 -o a.csv 2>log & job=$!\n"
      "await 'heeds_term $job'; sleep 0.2; kill -TERM $job\n"
      "(sleep 30; kill -KILL $job) & wait $job");
  EXPECT_EQ(outcome.code, 130) << shell.read("log");
  EXPECT_NE(shell.read("log").find("stopped while data sets were simulated"), std::string::npos);
  EXPECT_EQ(shell.folder().count_files(), 2u);
}

TEST(SimulateVerb, InterruptLeavesNoFileAndEndsWith130) {
  Shell shell;
  const Outcome outcome = shell(
      "occam simulate gaussian-mixtures --datasets 100000 --exact -o a.csv & job=$!\n"
      "await 'ls -A | grep -q a.csv && heeds_term $job'; kill -TERM $job; wait $job");
  EXPECT_EQ(outcome.code, 130);
  // On a busy machine a line of progress may stand before it.
  EXPECT_NE(outcome.err.find("occam: interrupted after "), std::string::npos) << outcome.err;
  EXPECT_EQ(shell.folder().count_files(), 0u);
}

// What is in the cache is run, so nobody else may write there.
TEST(Cache, IsThisUsersAlone) {
  Shell shell;
  shell.write("coin.sh", "while read line; do printf '1\n'; done\n");
  shell.write("p.toml",
              "name = \"c\"\nn = 1\ncolumns = [\"x\"]\nsimulator = [\"sh\", \"coin.sh\"]\n"
              "[model.a]\nt = \"uniform(0, 1)\"\n[model.b]\nt = \"uniform(0, 1)\"\n");
  const std::string command =
      "export XDG_CACHE_HOME=$PWD; umask 0; occam simulate p.toml --datasets 1 --quiet";
  const Outcome fresh = shell(command);
  EXPECT_EQ(fresh.code, 0) << fresh.err;
  EXPECT_EQ(shell("stat -c %a occam").out, "700\n");
  EXPECT_EQ(shell("for f in occam/helpers-*/occam_simulator.py; do echo evil > $f; done").code, 0);
  shell(command);
  EXPECT_EQ(shell("grep -rl evil occam").out, "");
  for (const char* mode : {"777", "720"}) {
    const Outcome open = shell(std::string("chmod ") + mode + " occam; " + command);
    EXPECT_EQ(open.code, 74) << open.err;
    EXPECT_NE(open.err.find("others can write to it"), std::string::npos) << open.err;
  }
}

}  // namespace
}  // namespace occam::testing_support
