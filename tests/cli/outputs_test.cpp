// What is written, and what never is: outputs that are inputs, two runs on one output, disks that are full.
// A full disk is played by a limit on the size of files (ulimit -f, in blocks of 512 bytes), or by /dev/full.
#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

class Outputs : public ::testing::Test {
 protected:
  std::string must(const std::string& command) {
    const Outcome outcome = shell_(command);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    return outcome.out;
  }
  Outcome fails(const std::string& command, int code, const std::vector<std::string>& parts) {
    const Outcome outcome = shell_(command);
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.err;
    for (const std::string& part : parts) {
      EXPECT_NE(outcome.err.find(part), std::string::npos) << "'" << part << "' is not in: " << outcome.err;
    }
    return outcome;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(shell_.folder() / name); }
  std::uintmax_t size(const std::string& name) const {
    return std::filesystem::file_size(shell_.folder() / name);
  }

  const std::string options_ =
      " --batch 16 --warmup 5 --validate-every 10 --validation-datasets 50 --quiet --scope-reference 0"
      " --threads 1";
  const std::string quick_ = options_ + " --iterations 20";
  const std::string small_ = " --network 'inv_width=8 equiv_width=8 post_width=8 summary=4'";
  Shell shell_;
};

TEST_F(Outputs, ThatAreInputsAreRefused) {
  must("occam models --show beta-binomial > p.toml; cp p.toml q.toml");
  must("occam train beta-binomial -o net.occam" + quick_ + small_);
  must("occam simulate beta-binomial --datasets 100 --quiet -o t.csv; printf 'x\\n1\\n0\\n' > d.csv");
  must("ln d.csv hard.csv; ln -s d.csv soft.csv; ln -s . here; mkdir sub; ln -s ../t.csv sub/t.csv");
  must("occam check net.occam --datasets 20 --save-predictions preds.csv --quiet");
  must("mkdir before; cp -p *.toml *.occam *.csv before");
  const std::string train = "occam train p.toml" + quick_ + small_;
  for (const std::string& command :
       std::vector<std::string>{"occam compare net.occam d.csv -o d.csv",
                                "occam compare net.occam d.csv -o hard.csv",
                                "occam compare net.occam d.csv -o soft.csv",
                                "occam compare net.occam t.csv d.csv -o here/d.csv",
                                "occam compare net.occam soft.csv -o a.csv --report a.csv",
                                "cp d.csv d.html; occam compare net.occam d.html -o a.csv --report d.html",
                                train + " -o p.toml",
                                train + " -o here/p.toml",
                                train + " -o a.occam --table t.csv --log t.csv",
                                train + " -o a.occam --table sub/t.csv --log t.csv",
                                train + " -o a.occam --log p.toml",
                                train + " -o a.occam --log a.occam",
                                train + " -o a.occam --log here/a.occam",
                                train + " -o a.occam --log a.occam.checkpoint",
                                "occam extend net.occam p.toml -o net.occam" + quick_,
                                "occam scope net.occam -o net.occam",
                                "occam simulate p.toml -o here/p.toml",
                                "occam check net.occam --save-predictions net.occam",
                                "occam check --predictions preds.csv --save-predictions preds.csv",
                                "occam abc p.toml d.csv -o d.csv",
                                "occam abc p.toml d.csv -o a.csv --particles a.csv",
                                "occam abc p.toml d.csv -o a.csv --particles d.csv"}) {
    fails(command, 64, {"occam: "});
    must("for f in before/*; do cmp $f $(basename $f) || exit 1; done");
  }
  // A built-in problem is not a file of that name, and devices can be named twice.
  must("occam train beta-binomial -o beta-binomial" + quick_ + small_ + " --log /dev/null");
  must("occam train beta-binomial -o beta-binomial" + quick_ + small_);
}

TEST_F(Outputs, ASimulatorIsNotOverwritten) {
  shell_.write("s.csv", "while read line; do printf '1\\n'; done\n");
  shell_.write("p.toml",
               "name = \"c\"\nn = 1\ncolumns = [\"x\"]\nsimulator = [\"sh\", \"s.csv\"]\n"
               "[model.a]\nt = \"uniform(0, 1)\"\n[model.b]\nt = \"uniform(0, 1)\"\n");
  const std::string before = shell_.read("s.csv");
  fails("occam simulate p.toml --datasets 1 -o s.csv", 64, {"would overwrite what is read (simulator"});
  fails("occam train p.toml -o s.csv" + quick_, 64, {"would overwrite what is read (simulator"});
  EXPECT_EQ(before, shell_.read("s.csv"));
}

