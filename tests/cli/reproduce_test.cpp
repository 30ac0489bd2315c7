// reproduce as a user runs it: the list, a small study from a folder, once more without training, mistakes.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "shell.hpp"

namespace occam::testing_support {
namespace {

using nlohmann::json;

// Two networks that learn a little, and every kind of experiment.
const std::string kStudy = R"(
title = "Coins, small"
[[network]]
name = "first"
problem = "beta-binomial"
train = { iterations = 60, batch = 16, warmup = 10, validate_every = 30, validation_datasets = 50, restarts = 0 }
network = { inv_width = 8, equiv_width = 8, post_width = 8, summary = 4 }
[[network]]
name = "second"
label = "lambda = 1"
problem = "beta-binomial"
start = "first"
train = { lambda = 1.0, iterations = 20, batch = 16, warmup = 5, validate_every = 10, validation_datasets = 50 }
[[experiment]]
kind = "sizes"
n = [1, 5, 20]
details = [20]
datasets = 200
[[experiment]]
kind = "disturbance"
disturbance = "autocorrelation"
strengths = [0.0, 0.5]
n = 20
datasets = 20
[[experiment]]
kind = "parameter"
model = "flat"
parameter = "theta"
from = 0.1
to = 0.9
values = 3
n = 20
datasets = 20
[[experiment]]
kind = "speed"
n = 20
datasets = 100
[[experiment]]
kind = "exact"
datasets = 100
missed_datasets = 1000
)";
const std::string kExpected = R"({"figures": [
  {"what": "accuracy at N = 20", "metric": "sizes/first.accuracy.20", "published": 0.5,
   "best": "sizes/first.best_accuracy.20", "at_least": 0.999},
  {"what": "u at theta = 0.9", "metric": "parameter/second.u.0.9"},
  {"what": "training", "metric": "training/first.seconds", "published": 900}]})";

class Reproduce : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shell_ = new Shell;
    (*shell_)("mkdir small");
    shell_->write("small/study.toml", kStudy);
    shell_->write("small/expected.json", kExpected);
    first_ = (*shell_)("occam reproduce small -o out");
  }
  static void TearDownTestSuite() { delete shell_; }

  static Shell* shell_;
  static Outcome first_;
};
Shell* Reproduce::shell_ = nullptr;
Outcome Reproduce::first_;

// A row per network, the farthest first; also as metrics.
TEST_F(Reproduce, ShowsTheDistanceFromExactPosteriors) {
  EXPECT_NE(first_.out.find("network         n  models  steps"), std::string::npos) << first_.out;
  EXPECT_NE(first_.out.find("\nlambda = 1"), std::string::npos) << first_.out;
  const json metrics = json::parse(shell_->read("out/metrics.json"))["findings"]["exact"];
  for (const char* name :
       {"first.kl", "first.se", "first.best_accuracy", "second.kl", "median_kl", "largest_kl"})
    EXPECT_GT(metrics[name]["value"].get<double>(), 0) << name;
  for (const char* name : {"first.missed", "second.missed"})
    EXPECT_GE(metrics[name]["value"].get<double>(), 0) << name;
  EXPECT_EQ(metrics["largest_kl"]["value"], std::max(metrics["first.kl"]["value"].get<double>(),
                                                     metrics["second.kl"]["value"].get<double>()));
}

TEST_F(Reproduce, ListsTheStudies) {
  const Outcome outcome = (*shell_)("occam reproduce");
  EXPECT_EQ(outcome.code, 0);
  for (const char* name :
       {"beta-binomial", "jump-process", "decision-making", "neuron", "gaussian-mixtures", "exact-zoo"}) {
    EXPECT_NE(outcome.out.find(name), std::string::npos) << outcome.out;
  }
}

TEST_F(Reproduce, SetsOursBesideThePublishedFigures) {
  ASSERT_EQ(first_.code, 0) << first_.err;
  EXPECT_NE(first_.out.find("accuracy at N = 20"), std::string::npos) << first_.out;
  EXPECT_NE(first_.out.find("at least 0.999"), std::string::npos) << first_.out;
  const json metrics = json::parse(shell_->read("out/metrics.json"));
  for (const char* finding : {"training", "sizes", "disturbance", "parameter", "speed"}) {
    EXPECT_TRUE(metrics["findings"].contains(finding)) << finding;
  }
  const json& sizes = metrics["findings"]["sizes"];
  EXPECT_GT(sizes["first.accuracy.20"]["value"].get<double>(), 0.4);
  EXPECT_GT(sizes["first.calibration_error_flat.20"]["value"].get<double>(), 0.0);
  EXPECT_EQ(metrics["provenance"]["scale"], "quick");
  EXPECT_NE(metrics["provenance"]["machine"].get<std::string>().find("cores"), std::string::npos);
  EXPECT_NE(metrics["provenance"]["program"].get<std::string>().find("occam"), std::string::npos);
  EXPECT_NE(shell_->read("out/published.csv").find("accuracy at N = 20"), std::string::npos);
  EXPECT_NE(shell_->read("out/report.html").find("Coins, small"), std::string::npos);
}

