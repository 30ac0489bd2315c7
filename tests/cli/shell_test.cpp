// The helpers of these tests themselves, and scripts that they and CI rely on.
#include "shell.hpp"

#include <gtest/gtest.h>

namespace occam::testing_support {
namespace {

TEST(ShellFunctions, WaitForAConditionButNotForEver) {
  const Shell shell;
  const Outcome met = shell("(sleep 0.3; touch there) & await '[ -e there ]' && echo yes");
  EXPECT_EQ(met.out, "yes\n");
  const Outcome never = shell("AWAIT=2; await '[ -e nowhere ]'");
  EXPECT_EQ(never.code, 1);
  EXPECT_EQ(never.err, "gave up waiting for: [ -e nowhere ]\n");
}

TEST(ShellFunctions, KnowWhoHeedsSigterm) {
  const Shell shell;
  EXPECT_EQ(shell("sleep 100 & p=$!; heeds_term $p; echo $?; kill -KILL $p").out, "1\n");
  EXPECT_EQ(shell("mkfifo fifo; sh -c 'trap : TERM; read x < fifo' & p=$!; AWAIT=100 await 'heeds_term $p'; "
                  "echo $?; kill -KILL $p")
                .out,
            "0\n");
}

// Tests of reports in a browser may be skipped by hand, but not where they are to be relied on.
TEST(BrowserTests, AreNotSkippedInCi) {
  const Shell shell;
  const std::string run = "PATH=/nowhere /bin/bash " OCCAM_SOURCE "/tests/web/run.sh nothing";
  EXPECT_EQ(shell("unset CI; " + run).code, 77);
  EXPECT_EQ(shell("export CI=true; " + run).code, 1);
}

}  // namespace
}  // namespace occam::testing_support
