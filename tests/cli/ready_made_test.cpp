// Networks asked for by the name of their problem: where they are found, what goes before them, what is said
// where there is none. Those in networks/ of the sources are looked at in tests/contract.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

// Networks that learned little, but differ.
const std::string kTraining =
    " --batch 16 --warmup 20 --validate-every 40 --validation-datasets 100 --quiet"
    " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4' --scope-reference 200"
    " --scope-calibration 200 ";

// A folder `nets` with a network for the coins, named to the program.
class ReadyMadeNetwork : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(shell_.folder() / "nets");
    must("occam train beta-binomial -o nets/beta-binomial.occam --iterations 80" + kTraining);
    shell_.write("d.csv", "x\n1\n1\n0\n1\n");
  }
  Outcome run(const std::string& command) const { return shell_("export OCCAM_NETWORKS=nets; " + command); }
  std::string must(const std::string& command) const {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    return outcome.out;
  }
  void copy(const std::string& from, const std::string& to) const {
    std::filesystem::copy_file(shell_.folder() / from, shell_.folder() / to);
  }
  Shell shell_;
};

TEST_F(ReadyMadeNetwork, IsFoundByTheNameOfItsProblem) {
  for (const std::string command : {"compare NET d.csv", "compare NET d.csv -o -", "info NET --json",
                                    "check NET --datasets 50 --missed-datasets 0 --quiet"}) {
    std::string by_path = "occam " + command, by_name = by_path;
    by_path.replace(by_path.find("NET"), 3, "nets/beta-binomial.occam");
    by_name.replace(by_name.find("NET"), 3, "beta-binomial");
    EXPECT_EQ(must(by_name), must(by_path)) << command;
  }
  must("occam scope beta-binomial -o scoped.occam --scope-reference 100 --scope-calibration 100 --quiet");
  must("occam extend beta-binomial beta-binomial -o more.occam --iterations 10 --retention-datasets 0" +
       std::string(" --scope-reference 0 --validation-datasets 50 --quiet"));
  must(
      "occam abc beta-binomial d.csv --summary network --summary-network beta-binomial --populations 1 "
      "--population-size 20 --quiet");
  EXPECT_EQ(json::parse(must("occam info scoped.occam --json"))["record"]["steps"], 80);
}

TEST_F(ReadyMadeNetwork, OfAVariantHasAPlainFileName) {
  copy("nets/beta-binomial.occam", "nets/decision-making.as_run.occam");
  EXPECT_EQ(must("occam info decision-making:as_run"), must("occam info nets/decision-making.as_run.occam"));
}

TEST_F(ReadyMadeNetwork, GivesWayToAFileOfThatNameButNotToAFolder) {
  must("occam train beta-binomial -o other.occam --iterations 60" + kTraining);
  const auto steps = [&] { return json::parse(must("occam info beta-binomial --json"))["record"]["steps"]; };
  std::filesystem::create_directory(shell_.folder() / "beta-binomial");
  EXPECT_EQ(steps(), 80);
  std::filesystem::remove(shell_.folder() / "beta-binomial");
  copy("other.occam", "beta-binomial");
  EXPECT_EQ(steps(), 60);
}

TEST_F(ReadyMadeNetwork, ThatIsDamagedIsRefusedLikeAnyFile) {
  must("truncate -s -100 nets/beta-binomial.occam");
  for (const char* command : {"occam compare beta-binomial d.csv", "occam info beta-binomial"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 78) << command << outcome.err;
    EXPECT_NE(outcome.err.find("nets/beta-binomial.occam"), std::string::npos) << outcome.err;
  }
}

TEST_F(ReadyMadeNetwork, IsNotOverwrittenByWhatIsMadeFromIt) {
  const Outcome outcome = run("occam scope beta-binomial -o nets/beta-binomial.occam --quiet");
  EXPECT_EQ(outcome.code, 64);
  EXPECT_NE(outcome.err.find("would overwrite what is read"), std::string::npos) << outcome.err;
}

