#include "occam/data/labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/data/test_support.hpp"

namespace occam {
namespace {

struct LabelledPair {
  double label, x, y;
};

// The rows of a data set column by column, and which of them belong together.
struct Columns {
  std::vector<double> x, y;
  std::vector<std::int32_t> groups;
  std::size_t count = 0;

  explicit Columns(const std::vector<LabelledPair>& rows) : groups(rows.size()) {
    std::vector<double> labels;
    std::vector<std::int32_t> order(rows.size());
    for (const LabelledPair& row : rows) {
      labels.push_back(row.label);
      x.push_back(row.x);
      y.push_back(row.y);
    }
    count = static_cast<std::size_t>(group_rows(labels, order, groups));
  }
  ExplainedByLabels explained() const {
    std::vector<LabelSums> room(count);
    return explained_between_labels(groups, x, y, room);
  }
  BetweenLabels between() const {
    std::vector<LabelMean> room(count);
    return between_labels(groups, y, room);
  }
};

// 1 within labels and `spread` between.
WholeCovariance whole_covariance(const std::vector<LabelledPair>& rows, double spread) {
  const Columns columns(rows);
  return {columns.x, columns.y, [&](std::size_t i, std::size_t j) {
            return (i == j ? 1 : 0) + (rows[i].label == rows[j].label ? spread : 0);
          }};
}

std::vector<LabelledPair> some_pairs() {
  Rng rng(5, Purpose::test, 1);
  std::vector<LabelledPair> rows;
  for (const double label : {7.0, -2.0, 7.0, 3.0, 3.0, 7.0, 11.0, -2.0, 7.0}) {
    const double x = 10 + 0.1 * label + rng.normal();
    rows.push_back({label, x, 100 + 0.3 * label + 0.5 * x + rng.normal()});
  }
  return rows;
}

TEST(Labels, GainsAreThoseOfTheWholeCovariance) {
  const std::vector<LabelledPair> pairs = some_pairs();
  const BetweenLabels got = Columns(pairs).between();
  const double none = whole_covariance(pairs, 0).log_likelihood();
  for (std::size_t k = 0; k < kSpreadsBetween.size(); ++k) {
    const double expected = whole_covariance(pairs, kSpreadsBetween[k]).log_likelihood() - none;
    EXPECT_NEAR(got.gains[k], expected, 1e-6) << k;
  }
  EXPECT_EQ(got.labels, 4);
  EXPECT_NEAR(got.partners, (16 + 4 + 4 + 1) / 9.0, 1e-12);
  double mean = 0;
  for (const double gain : got.gains) mean += std::exp(gain) / 6;
  EXPECT_NEAR(got.any(), std::log(mean), 1e-12);
}

TEST(Labels, TheOrderOfRowsIsIrrelevant) {
  std::vector<LabelledPair> rows = some_pairs(), turned = rows;
  std::reverse(turned.begin(), turned.end());
  const BetweenLabels a = Columns(rows).between(), b = Columns(turned).between();
  EXPECT_NEAR(a.own_means, b.own_means, 1e-9);
  EXPECT_NEAR(a.any(), b.any(), 1e-9);
}

TEST(Labels, MeansOfTheirOwnExplainWhatIsLeft) {
  const Columns rows({{1, 0, 0}, {1, 0, 2}, {2, 0, 10}, {2, 0, 12}});
  // Around 6: 36 + 16 + 16 + 36; around means of their own: 4.
  EXPECT_NEAR(rows.between().own_means, 2 * std::log(104.0 / 4), 1e-6);
}

TEST(Labels, WhatAColumnExplainsIsThatOfTheWholeCovariance) {
  const std::vector<LabelledPair> pairs = some_pairs();
  const ExplainedByLabels got = Columns(pairs).explained();
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double spread = k == 0 ? 0 : kSpreadsBetween[k - 1];
    EXPECT_NEAR(got[k], whole_covariance(pairs, spread).gain_of_x(), 1e-6) << k;
  }
  EXPECT_LT(got.back(), got.front()) << "part of it is what labels have in common";
}

TEST(Labels, RowsMayBeGroupedOnceForAllColumns) {
  const std::vector<double> labels = {7, -2, 7, NAN, 3, -2};
  std::vector<std::int32_t> order(6), groups(6);
  EXPECT_EQ(group_rows(labels, order, groups), 3);
  EXPECT_EQ(groups, (std::vector<std::int32_t>{2, 0, 2, -1, 1, 0}));
  // A row without a value counts as if it were not there; its label then has none that does.
  std::vector<LabelledPair> pairs = some_pairs();
  Columns less(pairs);
  less.y[6] = NAN;
  pairs.erase(pairs.begin() + 6);
  EXPECT_NEAR(less.between().any(), Columns(pairs).between().any(), 1e-9);
  EXPECT_EQ(less.between().labels, 3);
}

TEST(Labels, OddDataGiveFiniteNumbers) {
  for (const std::vector<LabelledPair>& rows :
       std::vector<std::vector<LabelledPair>>{{},
                                              {{1, -5, 5}},
                                              {{1, -5, 5}, {2, -5, 5}},
                                              {{1, -5, 5}, {1, -6, 6}},
                                              {{1, -1, 1}, {1, -1, 1}, {2, -3, 3}, {2, -3, 3}},
                                              {{1, -1e300, 1e300}, {2, 1e300, -1e300}}}) {
    const BetweenLabels got = Columns(rows).between();
    for (const double gain : got.gains) EXPECT_TRUE(std::isfinite(gain));
    EXPECT_TRUE(std::isfinite(got.own_means));
    EXPECT_TRUE(std::isfinite(got.any()));
    for (const double gain : Columns(rows).explained()) EXPECT_TRUE(std::isfinite(gain));
  }
}

// Whole numbers near each other are counted, others sorted.
TEST(Labels, AreGroupedAlikeWhateverTheirRange) {
  Rng rng(4, Purpose::test, 3);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<double> near, far, halves;
    for (int i = 0; i < 30; ++i) {
      const double label = std::floor(rng.uniform(-4, 5));
      near.push_back(rng.uniform() < 0.1 ? NAN : label);
      far.push_back(1000 * near.back());
      halves.push_back(near.back() + 0.5);
    }
    std::vector<std::int32_t> order(30), of_near(30), of_far(30), of_halves(30);
    const std::int64_t count = group_rows(near, order, of_near);
    EXPECT_EQ(group_rows(far, order, of_far), count);
    EXPECT_EQ(group_rows(halves, order, of_halves), count);
    EXPECT_EQ(of_near, of_far);
    EXPECT_EQ(of_near, of_halves);
  }
  std::vector<std::int32_t> order(4), groups(4);
  EXPECT_EQ(group_rows(std::vector<double>{NAN, NAN, NAN, NAN}, order, groups), 0);
  EXPECT_EQ(groups, (std::vector<std::int32_t>{-1, -1, -1, -1}));
  EXPECT_EQ(group_rows(std::vector<double>{INFINITY, 1, -INFINITY, 1}, order, groups), 3);
  EXPECT_EQ(groups, (std::vector<std::int32_t>{2, 1, 0, 1}));
}

