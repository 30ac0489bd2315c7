// Columns whose role is `label`: which rows belong together, whatever labels are called.
#include <set>
#include <sstream>

#include "own_support.hpp"

namespace occam::testing_support {
namespace {

// Yields of batches, which are numbered 10, 20, 30, ... by the simulator.
constexpr const char* kBatches = R"toml(name = "batches"
n = 24
simulator = "batches.cpp"
[columns]
batch = { role = "label", description = "which batch" }
grams = "yield [g]"
[model.alike]
[model.different]
ratio = "half_normal(2)"
)toml";
constexpr const char* kSimulator =
    "#include <occam/simulator.h>\n"
    "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n"
    "  double own[6];\n"
    "  for (double& x : own) x = p.has(\"ratio\") ? p[\"ratio\"] * rng.normal() : 0;\n"
    "  for (long i = 0; i < out.n(); ++i) {\n"
    "    out(i, \"batch\") = 10.0 * (i % 6 + 1);\n"
    "    out(i, \"grams\") = 1500 + 50 * (own[i % 6] + rng.normal());\n"
    "  }\n"
    "  return true;\n"
    "}\n";

class Labels : public OwnModels {
 protected:
  void SetUp() override {
    OwnModels::SetUp();
    shell_.write("batches.toml", kBatches);
    shell_.write("batches.cpp", kSimulator);
  }
  // 24 rows of six batches, which are called so; what batch and row weigh is the same whatever they are
  // called.
  std::string data(const std::vector<std::string>& names) const {
    std::string text = "batch,grams\n";
    for (int i = 0; i < 24; ++i) {
      text += names[static_cast<std::size_t>(i % 6)] + "," +
              std::to_string(1500 + 80 * ((i % 6) % 3) + 30 * ((i * 7) % 5)) + "\n";
    }
    return text;
  }
};

TEST_F(Labels, AreNumberedFromOneInEveryDataSet) {
  const Outcome made = shell_("occam simulate batches.toml --datasets 2 -o -");
  ASSERT_EQ(made.code, 0) << made.err;
  for (const char* row : {",1,", ",6,"}) EXPECT_NE(made.out.find(row), std::string::npos) << made.out;
  EXPECT_EQ(made.out.find(",10,"), std::string::npos) << made.out;
}

// A real design calls them by names, or by numbers that floats cannot tell apart. Simulators count with them.
TEST_F(Labels, OfARealDesignAreNumberedBeforeAnySimulatorSeesThem) {
  shell_.write("seen.cpp",
               "#include <occam/simulator.h>\n"
               "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n"
               "  for (long i = 0; i < out.n(); ++i) out(i, \"seen\") = out.design(i, \"who\");\n"
               "  return true;\n"
               "}\n");
  shell_.write(
      "seen.toml",
      "name = \"seen\"\nsimulator = \"seen.cpp\"\n[columns]\nwho = { role = \"label\" }\n"
      "seen = \"what the simulator is told\"\n[design]\nfrom = \"real.csv\"\n[model.a]\n[model.b]\n");
  for (const char* name : {"M0{}", "2023000{}", "{}"}) {
    std::string real = "who\n";
    for (int i = 0; i < 30; ++i) real += fmt::format(fmt::runtime(name), 7 - i / 10) + "\n";
    shell_.write("real.csv", real);
    const Outcome made = shell_("occam simulate seen.toml --datasets 20 -o -");
    ASSERT_EQ(made.code, 0) << name << made.err;
    std::istringstream lines(made.out);
    std::string line;
    std::getline(lines, line);
    ASSERT_EQ(line, "dataset,model,who,seen");
    std::set<std::string> labels;
    while (std::getline(lines, line)) {
      const std::string seen = line.substr(line.rfind(',') + 1);
      const std::string rest = line.substr(0, line.rfind(','));
      EXPECT_EQ(rest.substr(rest.rfind(',') + 1), seen) << line;
      labels.insert(seen);
    }
    EXPECT_EQ(labels, (std::set<std::string>{"1", "2", "3"})) << name;
  }
  shell_.write("real.csv", "who\nanna\nNA\n");
  const Outcome nobody = shell_("occam simulate seen.toml --datasets 2");
  EXPECT_EQ(nobody.code, 78);
  EXPECT_NE(nobody.err.find("real.csv:3"), std::string::npos) << nobody.err;
}

TEST_F(Labels, TablesMayCallThemAnything) {
  std::string first;
  for (const char* prefix : {"", "S "}) {
    std::string text = "dataset,model,batch,grams\n";
    for (int i = 0; i < 40 * 6; ++i) {
      text += fmt::format("{},{},{}{},{}\n", i / 6, i / 6 % 2 == 0 ? "alike" : "different", prefix,
                          20 + i % 3, 1500 + i * 7 % 50);
    }
    shell_.write("t.csv", text);
    const Outcome made = shell_(
        "occam train batches.toml --table t.csv -o t.occam --iterations 20 --scope-reference 0 --quiet && "
        "occam info t.occam --json");
    ASSERT_EQ(made.code, 0) << made.err;
    const auto at = made.out.find("\"validation_loss\"");
    ASSERT_NE(at, std::string::npos) << made.out;
    if (first.empty()) first = made.out.substr(at, 40);
    EXPECT_EQ(made.out.substr(at, 40), first) << prefix;
  }
}

// As in series: long trainings went astray, and came out worse, with N times many statistics.
TEST_F(Labels, OutputsOfTheirNetworksDoNotGrowWithNUnlessAskedTo) {
  for (const bool asked : {false, true}) {
    const Outcome made =
        shell_(fmt::format("occam train batches.toml -o g.occam --iterations 2 --scope-reference 0 --quiet{} "
                           "2> {} && occam info g.occam --json",
                           asked ? " --network growth=true" : "", "warnings.txt"));
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(nlohmann::json::parse(made.out)["network"]["options"]["growth"], asked) << made.out;
  }
}

TEST_F(Labels, AbcKnowsThemByAnyName) {
  std::string first;
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
           {"1", "2", "3", "4", "5", "6"}, {"A", "B", "C", "D", "E", "F"}}) {
    shell_.write("d.csv", data(names));
    const Outcome answer =
        shell_("occam abc batches.toml d.csv --populations 2 --population-size 50 -o - --quiet");
    ASSERT_EQ(answer.code, 0) << answer.err;
    if (first.empty()) first = answer.out;
    EXPECT_EQ(answer.out, first);
  }
}

