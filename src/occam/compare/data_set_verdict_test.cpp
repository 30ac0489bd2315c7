#include "occam/compare/data_set_verdict.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace occam {
namespace {

ModelPosterior answer(double p, const std::vector<double>& members = {}) {
  ModelPosterior posterior({"a", "b"}, {0.5, 0.5});
  posterior.add("x", 10, std::vector<double>{std::log(10 * p), std::log(10 * (1 - p))}, "", members);
  return posterior;
}

TEST(DataSetVerdict, OneWordOfThree) {
  const VerdictOptions options;
  EXPECT_EQ(verdict_on(answer(0.95), 0, {}, options).verdict, VerdictKind::decided);
  EXPECT_EQ(verdict_on(answer(0.85), 0, {}, options).verdict, VerdictKind::ambiguous);
  EXPECT_EQ(verdict_on(answer(0.95), 0, ScopeAnswer{0.5, {}, ""}, options).verdict, VerdictKind::decided);
  EXPECT_EQ(verdict_on(answer(0.95), 0, ScopeAnswer{0.009, {}, ""}, options).verdict,
            VerdictKind::out_of_scope);
  EXPECT_EQ(verdict_on(answer(0.95), 0, ScopeAnswer{0.01, {}, ""}, options).verdict, VerdictKind::decided);
  VerdictOptions strict;
  strict.decided_above = 0.97;
  EXPECT_EQ(verdict_on(answer(0.95), 0, {}, strict).verdict, VerdictKind::ambiguous);
  strict.scope_level = 0.6;
  EXPECT_EQ(verdict_on(answer(0.95), 0, ScopeAnswer{0.5, {}, ""}, strict).verdict, VerdictKind::out_of_scope);
}

TEST(DataSetVerdict, AFlaggedAnswerIsNeverDecidedNorCalledForeign) {
  ModelPosterior posterior({"a", "b"}, {0.5, 0.5});
  posterior.add("x", 500, std::vector<double>{std::log(99), std::log(1)}, "n above trained range (1 to 100)");
  for (const double scope_p : {0.5, 0.001}) {
    const DataSetVerdict verdict = verdict_on(posterior, 0, ScopeAnswer{scope_p, {}, ""}, {});
    EXPECT_EQ(verdict.verdict, VerdictKind::outside_training);
    EXPECT_NE(verdict.explanation.find("n above trained range"), std::string::npos) << verdict.explanation;
  }
}

// Where nothing of the like design was simulated a small p-value says nothing of the models; a large one
// still says that the data are as usual.
TEST(DataSetVerdict, WhatNoSimulationHasTheDesignOfIsNotBlamedOnModels) {
  ScopeAnswer lonely{0.001, {}, "median rt is 9", true};
  const DataSetVerdict verdict = verdict_on(answer(0.95), 0, lonely, {});
  EXPECT_EQ(verdict.verdict, VerdictKind::outside_training);
  EXPECT_NE(verdict.explanation.find("has a design near this one"), std::string::npos) << verdict.explanation;
  lonely.p = 0.5;
  EXPECT_EQ(verdict_on(answer(0.95), 0, lonely, {}).verdict, VerdictKind::decided);
}

TEST(DataSetVerdict, WhatIsNotANumberIsNeverDecided) {
  EXPECT_EQ(verdict_on(answer(NAN), 0, {}, {}).verdict, VerdictKind::outside_training);
  EXPECT_EQ(verdict_on(answer(NAN), 0, ScopeAnswer{0.001, {}, ""}, {}).verdict,
            VerdictKind::outside_training);
}

TEST(DataSetVerdict, MembersThatDisagreeDecideNothing) {
  const std::vector<double> agree = {std::log(0.97), std::log(0.03), std::log(0.93), std::log(0.07)};
  const std::vector<double> differ = {std::log(0.999), std::log(0.001), std::log(0.4), std::log(0.6)};
  EXPECT_EQ(verdict_on(answer(0.95, agree), 0, {}, {}).verdict, VerdictKind::decided);
  const DataSetVerdict verdict = verdict_on(answer(0.95, differ), 0, {}, {});
  EXPECT_EQ(verdict.verdict, VerdictKind::ambiguous);
  EXPECT_NE(verdict.explanation.find("50 % of the networks disagree"), std::string::npos)
      << verdict.explanation;
}

TEST(DataSetVerdict, SaysWhatStandsOut) {
  const DataSetVerdict verdict = verdict_on(answer(0.95), 0, ScopeAnswer{0.002, {}, "median rt is 9"}, {});
  EXPECT_NE(verdict.explanation.find("0.2 % of simulated"), std::string::npos) << verdict.explanation;
  EXPECT_NE(verdict.explanation.find("median rt is 9"), std::string::npos) << verdict.explanation;
}

TEST(BenjaminiHochberg, FollowsThePublishedProcedure) {
  // The example of the paper (15 p-values, level .05): the first four are discoveries.
  const std::vector<double> p = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                                 .0459, .3240, .4262, .5719, .6528, .7590, 1.000};
  const std::vector<bool> found = benjamini_hochberg(p, 0.05);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(found[i], i < 4) << i;
  EXPECT_TRUE(benjamini_hochberg({}, 0.05).empty());
}

}  // namespace
}  // namespace occam
