// The random numbers of occam/simulator.h, the header for models of the user's own: means and variances of
// every distribution within 5 standard errors (a false alarm in 1.7 million for each of about 60 figures).
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "occam/simulate/own/simulator.h"

// What the header expects of its user; not called here.
bool simulate(const occam::Parameters&, occam::Random&, occam::Rows&) {
  return false;
}

namespace {

constexpr int kDraws = 200000;

// Mean and variance of `draw` against those of the distribution; the fourth central moment is estimated.
void expect_moments(const char* what, double mean, double variance,
                    const std::function<double(occam::Random&)>& draw) {
  occam::Random rng(11, 12);
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double d = draw(rng) - mean;
    sum += d;
    squares += d * d;
    fourth += d * d * d * d;
  }
  EXPECT_LE(std::fabs(sum / kDraws), 5 * std::sqrt(variance / kDraws) + 1e-12) << what << ": mean";
  const double se = std::sqrt(std::max(0.0, fourth / kDraws - variance * variance) / kDraws);
  EXPECT_LE(std::fabs(squares / kDraws - variance), 5 * se + 1e-12) << what << ": variance";
}

TEST(OwnRandom, MomentsOfEveryDistribution) {
  using occam::Random;
  expect_moments("uniform", 0.5, 1.0 / 12, [](Random& r) { return r.uniform(); });
  expect_moments("uniform(-2, 4)", 1, 3, [](Random& r) { return r.uniform(-2, 4); });
  expect_moments("bernoulli", 0.3, 0.21, [](Random& r) { return r.bernoulli(0.3) ? 1 : 0; });
  expect_moments("integer", 1, 4, [](Random& r) { return static_cast<double>(r.integer(-2, 4)); });
  expect_moments("normal", 0, 1, [](Random& r) { return r.normal(); });
  expect_moments("normal(3, 2)", 3, 4, [](Random& r) { return r.normal(3, 2); });
  expect_moments("exponential", 0.25, 0.0625, [](Random& r) { return r.exponential(4); });
  for (const double shape : {0.3, 1.0, 7.5}) {
    expect_moments("gamma", 2 * shape, 4 * shape, [shape](Random& r) { return r.gamma(shape, 2); });
  }
  expect_moments("beta", 0.4, 0.4 * 0.6 / 6, [](Random& r) { return r.beta(2, 3); });
  for (const double p : {0.02, 0.5, 0.97}) {
    for (const std::int64_t n : {1, 12, 17, 1000, 1000000}) {
      const auto mean = p * static_cast<double>(n);
      expect_moments("binomial", mean, mean * (1 - p),
                     [=](Random& r) { return static_cast<double>(r.binomial(n, p)); });
    }
  }
  for (const double mean : {0.0, 0.5, 9.0, 17.0, 300.0, 1e6}) {
    expect_moments("poisson", mean, mean, [mean](Random& r) { return static_cast<double>(r.poisson(mean)); });
  }
}

TEST(OwnRandom, StreamsDifferInEitherSeed) {
  occam::Random a(1, 2), b(1, 3), c(2, 2), again(1, 2);
  const auto x = a();
  EXPECT_NE(x, b());
  EXPECT_NE(x, c());
  EXPECT_EQ(x, again());
}

// What is no argument of a distribution is a mistake of the simulator, and its values would look like others.
TEST(OwnRandom, ArgumentsThatCannotBeAreRefused) {
  using occam::Random;
  const auto refusal = [](const auto& draw) -> std::string {
    Random rng(1, 2);
    try {
      draw(rng);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](Random& r) { r.uniform(3, 1); }), "uniform: low must not be above high");
  EXPECT_EQ(refusal([](Random& r) { r.integer(5, 2); }), "integer: low must not be above high");
  EXPECT_EQ(refusal([](Random& r) { r.bernoulli(-0.3); }), "bernoulli: p must be in 0..1");
  EXPECT_EQ(refusal([](Random& r) { r.bernoulli(NAN); }), "bernoulli: p must be in 0..1");
  EXPECT_EQ(refusal([](Random& r) { r.binomial(5, 1.5); }), "binomial: p must be in 0..1");
  EXPECT_EQ(refusal([](Random& r) { r.binomial(-5, 0.5); }),
            "binomial: the number of trials must not be below 0");
  EXPECT_EQ(refusal([](Random& r) { r.normal(0, -1); }),
            "normal: the standard deviation must not be below 0");
  EXPECT_EQ(refusal([](Random& r) { r.exponential(-1); }), "exponential: the rate must not be below 0");
  EXPECT_EQ(refusal([](Random& r) { r.gamma(1, -1); }), "gamma: the scale must not be below 0");
  EXPECT_EQ(refusal([](Random& r) { r.gamma(0); }), "gamma: the shape must be above 0");
  EXPECT_EQ(refusal([](Random& r) { r.poisson(-1); }), "poisson: the mean must be in 0..1e15");
  // Ends count as arguments, also where rounding went a little beyond them.
  EXPECT_EQ(refusal([](Random& r) {
              r.uniform(1, 1);
              r.integer(2, 2);
              r.normal(0, 0);
              r.bernoulli(1 + 1e-15);
              r.binomial(0, 0);
            }),
            "");
}

}  // namespace
