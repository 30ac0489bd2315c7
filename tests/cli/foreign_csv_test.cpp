// csv files of other countries and other people, read by the program: separators and decimal marks,
// encodings, names that would steer a terminal.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

class ForeignCsv : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shell_ = new Shell;
    ASSERT_EQ((*shell_)("occam train beta-binomial -o net.occam --iterations 40 --batch 16 --warmup 10 "
                        "--validate-every 20 --validation-datasets 50 --network 'inv_width=8 equiv_width=8 "
                        "post_width=8 summary=4' --scope-reference 200 --scope-calibration 200 --quiet")
                  .code,
              0);
  }
  static void TearDownTestSuite() {
    delete shell_;
    shell_ = nullptr;
  }
  static Shell* shell_;
};
Shell* ForeignCsv::shell_ = nullptr;

TEST_F(ForeignCsv, SemicolonsAndDecimalCommasAreReadAndSaid) {
  shell_->write("points.csv", "subject,x\nann,1\nann,0\nbob,0.5\n");
  shell_->write("commas.csv", "\"subject\";\"x\"\n\"ann\";1\n\"ann\";0\n\"bob\";0,5\n");
  const std::string by = " --by subject -o - ";
  const Outcome commas = (*shell_)("occam compare net.occam commas.csv" + by);
  EXPECT_EQ(commas.code, 0) << commas.err;
  EXPECT_EQ(commas.out, (*shell_)("occam compare net.occam points.csv --quiet" + by).out);
  const std::string said = "occam: commas.csv: read with semicolons between cells and decimal commas\n";
  EXPECT_EQ(commas.err.find(said), commas.err.rfind(said)) << "said once";
  EXPECT_NE(commas.err.find(said), std::string::npos) << commas.err;
  const Outcome set =
      (*shell_)("occam compare net.occam commas.csv --separator semicolon --decimal comma" + by);
  EXPECT_EQ(set.out, commas.out);
  EXPECT_EQ(set.err.find("read with"), std::string::npos) << set.err;
  EXPECT_EQ((*shell_)("occam compare net.occam commas.csv --decimal point" + by).code, 65);
  EXPECT_EQ((*shell_)("occam compare net.occam commas.csv --decimal ';'" + by).code, 64);
  const Outcome piped = (*shell_)("occam compare net.occam - < commas.csv" + by);
  EXPECT_EQ(piped.out, commas.out);
  const std::string abc =
      "occam abc beta-binomial --by subject --dataset ann --method rejection --population-size 50 -o - "
      "--quiet ";
  const Outcome answer = (*shell_)(abc + "commas.csv");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out, (*shell_)(abc + "points.csv").out);
}

TEST_F(ForeignCsv, TablesAndPredictionsTakeThemToo) {
  shell_->write("p.csv", "true;p_a;p_b\na;0,75;0,25\nb;0,5;0,5\na;0,9;0,1\nb;0,2;0,8\n");
  const Outcome check = (*shell_)("occam check --predictions p.csv");
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.err.find("p.csv: read with semicolons between cells and decimal commas"),
            std::string::npos);
  EXPECT_EQ((*shell_)("occam check --predictions p.csv --decimal point").code, 65);
  ASSERT_EQ((*shell_)("occam simulate beta-binomial --datasets 300 --n 5 -o t.csv --quiet").code, 0);
  ASSERT_EQ((*shell_)("tr , ';' < t.csv > s.csv").code, 0);
  const auto train = [&](const std::string& table) {
    return (*shell_)("occam train beta-binomial -o " + table +
                     ".occam --iterations 20 --batch 8 --warmup 5 "
                     "--validate-every 10 --network 'inv_width=4 equiv_width=4 post_width=4 summary=2' "
                     "--scope-reference 0 --table " +
                     table);
  };
  ASSERT_EQ(train("t.csv").code, 0);
  const Outcome semicolons = train("s.csv");
  EXPECT_EQ(semicolons.code, 0) << semicolons.err;
  EXPECT_NE(semicolons.err.find("s.csv: read with semicolons between cells"), std::string::npos)
      << semicolons.err;
  EXPECT_TRUE(shell_->read("t.csv.occam") == shell_->read("s.csv.occam"));
}

