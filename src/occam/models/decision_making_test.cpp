#include "occam/models/decision_making.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

using Theta = std::array<double, 9>;  // v1, v2, a, t0, zr, alpha, st0, sv, szr

const std::vector<Theta> kThetas = {{2, -2, 1.2, 0.3, 0.5, 2, 0, 0, 0},
                                    {1, -3, 0.8, 0.5, 0.4, 1.3, 0.2, 1, 0.4},
                                    {4, -1, 1.5, 0.2, 0.6, 2, 0.1, 0.5, 0.3},
                                    {3, -2, 1.1, 0.4, 0.5, 1.9, 0, 0, 0}};

// The rows of many data sets asked for at once, in the given order, each followed by the next word of its
// stream.
std::vector<std::vector<float>> simulated(const Family& family, const std::vector<int>& which) {
  std::vector<Rng> rngs;
  std::vector<std::vector<float>> out;
  std::vector<SimulationRequest> requests;
  rngs.reserve(which.size());
  for (const int k : which) {
    rngs.emplace_back(3, Purpose::test, static_cast<std::uint64_t>(k));
    out.emplace_back(static_cast<std::size_t>(6 * (3 + 20 * k)));
  }
  for (std::size_t r = 0; r < which.size(); ++r) {
    const Theta& theta = kThetas[static_cast<std::size_t>(which[r]) % kThetas.size()];
    requests.push_back({theta, 3 + 20 * which[r], &rngs[r], out[r]});
  }
  family.simulate_many(requests);
  for (std::size_t r = 0; r < which.size(); ++r) {
    if (requests[r].rows == 0) out[r].clear();
    out[r].push_back(static_cast<float>(rngs[r].bits32()));
  }
  return out;
}

TEST(LevyAccumulator, DataSetsDoNotDependOnTheirNeighbours) {
  const auto family = make_family("levy-accumulator");
  const auto together = simulated(*family, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto other_order = simulated(*family, {7, 6, 5, 1, 2, 3, 4, 0});
  EXPECT_EQ(together[7], other_order[0]);
  EXPECT_EQ(together[4], other_order[6]);
  for (int k = 0; k < 8; ++k) {
    EXPECT_EQ(simulated(*family, {k})[0], together[static_cast<std::size_t>(k)]) << k;
  }
}

// With few trials each, many data sets are under way at once, some long after others have come and gone: none
// may lose the table of its noise.
TEST(LevyAccumulator, NoiseOfManyDataSetsIsKeptApart) {
  const auto family = make_family("levy-accumulator");
  constexpr std::size_t kSets = 100;
  constexpr std::int64_t kTrials = 4;  // in each condition; fewer would have no tables
  std::vector<Theta> thetas;
  std::vector<Rng> rngs;
  std::vector<std::vector<float>> together(kSets, std::vector<float>(6 * kTrials));
  std::vector<SimulationRequest> requests;
  for (std::size_t k = 0; k < kSets; ++k) {
    thetas.push_back({1, -1, k % 7 == 0 ? 3.0 : 0.8, 0, 0.5, 1.0 + 0.009 * static_cast<double>(k), 0, 0, 0});
    rngs.emplace_back(10, Purpose::test, k);
  }
  std::vector<Rng> again = rngs;
  for (std::size_t k = 0; k < kSets; ++k) requests.push_back({thetas[k], kTrials, &rngs[k], together[k]});
  family->simulate_many(requests);
  for (std::size_t k = 0; k < kSets; ++k) {
    std::vector<float> alone(6 * kTrials);
    ASSERT_EQ(family->simulate(thetas[k], kTrials, again[k], alone), 2 * kTrials);
    EXPECT_EQ(together[k], alone) << k;
  }
}

// The stream must end at the same place too: the next parameters are drawn from it.
TEST(LevyAccumulator, FailuresDoNotDependOnNeighboursEither) {
  const auto family = make_family("levy-accumulator", {{"max_steps", 2}}, "test");
  const auto together = simulated(*family, {0, 1, 2, 3, 4, 5});
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(together[static_cast<std::size_t>(k)].size(), 1u) << k;
    EXPECT_EQ(simulated(*family, {k})[0], together[static_cast<std::size_t>(k)]) << k;
  }
}

