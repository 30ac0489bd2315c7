#include "occam/scope/design_effect.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

TEST(DesignEffect, TakesAwayWhatTheDesignDoesAndNothingElse) {
  constexpr std::size_t kCount = 2000;
  Rng rng(1, Purpose::test, 0);
  std::vector<float> given, features, noise;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double share = rng.uniform();
    given.insert(given.end(), {static_cast<float>(share), static_cast<float>(1 - share)});  // collinear
    noise.push_back(static_cast<float>(rng.normal()));
    features.insert(features.end(), {static_cast<float>(3 + 5 * share) + noise.back(), noise.back(), 7.0f});
  }
  const DesignEffect effect = DesignEffect::learn(features, 3, given, 2);
  effect.remove(features, given);
  double covariance = 0, squares = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    covariance += (features[3 * i] - 5.5) * (given[2 * i] - 0.5) / kCount;
    squares += (features[3 * i] - 5.5 - noise[i]) * (features[3 * i] - 5.5 - noise[i]) / kCount;
    EXPECT_EQ(features[3 * i + 2], 7.0f);  // what never varies still does not
  }
  EXPECT_NEAR(covariance, 0, 1e-3);
  EXPECT_LT(std::sqrt(squares), 0.1);

  Safetensors contents;
  effect.add_to(contents, "x.");
  std::vector<float> again = {8, 0, 7}, same = again;
  const std::vector<float> at = {0.9f, 0.1f};
  DesignEffect::from(contents, "x.", 3, 2).remove(again, at);
  effect.remove(same, at);
  EXPECT_EQ(again, same);
  EXPECT_NEAR(again[0], 8 - 5 * 0.4, 0.2);
}

}  // namespace
}  // namespace occam
