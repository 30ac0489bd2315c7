// occam page: what it refuses, and that a page is written or this build says that it has none.
#include <gtest/gtest.h>

#include "shell.hpp"

namespace occam::testing {
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
  EXPECT_NE(page.find("<title>&lt;/title>&lt;b></title>"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

}  // namespace
}  // namespace occam::testing