TEST(LevyAccumulator, RowsAreConditionResponseAndTime) {
  const auto family = make_family("levy-accumulator");
  for (const Theta& theta : kThetas) {
    std::vector<float> rows(6 * 50);
    Rng rng(4, Purpose::test, 0);
    ASSERT_EQ(family->simulate(theta, 50, rng, rows), 100);
    for (std::size_t k = 0; k < 100; ++k) {
      EXPECT_EQ(rows[3 * k], k < 50 ? 1.0f : 2.0f);
      EXPECT_TRUE(rows[3 * k + 1] == 0.0f || rows[3 * k + 1] == 1.0f);
      EXPECT_GE(rows[3 * k + 2], theta[3] - 0.5 * theta[6] + 0.0009);
    }
  }
}

TEST(LevyAccumulator, UndecidedTrialsAreDrawnAgain) {
  const auto family = make_family("levy-accumulator", {{"max_steps", 100}}, "test");
  for (const double alpha : {2.0, 1.2}) {
    const Theta theta = {0, 0, 1.2, 0, 0.5, alpha, 0, 0, 0};
    std::vector<float> rows(6 * 100);
    Rng rng(5, Purpose::test, 0);
    ASSERT_EQ(family->simulate(theta, 100, rng, rows), 200);
    float longest = 0.0f;
    for (std::size_t k = 0; k < 200; ++k) longest = std::max(longest, rows[3 * k + 2]);
    EXPECT_LE(longest, 0.1001f);
    EXPECT_GE(longest, 0.08f);  // late decisions do occur
  }
}

TEST(LevyAccumulator, AStartOnABoundaryDecidesAtOnce) {
  const auto family = make_family("levy-accumulator");
  for (const double alpha : {2.0, 1.5}) {
    for (const double zr : {0.0, 1.0}) {
      const Theta theta = {1, 1, 1, 0.25, zr, alpha, 0, 0, 0};
      std::vector<float> rows(6 * 4);
      Rng rng(6, Purpose::test, 0);
      ASSERT_EQ(family->simulate(theta, 4, rng, rows), 8);
      for (std::size_t k = 0; k < 8; ++k) {
        EXPECT_EQ(rows[3 * k + 1], static_cast<float>(zr));
        EXPECT_EQ(rows[3 * k + 2], 0.25f);
      }
    }
  }
}

// The drift alone, where the noise is too small to matter: a step of 1e-9 s.
TEST(LevyAccumulator, DriftCarriesToItsBoundary) {
  const auto family = make_family("levy-accumulator", {{"dt_s", 1e-9}}, "test");
  const Theta theta = {1e9, -1e9, 1000.5, 0, 0.5, 2, 0, 0, 0};
  std::vector<float> rows(6 * 5);
  Rng rng(7, Purpose::test, 0);
  ASSERT_EQ(family->simulate(theta, 5, rng, rows), 10);
  for (std::size_t k = 0; k < 10; ++k) {
    EXPECT_EQ(rows[3 * k + 1], k < 5 ? 1.0f : 0.0f);
    EXPECT_NEAR(rows[3 * k + 2], 501e-9, 1e-12);
  }
}

// Without st0 all times of a data set lie on one grid, with st0 on none: that alone would tell models apart.
TEST(LevyAccumulator, InContinuousTimeThereIsNoGridOfTimes) {
  const auto stepped = make_family("levy-accumulator");
  const auto continuous = make_family("levy-accumulator", {{"continuous_time", true}}, "test");
  for (const double alpha : {2.0, 1.3}) {
    const Theta theta = {1, -1, 1.5, 0.3, 0.5, alpha, 0, 0, 0};
    constexpr std::int64_t kTrials = 300;
    std::vector<float> a(6 * kTrials), b(a.size());
    Rng first(7, Purpose::test, 0), second(7, Purpose::test, 0);
    ASSERT_EQ(stepped->simulate(theta, kTrials, first, a), 2 * kTrials);
    ASSERT_EQ(continuous->simulate(theta, kTrials, second, b), 2 * kTrials);
    std::set<float> on_grid, off_grid;
    for (std::size_t k = 0; k < a.size(); k += 3) {
      EXPECT_EQ(a[k + 1], b[k + 1]);
      EXPECT_LE(b[k + 2], a[k + 2]);
      EXPECT_GT(b[k + 2], a[k + 2] - 0.001001f);
      on_grid.insert(a[k + 2]);
      off_grid.insert(b[k + 2]);
    }
    EXPECT_LT(on_grid.size(), 0.9 * 2 * kTrials);
    EXPECT_GT(off_grid.size(), 0.99 * 2 * kTrials);
  }
  EXPECT_EQ(make_family("levy-accumulator")->identity(),
            (nlohmann::json{{"dt_s", 0.001}, {"max_steps", 5000}}));
}

