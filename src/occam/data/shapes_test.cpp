#include "occam/data/shapes.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

enum class Is { line, curve, step, bend };

std::vector<Point> shaped(Is is, std::size_t n, std::uint64_t item, double noise = 1) {
  Rng rng(6, Purpose::test, item);
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = rng.uniform(0, 10);
    double y = 1000 + 0.3 * x + noise * rng.normal();
    if (is == Is::curve) y += 0.3 * (x - 5) * (x - 5);
    if (is == Is::step && x > 6) y += 3;
    if (is == Is::bend) y += 1.5 * std::max(0.0, x - 6);
    points.push_back({x, y});
  }
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.x < b.x; });
  return points;
}

// What least squares leaves of y with these predictors, by elimination.
double left_over(const std::vector<Point>& points, const std::vector<std::vector<double>>& predictors) {
  const std::size_t k = predictors.size(), width = k + 1;
  std::vector<double> a(width * width);
  const auto value = [&](std::size_t column, std::size_t i) {
    return column == k ? points[i].y - 1000 : predictors[column][i];
  };
  for (std::size_t p = 0; p < width; ++p) {
    for (std::size_t q = 0; q < width; ++q) {
      for (std::size_t i = 0; i < points.size(); ++i) a[p * width + q] += value(p, i) * value(q, i);
    }
  }
  for (std::size_t p = 0; p < k; ++p) {
    for (std::size_t r = p + 1; r < width; ++r) {
      const double factor = a[r * width + p] / a[p * width + p];
      for (std::size_t q = p; q < width; ++q) a[r * width + q] -= factor * a[p * width + q];
    }
  }
  return a[width * width - 1];
}

TEST(Shapes, GainsAreThoseOfLeastSquares) {
  const std::vector<Point> points = shaped(Is::bend, 24, 1);
  const std::size_t n = points.size();
  const auto column = [&](auto of) {
    std::vector<double> values;
    for (const Point& p : points) values.push_back(of(p.x));
    return values;
  };
  const std::vector<double> one(n, 1.0), x = column([](double t) { return t; });
  const double whole = left_over(points, {one});
  const auto gain = [&](double left) { return 0.5 * static_cast<double>(n) * std::log(whole / left); };
  const auto over_places = [&](auto left) {
    double sum = 0, count = 0;
    for (std::size_t k = 2; k + 3 < n; ++k, ++count)
      sum += std::exp(gain(left(0.5 * (points[k].x + points[k + 1].x))));
    return std::log(sum / count);
  };
  const auto after = [&](double at) { return column([at](double t) { return t > at ? 1.0 : 0.0; }); };
  const auto bent = [&](double at) { return column([at](double t) { return std::max(0.0, t - at); }); };
  const Shapes got = find_shapes(points);
  EXPECT_NEAR(got.line, gain(left_over(points, {one, x})), 1e-5);
  EXPECT_NEAR(got.curve, gain(left_over(points, {one, x, column([](double t) { return t * t; })})), 1e-5);
  EXPECT_NEAR(got.level_step, over_places([&](double at) {
                return left_over(points, {one, after(at)});
              }),
              1e-5);
  EXPECT_NEAR(got.step, over_places([&](double at) { return left_over(points, {one, x, after(at)}); }), 1e-5);
  EXPECT_NEAR(got.bend, over_places([&](double at) { return left_over(points, {one, x, bent(at)}); }), 1e-5);
  EXPECT_NEAR(got.lines, over_places([&](double at) {
                return left_over(points, {one, x, after(at), bent(at)});
              }),
              1e-5);
}

TEST(Shapes, SpeakForWhatIsThere) {
  const Shapes line = find_shapes(shaped(Is::line, 200, 2)), curve = find_shapes(shaped(Is::curve, 200, 3)),
               step = find_shapes(shaped(Is::step, 200, 4)), bend = find_shapes(shaped(Is::bend, 200, 5));
  EXPECT_LT(std::max({line.curve, line.step, line.bend}) - line.line, 4);
  EXPECT_GT(curve.curve - std::max(curve.step, curve.bend), 4);
  EXPECT_GT(step.step - std::max(step.curve, step.bend), 4);
  EXPECT_NEAR(step.step_at, 6, 0.3);
  EXPECT_GT(bend.bend - std::max(bend.curve, bend.step), 2);  // a curve is much like it
  EXPECT_NEAR(bend.bend_at, 6, 0.7);
}

TEST(Shapes, OfNothingAreNothing) {
  EXPECT_EQ(find_shapes({}).bend, 0);
  EXPECT_EQ(find_shapes(std::vector<Point>(20, {1, 2})).lines, 0);
  std::vector<Point> same_x(20, {1, 2});
  for (std::size_t i = 0; i < 20; ++i) same_x[i].y = static_cast<double>(i);
  EXPECT_EQ(find_shapes(same_x).step, 0);
  for (Point& p : same_x) p.x = p.y;  // a line without noise
  const Shapes exact = find_shapes(same_x);
  for (const double gain : {exact.line, exact.curve, exact.step, exact.bend, exact.lines})
    EXPECT_TRUE(std::isfinite(gain));
  same_x[3].y = HUGE_VAL;
  EXPECT_EQ(find_shapes(same_x).line, 0);
}

// Twenty data sets of two columns and one that says nothing.
TEST(Shapes, AreLookedForWhereTheyAreClear) {
  const auto found = [](Is is, const std::vector<std::int64_t>& design = {}) {
    std::vector<float> x;
    std::vector<std::int64_t> offsets = {0};
    for (std::uint64_t set = 0; set < 20; ++set) {
      std::vector<Point> points = shaped(is, 60, 100 + set);
      for (std::size_t i = 0; i < points.size(); ++i) {
        for (const double value : {points[i].x, points[i].y, static_cast<double>(i * 17 % 23)})
          x.push_back(static_cast<float>(value));
      }
      offsets.push_back(offsets.back() + 60);
    }
    return find_shaped({{x.data(), 1200, 3, 3}, offsets.data(), 20}, {2}, design);
  };
  EXPECT_TRUE(found(Is::line).empty());
  const std::vector<ShapedColumns> bends = found(Is::bend);
  EXPECT_NE(std::find(bends.begin(), bends.end(), ShapedColumns{0, 1}), bends.end());
  // Nobody asks what an experimenter did over what came of it.
  EXPECT_EQ(found(Is::bend, {0}), (std::vector<ShapedColumns>{{0, 1}}));
  EXPECT_TRUE(found(Is::bend, {1}).size() < bends.size());
}

}  // namespace
}  // namespace occam
