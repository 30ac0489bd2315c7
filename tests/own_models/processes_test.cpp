// Processes: every wait for a simulator has an end, whatever it does, one Ctrl-C is enough, nothing that a
// simulator started outlives occam, and a crash in a C++ file costs no training.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "own_support.hpp"

namespace occam::testing_support {
namespace {

// Waits until it is so, for at most half a minute.
bool becomes(const std::function<bool()>& so) {
  for (int i = 0; i < 3000; ++i) {
    if (so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Processes : public OwnModels {
 protected:
  void script(const std::string& text, const std::string& more = "") {
    shell_.write("s.sh", text);
    shell_.write("p.toml", coins("[\"sh\", \"s.sh\"]", more));
  }
  void cpp(const std::string& body, const std::string& more = "") {
    shell_.write("coin.cpp",
                 "#include <occam/simulator.h>\n#include <cstdlib>\n#include <fstream>\n"
                 "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n" +
                     body + "\n}\n");
    shell_.write("p.toml", coins("\"coin.cpp\"", more));
  }
  // Runs a command that should end by itself; it is killed after a minute.
  void fails_in_time(const std::string& command, int code, const std::vector<std::string>& parts) {
    fails("timeout -s KILL 60 " + command, code, parts);
  }
  std::vector<std::string> ids(const std::string& file) const {
    std::ifstream text(shell_.folder() / file);
    std::vector<std::string> all;
    for (std::string id; text >> id;) all.push_back(id);
    return all;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(shell_.folder() / name); }

  const std::string simulate_ =
      "occam simulate p.toml --datasets 2 --n 2 --model flat --threads 1 --quiet -o a.csv";
};

TEST_F(Processes, AProgramThatNeverStopsWritingIsTold) {
  shell_.write("p.toml", coins("\"yes\""));
  fails_in_time(simulate_, 65,
                {"model 'flat' (simulator `yes`)", "it wrote before it was asked for rows", "'y"});
  script("read line; exec yes");
  fails_in_time(simulate_, 65, {"row 1 of its answer is 'y'"});
  script("read line; exec yes 1");
  fails_in_time(simulate_, 65, {"it wrote more than the 4 rows asked for: '1"});
  script("read line; yes >&2", "simulator_timeout_s = 0.5");
  fails_in_time(simulate_, 65, {"it gave no answer within 0.5 s (simulator_timeout_s)", "\n  y\n"});
}

TEST_F(Processes, TheTimeoutHoldsWhenOutputIsClosed) {
  script("read line; exec >&-; while :; do echo still here >&2; sleep 0.1; done",
         "simulator_timeout_s = 0.5");
  fails_in_time(simulate_, 65,
                {"it closed its output before its first answer was complete", "\n  still here\n"});
}

TEST_F(Processes, TheTimeoutHoldsWhenNothingIsRead) {
  // A thousand parameters make a request that no pipe holds.
  std::string parameters = "simulator_timeout_s = 0.5\n[parameters]\n";
  for (int i = 0; i < 1000; ++i) parameters += "p" + std::to_string(i) + " = \"uniform(0, 1)\"\n";
  script("exec sleep 1000", parameters);
  fails_in_time("occam simulate p.toml --datasets 64 --model flat --threads 1 --quiet -o a.csv", 65,
                {"it gave no answer within 0.5 s"});
}

TEST_F(Processes, WordsBetweenTwoAnswersAreRefused) {
  script("while read line; do seq 1 64; echo 7; done");
  fails_in_time("occam simulate p.toml --datasets 200 --n 1 --model flat --threads 1 --quiet -o a.csv", 65,
                {"it wrote more than"});
}

// SIGTERM is taken like Ctrl-C, which jobs in the background of a script ignore.
TEST_F(Processes, OneCtrlCEndsAWait) {
  script("read line; echo thinking >&2; : > asked; exec sleep 1000");
  fails("timeout -s KILL 60 sh -c '" + simulate_ +
            " & ID=$!; while [ ! -e asked ]; do sleep 0.05; done; kill -TERM $ID; wait $ID'",
        130, {"model 'flat'", "of waiting for its answer", "\n  thinking\n"});
}

TEST_F(Processes, OneCtrlCEndsACompilation) {
  cpp("  return true;");
  shell_.write("slow-compiler",
               "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n: > compiling\nexec sleep 1000\n");
  must("chmod +x slow-compiler");
  fails("timeout -s KILL 60 sh -c 'CXX=./slow-compiler " + simulate_ +
            " & ID=$!; while [ ! -e compiling ]; do sleep 0.05; done; kill -TERM $ID; wait $ID'",
        130, {"stopped while './slow-compiler' ran"});
  fails_in_time("env CXX=./slow-compiler OCCAM_COMPILER_TIMEOUT_S=0.5 " + simulate_, 78,
                {"'coin.cpp' was not compiled", "within 0.5 s (OCCAM_COMPILER_TIMEOUT_S)"});
}

// Children, grandchildren in the background, and a daemon that left the session: all end with occam.
TEST_F(Processes, AllThatASimulatorStartedEndsWithOccam) {
  const std::string start =
      "read line; sleep 1000 & echo $! >> ids\n"
      "(setsid sh -c 'echo $$ >> ids; exec sleep 1000' &)\n"
      "(set -m; sleep 1000 & echo $! >> ids)\n"
      "while [ $(wc -l < ids) -lt 3 ]; do sleep 0.05; done; echo $$ >> ids\n";
  const auto all_gone = [&] {
    for (const std::string& id : ids("ids")) {
      if (runs(id)) return false;
    }
    return true;
  };
  script(start + "exec sleep 1000");
  must(simulate_ +
       " 2>/dev/null & ID=$!\n"
       "i=0; while [ $i -lt 600 ] && [ $(cat ids 2>/dev/null | wc -l) -lt 4 ]; do sleep 0.05; i=$((i+1)); "
       "done\n"
       "kill -KILL $ID");
  EXPECT_EQ(ids("ids").size(), 4u);
  EXPECT_TRUE(becomes(all_gone));
  // The same when it ends as it should: by the time occam is done.
  must("rm ids");
  script(start + "printf '1\\n0\\n1\\n1\\n'; cat");
  must(simulate_);
  EXPECT_EQ(ids("ids").size(), 4u);
  EXPECT_TRUE(all_gone());
}

TEST_F(Processes, ACrashInACppFileIsToldWithItsParameters) {
  const std::pair<std::string, std::string> crashes[] = {
      {"  volatile int* wild = nullptr; *wild = 1; return true;", "it ended (signal 11"},
      {"  std::abort();", "it ended (signal 6"},
      {"  std::exit(3);", "it ended (exit code 3)"},
      {"  volatile char room[1 << 20]; room[0] = 1; return simulate(p, rng, out) && room[0] == 1;",
       "it ended (signal 11"},
      {"  for (volatile int i = 0;; i = i + 1) {}", "it gave no answer within 2 s (simulator_timeout_s)"}};
  for (const auto& [body, says] : crashes) {
    cpp(body, body.find("for (") == std::string::npos ? "" : "simulator_timeout_s = 2");
    fails_in_time("env CXXFLAGS=-O0 " + simulate_, 65,
                  {"model 'flat' (simulator `coin.cpp`)", says, "at n = 2, theta = 0."});
  }
}

TEST_F(Processes, WhatACppFilePrintsDoesNoHarm) {
  cpp("  std::printf(\"hello\\n\"); std::fflush(stdout);\n"
      "  out(0, 0) = out(1, 0) = std::getchar() == EOF; return true;");
  must(simulate_);
  EXPECT_EQ(shell_.read("a.csv"), "dataset,model,x\n0,flat,1\n0,flat,1\n1,flat,1\n1,flat,1\n");
}

// A crash after many steps: the training goes on from there when the cause is gone, to the same bytes.
TEST_F(Processes, ACrashInACppFileCostsNoTraining) {
  cpp("  static long calls = 0;\n"
      "  if (++calls > 1500 && std::ifstream(\"crash\")) std::abort();\n"
      "  if (rng.uniform() < 0.1) return false;\n"
      "  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.uniform() < p[\"theta\"];\n"
      "  return true;");
  const std::string train = "occam train p.toml -o net.occam --threads 1 --scope-reference 0" + quick_;
  must(train);
  const std::string whole = shell_.read("net.occam");
  must("rm net.occam; : > crash");
  fails(train, 65, {"it ended (signal 6 (Aborted))", "theta = 0.", "continue with --resume"});
  EXPECT_TRUE(exists("net.occam.checkpoint"));
  must("rm crash; " + train + " --resume");
  EXPECT_TRUE(whole == shell_.read("net.occam"));
}

// The network is there before anything that comes after the training.
TEST_F(Processes, AFailureAfterTheTrainingLeavesTheNetwork) {
  cpp("  if (std::ifstream(\"net.occam\") && std::ifstream(\"crash\")) std::abort();\n"
      "  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.uniform() < p[\"theta\"];\n"
      "  return true;");
  const std::string train =
      "occam train p.toml -o net.occam --threads 1 --scope-reference 200 --scope-calibration 200" + quick_;
  must(train);
  const std::string whole = shell_.read("net.occam");
  must("rm net.occam; : > crash");
  fails(train, 65,
        {"it ended (signal 6", "the network is in net.occam and can be used",
         "`occam scope net.occam -o FILE --problem FILE.toml`", "--resume"});
  shell_.write("d.csv", "x\n1\n1\n0\n");
  must("occam compare net.occam d.csv");
  must("rm crash; " + train + " --resume");
  EXPECT_TRUE(whole == shell_.read("net.occam"));
  EXPECT_FALSE(exists("net.occam.checkpoint"));
}

TEST_F(Processes, NoFilesOfDeadCompilationsStay) {
  cpp("  return false;");
  shell_.write(
      "slow-compiler",
      "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n: > $TMPDIR/half; : > compiling\nexec sleep 1000\n");
  must("chmod +x slow-compiler; CXX=./slow-compiler " + simulate_ +
       " 2>/dev/null & ID=$!\n"
       "i=0; while [ $i -lt 600 ] && [ ! -e compiling ]; do sleep 0.05; i=$((i+1)); done; kill -KILL $ID");
  const auto temporaries = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(shell_.folder() / "cache/occam"))
      count += entry.path().string().ends_with(".tmp") ? 1 : 0;
    return count;
  };
  EXPECT_EQ(temporaries(), 1);
  must("sed -i 's/exec sleep 1000/exit 1/' slow-compiler");
  fails("CXX=./slow-compiler " + simulate_, 78, {"does not compile"});
  EXPECT_EQ(temporaries(), 0);
}

}  // namespace
}  // namespace occam::testing_support
