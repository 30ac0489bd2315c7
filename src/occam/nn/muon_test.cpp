#include "occam/nn/muon.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

// One update of a matrix of zeros: minus the rate times a matrix whose singular values are near 1, times the
// root mean square that updates are to have.
TEST(Muon, UpdatesAreNearlyOrthogonal) {
  for (const auto& shape : {std::pair{24, 8}, std::pair{8, 24}, std::pair{16, 16}, std::pair{512, 8}}) {
    const auto rows = shape.first, columns = shape.second;  // lambdas of clang 14 capture no bindings
    ParameterLayout layout;
    layout.add("x.weight", {rows, columns}, Init::glorot);
    layout.add("x.bias", {columns}, Init::zeros);
    const Muon<double> muon(layout);
    ASSERT_EQ(muon.matrices(), 1);
    const auto size = static_cast<std::size_t>(layout.size());
    std::vector<double> gradient(size), momentum(size), weights(size);
    Rng rng(2, Purpose::test, 0);
    for (double& g : gradient) g = rng.normal() * 1e-3;
    const double bias_gradient = gradient.back();
    Workspace workspace;
    muon.update(0, 1.0, gradient.data(), momentum.data(), weights.data(), workspace);
    EXPECT_EQ(gradient[0], 0);                  // done with
    EXPECT_EQ(gradient.back(), bias_gradient);  // Adam's
    EXPECT_EQ(weights.back(), 0);
    const double scale = 0.2 * std::sqrt(std::min(std::max(rows, columns), 128));
    const bool tall = rows >= columns;
    const int m = std::min(rows, columns);
    for (int a = 0; a < m; ++a) {  // x'x is near the identity
      for (int b = 0; b < m; ++b) {
        double sum = 0;
        for (int k = 0; k < std::max(rows, columns); ++k) {
          const auto at = [&](int i) {
            return weights[static_cast<std::size_t>(tall ? k * columns + i : i * columns + k)] / scale;
          };
          sum += at(a) * at(b);
        }
        EXPECT_NEAR(sum, a == b ? 1 : 0, 0.45) << rows << " " << a << " " << b;
      }
    }
  }
}

TEST(Muon, StepsDoNotGrowWithManyInputs) {
  const auto length = [](std::int64_t inputs, std::int64_t outputs) {
    return MuonPlace{0, inputs, outputs}.length();
  };
  EXPECT_GT(length(128, 64), length(64, 64));
  EXPECT_EQ(length(1024, 64), length(128, 64));
  EXPECT_EQ(length(1024, 256), length(64, 256));
}

TEST(Muon, LeavesOutputsAndFadedGradientsAlone) {
  ParameterLayout layout;
  layout.add("head.weight", {16, 8}, Init::glorot);
  layout.add("parameters.weight", {16, 8}, Init::glorot);
  layout.add("post0.weight", {16, 8}, Init::glorot);
  const Muon<float> muon(layout);
  EXPECT_EQ(muon.matrices(), 1);
  const auto size = static_cast<std::size_t>(layout.size());
  std::vector<float> gradient(size, 1e-20f), momentum(size), weights(size);
  Workspace workspace;
  muon.update(0, 1.0, gradient.data(), momentum.data(), weights.data(), workspace);
  for (const float w : weights) EXPECT_EQ(w, 0);
}

}  // namespace
}  // namespace occam
