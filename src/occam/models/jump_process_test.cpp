#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

std::shared_ptr<const Family> family_with(const nlohmann::json& settings) {
  return make_family("jump-process", settings, "test");
}

// The log of an integral over low..high by Simpson's rule, of exp(log_f - top).
double log_integral(const std::function<double(double)>& log_f, double low, double high) {
  constexpr int kCells = 200000;
  const double h = (high - low) / kCells;
  double top = -INFINITY;
  for (int i = 0; i <= kCells; i += 100) top = std::max(top, log_f(low + i * h));
  double sum = 0.0;
  for (int i = 0; i <= kCells; ++i) {
    const double weight = i == 0 || i == kCells ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;
    sum += weight * std::exp(log_f(low + i * h) - top);
  }
  return top + std::log(sum * h / 3.0);
}

// Two events of z + y -> 2 y from (40, 3), then none until 0.1.
const std::vector<float> kPath = {0.0f, 40.0f, 3.0f, 0.015625f, 39.0f, 4.0f, 0.0625f, 38.0f, 5.0f};
const DataView kView{kPath.data(), 3, 3};

double log_likelihood(double theta) {
  const double H = 120.0 * 0.015625 + 156.0 * (0.0625 - 0.015625) + 190.0 * (0.1 - 0.0625);
  return std::log(120.0 * 156.0) + 2.0 * std::log(theta) - theta * H;
}

TEST(JumpProcess, EvidenceIsTheIntegralOverTheRate) {
  const auto family = make_family("jump-process");
  // Left of the peak, around it, far right of it (where the tails underflow), and narrow.
  for (const auto& [low, high] : std::vector<std::array<double, 2>>{
           {0, 100}, {0, 0.01}, {0.05, 0.3}, {2, 3}, {90, 100}, {0.12, 0.1201}}) {
    const Prior prior = Prior::uniform(low, high);
    const double expected = log_integral(log_likelihood, std::max(low, 1e-9), high) - std::log(high - low);
    EXPECT_NEAR(*family->log_evidence({&prior, 1}, kView), expected, 1e-7 * (1.0 + std::fabs(expected)))
        << prior.text();
  }
  for (const Prior& prior : {Prior::gamma(2.5, 0.3), Prior::exponential(4.0)}) {
    const auto weighted = [&](double theta) { return log_likelihood(theta) + prior.log_density(theta); };
    EXPECT_NEAR(*family->log_evidence({&prior, 1}, kView), log_integral(weighted, 1e-9, 20.0), 1e-7)
        << prior.text();
  }
  const Prior fixed = Prior::fixed(0.2);
  EXPECT_NEAR(*family->log_evidence({&fixed, 1}, kView), log_likelihood(0.2), 1e-12);
  const Prior other = Prior::lognormal(0.0, 1.0);
  EXPECT_FALSE(family->log_evidence({&other, 1}, kView).has_value());
}

TEST(JumpProcess, EvidenceOfAPathWithoutEvents) {
  const auto family = make_family("jump-process");
  const Prior prior = Prior::uniform(0, 100);
  // (1/100) integral of exp(-12 theta) over 0..100.
  EXPECT_NEAR(*family->log_evidence({&prior, 1}, {kPath.data(), 1, 3}), std::log(1.0 / 1200.0), 1e-12);
}

TEST(JumpProcess, ImpossiblePathsHaveNoEvidence) {
  const auto family = make_family("jump-process");
  const Prior prior = Prior::uniform(0, 100);
  const auto evidence = [&](std::vector<float> path) {
    return *family->log_evidence({&prior, 1}, {path.data(), static_cast<std::int64_t>(path.size()) / 3, 3});
  };
  EXPECT_EQ(evidence({0, 39, 4}), -INFINITY);                           // another start
  EXPECT_EQ(evidence({0, 40, 3, 0.01f, 38, 5}), -INFINITY);             // two at once
  EXPECT_EQ(evidence({0, 40, 3, 0.2f, 39, 4}), -INFINITY);              // past the limit
  EXPECT_THROW(evidence({0, 40, 3, 0.01f, 39.5f, 3.5f}), Error);        // no counts
  EXPECT_THROW(evidence({0, 40, 3, .02f, 39, 4, .01f, 38, 5}), Error);  // back in time
}

// Times are kept as float. Moving each to its neighbour, up or down, must not move the evidence.
TEST(JumpProcess, RoundingOfTimesDoesNotMatter) {
  const Problem problem = builtin_problem("jump-process");
  double largest = 0.0;
  for (std::uint64_t item = 0; item < 300; ++item) {
    Rng rng(5, Purpose::test, item);
    const Model& model = problem.models()[item % 2];
    std::array<double, 1> theta;
    model.sample_parameters(rng, theta);
    std::vector<float> path(41 * 3);
    const std::int64_t rows = model.family().simulate(theta, 41, rng, path);
    ASSERT_GE(rows, 1);
    const DataView view{path.data(), rows, 3};
    const std::vector<double> before = *problem.exact_log_posterior(view);
    const double evidence = *model.family().log_evidence(model.priors(), view);
    for (std::int64_t row = 1; row < rows; ++row) {
      float& t = path[static_cast<std::size_t>(3 * row)];
      t = std::nextafter(t, rng.uniform() < 0.5 ? 0.0f : 1.0f);
      t = std::max(t, path[static_cast<std::size_t>(3 * row - 3)]);
    }
    const std::vector<double> after = *problem.exact_log_posterior(view);
    largest = std::max(largest, std::fabs(*model.family().log_evidence(model.priors(), view) - evidence));
    largest = std::max(largest, std::fabs(std::exp(after[0]) - std::exp(before[0])));
  }
  EXPECT_LT(largest, 1e-4);
}

