#include "occam/simulate/prior.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/simulate/special.hpp"

namespace occam {
namespace {

const std::vector<std::string> kPriorTexts = {"2.5",
                                              "uniform(0, 6)",
                                              "normal(-1, 0.1)",
                                              "truncated_normal(0, 1, 8, inf)",
                                              "truncated_normal(1, 0.5, -1, 1.25)",
                                              "half_normal(3)",
                                              "lognormal(0.5, 0.25)",
                                              "exponential(4)",
                                              "gamma(0.5, 2)",
                                              "inverse_gamma(3, 2)",
                                              "inverse_gamma(1, 2)",
                                              "beta(30, 30)",
                                              "discrete_uniform(-3, 12)",
                                              "log_uniform(0.001, 10)",
                                              "log_uniform(7, 7.001)"};

std::string message_of(const std::string& text) {
  try {
    Prior::parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    return error.what();
  }
  ADD_FAILURE() << "accepted " << text;
  return "";
}

TEST(Prior, TextRoundTrips) {
  for (const std::string& text : kPriorTexts) {
    const Prior prior = Prior::parse(text);
    EXPECT_EQ(prior.text(), text);
    EXPECT_EQ(Prior::parse(prior.text()), prior);
  }
  EXPECT_EQ(Prior::parse(" uniform( 0 ,6.0 ) "), Prior::uniform(0, 6));
  EXPECT_EQ(Prior::parse("fixed(2)"), Prior::parse("2"));
  EXPECT_EQ(Prior::parse("-0.0").text(), "0");
  const double awkward = 0.1 + 0.2;
  EXPECT_EQ(Prior::parse(Prior::normal(awkward, 1e-7).text()), Prior::normal(awkward, 1e-7));
}

TEST(Prior, EverySignatureIsInTheOrderOfItsKind) {
  for (std::size_t i = 0; i < Prior::signatures().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(Prior::signatures()[i].kind), i);
  }
}

TEST(Prior, ErrorsSayWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"uniform(6, 0)", "'uniform(6, 0)': low must be below high"},
      {"uniform(1, 1)", "low must be below high"},
      {"normal(0, -1)", "sd must be above 0"},
      {"half_normal(0)", "sd must be above 0"},
      {"lognormal(0, 0)", "log_sd must be above 0"},
      {"exponential(-2)", "rate must be above 0"},
      {"gamma(0, 1)", "shape must be above 0"},
      {"inverse_gamma(1, 0)", "scale must be above 0"},
      {"beta(0, 1)", "a and b must be above 0"},
      {"truncated_normal(0, 1, 2, 1)", "low must be below high"},
      {"truncated_normal(0, 1e-200, 1, 2)", "no probability is left"},
      {"discrete_uniform(0, 1.5)", "must be integers"},
      {"log_uniform(0, 1)", "low must be above 0"},
      {"log_uniform(2, 1)", "low must be below high"},
      {"uniform(0, inf)", "must be finite"},
      {"uniform(0, nan)", "'nan' is not a number"},
      {"uniform(0)", "1 argument given, expected uniform(low, high)"},
      {"uniform", "0 arguments given, expected uniform(low, high)"},
      {"beta(1, 2, 3)", "3 arguments given, expected beta(a, b)"},
      {"unifrom(0, 1)", "unknown prior 'unifrom' (did you mean 'uniform'?)"},
      {"uniform(0, x)", "'x' is not a number"},
      {"uniform(0, )", "'' is not a number"},
      {"uniform(0, 1", "expected name(number, ...)"},
      {"", "expected a number or name(number, ...)"},
      {"1.5.2", "'1.5.2' is not a number"},
      {"inf", "must be finite"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_NE(message_of(text).find(expected), std::string::npos) << text << " -> " << message_of(text);
  }
}

TEST(Prior, DrawsStayWithinBoundsAndHaveDensity) {
  for (const std::string& text : kPriorTexts) {
    const Prior prior = Prior::parse(text);
    Rng rng(5, Purpose::test, 1);
    for (int i = 0; i < 2000; ++i) {
      const double x = prior.sample(rng);
      ASSERT_GE(x, prior.lower()) << text;
      ASSERT_LE(x, prior.upper()) << text;
      ASSERT_TRUE(std::isfinite(prior.log_density(x))) << text << " at " << x;
    }
    EXPECT_EQ(prior.log_density(prior.lower() - 1.0), -std::numeric_limits<double>::infinity()) << text;
    EXPECT_EQ(prior.log_density(std::numeric_limits<double>::quiet_NaN()),
              -std::numeric_limits<double>::infinity());
  }
}