TEST_F(Outputs, TheCsvOfADesignIsNotOverwritten) {
  shell_.write("pat.csv", "id,dose\n1,0\n1,1\n2,1\n2,0\n");
  shell_.write("p.toml",
               "name = \"d\"\nfamily = \"linear-regression\"\n[design]\nfrom = \"pat.csv\"\nby = \"id\"\n"
               "[model.a]\n[model.b]\nslope = \"normal(0, 1)\"\n");
  must("sed -i s/dose/x/ pat.csv; ln -s . here");
  const std::string before = shell_.read("pat.csv");
  const std::vector<std::string> says = {"would overwrite what is read (design"};
  fails("occam simulate p.toml --datasets 1 -o here/pat.csv", 64, says);
  fails("occam train p.toml -o n.occam --log pat.csv" + quick_, 64, says);
  fails("occam abc p.toml d.csv -o pat.csv", 64, says);
  must("occam train p.toml -o n.occam" + quick_ + small_);
  fails("occam check n.occam --problem p.toml --datasets 20 --quiet --save-predictions pat.csv", 64, says);
  EXPECT_EQ(before, shell_.read("pat.csv"));
}

TEST_F(Outputs, AReportDoesNotOverwriteWhatItIsMadeFrom) {
  must("occam train beta-binomial -o net.occam" + quick_ + small_);
  must("occam check net.occam --datasets 20 --save-predictions preds.csv --quiet -o r");
  const Outcome outcome = fails(
      "F=$(ls r/*.csv | head -n 1); cp preds.csv $F; occam check --predictions $F -o r --quiet; CODE=$?\n"
      "cmp preds.csv $F && exit $CODE",
      74, {"is not overwritten, since it was read", "its other files are complete"});
  EXPECT_NE(outcome.out.find("Verdict: "), std::string::npos);
}

// Root may write anywhere, so there the commands run as nobody.
TEST_F(Outputs, AFolderThatCannotBeWrittenToIsNamed) {
  must(
      "occam models --show beta-binomial > p.toml; mkdir elsewhere locked; chmod 777 elsewhere; chmod 755 .");
  must("occam train beta-binomial -o net.occam" + quick_ + small_);
  must("printf 'x\\n1\\n0\\n' > d.csv; cp net.occam d.csv locked; chmod 555 locked; cp -rp locked before");
  const std::string nobody = ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  if (shell_(nobody + "occam --version").code != 0) GTEST_SKIP() << "nobody may not run the program";
  const std::string train = "occam train beta-binomial" + quick_ + small_;
  for (const std::string& command : std::vector<std::string>{
           "occam simulate p.toml --datasets 5 -o locked/s.csv",
           "occam simulate p.toml --datasets 5 -o locked/s.npz",
           train + " -o locked/new.occam",
           train + " -o locked/net.occam",
           train + " -o elsewhere/a.occam --log locked/log",
           "occam extend net.occam p.toml -o locked/new.occam" + quick_,
           "occam scope net.occam -o locked/net.occam",
           "occam compare net.occam d.csv -o locked/a.csv",
           "occam compare net.occam d.csv -o locked/d.json",
           "occam compare net.occam d.csv --report locked/r.html",
           "occam check net.occam --datasets 20 -o locked/report",
           "occam check net.occam --datasets 20 --save-predictions locked/p.npz",
           "occam abc p.toml d.csv -o locked/a.csv",
       }) {
    fails("timeout -s KILL 60 " + nobody + command, 74, {"occam: ", "locked", "Permission denied"});
    must("diff -r before locked && ls -A locked | wc -l | grep -qx 2");
  }
  must("chmod 755 locked before");
}

TEST_F(Outputs, TwoRunsOnOneOutputAreRefused) {
  const std::string train = "occam train beta-binomial -o net.occam --quiet" + small_;
  // The first run trains until it is told to stop; the second is refused and harms nothing.
  const Outcome outcome =
      shell_(train + " --iterations 100000000 2> first & ID=$!\n" +
             "i=0; while [ $i -lt 600 ] && [ ! -s .net.occam.lock ]; do sleep 0.05; i=$((i+1)); done\n"
             ": > net.occam.checkpoint\n" +
             "ln -s . here; " + train + " --iterations 5; echo $?\n" +
             "occam train beta-binomial -o here/net.occam --iterations 5; echo $?\n"
             "ls net.occam.checkpoint\nkill -KILL $ID; wait $ID\n");
  EXPECT_EQ(outcome.out, "74\n74\nnet.occam.checkpoint\n") << outcome.err;
  EXPECT_NE(outcome.err.find("another run of occam (process "), std::string::npos) << outcome.err;
  // What the dead one left holds up nobody.
  EXPECT_TRUE(exists(".net.occam.lock"));
  must("rm net.occam.checkpoint; " + train +
       " --iterations 20 --validate-every 10 --validation-datasets 50 --scope-reference 0");
  EXPECT_FALSE(exists(".net.occam.lock"));
}

// The hours in it would be lost.
TEST_F(Outputs, AnInterruptedTrainingIsNotOverwritten) {
  const std::string train = "occam train beta-binomial -o net.occam" + quick_ + small_;
  shell_.write("net.occam.checkpoint", "hours");
  fails(train, 64,
        {"net.occam.checkpoint holds an interrupted training of net.occam: go on with it with --resume, or "
         "remove it to begin anew"});
  EXPECT_EQ(shell_.read("net.occam.checkpoint"), "hours");
  EXPECT_FALSE(exists("net.occam"));
  must("rm net.occam.checkpoint; " + train);
}

