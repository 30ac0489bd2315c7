// occam page: what it refuses, and that a page is written or this build says that it has none.
#include <gtest/gtest.h>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

TEST(Page, RefusesWhatCannotBeAPage) {
  const Shell run;
  EXPECT_EQ(run("occam page").code, 64);
  EXPECT_EQ(run("occam page -o page.txt").code, 64);
  EXPECT_EQ(run("occam page -o page.html --example data.csv").code, 64);
  EXPECT_EQ(run("occam page none.occam -o page.html").code, 66);
  run.write("none.occam", "not a network");
  const Outcome outcome = run("occam page none.occam -o page.html");
  EXPECT_EQ(outcome.code, 78);
  EXPECT_NE(outcome.err.find("none.occam"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(run.folder() / "page.html"));
}

// A small network as n.occam.
void train(const Shell& run) {
  const Outcome made =
      run("occam train beta-binomial -o n.occam --iterations 10 --batch 8 --validation-datasets 20 "
          "--scope-reference 100 --scope-calibration 100 --quiet");
  ASSERT_EQ(made.code, 0) << made.err;
}

void expect_refused(const Shell& run, const std::string& command, int code, const std::string& message) {
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
  EXPECT_NE(outcome.err.find(message), std::string::npos) << command << "\n" << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(run.folder() / "page.html")) << command;
}

TEST(Page, SaysWhatIsWrongWithANetwork) {
  const Shell run;
  train(run);
  const std::string network = run.read("n.occam");
  const std::string command = "occam page bad.occam -o page.html";
  run.write("bad.occam", "");
  expect_refused(run, command, 78, "it has 0 bytes");
  run.write("bad.occam", network.substr(0, 2000));
  expect_refused(run, command, 78, "is cut short");
  run.write("bad.occam", network.substr(0, network.size() - 100));
  expect_refused(run, command, 78, "lie outside");
  std::string damaged = network;
  damaged[damaged.size() - 100] ^= 1;
  run.write("bad.occam", damaged);
  expect_refused(run, command, 78, "damaged");
  std::string later = network;
  const std::string version = "\"format_version\":\"";
  later[later.find(version) + version.size()] = '9';
  run.write("bad.occam", later);
  expect_refused(run, command, 78, "format version is 9");
}

TEST(Page, TakesNoExampleThatHasNoAnswers) {
  const Shell run;
  train(run);
  const auto refuse = [&](const std::string& csv, const std::string& message) {
    run.write("example.csv", csv);
    expect_refused(run, "occam page n.occam -o page.html --example example.csv", 65, message);
  };
  refuse("", "example.csv");
  refuse("coin,x\n", "example.csv");
  refuse("a,b\n1,2\n", "its columns (a, b) are not recognised");
  refuse("coin,x\n1,heads\n", "'heads'");
  std::string many = "id,x\n";
  for (int id = 0; id < 200'001; ++id) many += std::to_string(id) + ",1\n";
  refuse(many, "more than 200000 data sets");
}

// What a check found against a ready-made network stands on the page, as it does in answers of `compare`.
TEST(Page, CarriesWhatTheRecordSaysAgainstANetwork) {
  const Shell run;
  train(run);
  const std::string command = "occam page n.occam -o page.html";
  const std::string caution = "`occam check` called it not usable yet";
  const auto record = [](const std::string& severity) {
    return R"({"network": "n.occam", "verdict": "not usable yet", "judgements": [{"severity": ")" + severity +
           R"("}]})";
  };
  run.write("n.json", record("note"));
  const Outcome without = run(command);
  if (without.code == 78) GTEST_SKIP() << "built without emscripten";
  ASSERT_EQ(without.code, 0) << without.err;
  EXPECT_EQ(run.read("page.html").find(caution), std::string::npos);
  run.write("n.json", record("serious"));
  const Outcome with = run(command);
  ASSERT_EQ(with.code, 0) << with.err;
  EXPECT_NE(with.err.find(caution), std::string::npos) << with.err;
  EXPECT_NE(run.read("page.html").find(caution), std::string::npos);
}

TEST(Page, SaysThatItCannotBeWritten) {
  const Shell run;
  std::filesystem::create_directory(run.folder() / "folder.html");
  EXPECT_EQ(run("occam page -o folder.html").code, 74);
  expect_refused(run, "occam page -o nowhere/page.html", 74, "nowhere");
}

TEST(Page, IsOneFileOrSaysThatThereIsNone) {
  const Shell run;
  const Outcome outcome = run("occam page -o app.html --title '</title><b>'");
  if (outcome.code == 78) {
    EXPECT_NE(outcome.err.find("this build has no page"), std::string::npos) << outcome.err;
    GTEST_SKIP() << "built without emscripten";
  }
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string page = run.read("app.html");
  EXPECT_LT(page.size(), 2'500'000u);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("<title>&lt;/title&gt;&lt;b&gt;</title>"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace occam::testing_support
