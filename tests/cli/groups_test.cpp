// compare for groups, and for data as they come in.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

CsvTable table_of(const std::string& path) {
  return CsvTable(read_file(path), path);
}

class Population : public ::testing::Test {
 protected:
  Population() {
    EXPECT_EQ(shell_("occam train beta-binomial -o net.occam --iterations 200 --quiet --scope-reference 300 "
                     "--scope-calibration 300 --network 'inv_width=16 equiv_width=16 post_width=16'")
                  .code,
              0);
    std::string rows = "who,group,x\n";
    for (int s = 0; s < 8; ++s) {
      for (int i = 0; i < 60; ++i)
        rows += fmt::format("s{},{},{}\n", s, s < 4 ? "patients" : "controls",
                            s < 4 ? (i % 10 == 0 ? 0 : 1) : i % 2);
    }
    shell_.write("d.csv", rows);
  }
  Outcome fails(const std::string& command, int code, const std::string& words) {
    const Outcome outcome = shell_(command);
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    return outcome;
  }
  Shell shell_;
};

TEST_F(Population, GroupsAreAnsweredInEveryFormat) {
  const Outcome shown = shell_("occam compare net.occam d.csv --by who --group-by group --quiet");
  ASSERT_EQ(shown.code, 0) << shown.err;
  for (const char* part : {"patients", "controls"})
    EXPECT_NE(shown.out.find(part), std::string::npos) << shown.out;
  ASSERT_EQ(
      shell_("occam compare net.occam d.csv --by who --group-by group -o a.csv --report a.html --quiet").code,
      0);
  const CsvTable groups = table_of(shell_.folder() / "a.groups.csv");
  EXPECT_EQ(groups.text("group"), (std::vector<std::string>{"patients", "patients", "controls", "controls"}));
  EXPECT_EQ(groups.numbers("n"), (std::vector<double>{4, 4, 4, 4}));
  const std::vector<double> frequency = groups.numbers("frequency");
  EXPECT_NEAR(frequency[0] + frequency[1], 1, 1e-9);
  EXPECT_GT(frequency[0], frequency[2]);  // bent coins: nothing fair about them
  ASSERT_EQ(shell_("occam compare net.occam d.csv --by who --group-by group -o a.json --quiet").code, 0);
  const auto json = nlohmann::json::parse(shell_.read("a.json"));
  EXPECT_EQ(json["groups"]["groups"].size(), 2u);
  EXPECT_EQ(json["data_sets"].size(), 8u);
  EXPECT_NE(shell_.read("a.html").find("Groups"), std::string::npos);
  // One group of all.
  ASSERT_EQ(shell_("occam compare net.occam d.csv --by who --group -o b.csv --quiet").code, 0);
  EXPECT_EQ(table_of(shell_.folder() / "b.groups.csv").numbers("n"), (std::vector<double>{8, 8}));
}

// Standard output holds the answers alone; the groups were asked for, so they are said all the same.
TEST_F(Population, GroupsGoBesideAnswersOnStandardOutput) {
  const std::string compare = "occam compare net.occam d.csv --by who";
  const Outcome plain = shell_(compare + " -o - --quiet");
  ASSERT_EQ(plain.code, 0) << plain.err;
  for (const std::string quiet : {"", " --quiet"}) {
    const Outcome groups = shell_(compare + " --group-by group -o -" + quiet);
    EXPECT_EQ(groups.out, plain.out);
    EXPECT_NE(groups.err.find("patients"), std::string::npos) << groups.err;
    EXPECT_NE(groups.err.find("controls"), std::string::npos) << groups.err;
    const Outcome exact = shell_(compare + " --exact -o -" + quiet);
    EXPECT_EQ(exact.out, plain.out);
    EXPECT_NE(exact.err.find("mean KL from the exact posterior"), std::string::npos) << exact.err;
    EXPECT_NE(shell_(compare + " --group -o -" + quiet).err.find("all"), std::string::npos);
  }
  EXPECT_NE(shell_(compare + " --exact -o a.csv --quiet").out.find("mean KL"), std::string::npos);
}

