// The program under mpirun: the same bytes on any number of ranks and threads, and one end for all of them,
// whatever happens to one. Ranks share whatever cores there are.
#include <filesystem>

#include <gtest/gtest.h>

#include "../own_models/own_support.hpp"

namespace occam::testing_support {
namespace {

// on N ...: occam ... on N ranks. Open MPI refuses to run as root, and more ranks than cores, unless told to.
constexpr const char* kOn = R"(
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
on() { ranks=$1; shift; timeout 100 mpirun --oversubscribe -n $ranks occam "$@"; }
alive() { for one in $@; do grep -q '^State:.[^ZX]' /proc/$one/status 2>/dev/null && return; done; return 1; }
children() { for child in $(cat /proc/$1/task/*/children); do grep -q occam /proc/$child/comm && echo $child; done; }
)";

class Mpi : public ::testing::Test {
 protected:
  void SetUp() override {
    if (OCCAM_HAS_MPI == 0)
      GTEST_SKIP() << "occam was built without MPI (Debian: libopenmpi-dev openmpi-bin)";
    if (shell_("mpirun --version | grep -q 'Open MPI'").code != 0)
      GTEST_SKIP() << "there is no mpirun of Open MPI (Debian: openmpi-bin)";
  }

  Outcome run(const std::string& command) const {
    return shell_("PATH=" + numpy_path().value_or("") + "$PATH" + kOn + command);
  }
  std::string must(const std::string& command) const {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    return outcome.out;
  }
  // Ends so, with one message.
  void fails(const std::string& command, int code, const std::string& message) const {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
    const auto at = outcome.err.find(message);
    EXPECT_NE(at, std::string::npos) << "'" << message << "' is not in: " << outcome.err;
    EXPECT_TRUE(at == std::string::npos || outcome.err.find(message, at + 1) == std::string::npos)
        << "said twice: " << outcome.err;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(shell_.folder() / name); }
  // Files that no run left behind but under its final name.
  std::string left_over() const { return shell_("ls -A | grep -e tmp -e lock -e checkpoint").out; }

  const std::string training_ =
      " --iterations 20 --batch 64 --warmup 5 --validate-every 10 --validation-datasets 100 --quiet"
      " --scope-reference 200 --scope-calibration 100"
      " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4'";
  Shell shell_;
};

TEST_F(Mpi, NetworksAreTheSameBytesOnAnyNumberOfRanks) {
  must("occam train decision-making -o one.occam --threads 1" + training_);
  for (const char* ranks : {"1", "2", "3", "4"}) {
    for (const char* threads : {"1", "2"}) {
      must(std::string("on ") + ranks + " train decision-making -o many.occam --threads " + threads +
           training_);
      EXPECT_EQ(shell_.read("many.occam"), shell_.read("one.occam")) << ranks << " ranks, " << threads;
      EXPECT_EQ(left_over(), "");
    }
  }
}

TEST_F(Mpi, HeadsSeriesEnsemblesAndLogsToo) {
  for (const std::string kind : {"beta-binomial --head vae --ensemble 2",
                                 "jump-process --replay 2 --iterations 12 --network lstm=8"}) {
    const std::string options = kind +
                                " --batch 32 --warmup 5 --validate-every 6 --validation-datasets 50"
                                " --quiet --scope-reference 0" +
                                (kind.starts_with("beta") ? " --iterations 10" : "");
    must("occam train " + options + " -o one.occam");
    must("on 3 train " + options + " -o many.occam --log many.log");
    EXPECT_EQ(shell_.read("many.occam"), shell_.read("one.occam")) << kind;
    EXPECT_EQ(shell_("wc -l < many.log").out, kind.starts_with("beta") ? "4\n" : "2\n");
  }
}

TEST_F(Mpi, TablesReportsAndAbcAreTheSameBytes) {
  must("occam simulate decision-making --datasets 300 --with-parameters -o one.csv --quiet");
  must("on 3 simulate decision-making --datasets 300 --with-parameters -o many.csv --quiet");
  EXPECT_EQ(shell_.read("many.csv"), shell_.read("one.csv"));
  EXPECT_EQ(must("on 2 simulate beta-binomial --datasets 3 --quiet"),
            must("occam simulate beta-binomial --datasets 3 --quiet"));

  must("occam simulate jump-process --datasets 1 -o path.csv --quiet");
  for (const std::string summary : {"time-grid", "moments"}) {
    const std::string abc =
        "abc jump-process path.csv --quiet --population-size 60 --populations 3 --summary " + summary;
    must("occam " + abc + " -o one.json --particles one.npz; on 3 " + abc +
         " -o many.json --particles many.npz");
    EXPECT_EQ(shell_.read("many.json"), shell_.read("one.json"));
    EXPECT_EQ(shell_.read("many.npz"), shell_.read("one.npz"));
  }

  must("occam train beta-binomial -o net.occam" + training_);
  const std::string check = "check net.occam --datasets 200 --missed-datasets 300 --quiet -o report";
  must("occam " + check + " > one.txt; mv report one; on 2 " + check + " > many.txt; diff -r one report");
  EXPECT_EQ(shell_.read("many.txt"), shell_.read("one.txt"));
  const std::string scope = "scope net.occam --scope-reference 150 --scope-calibration 100 --quiet -o ";
  must("occam " + scope + "one.occam; on 3 " + scope + "many.occam");
  EXPECT_EQ(shell_.read("many.occam"), shell_.read("one.occam"));
  const std::string extend =
      "extend net.occam beta-binomial --iterations 6 --batch 32 --quiet --scope-reference 0";
  must("occam " + extend + " -o one.occam >one.txt; on 2 " + extend +
       " -o many.occam >many.txt; cmp one.txt many.txt");
  EXPECT_EQ(shell_.read("many.occam"), shell_.read("one.occam"));
}

TEST_F(Mpi, StudiesAreTheSameButForTheirTimes) {
  must("mkdir small");
  shell_.write("small/study.toml", R"(
title = "Coins, small"
[[network]]
name = "first"
problem = "beta-binomial"
train = { iterations = 20, batch = 16, warmup = 5, validate_every = 10, validation_datasets = 50, restarts = 0 }
network = { inv_width = 8, equiv_width = 8, post_width = 8, summary = 4 }
[[experiment]]
kind = "sizes"
n = [1, 5]
datasets = 100
)");
  must(
      "occam reproduce small -o one --quiet; on 3 reproduce small -o many --quiet; cmp one/sizes.csv "
      "many/sizes.csv");
  // Once more: what was trained is found.
  must("on 2 reproduce small -o many 2>log >out; grep -q 'trained already' log");
}

TEST_F(Mpi, OtherVerbsAreRunOnce) {
  must("occam train beta-binomial -o net.occam" + training_);
  EXPECT_EQ(must("on 3 info net.occam"), must("occam info net.occam"));
  EXPECT_EQ(must("on 2 --version"), must("occam --version"));
  fails("on 3 info nothing.occam", 66, "occam: cannot read 'nothing.occam'");
}

class MpiOwnModels : public Mpi {
 protected:
  void SetUp() override {
    OCCAM_NEEDS_NUMPY();
    Mpi::SetUp();
  }
  // Two models of one program, which takes a while for some data sets; `body` is the function's.
  void problem(const std::string& extra, const std::string& body) {
    shell_.write("own.toml", "name = \"own\"\nn = 5\ncolumns = { x = \"\" }\nsimulator = \"own.py\"\n" +
                                 extra +
                                 "[model.a]\nm = \"normal(0, 1)\"\n[model.b]\nm = \"normal(1, 1)\"\n");
    shell_.write("own.py", "import os, time\nfrom occam_simulator import serve\ndef f(m, n, rng):\n" + body +
                               "    return rng.normal(m, 1, n)\nserve({'a': f, 'b': f})\n");
  }
};

TEST_F(MpiOwnModels, AreTheSameBytesAndKeepAllRanksBusy) {
  // Ranks of one machine share a counter; those of several ask the first for their tasks.
  const std::pair<std::string, std::string> kinds[] = {
      {"", ""}, {"simulator_sets = 1\n", ""}, {"simulator_sets = 1\n", "export OCCAM_RANKS_APART=1; "}};
  for (const auto& [sets, apart] : kinds) {
    problem(sets, "    time.sleep(0.01 * abs(m))\n    open('by', 'a').write(f'{os.getppid()}\\n')\n");
    must("occam simulate own.toml --datasets 150 -o one.csv --quiet --threads 1; rm by");
    must(apart + "on 3 simulate own.toml --datasets 150 -o many.csv --quiet --threads 1");
    EXPECT_EQ(shell_.read("many.csv"), shell_.read("one.csv"));
    EXPECT_EQ(must("sort by | uniq -c | wc -l"), "3\n") << "each rank has a worker";
    must("sort by | uniq -c | awk '$1 < 15 { exit 1 }'");
    problem(sets, "");
    const std::string training =
        " own.toml --iterations 3 --batch 16 --validation-datasets 20 --warmup 2 --quiet"
        " --scope-reference 0 --threads 1 -o ";
    must(apart + "occam train" + training + "one.occam; on 2 train" + training + "many.occam");
    EXPECT_EQ(shell_.read("many.occam"), shell_.read("one.occam"));
    must("printf 'x\\n1\\n2\\n0\\n1\\n1\\n' > x.csv");
    const std::string abc = "abc own.toml x.csv --population-size 10 --populations 2 --quiet --threads 1 -o ";
    must(apart + "occam " + abc + "one.json; on 2 " + abc + "many.json");
    EXPECT_EQ(shell_.read("many.json"), shell_.read("one.json"));
  }
}

TEST_F(MpiOwnModels, InCppAreTheSameBytes) {
  must("cp -r '" OCCAM_SOURCE "/examples/cpp-epidemic' .");
  const std::string simulate = "simulate cpp-epidemic/problem.toml --datasets 200 --quiet -o ";
  must("occam " + simulate + "one.npz; on 3 " + simulate + "many.npz");
  EXPECT_EQ(shell_.read("many.npz"), shell_.read("one.npz"));
}

TEST_F(MpiOwnModels, FailTogether) {
  problem("simulator_sets = 1\n", "    if m > 2: raise RuntimeError('too much')\n");
  for (const std::string apart : {"", "export OCCAM_RANKS_APART=1; "}) {
    fails(apart + "on 3 simulate own.toml --datasets 200 -o many.csv --quiet", 65, "own.py`)");
    EXPECT_FALSE(exists("many.csv"));
  }
  EXPECT_EQ(left_over(), "");
  problem("simulator_sets = 1\nsimulator_timeout_s = 1\n", "    if m > 1.5: time.sleep(1000)\n");
  fails("on 2 train own.toml -o many.occam --batch 16 --quiet", 65, "within 1 s");
}

TEST_F(MpiOwnModels, MayUseMpiThemselves) {
  problem("simulator_sets = 1\n",
          "    assert not any(k.startswith(('PMIX_', 'OMPI_COMM_WORLD')) for k in os.environ)\n");
  must("on 2 simulate own.toml --datasets 4 --quiet -o many.csv");
}

TEST_F(Mpi, OneEndForAll) {
  fails("on 3 simulate nothing", 64, "unknown problem 'nothing'");
  fails("on 3 train beta-binomial -o no/such.occam", 74, "cannot write 'no/such.occam'");
  fails("on 2 simulate decision-making --datasets 20 --quiet -o /dev/full", 74, "No space left");
  fails("on 2 abc beta-binomial -", 64, "standard input reaches one rank of 2");
}

// A batch system warns with SIGUSR1 before it ends a job; mpirun passes the signal on.
TEST_F(Mpi, SignalsLeaveACheckpointForAnyNumberOfRanks) {
  const std::string train =
      "train beta-binomial -o net.occam --log log --iterations 2000 --batch 64 --warmup 5"
      " --validate-every 20 --validation-datasets 100 --quiet --scope-reference 0";
  must("occam " + train + "; mv net.occam one.occam; rm log");
  for (const char* signal : {"USR1", "TERM"}) {
    const Outcome stopped = run("mpirun --oversubscribe -n 3 occam " + train +
                                " & pid=$!; await 'test -s log'; kill -" + signal + " $pid; wait $pid");
    EXPECT_NE(stopped.code, 0) << signal;
    EXPECT_FALSE(exists("net.occam")) << "stopped too late to show anything";
    ASSERT_TRUE(exists("net.occam.checkpoint")) << signal << "\n" << stopped.err;
    EXPECT_TRUE(signal != std::string("USR1") ||
                stopped.err.find("continue with --resume") != std::string::npos)
        << stopped.err;
    must("on 2 " + train + " --resume");
    EXPECT_EQ(shell_.read("net.occam"), shell_.read("one.occam"));
    must("rm net.occam log");
    EXPECT_EQ(left_over(), "");
  }
}

TEST_F(Mpi, AKilledRankEndsAllAndLeavesNothingHalf) {
  const std::string train =
      "train beta-binomial -o net.occam --iterations 600 --batch 64 --warmup 5"
      " --validate-every 20 --validation-datasets 100 --quiet --scope-reference 0"
      " --checkpoint-minutes 0.001";
  must("occam " + train + "; mv net.occam one.occam");
  for (const char* victim : {"head", "tail"}) {
    const Outcome killed =
        run("mpirun --oversubscribe -n 3 occam " + train +
            " & pid=$!; await 'test -s net.occam.checkpoint'; all=$(children $pid); "
            "kill -KILL $(echo \"$all\" | " +
            victim + " -n 1); wait $pid; code=$?; AWAIT=50 await '! alive $all' || exit 0; exit $code");
    EXPECT_NE(killed.code, 0);
    EXPECT_FALSE(exists("net.occam"));
    must("on 4 " + train + " --resume");
    EXPECT_EQ(shell_.read("net.occam"), shell_.read("one.occam"));
    EXPECT_EQ(left_over(), "");
    must("rm net.occam");
  }
}

// Each script of docs/cluster.md as a file: 1.sh, 2.sh, ...
TEST_F(Mpi, ScriptsOfTheDocsAreScripts) {
  must(
      "awk '/^```$/ { inside = 0 } inside { print > inside } /^```bash$/ { inside = ++n \".sh\" }' "
      "'" OCCAM_SOURCE "/docs/cluster.md'");
  EXPECT_EQ(must("ls *.sh | wc -l"), "4\n");
  must("for script in *.sh; do bash -n $script || exit; done");
  // Slurm and PBS, with stand-ins for what starts ranks.
  must(
      "mkdir bin; for name in srun mpirun; do "
      "printf '#!/bin/sh\\nwhile [ $1 != occam ]; do shift; done; echo \"$@\"\\n' > bin/$name; done; chmod "
      "+x bin/*");
  const std::string command = "occam train my_problem.toml -o my.occam --log my.log --resume\n";
  EXPECT_EQ(must("PATH=$PWD/bin:$PATH SLURM_CPUS_PER_TASK=2 bash 1.sh"), command);
  EXPECT_EQ(must("PATH=$PWD/bin:$PATH PBS_O_WORKDIR=. bash 2.sh"), command);
  // The array of jobs for real, but smaller.
  must("occam models --show beta-binomial > my_problem.toml; sed -i 's/--datasets 1000/--datasets 60/' 3.sh");
  must("sed -i 's/-o my.occam/-o my.occam --iterations 5 --batch 16 --scope-reference 0 --quiet/' 4.sh");
  must("for i in 1 2 3; do SLURM_ARRAY_TASK_ID=$i SLURM_CPUS_PER_TASK=1 bash 3.sh || exit; done; bash 4.sh");
  EXPECT_TRUE(exists("my.occam"));
  must("cp table-1.npz table-4.npz");
  fails("bash 4.sh", 65, "it holds the same data sets as 'table-1.npz'");
}

}  // namespace
}  // namespace occam::testing_support
