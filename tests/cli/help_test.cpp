// Help, version, and the list of problems.
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/version.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/problem_file.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

// The verbs that `occam --help` lists: the first words of the lines below "Verbs:".
std::vector<std::string> listed_verbs(const Shell& shell) {
  std::istringstream help(shell("occam --help").out);
  std::string line;
  while (line != "Verbs:" && std::getline(help, line)) {
  }
  std::vector<std::string> verbs;
  while (std::getline(help, line) && !line.empty()) verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  return verbs;
}

TEST(Help, AloneAndOnRequest) {
  Shell shell;
  const Outcome alone = shell("occam");
  EXPECT_EQ(alone.code, 0);
  EXPECT_EQ(alone.err, "");
  EXPECT_EQ(alone.out, shell("occam --help").out);
  EXPECT_EQ(alone.out, shell("occam -h").out);
}

TEST(Help, OfEveryVerbSaysWhatItDoesAndShowsAnExample) {
  Shell shell;
  const std::vector<std::string> verbs = listed_verbs(shell);
  EXPECT_GE(verbs.size(), 5u);
  for (const std::string& verb : verbs) {
    const Outcome help = shell("occam " + verb + " --help");
    EXPECT_EQ(help.code, 0) << verb;
    EXPECT_EQ(help.err, "") << verb;
    EXPECT_TRUE(help.out.starts_with("occam " + verb)) << help.out;
    EXPECT_NE(help.out.find("\nOptions:\n"), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("\nExamples:\n  occam " + verb), std::string::npos) << help.out;
  }
}

TEST(Help, FitsATerminal) {
  Shell shell;
  for (const std::string& verb : listed_verbs(shell)) {
    std::istringstream help(shell("occam " + verb + " --help").out);
    for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(Version, IsTheProjects) {
  Shell shell;
  const Outcome outcome = shell("occam --version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, std::string("occam ") + kVersion + "\n");
}

TEST(ModelsVerb, ListsEveryProblem) {
  Shell shell;
  const std::string text = "\n" + shell("occam models").out;
  const auto all = nlohmann::json::parse(shell("occam models --json").out);
  std::set<std::string> in_json;
  for (const auto& problem : all) in_json.insert(problem["name"]);
  for (const std::string& name : catalogue().problem_names()) {
    EXPECT_NE(text.find("\n" + name + "\n"), std::string::npos) << name;
    EXPECT_TRUE(in_json.contains(name)) << name;
  }
}

TEST(ModelsVerb, ShowsAProblemAsAFileThatIsTheSameProblem) {
  Shell shell;
  for (const std::string& name : catalogue().problem_names()) {
    const Outcome shown =
        shell("occam models --show " + name + " > p.toml && occam models --show p.toml --json");
    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(nlohmann::json::parse(shown.out)["fingerprint"], load_problem(name).fingerprint()) << name;
  }
}

}  // namespace
}  // namespace occam::testing_support
