#include "occam/data/mean_of_fits.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/data/log_mean.hpp"

namespace occam {
namespace {

// The better places come at the end, at the beginning, or anywhere; n is odd or even.
TEST(MeanOfFits, IsThatOfLikelihoods) {
  for (const std::int64_t n : {7, 100, 2001}) {
    for (const double slope : {-0.4, 0.0, 0.4}) {
      Rng rng(3, Purpose::test, 1);
      MeanOfFits fits(n);
      std::vector<double> logs;
      for (int i = 0; i < 150; ++i) {
        const double left = 0.5 + slope * i / 150 + 0.05 * rng.uniform();
        fits.add(left, i);
        logs.push_back(-0.5 * static_cast<double>(n) * std::log(left + MeanOfFits::kPerfect));
      }
      EXPECT_NEAR(fits.gain(), log_mean_exp(logs), 1e-9) << n << " " << slope;
      const auto best = std::max_element(logs.begin(), logs.end());
      EXPECT_NEAR(fits.best(), *best, 1e-9);
      EXPECT_EQ(fits.at(), best - logs.begin());
    }
  }
}

TEST(MeanOfFits, OfNoPlacesIsNothingAndOfPerfectOnesFinite) {
  EXPECT_EQ(MeanOfFits(50).gain(), 0);
  MeanOfFits perfect(50);
  perfect.add(-1e-18, 3);
  EXPECT_NEAR(perfect.gain(), 25 * std::log(1e9), 1e-6);
}

}  // namespace
}  // namespace occam