// Densities integrate to one: the trapezoid rule after x = t^3, which tames a pole at 0 and long tails.
TEST(Prior, DensitiesIntegrateToOne) {
  for (const std::string& text : kPriorTexts) {
    const Prior prior = Prior::parse(text);
    if (prior.is_discrete()) continue;
    const double reach = 5000.0 * prior.sd();
    const double low = std::cbrt(std::max(prior.lower(), prior.mean() - reach));
    const double high = std::cbrt(std::min(prior.upper(), prior.mean() + reach));
    constexpr int kCells = 40000;
    const double h = (high - low) / kCells;
    double sum = 0.0;
    for (int i = 0; i < kCells; ++i) {
      const double t = low + (i + 0.5) * h;
      sum += std::exp(prior.log_density(t * t * t)) * 3.0 * t * t * h;
    }
    EXPECT_NEAR(sum, 1.0, 1e-3) << text;
  }
}

// Monte-Carlo mean and sd against the stated ones; 20000 draws, 5 sigma, 5e-7 two-sided each.
TEST(Prior, MeanAndSdAreThoseOfTheDraws) {
  for (const std::string& text : kPriorTexts) {
    const Prior prior = Prior::parse(text);
    ASSERT_TRUE(std::isfinite(prior.mean()) && std::isfinite(prior.sd())) << text;
    if (prior.kind() == PriorKind::inverse_gamma) continue;  // heavy tails: below
    Rng rng(5, Purpose::test, 2);
    constexpr int kDraws = 20000;
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double off = prior.sample(rng) - prior.mean();
      sum += off;
      squares += off * off;
    }
    EXPECT_NEAR(sum / kDraws, 0.0, 5.0 * prior.sd() / std::sqrt(kDraws)) << text;
    EXPECT_NEAR(std::sqrt(squares / kDraws), prior.sd(), 0.08 * prior.sd()) << text;
  }
  EXPECT_DOUBLE_EQ(Prior::inverse_gamma(3, 2).mean(), 1.0);
  EXPECT_DOUBLE_EQ(Prior::inverse_gamma(3, 2).sd(), 1.0);
}

// inverse_gamma(1, 1) has no mean: its quantiles are -1 / log(p).
TEST(Prior, HeavyTailsFallBackOnQuantiles) {
  const Prior prior = Prior::inverse_gamma(1, 1);
  const double p = 0.15865525393145705;
  EXPECT_NEAR(prior.mean(), -1.0 / std::log(0.5), 1e-9);
  EXPECT_NEAR(prior.sd(), 0.5 * (-1.0 / std::log(1.0 - p) + 1.0 / std::log(p)), 1e-9);
  for (const Prior& wild :
       {Prior::inverse_gamma(0.001, 1), Prior::lognormal(0, 60), Prior::lognormal(700, 60),
        Prior::log_uniform(1e-300, 1e300), Prior::log_uniform(1e10, 1e10 + 2e-6)}) {
    EXPECT_TRUE(std::isfinite(wild.mean()) && std::isfinite(wild.sd()) && wild.sd() > 0.0) << wild.text();
    EXPECT_TRUE(std::isfinite(wild.log_density(std::min(wild.mean(), wild.upper())))) << wild.text();
  }
}

TEST(Special, LogNormalIntervalInTheTails) {
  EXPECT_NEAR(log_normal_interval(-1.0, 1.0), std::log(0.68268949213708590), 1e-14);
  EXPECT_NEAR(log_normal_interval(8.0, INFINITY), -35.0134371599, 1e-8);  // Phi(-8) = 6.22096e-16
  EXPECT_NEAR(log_normal_cdf(-29.999), log_normal_cdf(-30.001), 0.0602);  // both sides of the series' start
  EXPECT_NEAR(log_normal_cdf(-40.0), -804.608442013754, 1e-9);
  EXPECT_NEAR(log_normal_interval(3.0, 3.0 + 1e-9), std::log(1e-9) - 4.5 - 0.5 * std::log(2.0 * M_PI), 1e-6);
}

TEST(Special, LogBetaAgreesAcrossItsBranches) {
  for (const double a : {0.5, 3.0, 99.9, 100.1, 5000.0}) {
    for (const double b : {0.7, 99.9, 100.1, 400.0}) {
      EXPECT_NEAR(log_beta(a, b), log_gamma(a) + log_gamma(b) - log_gamma(a + b),
                  1e-10 * std::fabs(log_gamma(a + b)) + 1e-12);
    }
  }
  EXPECT_NEAR(log_beta(1.0, 1e12), -std::log(1e12), 1e-12);
  EXPECT_NEAR(log_add(-1000.0, -1000.0), -1000.0 + std::log(2.0), 1e-12);
  EXPECT_EQ(log_add(-INFINITY, -3.0), -3.0);
}

}  // namespace
}  // namespace occam
