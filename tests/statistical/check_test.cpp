// The verdict: faultless predictions pass, faults are called out. Faultless ones are made by drawing p first
// and the true model from p. With --false-alarm f, at most a share f of faultless checks may be called
// anything but fine; of 200 checks with f = .1 more than 37 have probability below 1e-4 if f is kept.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "occam/check/diagnostic.hpp"
#include "occam/check/verdict.hpp"
#include "occam/core/rng.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

// Changes p after the true model was drawn.
using Fault = std::function<void(std::vector<double>& p)>;

struct Kind {
  std::int64_t J = 3;
  std::int64_t K = 600;
  double concentration = 0.7;  // of the Dirichlet that p comes from: small is sure
};

Predictions predictions(const Kind& kind, std::uint64_t seed, const Fault& fault) {
  Predictions block;
  Rng rng(seed, Purpose::test, 0);
  for (std::int64_t k = 0; k < kind.K; ++k) {
    std::vector<double> p;
    double sum = 0;
    for (std::int64_t j = 0; j < kind.J; ++j) sum += p.emplace_back(rng.gamma(kind.concentration) + 1e-12);
    for (double& value : p) value /= sum;
    block.truth.push_back(static_cast<std::int32_t>(rng.categorical(p)));
    if (fault) fault(p);
    block.n.push_back(5 + k % 96);
    block.conditions.push_back(rng.uniform());
    block.p.insert(block.p.end(), p.begin(), p.end());
  }
  return block;
}

Verdict verdict_of(const Kind& kind, std::uint64_t seed, const Fault& fault, CheckOptions options = {}) {
  PredictionLayout layout;
  for (std::int64_t j = 0; j < kind.J; ++j) layout.model_names.push_back("m" + std::to_string(j));
  layout.has_n = true;
  layout.conditions = {"share of treated"};
  static ThreadPool pool(2);
  Checker checker(layout, options, seed);
  checker.add(predictions(kind, seed, fault), pool);
  std::vector<Finding> findings = checker.finish();
  // That data say little is worth a note, but no fault of the predictions.
  std::erase_if(findings, [](const Finding& finding) { return finding.name == "accuracy"; });
  return verdict(findings, options.false_alarm);
}

// p^power, normalised: above one overconfident, below one underconfident.
Fault sharpened(double power) {
  return [power](std::vector<double>& p) {
    double sum = 0;
    for (double& value : p) sum += value = std::pow(value, power);
    for (double& value : p) value /= sum;
  };
}

class FaultlessPredictions : public ::testing::TestWithParam<Kind> {};

TEST_P(FaultlessPredictions, RaiseNoMoreAlarmsThanAllowed) {
  CheckOptions options;
  options.false_alarm = 0.1;
  int alarms = 0;
  constexpr int kChecks = 200;
  for (std::uint64_t seed = 1; seed <= kChecks; ++seed) {
    alarms += verdict_of(GetParam(), seed, nullptr, options).severity != Severity::fine ? 1 : 0;
  }
  RecordProperty("alarms", alarms);
  EXPECT_LE(alarms, 37) << "of " << kChecks;
}

INSTANTIATE_TEST_SUITE_P(Check, FaultlessPredictions,
                         ::testing::Values(Kind{2, 400, 0.7}, Kind{6, 600, 0.3}, Kind{3, 1000, 0.05},
                                           Kind{3, 400, 20}),
                         [](const auto& kind) {
                           return "J" + std::to_string(kind.param.J) + "K" + std::to_string(kind.param.K) +
                                  (kind.param.concentration > 1     ? "Unsure"
                                   : kind.param.concentration < 0.1 ? "Sure"
                                                                    : "");
                         });

TEST(FaultyPredictions, AreCalledOut) {
  const Kind kind{3, 2000, 0.7};
  const Fault next_label = [](std::vector<double>& p) { std::rotate(p.begin(), p.begin() + 1, p.end()); };
  const Fault favourite = [](std::vector<double>& p) {
    for (double& value : p) value *= 0.85;
    p[0] += 0.15;
  };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_GE(verdict_of(kind, seed, sharpened(2)).severity, Severity::warning) << seed;
    EXPECT_EQ(verdict_of(kind, seed, sharpened(4)).severity, Severity::serious) << seed;
    EXPECT_GE(verdict_of(kind, seed, sharpened(0.5)).severity, Severity::warning) << seed;
    EXPECT_EQ(verdict_of(kind, seed, next_label).severity, Severity::serious) << seed;
    EXPECT_GE(verdict_of(kind, seed, favourite).severity, Severity::warning) << seed;
  }
}

// With many data sets small faults show, and are said to be small.
TEST(FaultyPredictions, SmallFaultsAreNotes) {
  const Verdict small = verdict_of({3, 10000, 0.7}, 1, sharpened(1.07));
  EXPECT_EQ(small.severity, Severity::note) << small.text;
}

}  // namespace
}  // namespace occam
