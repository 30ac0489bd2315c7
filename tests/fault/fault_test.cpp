// Every call to the system and every allocation of a command made to fail in turn (faults.cpp). Whatever
// fails: a documented exit code, a message, and under no name a file that is not whole: the old one, the new
// one, or none.
//
// Only some of the calls are tried here; OCCAM_FAULT_ALL=1 tries all of them (an hour). What was tried, how
// often and what came of it is printed.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "../cli/shell.hpp"

namespace occam::testing_support {
namespace {

using Files = std::map<std::string, std::string>;  // contents by name

constexpr const char* kTrain =
    "occam train beta-binomial --iterations 10 --batch 8 --validation-datasets 20 --scope-reference 100 "
    "--scope-calibration 100 --quiet --threads 2";

const std::set<std::string> kBesideNetwork = {"n.occam.checkpoint", ".n.occam.lock"};

struct Command {
  std::string text;
  Files before;                       // inputs, and old outputs
  std::set<std::string> may_be_left;  // beside what the command writes when all goes well
};

class Faults : public ::testing::Test {
 protected:
  struct Fault {
    std::string kind = "files";
    long at = 0;
    bool stays = false;
  };
  struct Result {
    Outcome outcome;
    Files after;
    long calls = 0;
    std::string failed;  // the name of the call
  };

  Result run(const Command& command, const Fault& fault) {
    for (const auto& entry : std::filesystem::directory_iterator(shell_.folder().path()))
      std::filesystem::remove_all(entry.path());
    for (const auto& [name, bytes] : command.before) shell_.write(name, bytes);
    const std::string count = counts_ / "count";
    Result result;
    result.outcome = shell_(
        "export OCCAM_FAULT_FOLDER='" + shell_.folder().path() + "' OCCAM_FAULT_KIND=" + fault.kind +
        " OCCAM_FAULT_AT=" + std::to_string(fault.at) + " OCCAM_FAULT_STAYS=" + (fault.stays ? "1" : "0") +
        " OCCAM_FAULT_COUNT='" + count + "' LD_PRELOAD='" OCCAM_FAULTS "'\nexec " + command.text);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shell_.folder().path())) {
      if (!entry.is_regular_file()) continue;
      const std::string name = std::filesystem::relative(entry.path(), shell_.folder().path()).string();
      result.after[name] = read_file(entry.path().string());
    }
    if (std::filesystem::exists(count)) std::istringstream(read_file(count)) >> result.calls >> result.failed;
    std::filesystem::remove(count);
    return result;
  }

  // All of 1..calls, or about `some` of them, the last ones always.
  static std::vector<long> chosen(long calls, long some) {
    const bool all = std::getenv("OCCAM_FAULT_ALL") != nullptr;
    const long step = all ? 1 : std::max(1L, calls / some);
    std::vector<long> places;
    for (long at = 1; at <= calls; at += step) places.push_back(at);
    return places;
  }

  // A network without its scope reference is whole, too.
  bool is_network(const std::string& name) { return shell_("occam info '" + name + "'").code == 0; }

  static bool is_temporary(const std::string& name) { return name.ends_with(".tmp"); }

  void expect_whole_files(const Command& command, const Result& good, const Result& result) {
    for (const auto& [name, bytes] : command.before) {
      EXPECT_TRUE(result.after.contains(name)) << name << " is gone";
    }
    for (const auto& [name, bytes] : result.after) {
      const auto old = command.before.find(name);
      const auto made = good.after.find(name);
      const bool whole = (old != command.before.end() && bytes == old->second) ||
                         (made != good.after.end() && bytes == made->second) ||
                         command.may_be_left.contains(name) || (name.ends_with(".occam") && is_network(name));
      const bool excused = is_temporary(name) && result.failed == "unlink";
      EXPECT_TRUE(whole || excused) << name << ", " << bytes.size()
                                    << " bytes, is neither the old nor the new file";
    }
  }

  void fail_files(const Command& command) {
    const Result good = run(command, {});
    ASSERT_EQ(good.outcome.code, 0) << good.outcome.err;
    ASSERT_GT(good.calls, 3);
    for (const bool stays : {false, true}) {
      for (const long at : chosen(good.calls, 10)) {
        const Result result = run(command, {.at = at, .stays = stays});
        ++tried_[result.failed + (stays ? " and all later ones" : "") + ": exit code " +
                 std::to_string(result.outcome.code)];
        SCOPED_TRACE("call " + std::to_string(at) + " (" + result.failed + ") failed: " + result.outcome.err);
        EXPECT_TRUE(result.outcome.code == 0 || result.outcome.code == 74) << result.outcome.code;
        if (result.outcome.code == 0) {
          for (const auto& [name, bytes] : good.after) EXPECT_EQ(result.after.contains(name), true) << name;
        } else {
          EXPECT_NE(result.outcome.err.find("occam: "), std::string::npos);
        }
        expect_whole_files(command, good, result);
      }
    }
  }