TEST_F(Labels, AnyNamesGiveTheSameAnswer) {
  ASSERT_EQ(shell_("occam train batches.toml -o b.occam --iterations 60 --scope-reference 200 "
                   "--scope-calibration 200 --quiet")
                .code,
            0);
  std::string first;
  for (const std::vector<std::string>& names :
       std::vector<std::vector<std::string>>{{"1", "2", "3", "4", "5", "6"},
                                             {"308", "309", "310", "330", "331", "372"},
                                             {"A", "B", "C", "D", "E", "F"},
                                             {"Grün", "S 01", "x/y", "1e5", "-3", "0.5"}}) {
    shell_.write("d.csv", data(names));
    const Outcome answer = shell_("occam compare b.occam d.csv -o - --quiet");
    ASSERT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(answer.err.find("outside what"), std::string::npos) << answer.err;
    if (first.empty()) first = answer.out;
    EXPECT_EQ(answer.out, first) << names[0];
  }
  // What is missing is no name, and more batches than there were in training are said to be.
  shell_.write("d.csv", data({"A", "B", "NA", "D", "E", "F"}));
  const Outcome nameless = shell_("occam compare b.occam d.csv --quiet");
  EXPECT_EQ(nameless.code, 65);
  EXPECT_NE(nameless.err.find("column 'batch' says under what conditions"), std::string::npos)
      << nameless.err;
  std::string many = "batch,grams\n";
  for (int i = 0; i < 24; ++i) many += "b" + std::to_string(i % 12) + "," + std::to_string(1500 + i) + "\n";
  shell_.write("d.csv", many);
  const Outcome foreign = shell_("occam compare b.occam d.csv --quiet");
  EXPECT_NE(foreign.out.find("outside-training"), std::string::npos) << foreign.out;
}

