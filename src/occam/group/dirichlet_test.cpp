#include "occam/group/dirichlet.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/file.hpp"

namespace occam {
namespace {

// Against adaptive quadrature by SciPy (tests/data/group/make_reference.py).
TEST(Dirichlet, ExceedanceProbabilitiesAreExact) {
  const auto expected = nlohmann::json::parse(read_file(OCCAM_TEST_DATA "/group/expected.json"));
  for (const auto& one : expected.at("exceedance")) {
    const std::vector<double> alpha = one.at("alpha"), phi = one.at("phi");
    const std::vector<double> ours = exceedance_probabilities(alpha);
    for (std::size_t k = 0; k < phi.size(); ++k) EXPECT_NEAR(ours[k], phi[k], 1e-8) << one.at("alpha") << k;
  }
}

TEST(Dirichlet, ExceedanceOfTwoIsTheBetaDistribution) {
  EXPECT_NEAR(exceedance_probabilities(std::vector<double>{1.0, 3.0})[0], 0.125, 1e-12);  // 0.5^3
  EXPECT_NEAR(exceedance_probabilities(std::vector<double>{1e-3, 1e-3})[0], 0.5, 1e-9);
  EXPECT_NEAR(exceedance_probabilities(std::vector<double>{1e6, 1e6})[1], 0.5, 1e-9);
  EXPECT_NEAR(exceedance_probabilities(std::vector<double>{1.0, 1e5})[1], 1, 1e-9);
}

TEST(Dirichlet, ExceedanceOfManyModels) {
  std::vector<double> alpha(400, 1.0 / 400);
  alpha[7] = 1 + 1.0 / 400;
  const std::vector<double> phi = exceedance_probabilities(alpha);
  EXPECT_NEAR(std::accumulate(phi.begin(), phi.end(), 0.0), 1, 1e-12);
  EXPECT_NEAR(phi[0], phi[399], 1e-12);
  EXPECT_GT(phi[7], 0.5);
}

TEST(Dirichlet, IntervalOfAUniformFrequency) {
  const FrequencyInterval interval = dirichlet_interval(1, 2, 0.95);
  EXPECT_NEAR(interval.low, 0.025, 1e-12);
  EXPECT_NEAR(interval.high, 0.975, 1e-12);
}

}  // namespace
}  // namespace occam
