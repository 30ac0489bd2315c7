#include "occam/abc/summary.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "occam/abc/distance.hpp"
#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

struct SummaryFixture {
  Problem problem;
  std::vector<float> rows;
  ThreadPool pool{1};

  DataView data() const {
    return {rows.data(), static_cast<std::int64_t>(rows.size()) / problem.D(), problem.D()};
  }
  std::unique_ptr<Summary> make(const std::string& text, const Batch* simulated = nullptr) {
    return SummarySpec(text).make({problem, data(), simulated, "", pool});
  }
  std::vector<float> of(const std::string& text) {
    const auto summary = make(text);
    std::vector<float> out(static_cast<std::size_t>(summary->size()));
    const DataView set = data();
    summary->of({&set, 1}, out);
    return out;
  }
};

SummaryFixture normal_data(std::vector<float> rows) {
  return {builtin_problem("one-sample"), std::move(rows)};
}
SummaryFixture path_data(std::vector<float> rows) {
  return {builtin_problem("jump-process"), std::move(rows)};
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(AbcSummary, ValuesAreTheData) {
  SummaryFixture f = normal_data({3, 1, 2});
  EXPECT_EQ(f.of("values"), (std::vector<float>{3, 1, 2}));
  EXPECT_EQ(f.of("values sorted=true"), (std::vector<float>{1, 2, 3}));
  const auto summary = f.make("values");
  std::vector<float> out(3);
  const std::vector<float> shorter = {1, 2};
  const DataView other{shorter.data(), 2, 1};
  EXPECT_NE(refusal([&] {
              summary->of({&other, 1}, out);
            }).find("3 rows were observed and 2 simulated"),
            std::string::npos);
}

TEST(AbcSummary, QuantilesInterpolate) {
  SummaryFixture f = normal_data({4, 0, 2, 1});
  EXPECT_EQ(f.of("quantiles count=1"), (std::vector<float>{1.5f}));
  const std::vector<float> thirds = f.of("quantiles count=2");
  EXPECT_FLOAT_EQ(thirds[0], 1);
  EXPECT_FLOAT_EQ(thirds[1], 2);
  EXPECT_EQ(normal_data({7}).of("quantiles count=3"), (std::vector<float>{7, 7, 7}));
}

TEST(AbcSummary, MomentsAreThoseOfTheColumn) {
  const std::vector<float> m = normal_data({0, 0, 0, 4}).of("moments order=4");
  ASSERT_EQ(m.size(), 4u);
  EXPECT_FLOAT_EQ(m[0], 1);
  EXPECT_FLOAT_EQ(m[1], std::sqrt(3.0f));
  EXPECT_FLOAT_EQ(m[2], 6 / std::pow(3.0f, 1.5f));  // mean of (x - 1)^3: (3 (-1) + 27) / 4
  EXPECT_FLOAT_EQ(m[3], 21.0f / 9 - 3);
  EXPECT_EQ(normal_data({2}).of("moments order=4"), (std::vector<float>{2, 0, 0, 0}));
  // Two columns and their correlation: z falls as y rises.
  const std::vector<float> path = path_data({0, 40, 3, 0.01f, 39, 4, 0.02f, 38, 5}).of("moments columns=z,y");
  ASSERT_EQ(path.size(), 5u);
  EXPECT_FLOAT_EQ(path[0], 39);
  EXPECT_FLOAT_EQ(path[4], -1);
}

TEST(AbcSummary, TimeGridKeepsTheLastValueBefore) {
  SummaryFixture f = path_data({0, 40, 3, 0.02f, 39, 4, 0.03f, 38, 5});
  EXPECT_EQ(f.of("time-grid points=4 columns=y end=0.04"), (std::vector<float>{3, 4, 5, 5}));
  EXPECT_EQ(f.of("time-grid points=2 columns=z,y end=0.04"), (std::vector<float>{39, 38, 4, 5}));
  EXPECT_EQ(f.of("time-grid points=3").size(), 6u);  // all but the time, up to the last one observed
  EXPECT_EQ(f.of("time-grid points=3 columns=y"), (std::vector<float>{3, 4, 5}));
  EXPECT_NE(refusal([] { path_data({0, 40, 3}).of("time-grid"); }).find("end=0.1"), std::string::npos);
  EXPECT_NE(refusal([] { normal_data({1}).of("time-grid"); }).find("no column 't'"), std::string::npos);
}

TEST(AbcSummary, SketchLearnsFromSimulations) {
  SummaryFixture f = normal_data({0.5f, -1, 2});
  Simulator simulator(f.problem, 1, Purpose::abc, {.batch = 50, .n = 3});
  const Batch batch = simulator.simulate(0, f.pool);
  const auto summary = f.make("sketch", &batch);
  std::vector<float> out(static_cast<std::size_t>(summary->size()));
  EXPECT_GT(out.size(), 3u);
  const DataView set = f.data();
  summary->of({&set, 1}, out);
  for (const float x : out) EXPECT_TRUE(std::isfinite(x));
}

TEST(AbcSummary, TextIsCheckedBeforeAnyWork) {
  EXPECT_NE(refusal([] { SummarySpec("quantils"); }).find("did you mean 'quantiles'?"), std::string::npos);
  EXPECT_NE(refusal([] { SummarySpec(""); }).find("unknown summary ''"), std::string::npos);
  EXPECT_NE(refusal([] { SummarySpec("quantiles cuont=3"); }).find("did you mean 'count'?"),
            std::string::npos);
  EXPECT_NE(refusal([] { SummarySpec("quantiles count=0"); }).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal([] { SummarySpec("quantiles 5"); }).find("KEY=VALUE"), std::string::npos);
  EXPECT_NE(refusal([] { SummarySpec("sketch count=3"); }).find("it has none"), std::string::npos);
  EXPECT_NE(refusal([] { normal_data({1}).of("moments columns=q"); }).find("no column 'q'"),
            std::string::npos);
  EXPECT_NE(refusal([] { normal_data({1}).of("network"); }).find("--summary-network"), std::string::npos);
}

TEST(AbcDistance, IsWhatItsNameSays) {
  const std::vector<float> observed = {0, 0, 0};
  const std::vector<std::string> names = {"a", "b", "c"};
  const std::vector<float> other = {3, -4, 0};
  const auto distance = [&](const char* name, std::vector<double> scales) {
    return Distance(name, observed, std::move(scales), names)(other);
  };
  EXPECT_DOUBLE_EQ(distance("mean-absolute", {1, 1, 1}), 7.0 / 3);
  EXPECT_DOUBLE_EQ(distance("euclidean", {1, 1, 1}), 5);
  EXPECT_DOUBLE_EQ(distance("maximum", {1, 1, 1}), 4);
  EXPECT_DOUBLE_EQ(distance("maximum", {1, 4, 1}), 3);
  EXPECT_DOUBLE_EQ(distance("euclidean", {3, 4, 1}), std::sqrt(2.0));
  const Distance plain("euclidean", observed, {1, 1, 1}, names);
  EXPECT_EQ(plain(std::vector<float>{0, NAN, 0}), std::numeric_limits<double>::infinity());
  EXPECT_THROW(Distance("manhattan", observed, {1, 1, 1}, names), Error);
  EXPECT_NE(refusal([&] {
              Distance("maximum", {0, NAN, 0}, {1, 1, 1}, names);
            }).find("'b'"),
            std::string::npos);
}

}  // namespace
}  // namespace occam
