// Simulators of the user's own with a design: they find what the experimenter set, and fill in the rest.
#include <cmath>

#include "occam/io/csv.hpp"
#include "own_support.hpp"

namespace occam::testing_support {
namespace {

// y = slope * dose, without noise, so that every row can be checked; one observed column between two of the
// design.
constexpr const char* kProblem = R"toml(
name = "doses"
%N%
simulator = %SIMULATOR%
[columns]
dose = { role = "design", description = "dose", unit = "mg" }
y = "effect"
arm = { role = "design" }
[design]
%DESIGN%
[model.weak]
slope = "uniform(1, 2)"
[model.strong]
slope = "uniform(2, 4)"
)toml";

constexpr const char* kGenerated =
    "dose = \"uniform(1, 10)\"\narm = { levels = [1, 2], shares = [0.25, 0.75] }\n";

class Designed : public OwnModels {
 protected:
  void problem(const std::string& simulator, const std::string& design = kGenerated,
               const std::string& n = "n = \"uniform(5, 20)\"") {
    std::string text = kProblem;
    const auto put = [&](const std::string& mark, const std::string& value) {
      text.replace(text.find(mark), mark.size(), value);
    };
    put("%N%", n);
    put("%SIMULATOR%", simulator);
    put("%DESIGN%", design);
    shell_.write("p.toml", text);
  }

  // Simulates and checks every row.
  void expect_right() {
    const std::string simulate = "occam simulate p.toml --datasets 30 --with-parameters --seed 3 --quiet ";
    must(simulate + "-o a.csv --threads 1");
    must(simulate + "-o b.csv --threads 3");
    must("cmp a.csv b.csv");
    CsvReader reader = CsvReader::open(shell_.folder() / "a.csv");
    const auto at = [&](const char* name) { return reader.number(reader.column_index(name)); };
    int rows = 0, second = 0;
    while (reader.next()) {
      EXPECT_NEAR(at("y"), at("slope") * at("dose"), 1e-5 * at("y"));
      EXPECT_GE(at("dose"), 1);
      EXPECT_LE(at("dose"), 10);
      second += at("arm") == 2 ? 1 : 0;
      ++rows;
    }
    EXPECT_GT(rows, 150);
    EXPECT_NEAR(static_cast<double>(second) / rows, 0.75, 0.12);  // five standard errors
  }
};

TEST_F(Designed, InCpp) {
  shell_.write("dose.cpp",
               "#include <occam/simulator.h>\n"
               "bool simulate(const occam::Parameters& p, occam::Random&, occam::Rows& out) {\n"
               "  for (long i = 0; i < out.n(); ++i) {\n"
               "    out(i, \"y\") = p[\"slope\"] * out.design(i, \"dose\");\n"
               "    out(i, \"arm\") = 99;  // not ours to set\n"
               "  }\n"
               "  return true;\n"
               "}\n");
  problem("\"dose.cpp\"");
  expect_right();
}

TEST_F(Designed, InCppMistakesAreShown) {
  shell_.write("dose.cpp",
               "#include <occam/simulator.h>\n"
               "bool simulate(const occam::Parameters&, occam::Random&, occam::Rows& out) {\n"
               "  out(0, 1) = out.design(0, \"does\");\n"
               "  return true;\n"
               "}\n");
  problem("\"dose.cpp\"");
  fails("occam simulate p.toml --datasets 2 --quiet", 65, {"the problem file has no column 'does'"});
}

TEST_F(Designed, InPython) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("dose.py",
               "from occam_simulator import serve\n"
               "def effect(slope, n, rng, dose, arm):\n"
               "    assert len(dose) == n and len(arm) == n\n"
               "    return slope * dose\n"
               "serve({'weak': effect, 'strong': effect})\n");
  problem("[\"python3\", \"dose.py\"]");
  expect_right();
  shell_.write("dose.py",
               "import numpy as np\n"
               "from occam_simulator import serve\n"
               "def effect(slope, n, rng, dose, arm):\n"
               "    return (np.repeat(slope, n) * dose)[:, None]\n"
               "serve({'weak': effect, 'strong': effect}, vectorized=True)\n");
  expect_right();
}

TEST_F(Designed, InR) {
  if (!has_r()) GTEST_SKIP() << "there is no R";
  shell_.write("dose.R",
               "source(file.path(Sys.getenv('OCCAM_HELPERS'), 'occam_simulator.R'))\n"
               "effect <- function(slope, n, dose, arm) slope * dose\n"
               "serve(list(weak = effect, strong = effect))\n");
  problem("\"dose.R\"");
  expect_right();
}

TEST_F(Designed, FromTheUsersOwnExperiment) {
  OCCAM_NEEDS_NUMPY();
  shell_.write("dose.py",
               "from occam_simulator import serve\n"
               "def effect(slope, n, rng, dose, arm):\n"
               "    return slope * dose\n"
               "serve({'weak': effect, 'strong': effect})\n");
  std::string csv = "who,dose,y,arm\n";
  for (int i = 0; i < 40; ++i) csv += fmt::format("anna,{},0,{}\nben,{},0,2\n", 1 + i % 5, i < 10 ? 1 : 2, 7);
  shell_.write("trials.csv", csv);
  problem("[\"python3\", \"dose.py\"]", "from = \"trials.csv\"\nby = \"who\"\n", "");
  must("occam simulate p.toml --datasets 20 --quiet -o a.csv");
  CsvReader reader = CsvReader::open(shell_.folder() / "a.csv");
  while (reader.next()) {
    const double dose = reader.number(reader.column_index("dose"));
    EXPECT_TRUE(dose == 7 || (dose >= 1 && dose <= 5)) << dose;
  }
  // The network carries the designs with it: the csv is not needed any more.
  must(
      "occam train p.toml -o net.occam --iterations 20 --batch 16 --validation-datasets 50 --scope-reference "
      "200 "
      "--scope-calibration 200 --quiet && rm trials.csv");
  must("occam info net.occam");
  fails("occam simulate p.toml --datasets 2 --quiet", 66, {"trials.csv"});
  // A csv without one of the columns.
  shell_.write("trials.csv", "who,dose\nanna,1\n");
  fails("occam simulate p.toml --datasets 2 --quiet", 78, {"p.toml:9", "arm"});
}

TEST_F(Designed, NamesThatAFunctionCannotTakeAreRefused) {
  problem("\"dose.py\"");
  std::string text =
      "name = \"x\"\nn = 5\nsimulator = \"dose.py\"\n[columns]\nn = { role = \"design\" }\ny = \"y\"\n"
      "[design]\nn = 1\n[model.a]\n[model.b]\n";
  shell_.write("q.toml", text);
  fails("occam simulate q.toml --datasets 2", 78, {"'n' cannot be one"});
  text =
      "name = \"x\"\nn = 5\nsimulator = \"dose.py\"\n[columns]\ndose = { role = \"design\" }\ny = \"y\"\n"
      "[design]\ndose = 1\n[model.a]\ndose = 2\n[model.b]\n";
  shell_.write("q.toml", text);
  fails("occam simulate q.toml --datasets 2", 78, {"'dose' is a column of the design"});
  text =
      "name = \"x\"\nn = 5\nsimulator = \"dose.py\"\n[columns]\ndose = { role = \"desing\" }\ny = \"y\"\n"
      "[model.a]\n[model.b]\n";
  shell_.write("q.toml", text);
  fails("occam simulate q.toml --datasets 2", 78, {"q.toml:5:", "none of observed, design and label"});
}

}  // namespace
}  // namespace occam::testing_support