TEST_F(Outputs, ALogThatCannotBeWrittenEndsNoTraining) {
  must("occam train beta-binomial -o whole.occam" + quick_ + small_);
  const Outcome outcome =
      fails("occam train beta-binomial -o net.occam --log /dev/full" + quick_ + small_, 74,
            {"cannot write the log '/dev/full' from step 10 on: No space left", "the training goes on",
             "net.occam is written and complete, but the log is not"});
  EXPECT_EQ(outcome.err.find("training goes on"), outcome.err.rfind("training goes on"));  // said once
  EXPECT_TRUE(shell_.read("whole.occam") == shell_.read("net.occam"));
  EXPECT_FALSE(exists("net.occam.checkpoint"));
  fails("occam train beta-binomial -o b.occam --log no/folder" + quick_ + small_, 74, {"no/folder"});
}

// Checkpoints are several times as large as the network.
TEST_F(Outputs, ADiskTooFullForCheckpointsEndsNoTraining) {
  must("occam train beta-binomial -o whole.occam" + quick_);
  const std::string limit = "ulimit -f " + std::to_string(size("whole.occam") * 3 / 2 / 512) + "; ";
  const std::string train = "occam train beta-binomial -o net.occam --checkpoint-minutes 1e-9" + quick_;
  const Outcome outcome = shell_(limit + train);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("no checkpoint at step 1: cannot write 'net.occam.checkpoint'"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(shell_.read("whole.occam") == shell_.read("net.occam"));
  // Room for neither: nothing half-written stays.
  must("rm net.occam");
  fails("ulimit -f 10; " + train, 74, {"cannot write 'net.occam'"});
  EXPECT_FALSE(exists("net.occam"));
  EXPECT_EQ(must("ls -A | grep -c tmp || true"), "0\n");
}

TEST_F(Outputs, ANetworkThatCannotBeWrittenIsInTheCheckpoint) {
  must("occam train beta-binomial -o whole.occam" + quick_ + small_);
  // The output becomes a folder while the training runs: only the network cannot be written.
  must("{ occam train beta-binomial -o net.occam --log log --iterations 1500" + options_ + small_ +
       " 2> err; echo $? > code; } & ID=$!\n"
       "i=0; while [ $i -lt 600 ] && [ ! -s log ]; do sleep 0.02; i=$((i+1)); done; mkdir net.occam; wait "
       "$ID");
  EXPECT_EQ(shell_.read("code"), "74\n") << shell_.read("err");
  EXPECT_NE(shell_.read("err").find("what was trained is in net.occam.checkpoint"), std::string::npos)
      << shell_.read("err");
  must("rmdir net.occam; occam train beta-binomial -o net.occam --resume --iterations 1500" + options_ +
       small_);
  EXPECT_TRUE(exists("net.occam"));
}

TEST_F(Outputs, AFullDiskCostsNoVerdict) {
  must("occam train beta-binomial -o net.occam" + quick_ + small_);
  const Outcome report = fails("ulimit -f 8; occam check net.occam --datasets 50 --quiet -o r", 74,
                               {"cannot write 'r/", "report.html; its other files are complete"});
  EXPECT_NE(report.out.find("Verdict: "), std::string::npos) << report.out;
  EXPECT_FALSE(exists("r/report.html"));
  EXPECT_NE(must("ls r"), "");
  const Outcome predictions =
      fails("ulimit -f 8; occam check net.occam --datasets 2000 --quiet --save-predictions p.csv", 74,
            {"cannot write 'p.csv'", "the predictions are not saved"});
  EXPECT_NE(predictions.out.find("Verdict: "), std::string::npos) << predictions.out;
  EXPECT_FALSE(exists("p.csv"));
}

TEST_F(Outputs, WarningsAreShownAlsoWhenQuiet) {
  must("occam train beta-binomial -o net.occam" + quick_ + small_);
  shell_.write("e.csv", "x,y\n1,2\n,3\n");
  fails("occam compare net.occam e.csv --missing drop --quiet", 0, {"left out 1 row with missing values"});
  fails("occam train beta-binomial -o a.occam --resume" + quick_ + small_, 0, {"there is no checkpoint"});
}

TEST_F(Outputs, ThePopulationsFileOverwritesNoInput) {
  must("occam train beta-binomial -o net.occam" + quick_ + small_);
  const std::string data = "dataset,x\n1,1\n1,0\n2,1\n";
  shell_.write("a.groups.csv", data);
  fails("occam compare net.occam a.groups.csv --group --quiet -o a.csv", 64,
        {"the groups beside -o", "would overwrite what is read"});
  fails("occam compare net.occam a.groups.csv --group-by dataset --quiet -o a.csv", 64, {"would overwrite"});
  EXPECT_EQ(data, shell_.read("a.groups.csv"));
  must("occam compare net.occam a.groups.csv --quiet -o a.csv");
  must("occam compare net.occam a.groups.csv --group --quiet -o a.json");
}

}  // namespace
}  // namespace occam::testing_support
