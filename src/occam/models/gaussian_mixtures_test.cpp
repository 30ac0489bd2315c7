#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/special.hpp"

namespace occam {
namespace {

// The evidence as the sum over all 2^N assignments of observations to components:
//   sum_z B(a + k, b + N - k) / B(a, b) prod_i f_{z_i}(x_i), k the number in component 1.
double log_evidence_by_enumeration(std::span<const Prior> priors, DataView data) {
  const double a = priors[4].argument(0);
  const double b = priors[4].argument(1);
  double total = -INFINITY;
  for (unsigned assignment = 0; assignment < (1u << data.n); ++assignment) {
    double log_p = 0.0;
    double k = 0.0;
    for (std::int64_t i = 0; i < data.n; ++i) {
      const bool one = (assignment >> i & 1u) != 0;
      const double dx = data.at(i, 0) - priors[one ? 2 : 0].argument(0);
      const double dy = data.at(i, 1) - priors[one ? 3 : 1].argument(0);
      log_p += -0.5 * (dx * dx + dy * dy) - std::log(2.0 * std::numbers::pi);
      k += one ? 1.0 : 0.0;
    }
    const double n = static_cast<double>(data.n);
    total = log_add(total, log_p + log_beta(a + k, b + n - k) - log_beta(a, b));
  }
  return total;
}

TEST(GaussianMixture, EvidenceIsTheSumOverAssignments) {
  const auto family = make_family("gaussian-mixture");
  const std::vector<std::array<double, 2>> weights = {{30, 30}, {1, 1}, {0.05, 0.3}, {0.01, 200}, {1e5, 3}};
  const std::vector<std::array<double, 4>> means = {
      {-1, 0, 1, 0.5}, {0, 0, 0, 0}, {-10, -10, 10, 10}, {-60, 0, 60, 0}};
  Rng rng(1, Purpose::test, 0);
  for (const auto& [a, b] : weights) {
    for (const auto& mu : means) {
      for (const std::int64_t n : {1, 2, 9}) {
        const std::vector<Prior> priors = {Prior::fixed(mu[0]), Prior::fixed(mu[1]), Prior::fixed(mu[2]),
                                           Prior::fixed(mu[3]), Prior::beta(a, b)};
        std::vector<float> data;
        for (std::int64_t i = 0; i < 2 * n; ++i) data.push_back(static_cast<float>(3.0 * rng.normal()));
        const DataView view{data.data(), n, 2};
        const double expected = log_evidence_by_enumeration(priors, view);
        EXPECT_NEAR(*family->log_evidence(priors, view), expected, 1e-9 * (1.0 + std::fabs(expected)))
            << "a " << a << " b " << b << " mu1_x " << mu[2] << " n " << n;
      }
    }
  }
}

TEST(GaussianMixture, FixedWeightNeedsNoIntegral) {
  const auto family = make_family("gaussian-mixture");
  const std::vector<float> data = {0.5f, -0.25f};
  const auto priors = [](const Prior& weight) {
    return std::vector<Prior>{Prior::fixed(0), Prior::fixed(0), Prior::fixed(3), Prior::fixed(0), weight};
  };
  const auto log_f = [](double dx, double dy) {
    return -0.5 * (dx * dx + dy * dy) - std::log(2.0 * std::numbers::pi);
  };
  const DataView view{data.data(), 1, 2};
  EXPECT_NEAR(*family->log_evidence(priors(Prior::fixed(0)), view), log_f(0.5, -0.25), 1e-12);
  EXPECT_NEAR(*family->log_evidence(priors(Prior::fixed(1)), view), log_f(-2.5, -0.25), 1e-12);
  // For one observation only the mean of the weight counts.
  EXPECT_NEAR(*family->log_evidence(priors(Prior::fixed(0.25)), view),
              *family->log_evidence(priors(Prior::beta(2, 6)), view), 1e-10);
  EXPECT_NEAR(*family->log_evidence(priors(Prior::uniform(0, 1)), view),
              *family->log_evidence(priors(Prior::beta(1, 1)), view), 1e-12);
  EXPECT_FALSE(family->log_evidence(priors(Prior::uniform(0, 0.5)), view).has_value());
}

}  // namespace
}  // namespace occam
