// The exact evidence of two normal variables, held against sums over a fine grid of rho.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

double log_normal(double x, double mean, double sd) {
  return -0.5 * std::log(2 * std::numbers::pi * sd * sd) - 0.5 * (x - mean) * (x - mean) / (sd * sd);
}

// p(x) p(y | x, rho), or of what is there.
double log_density_of_pairs(const std::vector<float>& rows, double rho) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const double x = rows[i], y = rows[i + 1];
    if (!std::isnan(x)) sum += log_normal(x, 0, 1);
    if (std::isnan(y)) continue;
    sum += std::isnan(x) ? log_normal(y, 0, 1) : log_normal(y, rho * x, std::sqrt(1 - rho * rho));
  }
  return sum;
}

double log_evidence(const std::vector<float>& rows, const Prior& prior) {
  const DataView view{rows.data(), static_cast<std::int64_t>(rows.size()) / 2, 2};
  return make_family("bivariate-normal")->log_evidence({&prior, 1}, view).value();
}

std::vector<float> drawn(double rho, std::int64_t n, double missing, std::uint64_t item) {
  Rng rng(7, Purpose::test, item);
  std::vector<float> rows(static_cast<std::size_t>(2 * n));
  make_family("bivariate-normal")->simulate({&rho, 1}, n, rng, rows);
  for (float& value : rows) {
    if (rng.uniform() < missing) value = NAN;
  }
  return rows;
}

TEST(Correlation, EvidenceIsTheIntegralOverRho) {
  for (const double rho : {0.0, 0.4, -0.9}) {
    for (const std::int64_t n : {1, 3, 40}) {
      for (const double missing : {0.0, 0.3}) {
        const std::vector<float> rows = drawn(rho, n, missing, static_cast<std::uint64_t>(n));
        const double largest = log_density_of_pairs(rows, rho);
        double sum = 0;
        constexpr int kGrid = 4000;
        for (int k = 0; k < kGrid; ++k)
          sum += std::exp(log_density_of_pairs(rows, -1 + 2 * (k + 0.5) / kGrid) - largest) / kGrid;
        EXPECT_NEAR(log_evidence(rows, Prior::uniform(-1, 1)), largest + std::log(sum), 1e-3)
            << rho << " " << n << " " << missing;
        EXPECT_NEAR(log_evidence(rows, Prior::fixed(0.5)), log_density_of_pairs(rows, 0.5), 1e-9 * n + 1e-9);
      }
    }
  }
}

TEST(Correlation, RowsWithoutBothValuesSayNothingAboutRho) {
  const std::vector<float> rows = {0.5f, NAN, NAN, 2.0f, NAN, NAN};
  EXPECT_EQ(log_evidence(rows, Prior::uniform(-1, 1)), log_evidence(rows, Prior::fixed(0)));
  EXPECT_NEAR(log_evidence(rows, Prior::fixed(0)), log_normal(0.5, 0, 1) + log_normal(2, 0, 1), 1e-12);
}

TEST(Correlation, ThePosteriorTakesMissingValues) {
  ProblemSpec spec = builtin_problem("correlation").spec();
  spec.missing = {{"y", Prior::uniform(0.0, 0.6)}};
  const Problem problem(spec);
  EXPECT_TRUE(problem.has_exact_posterior());
  const std::vector<float> rows = drawn(0.9, 60, 0.3, 1);
  const auto log_p = problem.exact_log_posterior({rows.data(), 60, 2});
  ASSERT_TRUE(log_p.has_value());
  EXPECT_GT((*log_p)[1], std::log(0.99));
  // Other families do not know what to do with a missing value, and say so.
  const Problem regression = builtin_problem("regression");
  EXPECT_TRUE(regression.has_exact_posterior());
  EXPECT_FALSE(regression.exact_log_posterior({rows.data(), 60, 2}).has_value());
}

}  // namespace
}  // namespace occam