TEST(JumpProcess, PathsKeepTheRules) {
  const Problem problem = builtin_problem("jump-process");
  for (std::uint64_t item = 0; item < 200; ++item) {
    Rng rng(6, Purpose::test, item);
    std::vector<float> path(41 * 3);
    const std::array<double, 1> theta = {static_cast<double>(item) / 20.0};
    const std::int64_t rows = problem.models()[item % 2].family().simulate(theta, 41, rng, path);
    ASSERT_GE(rows, 1);
    for (std::int64_t row = 0; row < rows; ++row) {
      const float* at = path.data() + 3 * row;
      EXPECT_EQ(at[1], 40 - row);
      EXPECT_EQ(at[2], 3 + row);
      EXPECT_LE(at[0], 0.1f);
      EXPECT_GE(at[0], row == 0 ? 0.0f : at[-3]);
    }
  }
}

// A path of more rows than asked for is not cut short: it is a failed draw.
TEST(JumpProcess, TooLongAPathIsNoData) {
  const auto family = make_family("jump-process");
  Rng rng(7, Purpose::test, 0);
  std::vector<float> out(10 * 3);
  const std::array<double, 1> fast = {100.0};
  EXPECT_EQ(family->simulate(fast, 10, rng, out), 0);
  const std::array<double, 1> never = {0.0};
  EXPECT_EQ(family->simulate(never, 10, rng, out), 1);
}

TEST(JumpProcess, AsRunKeepsOneEventPastTheLimit) {
  const Problem problem = builtin_problem("jump-process:as_run");
  Rng rng(8, Purpose::test, 0);
  std::vector<float> path(41 * 3);
  const std::array<double, 1> theta = {2.0};
  const std::int64_t rows = problem.models()[1].family().simulate(theta, 41, rng, path);
  ASSERT_GE(rows, 2);
  EXPECT_GT(path[static_cast<std::size_t>(3 * rows - 3)], 0.1f);
  EXPECT_LE(path[static_cast<std::size_t>(3 * rows - 6)], 0.1f);
  // The observation ends with that event: 40 exp(-40 theta t1).
  const std::vector<float> one = {0, 40, 3, 0.125f, 39, 4};
  const Prior fixed = Prior::fixed(0.5);
  EXPECT_NEAR(*problem.models()[1].family().log_evidence({&fixed, 1}, {one.data(), 2, 3}),
              std::log(40.0 * 0.5) - 40.0 * 0.5 * 0.125, 1e-12);
  // A path that could go on has to.
  EXPECT_EQ(*problem.models()[1].family().log_evidence({&fixed, 1}, {one.data(), 1, 3}), -INFINITY);
}

// Another network is a line of text: columns, parameters and hazards follow from it.
TEST(JumpProcess, ANetworkIsText) {
  const auto family = family_with({{"initial", "a = 4, b=0"},
                                   {"reactions", "bind: 2 a -> b; split: b -> 2a; loss: a -> 0; loss: b->0"},
                                   {"time_limit", 2.0}});
  ASSERT_EQ(family->columns().size(), 3u);
  EXPECT_EQ(family->columns()[1].name, "a");
  ASSERT_EQ(family->parameters().size(), 3u);
  EXPECT_EQ(family->parameters()[2].name, "loss");
  EXPECT_EQ(family->parameters()[2].description, "rate of a -> 0, b->0");

  const std::vector<Prior> priors = {Prior::fixed(0.5), Prior::fixed(0.25), Prior::fixed(2.0)};
  const std::vector<float> path = {0, 4, 0, 0.5f, 2, 1, 1.0f, 1, 1};
  // Six pairs of four a, and one of two; b splits or is lost; each a is lost. One a cannot bind.
  const double expected = std::log(6 * 0.5) + std::log(2 * 2.0) - 0.5 * (6 * 0.5 + 4 * 2.0) -
                          0.5 * (1 * 0.5 + 0.25 + 3 * 2.0) - 1.0 * (0.25 + 2 * 2.0);
  EXPECT_NEAR(*family->log_evidence(priors, {path.data(), 3, 3}), expected, 1e-12);
}

TEST(JumpProcess, ReactionsOfOneEffectAndTwoRatesHaveNoClosedEvidence) {
  const auto both = [](const char* reactions) {
    const auto family = family_with({{"reactions", reactions}});
    const std::vector<Prior> priors(family->parameters().size(), Prior::uniform(0, 1));
    return family->log_evidence(priors, {nullptr, 0, 3}).has_value();
  };
  EXPECT_FALSE(both("alone: z -> y; together: z + y -> 2 y"));
  EXPECT_TRUE(both("same: z -> y; same: z + y -> 2 y"));
}

TEST(JumpProcess, MistakesInANetworkAreNamed) {
  const auto message = [](const nlohmann::json& settings) -> std::string {
    try {
      family_with(settings);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  for (const char* wrong : {"", "z -> y", "theta: z y", "theta: z -> x", "theta: z -> z", "theta: 0 y -> z",
                            "2k: z -> y", "family: z -> y", "theta: z -> y;", "theta: z + -> y"}) {
    EXPECT_NE(message({{"reactions", wrong}}).find("reactions: '"), std::string::npos) << wrong;
  }
  for (const char* wrong : {"", "z", "z = 1.5", "z = -1", "z = 1, z = 2", "t = 3", "z = 1 y = 2"}) {
    EXPECT_NE(message({{"initial", wrong}}).find("initial: '"), std::string::npos) << wrong;
  }
}

}  // namespace
}  // namespace occam
