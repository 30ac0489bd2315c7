#include "occam/simulate/problem.hpp"

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

ProblemSpec coin_problem() {
  const auto family = make_family("bernoulli");
  ProblemSpec spec;
  spec.name = "coins";
  spec.size = SizeDistribution::uniform(1, 10);
  spec.models = {Model("free", family, {{"theta", Prior::beta(2, 3)}}),
                 Model("known", family, {{"theta", Prior::fixed(0.25)}}),
                 Model("flat", family, {{"theta", Prior::uniform(0, 1)}})};
  return spec;
}

void expect_problem_error(const std::function<void(ProblemSpec&)>& change, const std::string& message) {
  try {
    ProblemSpec spec = coin_problem();
    change(spec);
    Problem problem(std::move(spec));
    ADD_FAILURE() << "accepted; expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(Problem, ParametersWithOneNameShareASlot) {
  const Problem problem(coin_problem());
  EXPECT_EQ(problem.J(), 3);
  EXPECT_EQ(problem.parameter_names(), std::vector<std::string>{"theta"});
  EXPECT_EQ(problem.mask(0)[0], 1);
  EXPECT_EQ(problem.mask(1)[0], 0);
  EXPECT_EQ(problem.slots(1)[0], -1);
  EXPECT_EQ(*problem.prior(2, 0), Prior::uniform(0, 1));
  EXPECT_EQ(problem.prior(1, 0), nullptr);
  EXPECT_EQ(problem.model_prior()[1], 1.0 / 3.0);
}

TEST(Problem, ChecksTheWholeAtConstruction) {
  const auto bernoulli = make_family("bernoulli");
  expect_problem_error([](ProblemSpec& s) { s.models.resize(1, s.models[0]); },
                       "a comparison needs at least two");
  expect_problem_error([](ProblemSpec& s) { s.models.clear(); }, "has 0 models");
  expect_problem_error([](ProblemSpec& s) { s.models[2] = s.models[0]; }, "two models are named 'free'");
  expect_problem_error([](ProblemSpec& s) { s.name = ""; }, "no name");
  expect_problem_error([](ProblemSpec& s) { s.name = "a\nb"; },
                       "the name 'a\\x0ab' holds control characters");
  expect_problem_error([](ProblemSpec& s) { s.model_prior = {0.5, 0.3, 0.3}; }, "sum to 1.1, not to 1");
  expect_problem_error([](ProblemSpec& s) { s.model_prior = {0.5, 0.25, 0.25 + 1e-8}; }, "not to 1");
  expect_problem_error(
      [](ProblemSpec& s) {
        s.model_prior = {0.5, 0.5};
      },
      "2 prior probabilities for 3 models");
  expect_problem_error([](ProblemSpec& s) { s.model_prior = {1.0, 0.5, -0.5}; }, "is not above 0");
  expect_problem_error([](ProblemSpec& s) { s.model_prior = {1.0, NAN, 0.5}; }, "is not above 0");
  expect_problem_error(
      [&](ProblemSpec& s) { s.models.emplace_back("other", make_family("gaussian-mixture")); },
      "model 'other' (family 'gaussian-mixture') has columns x, y, but model 'free'");
  expect_problem_error([&](ProblemSpec& s) { s.models.emplace_back("two words", bernoulli); },
                       "model name 'two words' is not usable");
  expect_problem_error(
      [&](ProblemSpec& s) {
        s.models.push_back(Model("m", bernoulli, {{"thetta", Prior::fixed(0.5)}}));
      },
      "has no parameter 'thetta' (did you mean 'theta'?)");
  expect_problem_error(
      [&](ProblemSpec& s) {
        s.models.push_back(Model("m", bernoulli, {{"theta", Prior::normal(0.5, 1)}}));
      },
      "theta = normal(0.5, 1) reaches outside the legal values [0, 1]");
  expect_problem_error(
      [&](ProblemSpec& s) {
        s.models.push_back(Model("m", make_family("normal"), {{"sigma", Prior::fixed(0)}}));
      },
      "sigma = 0 reaches outside the legal values (0, inf]");
  expect_problem_error([](ProblemSpec& s) { s.size = SizeDistribution::fixed(0); }, "at least 1 observation");
  expect_problem_error([](ProblemSpec& s) { s.size = SizeDistribution::uniform(5, 4); },
                       "low must not be above high");
}

TEST(Problem, FingerprintFollowsWhatAffectsSimulations) {
  const std::string reference = Problem(coin_problem()).fingerprint();
  EXPECT_EQ(reference.size(), 16u);
  const auto changed = [&](const std::function<void(ProblemSpec&)>& change) {
    ProblemSpec spec = coin_problem();
    change(spec);
    return Problem(std::move(spec)).fingerprint() != reference;
  };
  EXPECT_FALSE(changed([](ProblemSpec& s) { s.name = "renamed"; }));
  EXPECT_FALSE(changed([](ProblemSpec& s) { s.description = "other words"; }));
  EXPECT_FALSE(changed([](ProblemSpec& s) {
    s.network = std::make_shared<nlohmann::json>(nlohmann::json{{"width", 3}});
  }));
  EXPECT_TRUE(changed([](ProblemSpec& s) { s.size = SizeDistribution::uniform(1, 11); }));
  EXPECT_TRUE(changed([](ProblemSpec& s) { s.one_n_per_batch = true; }));
  EXPECT_TRUE(changed([](ProblemSpec& s) { std::swap(s.models[0], s.models[1]); }));
  EXPECT_TRUE(changed([](ProblemSpec& s) { s.model_prior = {0.5, 0.25, 0.25}; }));
  EXPECT_TRUE(changed([](ProblemSpec& s) {
    s.models[0] = Model("free", s.models[0].shared_family(), {{"theta", Prior::beta(2, 3.0000001)}});
  }));
}

// K = 2 of N = 3: flat evidence 1/12, theta = 1/4 gives 3/64, Beta(2,3) gives B(4,4)/B(2,3) = 3/35.
TEST(Problem, ExactPosteriorByHand) {
  ProblemSpec spec = coin_problem();
  spec.model_prior = {0.5, 0.25, 0.25};
  const Problem problem(std::move(spec));
  const std::vector<float> tosses = {1, 0, 1};
  EXPECT_TRUE(problem.has_exact_posterior());
  const auto log_p = problem.exact_log_posterior({tosses.data(), 3, 1});
  ASSERT_TRUE(log_p.has_value());
  const double a = 0.5 * 3.0 / 35.0;
  const double b = 0.25 * 3.0 / 64.0;
  const double c = 0.25 / 12.0;
  EXPECT_NEAR(std::exp((*log_p)[0]), a / (a + b + c), 1e-12);
  EXPECT_NEAR(std::exp((*log_p)[1]), b / (a + b + c), 1e-12);
  EXPECT_NEAR(std::exp((*log_p)[2]), c / (a + b + c), 1e-12);
}

TEST(Problem, ExactPosteriorRefusesWhatItCannotKnow) {
  const std::vector<float> strange = {0.3f};
  const std::vector<float> one = {1.0f};
  const Problem problem(coin_problem());
  EXPECT_THROW(problem.exact_log_posterior({strange.data(), 1, 1}), Error);
  EXPECT_THROW(problem.exact_log_posterior({one.data(), 1, 2}), Error);

  ProblemSpec unknown = coin_problem();
  unknown.models[0] = Model("free", make_family("bernoulli"), {{"theta", Prior::uniform(0.2, 0.8)}});
  EXPECT_FALSE(Problem(unknown).has_exact_posterior());
  EXPECT_FALSE(Problem(unknown).exact_log_posterior({one.data(), 1, 1}).has_value());

  ProblemSpec impossible = coin_problem();
  impossible.models = {Model("a", make_family("bernoulli"), {{"theta", Prior::fixed(0)}}),
                       Model("b", make_family("bernoulli"), {{"theta", Prior::fixed(0)}})};
  EXPECT_THROW(Problem(impossible).exact_log_posterior({one.data(), 1, 1}), Error);
}

TEST(Problem, ModelIndexSuggests) {
  const Problem coins(coin_problem());
  EXPECT_EQ(coins.model_index("known"), 1);
  try {
    coins.model_index("knwon");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_STREQ(error.what(), "problem 'coins' has no model 'knwon' (did you mean 'known'?)");
  }
}

TEST(SizeDistribution, ReadsItsText) {
  for (const std::string text : {"7", "uniform(1, 100)", "log_uniform(10, 1000)"}) {
    EXPECT_EQ(SizeDistribution::parse(text).text(), text);
  }
  for (const std::string text : {"0", "-3", "uniform(0, 5)", "uniform(5, 1)", "uniform(1.5, 3)", "uniform(4)",
                                 "poisson(3)", "2.5", "log_uniform(1, 1e12)", "many"}) {
    EXPECT_THROW(SizeDistribution::parse(text), Error) << text;
  }
  Rng rng(1, Purpose::test, 0);
  const SizeDistribution logs = SizeDistribution::parse("log_uniform(3, 6)");
  bool low = false;
  bool high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t n = logs.sample(rng);
    ASSERT_TRUE(n >= 3 && n <= 6);
    low = low || n == 3;
    high = high || n == 6;
  }
  EXPECT_TRUE(low && high);
}

}  // namespace
}  // namespace occam
