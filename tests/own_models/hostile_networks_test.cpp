// Networks from strangers: whatever the problem in a network file names, no verb starts, compiles or opens
// it.
#include <cmath>
#include <filesystem>

#include "occam/networks/network_file.hpp"
#include "occam/simulate/problem_file.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
namespace {

class HostileNetworks : public OwnModels {
 protected:
  // A network whose models are simulated by `simulator` (as in a problem file), with the fingerprint that the
  // simulator would have where it lies beside the network.
  void write_hostile(const std::string& simulator) {
    NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
    file.problem = "name = \"innocent\"\nn = 10\ncolumns = [\"x\"]\nsimulator = " + simulator + "\n";
    for (const std::string& model : file.model_names)
      file.problem += "[model." + model + "]\n" + file.parameter_names.at(0) + " = \"beta(1, 1)\"\n";
    file.fingerprint = read_problem_to_run(file.problem, "p", shell_.folder().path()).fingerprint();
    write_network_file(shell_.folder() / "net.occam", file);
  }

  bool marked() const { return std::filesystem::exists(shell_.folder() / "marker"); }

  // Every verb that reads a network, with the code it ends with: 66 where the simulators are needed, 64 where
  // an exact posterior is.
  static std::vector<std::pair<std::string, int>> verbs() {
    return {{"occam info net.occam", 0},
            {"occam info net.occam --json", 0},
            {"occam compare net.occam d.csv", 0},
            {"occam compare net.occam d.csv --exact", 64},
            {"occam check net.occam --datasets 20 --quiet", 66},
            {"occam check net.occam --datasets 20 --quiet --robustness all", 66},
            {"occam check net.occam --table t.csv --quiet", 0},
            {"occam scope net.occam -o s.occam --quiet", 66},
            {"occam extend net.occam beta-binomial -o e.occam --quiet --iterations 2 --batch 4 --warmup 1 "
             "--validation-datasets 10 --retention-datasets 10 --scope-reference 0",
             0},
            {"occam abc beta-binomial d.csv --quiet --summary network --summary-network net.occam "
             "--populations 1 "
             "--population-size 10",
             0}};
  }
};

TEST_F(HostileNetworks, NoVerbStartsWhatANetworkNames) {
  shell_.write("d.csv", "x\n1\n1\n0\n");
  must("occam simulate beta-binomial --datasets 20 --quiet -o t.csv");
  shell_.write("evil.sh", "#!/bin/sh\ntouch marker\n");
  must("chmod +x evil.sh");
  shell_.write("evil.cpp",
               "#include <cstdlib>\n#include <occam/simulator.h>\n"
               "[[gnu::constructor]] void begin() { std::system(\"touch marker\"); }\n"
               "bool simulate(const occam::Parameters&, occam::Random&, occam::Rows&) { return false; }\n");
  for (const char* simulator : {R"(["sh", "-c", "touch marker"])", R"("./evil.sh")", R"("evil.cpp")"}) {
    write_hostile(simulator);
    for (const auto& [verb, code] : verbs()) {
      const Outcome outcome = shell_(verb);
      EXPECT_FALSE(marked()) << verb << " ran " << simulator;
      EXPECT_EQ(outcome.code, code) << verb << "\n" << outcome.err;
      must("rm -f marker");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(shell_.folder() / "cache"));  // nothing was compiled
}

TEST_F(HostileNetworks, TheCommandIsShownAndWhatToDoAboutIt) {
  write_hostile(R"(["sh", "-c", "echo \u001b[2J; touch marker"])");
  for (const char* verb : {"occam check net.occam", "occam scope net.occam -o s.occam"}) {
    fails(verb, 66,
          {"net.occam", "`sh -c echo \\x1b[2J; touch marker`", "never starts", "--problem FILE.toml"});
    EXPECT_FALSE(marked());
  }
}

// The problem inside is held against the network: what it would simulate has to fit.
TEST_F(HostileNetworks, TheProblemInsideHasToFitTheNetwork) {
  NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
  shell_.write("d.csv", "x\n1\n1\n0\n");
  for (const char* problem : {"one-sample", "decision-making"}) {
    file.problem = problem_toml(load_problem(problem));
    write_network_file(shell_.folder() / "net.occam", file);
    for (const char* verb : {"occam check net.occam --datasets 20", "occam scope net.occam -o s.occam",
                             "occam compare net.occam d.csv --exact"}) {
      fails(verb, 78, {"net.occam", "do not belong together"});
    }
  }
}

// Its golden outputs are numbers, since their inputs are of the one size at which nothing overflows.
TEST_F(HostileNetworks, AnswersThatAreNoNumbersAreNotMeasured) {
  NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
  file.config.standardisation.log_n_mean = std::log(4.0);
  file.config.standardisation.log_n_scale = 1e-300;
  const std::vector<float> x = {1, 1, 0, 1};
  const std::int64_t offsets[] = {0, 4};
  file.golden = make_golden(file, {{x.data(), 4, 1, 1}, offsets, 1});
  file.scope = nullptr;
  file.scope_tensors.clear();
  write_network_file(shell_.folder() / "net.occam", file);
  fails("occam check net.occam --datasets 200 --quiet", 65, {"is not a number"});
  fails("occam check net.occam --datasets 2000 --quiet --missed-datasets 0", 65, {"is not a number"});
  fails("occam scope net.occam -o s.occam --quiet --scope-reference 500", 65, {"is not a number"});
  EXPECT_FALSE(std::filesystem::exists(shell_.folder() / "s.occam"));

  shell_.write("d.csv", "dataset,x\ngood,1\ngood,1\ngood,0\ngood,1\nbad,1\nbad,0\nbad,0\n");
  const std::string answers = must("occam compare net.occam d.csv --exact --quiet");
  EXPECT_NE(answers.find("the network's answer is not a usable number"), std::string::npos) << answers;
  EXPECT_NE(answers.find("over 1 data sets\nleft out: a data set"), std::string::npos) << answers;
}

}  // namespace
}  // namespace occam::testing_support