// Two data sets of 12 rows: columns, each as `make(set, row)` says.
std::vector<std::int64_t> found(const std::vector<std::function<double(int, int)>>& make) {
  std::vector<float> x;
  for (int set = 0; set < 2; ++set) {
    for (int i = 0; i < 12; ++i) {
      for (const auto& column : make) x.push_back(static_cast<float>(column(set, i)));
    }
  }
  const std::vector<std::int64_t> offsets = {0, 12, 24};
  const auto D = static_cast<std::int64_t>(make.size());
  return find_labels({{x.data(), 24, D, D}, offsets.data(), 2});
}

TEST(Labels, AreWholeNumbersThatComeAgain) {
  const auto people = [](int, int i) { return 100.0 + i % 4; };
  const auto halves = [](int, int i) { return 0.5 * (i % 4); };
  const auto two = [](int, int i) { return 1.0 * (i % 2); };
  const auto rows = [](int, int i) { return 1.0 * i; };
  const auto gaps = [](int set, int i) -> double { return set == 1 && i == 3 ? NAN : i % 4; };
  // Of four people one after the other.
  const auto height = [](int, int i) {
    return std::array{0.0, 3.0, -2.0, 1.5}[static_cast<std::size_t>(i % 4)] + 0.02 * (i % 5);
  };
  EXPECT_EQ(found({people, halves, two, rows, gaps, height}), std::vector<std::int64_t>{0});
  EXPECT_EQ(found({height, people}), std::vector<std::int64_t>{1});
  EXPECT_TRUE(found({people}).empty()) << "nothing could differ between them";
  EXPECT_EQ(found({people, people, height, people, people, people}), (std::vector<std::int64_t>{0, 1, 3, 4}))
      << "the first four";
}

