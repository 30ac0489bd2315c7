// Simulator programs: what they may say, and everything that can go wrong with them. Most are a line of
// shell, so that the failure is plain to see.
#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "occam/simulate/own/helpers.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/simulator.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
namespace {

class Programs : public OwnModels {
 protected:
  // A problem whose simulator is this shell script.
  void script(const std::string& text, const std::string& more = "") {
    shell_.write("s.sh", text);
    shell_.write("p.toml", coins("[\"sh\", \"s.sh\"]", more));
  }
  const std::string simulate_ = "occam simulate p.toml --datasets 2 --n 2 --model flat --quiet -o a.csv";

  void script_fails(const std::string& text, const std::vector<std::string>& parts,
                    const std::string& more = "") {
    script(text, more);
    fails(simulate_, 65, parts);
    EXPECT_FALSE(std::filesystem::exists(shell_.folder() / "a.csv"));
  }
};

TEST_F(Programs, AnyLanguageCanAnswerInText) {
  script("while read line; do echo \"$line\" >> requests; printf '1\\n0\\n1\\n1\\n'; done");
  must(simulate_);
  EXPECT_EQ(shell_.read("a.csv"), "dataset,model,x\n0,flat,1\n0,flat,0\n1,flat,1\n1,flat,1\n");
  const auto request = nlohmann::json::parse(shell_.read("requests"));
  EXPECT_EQ(request["model"], "flat");
  EXPECT_EQ(request["columns"], 1);
  EXPECT_EQ(request["names"], nlohmann::json{"x"});
  EXPECT_EQ(request["n"], (nlohmann::json{2, 2}));
  EXPECT_EQ(request["seeds"].size(), 2u);
  EXPECT_EQ(request["parameters"]["theta"].size(), 2u);
}

TEST_F(Programs, ACrashIsToldWithItsLastWords) {
  script_fails("read line; echo 'cannot divide by zero' >&2; exit 3",
               {"model 'flat' (simulator `sh s.sh`)", "it ended (exit code 3) before its first answer",
                "\n  cannot divide by zero\n"});
  script_fails("read line; kill -SEGV $$", {"signal 11 (Segmentation fault)"});
}

TEST_F(Programs, AHangingWorkerIsEndedWithAllItStarted) {
  script_fails("read line; sleep 1000 & echo $! > started; echo waiting >&2; wait",
               {"it gave no answer within 0.3 s (simulator_timeout_s)", "\n  waiting\n"},
               "simulator_timeout_s = 0.3");
  std::string id = shell_.read("started");
  id.erase(id.find('\n'));
  EXPECT_FALSE(runs(id)) << id;
}

TEST_F(Programs, WrongAnswersAreTold) {
  script_fails("read line; echo hello", {"row 1 of its answer is 'hello': not a number"});
  script_fails("read line; printf '1,2\\n'; cat", {"more than 1 columns"});
  script_fails("read line; printf '1\\n0\\n1\\n1\\n1\\n'; cat", {"more than the 4 rows asked for"});
  script_fails("read line; printf '1\\n0\\n1\\n'; exit 0", {"it ended (exit code 0)"});
  script_fails("read line; printf '1\\n'; exec >&-; sleep 1000", {"it closed its output"});
  script_fails("read line; printf '\\223NUMPY\\002\\000\\377\\377\\377\\177'; cat",
               {"claims 2147483659 bytes"});
  script_fails("read line; head -c 100000 /dev/zero; cat", {"a line of more than"});
  script_fails("read line; echo 'error: theta is odd'; cat", {"it says: theta is odd"});
  script_fails("read line; printf '1\\nnan\\n1\\n1\\n'; cat", {"column 'x' is nan in row 2 of 2 (theta = "});
  script_fails("read line; printf '1\\n1\\n1\\n-inf\\n'; cat", {"column 'x' is -inf in row 2 of 2"});
}

// They would be taken for rows of the next data set.
TEST_F(Programs, RowsThatNobodyAskedForAreRefused) {
  const auto refused = [&](const std::string& text, const std::string& said) {
    script(text, "simulator_sets = 1");
    fails(simulate_ + " --threads 1", 65, {said});
  };
  refused("printf '1\\n2\\n'; while read line; do printf '1\\n0\\n'; done",
          "it wrote before it was asked for rows");
  refused("sleep 0.3; printf '1\\n2\\n'; while read line; do printf '1\\n0\\n'; done",
          "it wrote before it was asked for rows");
  // One row more for each data set, a while after the others: the first time, and the last.
  refused("while read line; do printf '1\\n'; sleep 0.1; printf '0\\n'; sleep 0.1; printf '1\\n'; done",
          "after answer 1 it wrote more than the rows it was asked for");
}

// Of the only answer, when nothing is asked any more; the rows before are shifted, too.
TEST_F(Programs, RowsAfterTheLastAnswerAreRefused) {
  script_fails("while read line; do for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done; done",
               {"model 'flat' (simulator `sh s.sh`)", "after answer 1 it wrote more than the rows"});
}

TEST_F(Programs, AWorkerThatEndsAfterSomeAnswersIsTold) {
  script("for i in 1 2; do read line; printf '1\\n0\\n'; done; echo tired >&2; exit 5");
  // A draw that is all NaN is drawn again, so each data set is a request of its own here.
  shell_.write("p.toml", coins("[\"sh\", \"s.sh\"]"));
  const Problem problem = load_problem(shell_.folder() / "p.toml");
  ThreadPool pool(1);
  Simulator simulator(problem, 1, Purpose::simulate, {.batch = 1, .model = 0, .n = 2});
  Batch batch;
  simulator.simulate(0, pool, batch);
  simulator.simulate(1, pool, batch);
  const auto error = error_of([&] { simulator.simulate(2, pool, batch); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("it ended (exit code 5) after 2 answers"), std::string::npos)
      << error->what();
  EXPECT_EQ(error->detail(), "tired\n");
  // The next request starts another worker.
  simulator.simulate(3, pool, batch);
}

TEST_F(Programs, AFloodOnStandardErrorBlocksNothing) {
  script("while read line; do head -c 3000000 /dev/zero | tr '\\0' 'e' >&2; printf '1\\n0\\n1\\n1\\n'; done");
  must(simulate_ + " && rm a.csv");
  script_fails("read line; for i in $(seq 1 20000); do echo line $i; done >&2; exit 1",
               {"\n  ...\n", "\n  line 20000\n"});
}

TEST_F(Programs, DrawsWithoutUsableDataAreDrawnAgainAndCounted) {
  script("read line; printf 'nan\\nnan\\n1\\n0\\n'; read line; printf '1\\n1\\n'");
  const Outcome outcome = shell_("occam simulate p.toml --datasets 2 --n 2 --model flat -o a.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("model 'flat': 1 draws from its prior gave no usable data"), std::string::npos);
}

TEST_F(Programs, MissingProgramsAndScriptsAreTold) {
  shell_.write("p.toml", coins("\"no-such-program --fast\""));
  fails(simulate_, 66, {"there is no program 'no-such-program' in the PATH"});
  shell_.write("p.toml", coins("\"python3 missing.py\""));
  fails(simulate_, 66, {"p.toml:4:13: simulator: there is no file 'missing.py'"});
  shell_.write("p.toml", coins("\"./missing\""));
  fails(simulate_, 66, {"p.toml:4:13: simulator: there is no file './missing'"});
}

// A worker that sleeps holds a pipe open; the pipe ends when the worker does.
TEST_F(Programs, WorkersEndWhenOccamIsKilled) {
  script("read line; exec 3> fifo; echo started >&3; exec sleep 1000");
  const Outcome outcome = shell_(
      "mkfifo fifo; occam simulate p.toml -o a.csv --threads 1 --quiet & ID=$!\n"
      "{ read line; kill -KILL $ID; cat; } < fifo\n"
      "echo gone");
  EXPECT_EQ(outcome.out, "gone\n");
}

TEST_F(Programs, LargeRequestsAndAnswersPassThroughPipes) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("coin.py", kPythonCoin);
  shell_.write("p.toml", coins("\"coin.py\""));
  must("occam simulate p.toml --datasets 20 --n 300000 --quiet -o a.npz");
  EXPECT_GT(std::filesystem::file_size(shell_.folder() / "a.npz"), 20u * 300000u * 4u);
}

TEST_F(Programs, SameBytesOnAnyNumberOfWorkers) {
  OCCAM_NEEDS_NUMPY();
  for (const std::string& text : {kPythonCoin, kPythonCoins}) {
    shell_.write("coin.py", text);
    shell_.write("p.toml", coins("\"coin.py\""));
    const std::string one = must("occam simulate p.toml --datasets 400 --threads 1 --quiet");
    EXPECT_EQ(one, must("occam simulate p.toml --datasets 400 --threads 4 --quiet"));
    EXPECT_NE(one, must("occam simulate p.toml --datasets 400 --seed 2 --quiet"));
  }
}

TEST_F(Programs, PythonMistakesShowTheirTraceback) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("p.toml", coins("\"coin.py\""));
  shell_.write("coin.py", "from occam_simulator import serve\nserve({'flat': lambda theta, n, rng: [1]})\n");
  fails(simulate_, 65, {"ValueError: model 'flat' returned an array of shape (1,), expected (2, 1)"});
  fails("occam simulate p.toml --datasets 9 --model fair -o a.csv", 65,
        {"serve() has no function for model 'fair'"});
  shell_.write("coin.py", "from occam_simulator import serve\nserve({'flat': lambda thetta, n, rng: [1]})\n");
  fails(simulate_, 65, {"unexpected keyword argument 'theta'", "Traceback"});
}

TEST_F(Programs, RSimulatesToo) {
  if (!has_r()) GTEST_SKIP() << "there is no Rscript";
  shell_.write("coin.R",
               "source(file.path(Sys.getenv('OCCAM_HELPERS'), 'occam_simulator.R'))\n"
               "coin <- function(theta, n) { print('does no harm'); rbinom(n, 1, theta) }\n"
               "serve(list(flat = coin, fair = coin))\n");
  shell_.write("p.toml", coins("\"coin.R\""));
  const std::string one = must("occam simulate p.toml --datasets 30 --threads 1 --quiet");
  EXPECT_EQ(one, must("occam simulate p.toml --datasets 30 --threads 2 --quiet"));
  EXPECT_NE(one.find(",1\n"), std::string::npos);
  shell_.write("coin.R",
               "source(file.path(Sys.getenv('OCCAM_HELPERS'), 'occam_simulator.R'))\n"
               "serve(list(flat = function(theta, n) 1:3))\n");
  fails(simulate_, 65, {"returned 3 rows and 1 columns, expected 2 and 1"});
}

// What an R function returns for two columns, a and b: in the order of its names, not of its places.
TEST_F(Programs, RColumnsAreFoundByTheirNames) {
  if (!has_r()) GTEST_SKIP() << "there is no Rscript";
  shell_.write("p.toml",
               "name = \"p\"\nn = 2\ncolumns = [\"a\", \"b [m]\"]\nsimulator = \"s.R\"\n"
               "[model.one]\ntheta = 1\n[model.two]\ntheta = 2\n");
  const auto returning = [&](const std::string& rows) {
    shell_.write("s.R",
                 "source(file.path(Sys.getenv('OCCAM_HELPERS'), 'occam_simulator.R'))\n"
                 "f <- function(theta, n) " +
                     rows + "\nserve(list(one = f, two = f))\n");
  };
  const std::string simulate = "occam simulate p.toml --datasets 1 --model one --quiet";
  const std::string right = "dataset,model,a,b [m]\n0,one,1,0.5\n0,one,2,10\n";
  for (const std::string rows :
       {"data.frame('b [m]' = c(0.5, 10), a = 1:2, check.names = FALSE)",
        "cbind('b [m]' = c(0.5, 10), a = 1:2)", "cbind(1:2, c(0.5, 10))",
        "{ a <- 1:2; cbind(a, c(0.5, 10)) }", "cbind(c('1', '2'), c('0.5', '10'))",
        "data.frame(a = c('1', '2'), 'b [m]' = factor(c(0.5, 10)), check.names = FALSE)"}) {
    returning(rows);
    EXPECT_EQ(must(simulate), right) << rows;
  }
  returning("cbind(a = 1:2, c = c(0.5, 10))");
  fails(simulate, 65, {"model 'one' returned the columns 'a', 'c', expected 'a', 'b [m]', in any order"});
  returning("{ b <- 1:2; cbind(b, c(0.5, 10)) }");
  fails(simulate, 65, {"returned the columns 'b', '', expected 'a', 'b [m]'"});
}

// Codes of levels would depend on which of them a data set holds.
TEST_F(Programs, TextOfRIsTakenForTheNumbersItSpells) {
  if (!has_r()) GTEST_SKIP() << "there is no Rscript";
  shell_.write("p.toml", coins("\"s.R\""));
  const auto returning = [&](const std::string& rows) {
    shell_.write("s.R",
                 "source(file.path(Sys.getenv('OCCAM_HELPERS'), 'occam_simulator.R'))\n"
                 "f <- function(theta, n) " +
                     rows + "\nserve(list(flat = f, fair = f))\n");
  };
  for (const std::string rows : {"factor(c(20, 10))", "data.frame(x = factor(c(20, 10)))", "c('20', '10')"}) {
    returning(rows);
    EXPECT_EQ(must("occam simulate p.toml --datasets 1 --n 2 --model flat --quiet"),
              "dataset,model,x\n0,flat,20\n0,flat,10\n")
        << rows;
  }
  returning("data.frame(x = factor(c('left', 'right')))");
  fails(simulate_, 65, {"model 'flat': column 'x' holds 'left', which is no number"});
  returning("factor(c('left', 'right'))");
  const Outcome outcome = shell_(simulate_);
  EXPECT_EQ(outcome.code, 65);
  EXPECT_NE(outcome.err.find("its result holds 'left', which is no number"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(outcome.err.find("Warning"), std::string::npos) << outcome.err;
}

TEST_F(Programs, TablesOfPythonAreReadByTheNamesOfTheirColumns) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("p.toml",
               "name = \"p\"\nn = 2\ncolumns = [\"a\", \"b\"]\nsimulator = \"s.py\"\n"
               "[model.one]\ntheta = 1\n[model.two]\ntheta = 2\n");
  const auto returning = [&](const std::string& rows) {
    shell_.write("s.py", "from occam_simulator import serve\ndef f(theta, n, rng): return " + rows +
                             "\nserve({'one': f, 'two': f})\n");
  };
  const std::string simulate = "occam simulate p.toml --datasets 1 --model one --quiet";
  returning("{'b': [0.5, 10], 'a': [1, 2]}");
  EXPECT_EQ(must(simulate), "dataset,model,a,b\n0,one,1,0.5\n0,one,2,10\n");
  returning("{'c': [0.5, 10], 'a': [1, 2]}");
  fails(simulate, 65, {"returned the columns ['c', 'a'], expected ['a', 'b'], in any order"});
}

TEST_F(Programs, HelpersAreWrittenOnRequest) {
  for (const Helper& helper : helpers()) {
    if (helper.language == "cpp-worker") continue;  // compiled together with a user's file, not handed out
    EXPECT_EQ(must("occam models --helper " + std::string(helper.language)), helper.text);
  }
}

// Most of the time goes into them: more steps make better use of what they make than large ones.
TEST_F(Programs, MakeSmallerBatchesThanBuiltInModels) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("p.toml", coins("\"coin.py\""));
  shell_.write("coin.py",
               "from occam_simulator import serve\n"
               "def coin(theta, n, rng): return rng.random((len(n), n.max())) < theta[:, None]\n"
               "serve({'flat': coin, 'fair': coin}, vectorized=True)\n");
  must("occam train p.toml -o net.occam --iterations 2 --validation-datasets 20 --scope-reference 0 --quiet");
  EXPECT_EQ(nlohmann::json::parse(must("occam info net.occam --json"))["record"]["options"]["batch"], 128);
}

// Minutes without a word look like a program that hangs.
TEST_F(Programs, SlowOnesAreSeenToAdvance) {
  OCCAM_NEEDS_NUMPY();
  if (shell_("command -v script").code != 0) GTEST_SKIP() << "no program `script` to play a terminal";
  shell_.write("coin.py",
               "import time\nfrom occam_simulator import serve\n"
               "def coin(theta, n, rng):\n"
               "    time.sleep(0.002)\n"
               "    return rng.random(n) < theta\n"
               "serve({'flat': coin, 'fair': coin})\n");
  shell_.write("p.toml", coins("\"coin.py\"", "simulator_sets = 10\n"));
  const auto terminal = [&](const std::string& command) {
    return must("TERM=xterm script -qec '" + command + "' /dev/null");
  };
  EXPECT_NE(terminal("occam simulate p.toml --datasets 400 -o a.csv").find(" of 400 data sets"),
            std::string::npos);
  const std::string shown = terminal(
      "occam train p.toml -o net.occam --scope-reference 0 --iterations 2 --batch 16 --validation-datasets "
      "400");
  EXPECT_NE(shown.find(" of 1000 first data sets"), std::string::npos) << shown;
  EXPECT_NE(shown.find(" of 400 validation data sets"), std::string::npos) << shown;
}

// A simulator that fails late costs nothing that was learned before.
TEST_F(Programs, AFailureDuringTrainingLeavesACheckpoint) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("p.toml", coins("\"coin.py\""));
  shell_.write("coin.py",
               "import os\nfrom occam_simulator import serve\n"
               "calls = [0]\n"
               "def coin(theta, n, rng):\n"
               "    calls[0] += 1\n"
               "    if calls[0] > 120 and os.path.exists('fail'): raise RuntimeError('out of luck')\n"
               "    return rng.random((len(n), n.max())) < theta[:, None]\n"
               "serve({'flat': coin, 'fair': coin}, vectorized=True)\n");
  const std::string train = "occam train p.toml -o net.occam --threads 1" + quick_;
  must(train);
  const std::string whole = shell_.read("net.occam");
  std::filesystem::remove(shell_.folder() / "net.occam");
  shell_.write("fail", "");
  fails(train, 65, {"out of luck", "continue with --resume"});
  EXPECT_TRUE(std::filesystem::exists(shell_.folder() / "net.occam.checkpoint"));
  EXPECT_FALSE(std::filesystem::exists(shell_.folder() / "net.occam"));
  std::filesystem::remove(shell_.folder() / "fail");
  must(train + " --resume");
  EXPECT_TRUE(whole == shell_.read("net.occam"));
}

}  // namespace
}  // namespace occam::testing_support