TEST_F(ReadyMadeNetwork, IsListedWithHowItWasMade) {
  const auto entry = [&] {
    for (const json& problem : json::parse(must("occam models --json")))
      if (problem["name"] == "beta-binomial") return problem["ready_made"];
    return json();
  };
  EXPECT_NE(must("occam models").find("ready-made network: there is no record"), std::string::npos);
  EXPECT_EQ(entry()["path"], "nets/beta-binomial.occam");
  EXPECT_TRUE(entry()["made"].is_null());

  const auto record = [](const std::string& network) {
    return json{{"network", network},   {"command", "occam train it"},
                {"program", "occam 7"}, {"machine", "two abacuses"},
                {"steps", 80},          {"validation_loss", 0.5},
                {"verdict", "no fault"}};
  };
  shell_.write("nets/beta-binomial.json", record("beta-binomial.occam").dump());
  const std::string made = "80 steps, validation loss 0.5000 nats; check: no fault\n";
  EXPECT_NE(must("occam models").find("    ready-made network: " + made), std::string::npos);
  EXPECT_NE(must("occam info").find("\nbeta-binomial\n    " + made + "    nets/beta-binomial.occam\n"),
            std::string::npos);
  EXPECT_EQ(entry()["made"]["command"], "occam train it");
  EXPECT_EQ(json::parse(must("occam info --json"))[0]["made"]["verdict"], "no fault");
  for (const char* line : {"made with         occam train it\n", "by                occam 7\n",
                           "on                two abacuses\n", "checked           no fault\n"}) {
    EXPECT_NE(must("occam info beta-binomial").find(line), std::string::npos) << line;
  }

  // Some other file of that name, and one of anything.
  for (const std::string& text :
       {record("answers.occam").dump(), std::string("{\"network\": "), std::string("7")}) {
    shell_.write("nets/beta-binomial.json", text);
    EXPECT_TRUE(entry()["made"].is_null()) << text;
    EXPECT_EQ(must("occam info beta-binomial").find("made with"), std::string::npos) << text;
  }
  // Values of other kinds than expected are passed over.
  shell_.write(
      "nets/beta-binomial.json",
      R"({"network": "beta-binomial.occam", "command": 3, "steps": "x", "validation_loss": [], "verdict": {}})");
  EXPECT_NE(must("occam models").find("ready-made network: there is no record"), std::string::npos);
  EXPECT_EQ(must("occam info beta-binomial").find("made with"), std::string::npos);
}

TEST_F(ReadyMadeNetwork, ThatItsCheckFoundFaultWithSaysSoWithEveryAnswer) {
  const auto record = [&](const char* severity) {
    const json text = {{"network", "beta-binomial.occam"},
                       {"verdict", "not to be trusted as it is"},
                       {"judgements", {{{"severity", severity}, {"text", "it is blind"}}}}};
    shell_.write("nets/beta-binomial.json", text.dump());
    return run("occam compare beta-binomial d.csv -o answers.csv --quiet");
  };
  const std::string said = "`occam check` called it not to be trusted as it is";
  EXPECT_NE(record("serious").err.find(said), std::string::npos);
  EXPECT_NE(shell_.read("answers.csv").find(said), std::string::npos);
  EXPECT_EQ(record("minor").err.find(said), std::string::npos);
  EXPECT_EQ(shell_.read("answers.csv").find(said), std::string::npos);
  shell_.write("nets/beta-binomial.json",
               R"({"network": "beta-binomial.occam", "judgements": [3, {}, "x"]})");
  must("occam compare beta-binomial d.csv");
}

TEST_F(ReadyMadeNetwork, IsNoPipe) {
  must("mkfifo nets/one-sample.occam");
  EXPECT_NE(run("timeout 20 occam info one-sample").code, 124) << "it waits for somebody to write";
}

TEST_F(ReadyMadeNetwork, IsOfferedByCompletion) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    // Words of `occam compare`, whose only names are those of networks.
    const std::string script = must("occam reference " + std::string(shell) + " | grep -A99 compare");
    EXPECT_NE(script.find("beta-binomial"), std::string::npos) << shell;
  }
}

TEST_F(ReadyMadeNetwork, ThatIsNotThereIsAnErrorThatListsThoseThatAre) {
  const Outcome mistyped = run("occam compare beta-binomal d.csv");
  EXPECT_EQ(mistyped.code, 66);
  for (const char* part : {"neither a file nor a ready-made network 'beta-binomal'",
                           "(did you mean 'beta-binomial'?)", "ready-made are beta-binomial"}) {
    EXPECT_NE(mistyped.err.find(part), std::string::npos) << mistyped.err;
  }
  // A problem for which none is ever shipped.
  const Outcome untrained = run("occam info correlation");
  EXPECT_EQ(untrained.code, 66);
  for (const char* part :
       {"neither a file 'correlation' nor a ready-made network", "ready-made are beta-binomial",
        "`occam train correlation -o correlation.occam`"}) {
    EXPECT_NE(untrained.err.find(part), std::string::npos) << untrained.err;
  }
  // What looks like a path is a path.
  const Outcome path = run("occam info beta-binomial.occam");
  EXPECT_EQ(path.code, 66);
  EXPECT_EQ(path.err.find("ready-made"), std::string::npos) << path.err;
}

}  // namespace
}  // namespace occam::testing_support
