// The noise of the neuron. With a leak alone the scheme is an autoregression of first order,
//   v' = e_L + (v - e_L) r + A z (1 - r) / g_L,   r = exp(-g_L dt / C),   A = sigma / sqrt(dt),
// from which the draws z can be taken back. Each check has false-alarm probability 1e-6 (kFalseAlarm,
// kSigmas).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"
#include "statistics.hpp"

namespace occam {
namespace {

TEST(NeuronStatistics, NoiseIsGaussianAndIndependent) {
  // Strong noise around 0 mV, so that the rounding of v to float hides nothing.
  const auto family = make_family(
      "neuron", {{"sigma_uA", 20.0}, {"e_L_mV", 0.0}, {"v_start_mV", 0.0}, {"current_uA", 0.0}}, "test");
  const std::array<double, 4> g = {0.0, 0.0, 0.0, 0.5};
  constexpr std::int64_t kN = 1980;  // 10000 steps
  constexpr std::size_t kSeries = 40;
  const double r = std::exp(-0.5 * 0.2);
  const double scale = 20.0 / std::sqrt(0.2) * (1.0 - r) / 0.5;
  std::vector<float> v(static_cast<std::size_t>(family->max_rows(kN)));
  std::vector<double> z;
  for (std::size_t i = 0; i < kSeries; ++i) {
    Rng rng(21, Purpose::test, i);
    ASSERT_EQ(family->simulate(g, kN, rng, v), family->max_rows(kN));
    for (std::size_t k = 1; k < v.size(); ++k) z.push_back((v[k] - r * v[k - 1]) / scale);
  }
  const double count = static_cast<double>(z.size());
  EXPECT_GT(kolmogorov_smirnov(z, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }),
            kFalseAlarm);
  // Tails: P(|z| > 3.5) = 4.653e-4, P(|z| > 4.5) = 6.795e-6.
  const auto beyond = [&](double limit) {
    return static_cast<double>(
        std::count_if(z.begin(), z.end(), [&](double x) { return std::fabs(x) > limit; }));
  };
  EXPECT_NEAR(beyond(3.5), 4.653e-4 * count, kSigmas * std::sqrt(4.653e-4 * count));
  EXPECT_LE(beyond(4.5), 14.0);  // Poisson with mean 2.7: above 14 with probability 2e-7
  // Neighbours share a pair of words, steps 2 apart do not.
  for (const std::size_t lag : {1, 2, 3}) {
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t k = lag; k < z.size(); ++k) {
      sum += z[k] * z[k - lag];
      squares += (z[k] * z[k] - 1.0) * (z[k - lag] * z[k - lag] - 1.0) / 2.0;
    }
    EXPECT_NEAR(sum / count, 0.0, kSigmas / std::sqrt(count)) << lag;
    EXPECT_NEAR(squares / count, 0.0, kSigmas / std::sqrt(count)) << lag;
  }
}

}  // namespace
}  // namespace occam