// Margins of matches between six teams.
constexpr const char* kTeams = R"toml(name = "teams"
n = 40
simulator = "teams.cpp"
[columns]
home = { role = "label" }
away = { role = "label", same_as = "home" }
margin = "goals"
[model.chance]
[model.teams]
spread = "half_normal(2)"
)toml";
constexpr const char* kPlay =
    "#include <occam/simulator.h>\n"
    "bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {\n"
    "  double own[6];\n"
    "  for (double& x : own) x = p.has(\"spread\") ? p[\"spread\"] * rng.normal() : 0;\n"
    "  for (long i = 0; i < out.n(); ++i) {\n"
    "    const auto a = rng.integer(0, 5), b = (a + rng.integer(1, 5)) % 6;\n"
    "    out(i, \"home\") = 10.0 * a;\n"
    "    out(i, \"away\") = 10.0 * b;\n"
    "    out(i, \"margin\") = own[a] - own[b] + rng.normal();\n"
    "  }\n"
    "  return true;\n"
    "}\n";

// Who is who has to survive whatever teams are called, also where one plays away only.
TEST_F(Labels, OfTwoColumnsMayNameTheSameThings) {
  shell_.write("teams.toml", kTeams);
  shell_.write("teams.cpp", kPlay);
  const Outcome made = shell_(
      "occam train teams.toml -o t.occam --iterations 60 --scope-reference 0 --quiet && occam info t.occam "
      "--json");
  ASSERT_EQ(made.code, 0) << made.err;
  const auto info = nlohmann::json::parse(made.out);
  EXPECT_EQ(info["network"]["statistics"]["crossings"][1]["crossing"], "opposed") << made.out;
  const Outcome told = shell_("occam info t.occam");
  for (const char* line :
       {"home: says which rows belong together", "home and away: looked at beside each other",
        "home and away: the same things, held against each other"})
    EXPECT_NE(told.out.find(line), std::string::npos) << told.out;
  std::string first;
  for (const std::vector<std::string>& names :
       std::vector<std::vector<std::string>>{{"1", "2", "3", "4", "5", "6"},
                                             {"60", "20", "30", "50", "40", "10"},
                                             {"Z", "Y", "X", "C", "B", "A"}}) {
    std::string text = "home,away,margin\n";
    for (std::size_t i = 0; i < 40; ++i) {
      const std::size_t a = i % 5, b = (a + 1 + i / 5 % 5) % 6;  // the last one plays away only
      text += fmt::format(
          "{},{},{}\n", names[a], names[b],
          2.0 * (static_cast<double>(a) - static_cast<double>(b)) + static_cast<double>(i * 7 % 5) / 5);
    }
    shell_.write("d.csv", text);
    const Outcome answer = shell_("occam compare t.occam d.csv -o - --quiet");
    ASSERT_EQ(answer.code, 0) << answer.err;
    const auto numbers = answer.out.substr(answer.out.find('\n'));
    if (first.empty()) first = numbers;
    EXPECT_EQ(numbers, first) << names[0];
  }
}

TEST_F(Labels, AreTheSameAsOtherLabelsOnly) {
  shell_.write("teams.cpp", kPlay);
  const std::string text = kTeams;
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"same_as = \"home\"", "same_as = \"guests\""},
           {"same_as = \"home\"", "same_as = \"away\""},
           {"same_as = \"home\"", "same_as = \"margin\""},
           {"home = { role = \"label\" }", "home = { role = \"label\", same_as = \"away\" }"},
           {"away = { role = \"label\"", "away = { role = \"design\""}}) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    shell_.write("bad.toml", changed);
    const Outcome outcome = shell_("occam simulate bad.toml --datasets 2 -o -");
    EXPECT_EQ(outcome.code, 78) << to;
    EXPECT_NE(outcome.err.find("same_as of '"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace occam::testing_support