TEST_F(Reproduce, TrainsNothingTwice) {
  const std::string before = shell_->read("out/networks/second.occam");
  const Outcome again = (*shell_)("occam reproduce small -o out");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("first: trained already"), std::string::npos) << again.err;
  EXPECT_NE(again.err.find("second: trained already"), std::string::npos) << again.err;
  EXPECT_EQ(shell_->read("out/networks/second.occam"), before);
}

TEST_F(Reproduce, TrainsAndAnswersOnTheDeviceNamed) {
  const Outcome checked = (*shell_)("occam reproduce small -o checked --device check");
  ASSERT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(json::parse(shell_->read("checked/metrics.json"))["provenance"]["device"], "check");
  EXPECT_EQ(json::parse(shell_->read("out/metrics.json"))["provenance"]["device"], "cpu");
  const Outcome unknown = (*shell_)("occam reproduce small -o elsewhere --device abacus");
  EXPECT_EQ(unknown.code, 64);
  // Where there is no GPU, or no engine for one.
  if ((*shell_)("occam train beta-binomial -o t.occam --iterations 1 --device cuda --quiet").code != 0) {
    const Outcome none = (*shell_)("occam reproduce small -o elsewhere --device cuda");
    EXPECT_NE(none.code, 0);
    EXPECT_FALSE(none.err.empty());
  }
}

TEST_F(Reproduce, IsSummedUpOverSeeds) {
  ASSERT_EQ((*shell_)("occam reproduce small -o out-2 --seed 2 --quiet").code, 0);
  const std::string script = "python3 " OCCAM_SOURCE "/studies/over_seeds.py ";
  const Outcome both = (*shell_)(script + "out out-2");
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_NE(both.out.find("seeds 1, 2;"), std::string::npos) << both.out;
  const auto ours = [&](const char* folder) {
    return json::parse(shell_->read(std::string(folder) +
                                    "/metrics.json"))["findings"]["parameter"]["second.u.0.9"]["value"]
        .get<double>();
  };
  const std::size_t at = both.out.find("| u at theta = 0.9 |  | ");
  ASSERT_NE(at, std::string::npos) << both.out;
  EXPECT_NEAR(std::stod(both.out.substr(at + 24)), (ours("out") + ours("out-2")) / 2, 1e-3);
  EXPECT_NE((*shell_)(script + "out out").code, 0) << "a seed comes twice";
}

TEST_F(Reproduce, DoesNotTakeANetworkOfOtherSettings) {
  const Outcome other = (*shell_)("occam reproduce small -o out --seed 2");
  EXPECT_EQ(other.code, 64);
  EXPECT_NE(other.err.find("another problem, seed or settings"), std::string::npos) << other.err;
}

TEST_F(Reproduce, GoesOnAfterAnInterruption) {
  (*shell_)("mkdir slow");
  std::string slow = kStudy;
  slow.replace(slow.find("iterations = 60"), 15, "iterations = 4000");
  shell_->write("slow/study.toml", slow);
  const Outcome stopped = (*shell_)(
      "occam reproduce slow -o slow_out 2>slow_err & p=$!; await 'grep -q training slow_err'; kill -TERM $p; "
      "wait $p");
  EXPECT_EQ(stopped.code, 130);
  EXPECT_NE(shell_->read("slow_err").find("the same command goes on"), std::string::npos);
  const Outcome again = (*shell_)("occam reproduce slow -o slow_out");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("continuing from step"), std::string::npos) << again.err;
  EXPECT_EQ((*shell_)("ls slow_out/networks").out, "first.occam\nsecond.occam\n");
}

TEST_F(Reproduce, MistakesEndBeforeAnythingIsTrained) {
  EXPECT_EQ((*shell_)("occam reproduce small").code, 64);
  EXPECT_EQ((*shell_)("occam reproduce nothing -o x").code, 64);
  EXPECT_EQ((*shell_)("occam reproduce no/such -o x").code, 66);
  EXPECT_EQ((*shell_)("occam reproduce small --scale huge -o x").code, 64);
  (*shell_)("mkdir empty broken");
  EXPECT_EQ((*shell_)("occam reproduce ./empty -o x").code, 66);
  shell_->write("broken/study.toml", kStudy + "[[experiment]]\nkind = \"sice\"\n");
  const Outcome broken = (*shell_)("occam reproduce broken -o x");
  EXPECT_EQ(broken.code, 78);
  EXPECT_NE(broken.err.find("'sice'"), std::string::npos) << broken.err;
  EXPECT_EQ((*shell_)("test -e x").code, 1);
}

}  // namespace
}  // namespace occam::testing_support