TEST_F(Population, ForeignDataSetsAreLeftOutAndNamed) {
  std::string rows = shell_.read("d.csv");
  for (int i = 0; i < 150; ++i) rows += "long,patients,1\n";
  shell_.write("d.csv", rows);
  const std::string compare = "occam compare net.occam d.csv --by who --group-by group --quiet";
  const Outcome shown = shell_(compare);
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("long"), std::string::npos);
  EXPECT_NE(shown.out.find("outside-training"), std::string::npos) << shown.out;
  ASSERT_EQ(shell_(compare + " -o a.csv").code, 0);
  EXPECT_EQ(table_of(shell_.folder() / "a.groups.csv").numbers("n")[0], 4);
  ASSERT_EQ(shell_(compare + " --group-all -o a.csv").code, 0);
  EXPECT_EQ(table_of(shell_.folder() / "a.groups.csv").numbers("n")[0], 5);
}

TEST_F(Population, MistakesAreToldBeforeAnyWork) {
  fails("occam compare net.occam d.csv --by who --group-by nothing", 65, "nothing");
  fails("occam compare net.occam d.csv --by who --group --group-by group", 64, "give one of them");
  fails("occam compare net.occam d.csv --by who --group-all", 64, "--group-all belongs to");
  fails("occam compare net.occam d.csv --by who --orders 3", 64, "--orders belongs to --sequential");
  fails("occam compare net.occam d.csv --by who --sequential 0,3", 64, "'0' is not a number of observations");
  fails("occam compare net.occam d.csv --by group --group-by who", 65, "has rows of two groups");
}

// One group has nothing to be compared with, one member says little, and no group is no group.
TEST_F(Population, OddGroupsAreSaidToBeSo) {
  const std::string start = "who,group,x\n";
  std::string one, alone, none;
  for (int s = 0; s < 3; ++s) {
    for (int i = 0; i < 60; ++i) {
      one += fmt::format("s{},patients,{}\n", s, i % 2);
      alone += fmt::format("s{},g{},{}\n", s, s, i % 2);
      none += fmt::format("s{},{},{}\n", s, s == 2 ? "" : "patients", i % 2);
    }
  }
  const std::string compare = "occam compare net.occam odd.csv --by who --group-by group --quiet";
  shell_.write("odd.csv", start + one);
  const Outcome constant = shell_(compare);
  EXPECT_EQ(constant.code, 0) << constant.err;
  EXPECT_NE(constant.out.find("There is only this group"), std::string::npos) << constant.out;
  EXPECT_EQ(shell_(compare + " -o a.json").code, 0);
  EXPECT_NE(shell_.read("a.json").find("There is only this group"), std::string::npos);
  shell_.write("odd.csv", start + alone);
  const Outcome of_one = shell_(compare);
  EXPECT_EQ(of_one.code, 0) << of_one.err;
  EXPECT_NE(of_one.out.find("A group of one says little"), std::string::npos) << of_one.out;
  shell_.write("odd.csv", start + none);
  fails(compare, 65, "odd.csv:122: column 'group': the cell is empty, so data set 's2' is of no group; ");
}

TEST_F(Population, EvidenceAsDataComeInEndsWithTheAnswer) {
  ASSERT_EQ(shell_("occam compare net.occam d.csv --by who -o whole.csv --quiet").code, 0);
  ASSERT_EQ(
      shell_("occam compare net.occam d.csv --by who --sequential -o course.csv --report a.html --quiet")
          .code,
      0);
  const CsvTable whole = table_of(shell_.folder() / "whole.csv");
  const CsvTable course = table_of(shell_.folder() / "course.csv");
  const std::vector<double> k = course.numbers("k");
  ASSERT_EQ(k.size(), 8u * 7u);
  EXPECT_EQ(std::vector<double>(k.begin(), k.begin() + 7), (std::vector<double>{1, 2, 4, 8, 16, 32, 60}));
  for (std::size_t s = 0; s < 8; ++s) {
    for (const char* column :
         {"dataset", "p_flat", "log_bf_fair", "scope_p", "verdict", "explanation", "note"})
      EXPECT_EQ(course.text(column)[7 * s + 6], whole.text(column)[s]) << column;
  }
  EXPECT_NE(shell_.read("a.html").find("Evidence as observations come in"), std::string::npos);
  ASSERT_EQ(
      shell_("occam compare net.occam d.csv --by who --sequential 10,20 --orders 5 -o a.csv --quiet").code,
      0);
  EXPECT_EQ(table_of(shell_.folder() / "a.csv").numbers("k").size(), 8u * 3u);
  EXPECT_EQ(table_of(shell_.folder() / "a.csv").text("p_flat")[2], whole.text("p_flat")[0]);
}

}  // namespace
}  // namespace occam::testing_support
