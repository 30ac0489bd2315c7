// Missing values as a user meets them: declared, trained for, compared, and refused where nobody trained.
#include <gtest/gtest.h>

#include "occam/io/csv.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

const std::string kProblem =
    "name = \"pairs\"\nn = \"uniform(5, 40)\"\nfamily = \"bivariate-normal\"\n"
    "[columns]\ny = { missing = \"uniform(0, 0.4)\" }\n[model.independent]\nrho = 0\n[model.correlated]\n";

const std::string kQuick =
    " --iterations 240 --batch 16 --warmup 20 --validate-every 30 --validation-datasets 100 --quiet"
    " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4' --scope-reference 200 --scope-calibration "
    "200";

// Ten rows, of which the first `missing` lack y.
std::string rows(int missing) {
  std::string text = "x,y\n";
  for (int i = 0; i < 10; ++i) {
    const char* const absent[] = {"NA", "", "NaN"};
    text += std::to_string(0.1 * i) + "," + (i < missing ? absent[i % 3] : "0.5") + "\n";
  }
  return text;
}

class MissingValues : public ::testing::Test {
 protected:
  void SetUp() override {
    shell_.write("p.toml", kProblem);
    const Outcome trained = shell_("occam train p.toml -o net.occam" + kQuick);
    ASSERT_EQ(trained.code, 0) << trained.err;
  }
  Shell shell_;
};

TEST_F(MissingValues, AreAnsweredWhereTheNetworkKnowsThemAndRefusedElsewhere) {
  shell_.write("some.csv", rows(3));
  Outcome outcome = shell_("occam compare net.occam some.csv -o a.csv --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_csv(shell_.folder() / "a.csv").numbers("n"), std::vector<double>{10});
  EXPECT_EQ(read_csv(shell_.folder() / "a.csv").text("flag"), std::vector<std::string>{""});

  shell_.write("many.csv", rows(9));
  outcome = shell_("occam compare net.occam many.csv -o b.csv --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const CsvTable many = read_csv(shell_.folder() / "b.csv");
  EXPECT_EQ(many.text("verdict"), std::vector<std::string>{"outside-training"});
  EXPECT_NE(many.text("flag")[0].find("share of missing values of y is 0.9"), std::string::npos);

  shell_.write("x.csv", "x,y\n1,2\nNA,1\n2,NA\n1,1\n0,1\n2,1\n");
  outcome = shell_("occam compare net.occam x.csv -o c.csv");
  EXPECT_EQ(outcome.code, 65);
  for (const char* part : {"x.csv:3: column 'x'", "--missing drop", "declare missing = true", "problem file"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  // Dropping is for columns that nobody trained for.
  outcome = shell_("occam compare net.occam x.csv -o c.csv --missing drop --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_csv(shell_.folder() / "c.csv").numbers("n"), std::vector<double>{5});
}

TEST_F(MissingValues, GoThroughCheckAndTheOtherVerbs) {
  Outcome outcome =
      shell_("occam check net.occam --datasets 300 --robustness all --robustness-datasets 20 --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  shell_.write("some.csv", rows(3));
  outcome = shell_("occam abc p.toml some.csv --method rejection -o abc.csv --quiet");
  EXPECT_EQ(outcome.code, 65);
  EXPECT_NE(outcome.err.find("ABC compares complete data sets only"), std::string::npos) << outcome.err;
  outcome = shell_("occam simulate p.toml -o s.csv --datasets 20 --exact --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(shell_.read("s.csv").find(",,"), std::string::npos);  // an empty cell, before the exact columns
  outcome = shell_("occam compare net.occam s.csv -o t.csv --exact --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_csv(shell_.folder() / "t.csv").numbers("n").size(), 20u);
}

}  // namespace
}  // namespace occam::testing_support
