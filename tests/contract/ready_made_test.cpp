// Every network in networks/ of the sources is whole, is for the built-in problem of its name as it is now,
// and has its record beside it.
#include "occam/pipeline/ready_made.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "occam/check/network_problem.hpp"
#include "occam/io/file.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargest = 4 << 20;  // bytes: they travel with every package

std::vector<std::string> files_with(const std::string& ending) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(OCCAM_SOURCE "/networks")) {
    if (entry.path().extension() == ending) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class EveryReadyMadeNetwork : public ::testing::TestWithParam<std::string> {
 protected:
  std::string path(const std::string& ending) const {
    return OCCAM_SOURCE "/networks/" + GetParam() + ending;
  }
  const NetworkFile file_ = read_network_file(path(".occam"));
};

TEST_P(EveryReadyMadeNetwork, IsForTheProblemOfItsNameAsItIsNow) {
  EXPECT_EQ(ready_made_file(file_.problem_name), GetParam() + ".occam");
  EXPECT_EQ(file_.fingerprint, builtin_problem(file_.problem_name).fingerprint())
      << "the problem has changed since: make the network again with scripts/ready-made.sh";
  EXPECT_EQ(told_problem(file_).fingerprint(), file_.fingerprint);
}

TEST_P(EveryReadyMadeNetwork, IsSmallAndFitForUse) {
  EXPECT_LT(fs::file_size(path(".occam")), kLargest);
  EXPECT_EQ(file_.doubt(), "");
  EXPECT_TRUE(scope_of(file_).has_value()) << "without it nothing is ever out of scope";
}

TEST_P(EveryReadyMadeNetwork, HasItsRecordBesideIt) {
  const nlohmann::json record = record_beside(path(".occam"));
  ASSERT_TRUE(record.is_object());
  EXPECT_EQ(record["problem"], file_.problem_name);
  EXPECT_EQ(record["fingerprint"], file_.fingerprint);
  for (const char* key : {"seed", "steps", "validation_loss"})
    EXPECT_EQ(record[key], file_.record[key]) << key;
  const std::string begin = "occam train " + file_.problem_name + " -o " + GetParam() + ".occam ";
  EXPECT_TRUE(record["command"].get<std::string>().starts_with(begin)) << record["command"];
  for (const char* key : {"program", "machine", "check_command", "verdict"})
    EXPECT_FALSE(record[key].get<std::string>().empty()) << key;
  EXPECT_EQ(record["program"].get<std::string>().find("with changes"), std::string::npos)
      << "made by a program that no commit stands for";
  for (const char* key : {"accuracy", "log_loss", "missed_estimate"})
    EXPECT_TRUE(record["check"][key].is_number()) << key;
  EXPECT_NE(read_file(path(".txt")).find("Verdict: " + record["verdict"].get<std::string>()),
            std::string::npos);
  EXPECT_NE(read_file(OCCAM_SOURCE "/networks/README.md").find("| `" + file_.problem_name + "` |"),
            std::string::npos);
}

std::string network_label(const ::testing::TestParamInfo<std::string>& network) {
  std::string label = network.param;
  std::replace_if(
      label.begin(), label.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return label;
}

INSTANTIATE_TEST_SUITE_P(ReadyMade, EveryReadyMadeNetwork, ::testing::ValuesIn(files_with(".occam")),
                         network_label);

TEST(ReadyMade, EveryProblemThatWasPromisedOneHasOne) {
  const std::vector<std::string> promised = {"beta-binomial",     "decision-making", "decision-making.as_run",
                                             "gaussian-mixtures", "jump-process",    "neuron",
                                             "one-sample"};
  const std::vector<std::string> files = files_with(".occam");
  EXPECT_TRUE(std::includes(files.begin(), files.end(), promised.begin(), promised.end()));
}

TEST(ReadyMade, RecordsHaveTheirNetworks) {
  EXPECT_EQ(files_with(".json"), files_with(".occam"));
}

TEST(ReadyMade, NamesAreThoseOfFilesOfBuiltInProblems) {
  const ReadyMadeNetworks networks({OCCAM_SOURCE "/networks"});
  std::vector<std::string> files;
  for (const ReadyMade& one : networks.all()) files.push_back(fs::path(one.path).stem().string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, files_with(".occam"));
}

}  // namespace
}  // namespace occam
