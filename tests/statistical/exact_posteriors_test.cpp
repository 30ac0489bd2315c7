// The exact posteriors against Bayes accuracies and log-losses that were computed independently (by summation
// over all data or by quadrature), and against themselves: over simulated data sets they must be calibrated.
// Every check allows kSigmas = 4.9 Monte-Carlo standard errors (false alarm 1e-6) and the rounding of the
// reference.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

struct Measured {
  double accuracy = 0.0;
  double accuracy_error = 0.0;  // standard error
  double log_loss = 0.0;        // nats
  double log_loss_error = 0.0;
  std::vector<std::vector<double>> p;  // (K, J)
  std::vector<std::int32_t> truth;     // (K)
};

Measured measure(const std::string& name, std::optional<std::int64_t> n, std::int64_t datasets) {
  const Problem problem = builtin_problem(name);
  ThreadPool pool(1);
  Simulator simulator(problem, 77, Purpose::test, {.batch = datasets, .n = n});
  const Batch batch = simulator.simulate(0, pool);
  Measured m;
  double squares = 0.0;
  for (std::int64_t b = 0; b < datasets; ++b) {
    std::vector<double> log_p = problem.exact_log_posterior(batch[b]).value();
    const auto best = std::max_element(log_p.begin(), log_p.end()) - log_p.begin();
    const double loss = -log_p[static_cast<std::size_t>(batch.models()[b])];
    m.accuracy += best == batch.models()[b] ? 1.0 : 0.0;
    m.log_loss += loss;
    squares += loss * loss;
    for (double& l : log_p) l = std::exp(l);
    m.p.push_back(std::move(log_p));
    m.truth.push_back(batch.models()[b]);
  }
  const double count = static_cast<double>(datasets);
  m.accuracy /= count;
  m.log_loss /= count;
  m.accuracy_error = std::sqrt(std::max(m.accuracy * (1.0 - m.accuracy), 1.0 / count) / count);
  m.log_loss_error = std::sqrt((squares / count - m.log_loss * m.log_loss) / count);
  return m;
}

void expect_accuracy(const std::string& name, std::int64_t n, double accuracy, std::int64_t datasets) {
  const Measured m = measure(name, n, datasets);
  EXPECT_NEAR(m.accuracy, accuracy, kSigmas * m.accuracy_error + 0.0005) << name << " at N = " << n;
}

// Within cells of predicted probability, the number of times the model was true has mean sum p and variance
// sum p (1 - p). Cells with less variance than 5 tell nothing.
void expect_calibrated(const std::string& name, const Measured& m) {
  constexpr std::size_t kCells = 10;
  std::vector<double> excess(kCells, 0.0);
  std::vector<double> variance(kCells, 0.0);
  for (std::size_t b = 0; b < m.p.size(); ++b) {
    for (std::size_t j = 0; j < m.p[b].size(); ++j) {
      const double p = m.p[b][j];
      const auto cell = std::min(kCells - 1, static_cast<std::size_t>(p * kCells));
      excess[cell] += (m.truth[b] == static_cast<std::int32_t>(j) ? 1.0 : 0.0) - p;
      variance[cell] += p * (1.0 - p);
    }
  }
  int informative = 0;
  for (std::size_t cell = 0; cell < kCells; ++cell) {
    if (variance[cell] < 5.0) continue;
    ++informative;
    EXPECT_LT(std::fabs(excess[cell]), kSigmas * std::sqrt(variance[cell])) << name << ", p in cell " << cell;
  }
  EXPECT_GE(informative, 5) << name;
}

TEST(ExactPosterior, BetaBinomialReachesBayesAccuracy) {
  expect_accuracy("beta-binomial", 1, 0.500, 40000);
  expect_accuracy("beta-binomial", 5, 0.636, 40000);
  expect_accuracy("beta-binomial", 10, 0.704, 40000);
  expect_accuracy("beta-binomial", 20, 0.747, 40000);
  expect_accuracy("beta-binomial", 50, 0.797, 40000);
  expect_accuracy("beta-binomial", 100, 0.820, 40000);
}

TEST(ExactPosterior, BetaBinomialLogLoss) {
  const Measured all = measure("beta-binomial", std::nullopt, 100000);
  EXPECT_NEAR(all.log_loss, 0.4576, kSigmas * all.log_loss_error + 0.00005);
  expect_calibrated("beta-binomial", all);
  const Measured longest = measure("beta-binomial", 100, 100000);
  EXPECT_NEAR(longest.log_loss, 0.3965, kSigmas * longest.log_loss_error + 0.00005);
}

// 50 of 100 is the data set most in favour of the narrow prior: B(80,80) / B(30,30) / B(51,51) = 4.91.
TEST(ExactPosterior, BetaBinomialLargestBayesFactor) {
  const Problem problem = builtin_problem("beta-binomial");
  std::vector<float> tosses(100, 0.0f);
  std::fill(tosses.begin(), tosses.begin() + 50, 1.0f);
  const std::vector<double> log_p = problem.exact_log_posterior({tosses.data(), 100, 1}).value();
  EXPECT_NEAR(std::exp(log_p[1] - log_p[0]), 4.91, 0.005);
}

TEST(ExactPosterior, OneSample) {
  const Measured all = measure("one-sample", std::nullopt, 100000);
  EXPECT_NEAR(all.accuracy, 0.8243, kSigmas * all.accuracy_error + 0.00005);
  EXPECT_NEAR(all.log_loss, 0.3890, kSigmas * all.log_loss_error + 0.00005);
  expect_calibrated("one-sample", all);
  const Measured ten = measure("one-sample", 10, 100000);
  EXPECT_NEAR(ten.accuracy, 0.7600, kSigmas * ten.accuracy_error + 0.00005);
  EXPECT_NEAR(ten.log_loss, 0.4830, kSigmas * ten.log_loss_error + 0.00005);
}

TEST(ExactPosterior, GaussianMixturesReachBayesAccuracy) {
  expect_accuracy("gaussian-mixtures", 25, 0.683, 500);
  expect_accuracy("gaussian-mixtures", 50, 0.895, 400);
  expect_accuracy("gaussian-mixtures", 100, 0.993, 300);
  expect_accuracy("gaussian-mixtures", 250, 1.000, 150);
  expect_accuracy("gaussian-mixtures:as_run", 250, 0.998, 150);
}

TEST(ExactPosterior, GaussianMixturesAreCalibrated) {
  const Measured m = measure("gaussian-mixtures", 10, 1000);
  EXPECT_NEAR(m.accuracy, 0.375, kSigmas * m.accuracy_error + 0.0005);
  expect_calibrated("gaussian-mixtures", m);
}

// The references come from about 18,000 paths, hence their own standard errors of .0006 and .001.
TEST(ExactPosterior, JumpProcess) {
  const Measured m = measure("jump-process", std::nullopt, 100000);
  EXPECT_NEAR(m.accuracy, 0.9936, kSigmas * std::hypot(m.accuracy_error, 0.0006));
  EXPECT_NEAR(m.log_loss, 0.0184, kSigmas * std::hypot(m.log_loss_error, 0.001));
  expect_calibrated("jump-process", m);
  expect_calibrated("jump-process:as_run", measure("jump-process:as_run", std::nullopt, 100000));
}

}  // namespace
}  // namespace occam
