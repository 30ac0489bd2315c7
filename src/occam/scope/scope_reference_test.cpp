#include "occam/scope/scope_reference.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"

namespace occam {
namespace {

const ScopeOwner kOwner = {{"x"}, false, 2, 1};

// Data sets of two kinds, n values around 0 or 4; the "summary" is their mean.
struct World {
  Sketch sketch;
  bool designed = false;  // by one number, in the middle half of its range

  World() {
    std::vector<float> values;
    Rng rng(1, Purpose::test, 0);
    for (int i = 0; i < 200; ++i) values.push_back(static_cast<float>(rng.normal()));
    const std::int64_t offsets[] = {0, 200};
    sketch = Sketch::learn({{values.data(), 200, 1, 1}, offsets, 1}, {"x"}, false);
  }

  ScopePoint point(std::uint64_t item, double shift = 0, double scale = 1) const {
    Rng rng(2, Purpose::test, item);
    ScopePoint p;
    p.model = static_cast<std::int32_t>(item % 2);
    p.rows = 5 + static_cast<std::int64_t>(item % 7) * 10;
    std::vector<float> rows;
    float mean = 0;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      rows.push_back(static_cast<float>(4 * p.model + shift + scale * rng.normal()));
      mean += rows.back() / static_cast<float>(p.rows);
    }
    p.best = mean > 2 ? 1 : 0;
    p.summary = {mean};
    p.sketch.resize(static_cast<std::size_t>(sketch.size()));
    sketch.of({rows.data(), p.rows, 1, 1}, p.sketch);
    return p;
  }

  ScopePoint simulated(std::uint64_t item) const {
    ScopePoint p = point(item);
    if (designed) put_design(static_cast<float>(Rng(4, Purpose::test, item).uniform(-1, 1)), p);
    return p;
  }
  static void put_design(float design, ScopePoint& p) {
    p.design = {design};
    p.given = {std::log(static_cast<float>(p.rows)), design};
  }

  ScopeReference reference() const {
    std::vector<ScopePoint> points;
    for (std::uint64_t i = 0; i < 1500; ++i) points.push_back(simulated(i));
    ScopeReference scope(sketch, 2, points);
    for (std::int64_t block = 0; block < scope.blocks(); ++block) scope.measure_density(block);
    points.clear();
    for (std::uint64_t i = 1500; i < 4000; ++i) points.push_back(simulated(i));
    scope.calibrate(points, scope.scores(points));
    return scope;
  }
};

ScopeAnswer ask(const ScopeReference& scope, const ScopePoint& point) {
  return scope.judge(std::span(&point, 1))[0];
}

TEST(ScopeReference, FalseAlarmsComeAsOftenAsTheLevelSays) {
  const World world;
  const ScopeReference scope = world.reference();
  for (const double level : {0.05, 0.3}) {
    int alarms[2] = {};
    for (std::uint64_t i = 10000; i < 14000; ++i)
      alarms[i % 2] += ask(scope, world.point(i)).p <= level ? 1 : 0;
    for (const int count : alarms) {
      // 2000 data sets, and calibration by 500: false alarm below 1e-4 at four standard errors of both.
      const double se = std::sqrt(level * (1 - level) * (1 / 2000.0 + 1 / 1250.0));
      EXPECT_NEAR(count / 2000.0, level, 4 * se) << level;
    }
  }
}

TEST(ScopeReference, NoticesForeignDataAndSaysWhatStandsOut) {
  const World world;
  const ScopeReference scope = world.reference();
  int caught = 0;
  for (std::uint64_t i = 20000; i < 20100; ++i) caught += ask(scope, world.point(i, -6)).p < 0.01 ? 1 : 0;
  EXPECT_GE(caught, 95);
  caught = 0;
  for (std::uint64_t i = 20000; i < 20100; ++i) caught += ask(scope, world.point(i, 0, 8)).p < 0.01 ? 1 : 0;
  EXPECT_GE(caught, 80);
  const ScopeAnswer answer = ask(scope, world.point(20003, -9));
  EXPECT_NE(answer.reason.find(" x is -"), std::string::npos) << answer.reason;
  EXPECT_NE(answer.reason.find("in simulations mostly"), std::string::npos) << answer.reason;
}

TEST(ScopeReference, JudgesEachModelAlone) {
  const World world;
  const ScopeReference scope = world.reference();
  const ScopeAnswer first = ask(scope, world.point(30000));  // from model 0
  ASSERT_EQ(first.by_model.size(), 2u);
  EXPECT_GT(first.by_model[0], 0.02);
  EXPECT_LT(first.by_model[1], 0.02);
}

// That of a data set among those simulated has others near it, at the border of all as in their middle; one
// far from all has none, also for a reference that was read back, and one of before says nothing of it.
TEST(ScopeReference, KnowsWhenADesignIsFarFromAll) {
  World world;
  world.designed = true;
  const ScopeReference scope = world.reference();
  Safetensors contents;
  nlohmann::json description;
  scope.add_to(contents, description);
  const ScopeOwner owner = {{"x"}, false, 2, 1, {false}, 1, 2};
  const ScopeReference again = ScopeReference::from(contents, description, owner);
  nlohmann::json before = description;
  before.erase("near");
  const ScopeReference older = ScopeReference::from(contents, before, owner);
  int lonely = 0;
  for (std::uint64_t i = 50000; i < 50500; ++i) lonely += ask(scope, world.simulated(i)).lonely_design;
  EXPECT_EQ(lonely, 0);
  ScopePoint far = world.point(60000);
  World::put_design(4, far);
  EXPECT_TRUE(ask(scope, far).lonely_design);
  EXPECT_TRUE(ask(again, far).lonely_design);
  EXPECT_FALSE(ask(older, far).lonely_design);
  description["near"] = -1;
  EXPECT_THROW(ScopeReference::from(contents, description, owner), Error);
}

TEST(ScopeReference, RoundTripsToTheSameAnswersAndRefusesDamage) {
  const World world;
  const ScopeReference scope = world.reference();
  Safetensors contents;
  nlohmann::json description;
  scope.add_to(contents, description);
  const ScopeReference again = ScopeReference::from(contents, description, kOwner);
  for (std::uint64_t i = 40000; i < 40020; ++i) {
    const ScopeAnswer a = ask(scope, world.point(i)), b = ask(again, world.point(i));
    EXPECT_EQ(a.p, b.p);
    EXPECT_EQ(a.by_model, b.by_model);
    EXPECT_EQ(a.reason, b.reason);
  }
  for (std::size_t t = 0; t < contents.tensors.size(); ++t) {
    Safetensors damaged = contents;
    damaged.tensors.erase(damaged.tensors.begin() + static_cast<std::ptrdiff_t>(t));
    EXPECT_THROW(ScopeReference::from(damaged, description, kOwner), Error) << contents.tensors[t].first;
  }
  description["models"] = 1;
  EXPECT_THROW(ScopeReference::from(contents, description, kOwner), Error);
}

}  // namespace
}  // namespace occam