// 300 data sets of 60 rows (label, y), of whole numbers 0 to 5: y as `make(rng, set, numbers of its own)`
// says.
template <class Make>
bool has_labels(Make make) {
  Rng rng(9, Purpose::test, 2);
  std::vector<float> x;
  std::vector<std::int64_t> offsets = {0};
  for (int set = 0; set < 300; ++set) {
    std::array<double, 6> own;
    for (double& effect : own) effect = rng.normal();
    for (int i = 0; i < 60; ++i) {
      const auto label = static_cast<std::size_t>(rng.uniform(0, 6));
      x.push_back(static_cast<float>(label));
      x.push_back(static_cast<float>(make(rng, set, static_cast<double>(label), own[label])));
    }
    offsets.push_back(offsets.back() + 60);
  }
  return !find_labels({{x.data(), offsets.back(), 2, 2}, offsets.data(), 300}).empty();
}

// About one data set in a hundred is clear by chance; three are asked for, of 100. With 300 data sets that is
// three standard deviations off.
TEST(Labels, AreNotWhatOthersRiseAndFallWith) {
  EXPECT_FALSE(has_labels([](Rng& rng, int, double, double) { return rng.normal(); }));
  EXPECT_FALSE(has_labels([](Rng& rng, int, double, double) { return std::floor(rng.uniform(0, 6)); }));
  EXPECT_FALSE(has_labels([](Rng& rng, int, double label, double) { return 2 * label + rng.normal(); }));
  EXPECT_FALSE(has_labels(
      [](Rng& rng, int, double label, double) { return std::pow(label - 3, 2) + 0.3 * rng.normal(); }));
}

TEST(Labels, DifferInOneOfSeveralModels) {
  EXPECT_TRUE(has_labels([](Rng& rng, int, double, double own) { return own + rng.normal(); }));
  EXPECT_TRUE(has_labels(
      [](Rng& rng, int set, double, double own) { return (set % 3 == 0 ? own : 0) + rng.normal(); }));
  EXPECT_TRUE(has_labels([](Rng& rng, int set, double, double own) {
    return set % 7 == 0 && rng.uniform() < 0.5 ? NAN : own + rng.normal();
  })) << "values that are missing";
}

TEST(Labels, AreNumberedInTheOrderOfTheirValues) {
  std::vector<float> x = {30, 1, -2, 2, 30, 3, NAN, 4, 7, 5};
  number_labels({x.data(), 5, 2, 2}, {{0}});
  EXPECT_EQ(std::vector<float>(x.begin(), x.begin() + 6), (std::vector<float>{3, 1, 1, 2, 3, 3}));
  EXPECT_TRUE(std::isnan(x[6]));
  EXPECT_EQ(x[8], 2);
}

// Teams at home and away; what is called the same in a column of another group is something else.
TEST(Labels, OfOneGroupAreNumberedTogether) {
  std::vector<float> x = {7, 5, 7, 5, 9, 30, NAN, 7, 9};
  number_labels({x.data(), 3, 3, 3}, {{0, 1}, {2}});
  const std::vector<float> expected = {2, 1, 1, 1, 3, 3, NAN, 2, 2};
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(x[i] == expected[i] || (std::isnan(x[i]) && std::isnan(expected[i]))) << i << ": " << x[i];
}

TEST(Labels, GroupsAreThoseOfColumnsThatAreTheSame) {
  const auto column = [](const char* name, Role role, const char* same_as = "") {
    return Column{name, name, role, same_as};
  };
  EXPECT_EQ(label_groups({column("y", Role::observed), column("away", Role::label, "home"),
                          column("day", Role::label), column("home", Role::label)}),
            (LabelGroups{{1, 3}, {2}}));
  EXPECT_TRUE(label_groups({column("y", Role::observed)}).empty());
}

TEST(Labels, EveryDataSetHasNumbersOfItsOwn) {
  const std::vector<float> x = {308, 0.5f, 309, 0.6f, 400, 0.7f, 12, 0.8f};
  const std::vector<std::int64_t> offsets = {1, 3, 4};  // the first row is of no data set
  const Ragged<const float> data{{x.data(), 4, 2, 2}, offsets.data(), 2};
  const NumberedLabels numbered(data, {{0}});
  const Ragged<const float> view = numbered.view();
  EXPECT_EQ(view.x.row(1)[0], 1);
  EXPECT_EQ(view.x.row(2)[0], 2);
  EXPECT_EQ(view.x.row(3)[0], 1);
  EXPECT_EQ(view.x.row(3)[1], 0.8f);
  EXPECT_EQ(NumberedLabels(data, {}).view().x.data, x.data()) << "nothing to copy for";
}

}  // namespace
}  // namespace occam