TEST_F(ForeignCsv, AnUmlautInLatin1IsAnswered) {
  shell_->write("d.csv", "name,x\nM\xfcller,1\nM\xfcller,0\nOd\xe9,1\n");
  const Outcome outcome = (*shell_)("occam compare net.occam d.csv --by name -o a.json --report a.html");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("occam: d.csv: not in UTF-8; names in it are read as Windows-1252 (Latin-1)\n"),
            std::string::npos)
      << outcome.err;
  const json answers = json::parse(shell_->read("a.json"));
  EXPECT_EQ(answers["data_sets"][0]["dataset"], "Müller");
  EXPECT_EQ(answers["data_sets"][1]["dataset"], "Odé");
  EXPECT_NE(shell_->read("a.html").find("Müller"), std::string::npos);
  // The name of a file may be Latin-1 as well.
  shell_->write("M\xfcller.csv", "x\n1\n0\n");
  EXPECT_EQ((*shell_)("occam compare net.occam M\xfcller.csv -o b.json --report b.html --quiet").code, 0);
  EXPECT_EQ(json::parse(shell_->read("b.json"))["data_sets"][0]["dataset"], "Müller");
  EXPECT_EQ(
      (*shell_)(
          "occam abc beta-binomial M\xfcller.csv --method rejection --population-size 50 -o c.json --quiet")
          .code,
      0);
}

// On a terminal nothing that a file holds can move the cursor, change colours or clear the screen.
TEST_F(ForeignCsv, EscapesInNamesAreShownNotSent) {
  shell_->write("d.csv",
                "name,x\n\x1b[31mred\x1b]0;title\x07,1\ngreen\xc2\x9b"
                "2J,0\n\x1b[1mlost,NA\n");
  const std::string compare = "occam compare net.occam d.csv --by name --missing drop ";
  for (const std::string more : {"", "--parameters ", "--exact "}) {
    const Outcome outcome = (*shell_)(compare + more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const std::string& text : {outcome.out, outcome.err}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
      EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
      EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
    }
    EXPECT_NE(outcome.out.find("\\x1b[31mred"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.err.find("\\x1b[1mlost"), std::string::npos) << outcome.err;
  }
  const Outcome refused = (*shell_)("occam compare net.occam d.csv --by '\x1b[2J'");
  EXPECT_EQ(refused.code, 65);
  EXPECT_EQ(refused.err.find('\x1b'), std::string::npos) << refused.err;
  // csv goes to programs as it is, and to a terminal cleaned.
  EXPECT_NE((*shell_)(compare + "-o -").out.find("\x1b[31m"), std::string::npos);
  if ((*shell_)("command -v script").code != 0) GTEST_SKIP() << "no program `script` to play a terminal";
  const Outcome terminal = (*shell_)("TERM=xterm script -qec '" + compare + "-o - --quiet' /dev/null");
  EXPECT_EQ(terminal.code, 0);
  EXPECT_EQ(terminal.out.find("\x1b[31m"), std::string::npos) << terminal.out;
  EXPECT_NE(terminal.out.find("\\x1b[31mred"), std::string::npos) << terminal.out;
}

TEST_F(ForeignCsv, ZeroBytesDoNotMergeDataSets) {
  using namespace std::string_literals;
  shell_->write("d.csv", "a,b,x\ns\0t,u,1\ns,t\0u,0\n"s);
  const Outcome outcome = (*shell_)("occam compare net.occam d.csv --by a,b -o a.json --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(shell_->read("a.json"))["data_sets"].size(), 2u);
}

}  // namespace
}  // namespace occam::testing_support