  void fail_allocations(const Command& command) {
    const Result good = run(command, {.kind = "memory"});
    ASSERT_EQ(good.outcome.code, 0) << good.outcome.err;
    ASSERT_GT(good.calls, 1000);
    for (const long at : chosen(good.calls, 12)) {
      const Result result = run(command, {.kind = "memory", .at = at});
      ++tried_["allocation: exit code " + std::to_string(result.outcome.code)];
      SCOPED_TRACE("allocation " + std::to_string(at) + " failed: " + result.outcome.err);
      // A file that is too large for the memory is told as what it is.
      const bool too_large =
          result.outcome.code == 74 && result.outcome.err.find("do not fit in memory") != std::string::npos;
      EXPECT_TRUE(result.outcome.code == 0 || result.outcome.code == 70 || too_large) << result.outcome.code;
      if (result.outcome.code == 70) {
        EXPECT_NE(result.outcome.err.find("out of memory"), std::string::npos);
      }
      Files named;
      for (const auto& [name, bytes] : result.after) {
        if (!is_temporary(name)) named[name] = bytes;
      }
      expect_whole_files(command, good, {result.outcome, named, result.calls, result.failed});
    }
  }

  // A network and data for it.
  Files inputs() {
    const Outcome made =
        shell_(std::string(kTrain) +
               " -o n.occam && occam simulate beta-binomial -o d.csv --datasets 5 --n 3 --quiet");
    EXPECT_EQ(made.code, 0) << made.err;
    return {{"n.occam", shell_.read("n.occam")}, {"d.csv", shell_.read("d.csv")}};
  }
  static Files with(Files files, const std::string& name, const std::string& bytes) {
    files[name] = bytes;
    return files;
  }

  void TearDown() override {
    for (const auto& [fault, times] : tried_) std::printf("%6d  %s\n", times, fault.c_str());
  }

  Shell shell_;
  TemporaryFolder counts_;
  std::map<std::string, int> tried_;  // how often, by what failed and the exit code
};

TEST_F(Faults, Simulate) {
  fail_files({"occam simulate beta-binomial -o s.csv --datasets 3000 --n 3 --quiet", {{"s.csv", "old"}}, {}});
  fail_files({"occam simulate beta-binomial -o s.npz --datasets 20 --n 3 --quiet", {{"s.npz", "old"}}, {}});
}

TEST_F(Faults, Train) {
  fail_files({std::string(kTrain) + " -o n.occam", {{"n.occam", "old"}}, kBesideNetwork});
}

TEST_F(Faults, Compare) {
  const Files files = inputs();
  fail_files({"occam compare n.occam d.csv -o a.csv --quiet", with(files, "a.csv", "old"), {}});
  fail_files(
      {"occam compare n.occam d.csv -o a.json --report r.html --quiet", with(files, "r.html", "old"), {}});
}

TEST_F(Faults, Page) {
  const Files files = with(inputs(), "p.html", "old");
  const Command command{"occam page n.occam -o p.html --example d.csv", files, {}};
  if (run(command, {}).outcome.err.find("this build has no page") != std::string::npos)
    GTEST_SKIP() << "built without emscripten";
  fail_files(command);
  fail_allocations(command);
}

TEST_F(Faults, Check) {
  fail_files({"occam check n.occam -o c --datasets 50 --save-predictions p.npz --quiet",
              with(inputs(), "p.npz", "old"),
              {}});
}

TEST_F(Faults, MemoryOfTrain) {
  fail_allocations({std::string(kTrain) + " -o n.occam", {{"n.occam", "old"}}, kBesideNetwork});
}

TEST_F(Faults, MemoryOfCompare) {
  fail_allocations(
      {"occam compare n.occam d.csv -o a.json --report r.html --quiet", with(inputs(), "a.json", "old"), {}});
}

TEST_F(Faults, MemoryOfCheck) {
  fail_allocations({"occam check n.occam -o c --datasets 50 --quiet", inputs(), {}});
}

}  // namespace
}  // namespace occam::testing_support
