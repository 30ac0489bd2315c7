#include "occam/data/atoms.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

template <class Draw>
std::vector<float> atoms_of(Draw draw, int count = 20000) {
  Rng rng(3, Purpose::test, 0);
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(draw(rng)));
  std::sort(values.begin(), values.end());
  return find_atoms(values);
}

TEST(Atoms, AreValuesThatComeAgainAndAgain) {
  const auto rain = [](Rng& rng) { return rng.uniform() < 0.6 ? 0 : rng.gamma(0.6); };
  EXPECT_EQ(atoms_of(rain), std::vector<float>{0});
  const auto scale = [](Rng& rng) { return std::clamp(1.2 * rng.normal(), -1.0, 1.0); };
  EXPECT_EQ(atoms_of(scale), (std::vector<float>{-1, 1}));
  const auto late = [](Rng& rng) { return std::min(-std::log(1 - rng.uniform()), 3.0); };  // one in 20
  EXPECT_EQ(atoms_of(late), std::vector<float>{3});
  const auto counts = [](Rng& rng) { return rng.uniform() < 0.3 ? 0 : std::floor(rng.uniform(0, 2000)); };
  EXPECT_EQ(atoms_of(counts), std::vector<float>{0}) << "none, among many large counts";
}

TEST(Atoms, AreNotWhatSomeOthersAreToo) {
  EXPECT_TRUE(atoms_of([](Rng& rng) { return rng.normal(); }).empty());
  EXPECT_TRUE(atoms_of([](Rng& rng) { return std::floor(-3 * std::log(1 - rng.uniform())); }).empty());
  EXPECT_TRUE(atoms_of([](Rng& rng) { return 0.01 * std::round(100 * rng.normal()); }).empty()) << "rounded";
  EXPECT_TRUE(atoms_of([](Rng& rng) { return rng.uniform() < 0.01 ? 0 : rng.normal(); }).empty()) << "rare";
  EXPECT_TRUE(atoms_of([](Rng&) { return 5; }).empty()) << "there is nothing else";
  EXPECT_TRUE(find_atoms({}).empty());
}

}  // namespace
}  // namespace occam