TEST(LevyAccumulator, TheModelsAreNested) {
  const Problem problem = builtin_problem("decision-making");
  ASSERT_EQ(problem.J(), 6);
  std::vector<int> free;
  for (const Model& model : problem.models()) {
    free.push_back(static_cast<int>(
        std::ranges::count_if(model.priors(), [](const Prior& prior) { return !prior.is_fixed(); })));
    EXPECT_EQ(&model.family(), &problem.models()[0].family());  // one discretisation for all
  }
  EXPECT_EQ(free, (std::vector<int>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(problem.models()[0].priors()[5], Prior::fixed(2));
  const Problem as_run = builtin_problem("decision-making:as_run");
  EXPECT_EQ(as_run.models()[3].priors()[6], Prior::uniform(0, 0.6));
  EXPECT_EQ(as_run.models()[4].priors()[6], Prior::uniform(0.2, 1.5));
  EXPECT_EQ(as_run.models()[5].priors()[6], Prior::uniform(0, 0.4));
}

// The reach leaves kSafeDeviations to the boundary, drift included.
TEST(LevyAccumulator, SkippedStepsKeepTheirDistance) {
  const double root_dt = std::sqrt(0.001);
  for (const double v : {0.0, 3.0, -40.0}) {
    for (const double half : {0.3, 1.5, 20.0}) {
      const double reach = static_cast<double>(reach_of(v, half, root_dt));
      for (const double part : {0.1, 0.5, 1.0}) {
        const double s = std::floor(reach * part * half) * root_dt;  // sqrt of the time skipped
        EXPECT_LE(std::fabs(v) * s * s + kSafeDeviations * s, part * half * (1.0 + 1e-6));
      }
    }
  }
}

// ---- the same random bits through the C library's functions, in double

double midpoint(std::uint32_t bits, int dropped) {
  return ((bits >> dropped) + 0.5) / static_cast<double>(1u << (32 - dropped));
}

double sign(std::uint32_t bits, int bit) {
  return (bits >> bit & 1u) != 0 ? -1.0 : 1.0;
}

// The formula of Chambers, Mallows & Stuck (1976). The upper bit of a word is a choice, the others a number.
double stable(std::uint32_t first, std::uint32_t second, double alpha) {
  const double u = 0.5 * std::numbers::pi * (1.0 - midpoint(first << 1, 1));
  const double v = midpoint(second << 1, 1);
  const double w = sign(second, 31) < 0.0 ? -std::log1p(-0.5 * v) : -std::log(0.5 * v);
  return sign(first, 31) * std::sin(alpha * u) / std::pow(std::cos(u), 1.0 / alpha) *
         std::pow(std::cos((1.0 - alpha) * u) / w, (1.0 - alpha) / alpha);
}

// Small numbers, from which the tails come, down to the last bit: half of the words are shifted.
std::vector<std::uint32_t> words_of_all_sizes(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  Rng rng(9, Purpose::test, 0);
  for (std::uint32_t& word : words) {
    word = rng.bits32();
    const std::uint32_t by = rng.bits32() % 64;
    word = (word & 0x80000000u) | (word & 0x7fffffffu) >> (by < 32 ? by : 0);
  }
  return words;
}

// Right on average too: the errors of lines in tables must not add up over many steps.
TEST(LevyAccumulator, DrawsAreThoseOfTheFormula) {
  constexpr std::size_t kDraws = 50'000;
  const std::vector<std::uint32_t> words = words_of_all_sizes(2 * kDraws);
  for (const double alpha : {1.0, 1.0001, 1.1, 1.5, 1.9, 1.99, 1.9999, 1.99999999, 2.0}) {
    std::vector<float> draws(kDraws);
    draw_levy(LevyNoise(alpha, 1.0), words, draws);
    double sum = 0.0;
    for (std::size_t k = 0; k < kDraws; ++k) {
      const double expected = stable(words[2 * k], words[2 * k + 1], alpha);
      ASSERT_NEAR(draws[k], expected, 1e-4 * std::fabs(expected) + 1e-6) << alpha << " " << k;
      if (std::fabs(expected) > 0.01) sum += draws[k] / expected - 1.0;
    }
    EXPECT_NEAR(sum / kDraws, 0.0, 4e-6) << alpha;
  }
}

// Steps to the boundary; negative for the lower one. Drift v, Lévy noise.
double levy_steps(WalkRng rng, double v, double a, double alpha, double dt) {
  double y = 0.0;
  double steps = 0.0;
  while (std::fabs(y) < 0.5 * a) {
    const std::uint32_t first = rng();
    const std::uint32_t second = rng();
    y += v * dt + std::pow(dt, 1.0 / alpha) / std::numbers::sqrt2 * stable(first, second, alpha);
    steps += 1.0;
  }
  return y > 0.0 ? steps : -steps;
}

double gaussian_steps(WalkRng rng, double v, double a, double dt) {
  const double reach = reach_of(v, 0.5 * a, std::sqrt(dt));
  double y = 0.0;
  double steps = 0.0;
  for (;;) {
    const double radius = std::sqrt(-2.0 * std::log(midpoint(rng(), 1)));
    const std::uint32_t angle = rng();
    const double r = 0.5 * std::numbers::pi * midpoint(angle, 2);
    for (const double z : {sign(angle, 0) * std::sin(r), sign(angle, 1) * std::cos(r)}) {
      const double m = std::max(1.0, std::floor(reach * (0.5 * a - std::fabs(y))));
      y += m * m * v * dt + m * std::sqrt(dt) * radius * z;
      steps += m * m;
      if (std::fabs(y) >= 0.5 * a) return y > 0.0 ? steps : -steps;
    }
  }
}

// Floats, polynomials and tables move a boundary crossing by a step in less than one trial in a hundred. Of
// data sets with few trials the noise has no tables.
TEST(LevyAccumulator, StepsAreThoseOfTheFormulas) {
  const auto family = make_family("levy-accumulator", {{"max_steps", 1 << 24}}, "test");
  for (const double alpha : {1.0, 1.2, 1.7, 1.99, 1.999999, 2.0}) {
    const Theta theta = {1.5, -0.5, 1.4, 0, 0.5, alpha, 0, 0, 0};
    for (const std::int64_t trials : {300, 3}) {
      Rng rng(8, Purpose::test, 0);
      Rng seeds = rng;
      int apart = 0;
      for (std::int64_t done = 0; done < 300; done += trials) {
        std::vector<float> rows(static_cast<std::size_t>(6 * trials));
        ASSERT_EQ(family->simulate(theta, trials, rng, rows), 2 * trials);
        for (std::size_t k = 0; k < rows.size(); k += 3) {
          WalkRng walk;
          walk.a = seeds.bits32();
          walk.b = seeds.bits32();
          walk.c = seeds.bits32();
          const double v = rows[k] == 1.0f ? 1.5 : -0.5;
          const double steps =
              alpha == 2.0 ? gaussian_steps(walk, v, 1.4, 1e-3) : levy_steps(walk, v, 1.4, alpha, 1e-3);
          const double found =
              (rows[k + 1] == 1.0f ? 1.0 : -1.0) * std::round(1e3 * static_cast<double>(rows[k + 2]));
          apart += found != steps ? 1 : 0;
        }
      }
      EXPECT_LE(apart, 6) << alpha << " " << trials;
    }
  }
}

}  // namespace
}  // namespace occam
