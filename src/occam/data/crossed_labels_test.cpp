#include "occam/data/crossed_labels.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/data/test_support.hpp"

namespace occam {
namespace {

struct CrossedRow {
  double first, second, x, y;
};

using CrossedRows = std::vector<CrossedRow>;

// The columns of rows, and what is asked of them.
struct Questions {
  std::vector<double> first, second, x, y, room;
  std::vector<std::int32_t> groups;

  explicit Questions(const CrossedRows& rows) {
    for (const CrossedRow& row : rows) {
      first.push_back(row.first);
      second.push_back(row.second);
      x.push_back(row.x);
      y.push_back(row.y);
    }
  }
  TwoLabels labels(Crossing crossing) {
    groups.assign(crossed_groups_room(y.size()), -7);
    const TwoLabels result = group_crossed(first, second, crossing, groups);
    room.assign(crossed_room(result), NAN);
    return result;
  }
  CrossedGains gains(Crossing crossing) {
    const TwoLabels of = labels(crossing);
    return crossed_gains(of, crossing, y, room);
  }
  CrossedExplained explained() {
    const TwoLabels of = labels(Crossing::apart);
    return explained_between_crossed(of, x, y, room);
  }
};

// of_rows(a, b): what two rows share, beside the 1 of each with itself.
template <class OfRows>
WholeCovariance whole_covariance(const CrossedRows& rows, OfRows of_rows) {
  const Questions columns(rows);
  return {columns.x, columns.y,
          [&](std::size_t i, std::size_t j) { return (i == j ? 1 : 0) + of_rows(rows[i], rows[j]); }};
}

double same(double a, double b) {
  return a == b ? 1 : 0;
}

CrossedRows some_crossed_rows(std::size_t count, double first_labels, double second_labels) {
  Rng rng(5, Purpose::test, 11);
  CrossedRows rows;
  for (std::size_t i = 0; i < count; ++i) {
    const double first = 3 + std::floor(rng.uniform(0, first_labels));
    const double second = std::floor(rng.uniform(0, second_labels));
    const double x = 10 + 0.1 * first + rng.normal();
    rows.push_back(
        {first, second, x, 100 + 0.7 * std::sin(first) + std::cos(3 * second) + 0.5 * x + rng.normal()});
  }
  return rows;
}

TEST(CrossedLabels, GainsAreThoseOfTheWholeCovariance) {
  for (const auto& [first, second] : std::vector<std::pair<double, double>>{{5, 3}, {3, 5}, {12, 12}}) {
    const CrossedRows rows = some_crossed_rows(25, first, second);
    const CrossedGains got = Questions(rows).gains(Crossing::apart);
    const auto whole = [&](std::size_t k, std::size_t l) {
      return whole_covariance(rows, [&](const CrossedRow& a, const CrossedRow& b) {
        return crossed_spread(k) * same(a.first, b.first) + crossed_spread(l) * same(a.second, b.second);
      });
    };
    const double none = whole(0, 0).log_likelihood();
    for (std::size_t k = 0; k < kCrossedSpreads; ++k) {
      for (std::size_t l = 0; l < kCrossedSpreads; ++l) {
        const WholeCovariance expected = whole(k, l);
        EXPECT_NEAR(got[k][l].gain, expected.log_likelihood() - none, 1e-6) << k << " " << l;
        EXPECT_NEAR(got[k][l].mean, expected.mean(), 1e-6);
        EXPECT_NEAR(got[k][l].error, expected.error(), 1e-6);
      }
    }
  }
}

TEST(CrossedLabels, ThatNameTheSameThingsAddUpOrAreHeldAgainstEachOther) {
  CrossedRows rows = some_crossed_rows(25, 5, 7);  // of 3 to 7 and 0 to 6
  rows.push_back({4, 4, 11, 107});                 // with itself
  for (const Crossing crossing : {Crossing::alike, Crossing::opposed}) {
    const double sign = crossing == Crossing::alike ? 1 : -1;
    const CrossedGains got = Questions(rows).gains(crossing);
    const auto whole = [&](std::size_t k) {
      return whole_covariance(rows, [&](const CrossedRow& a, const CrossedRow& b) {
        return crossed_spread(k) * (same(a.first, b.first) + same(a.second, b.second) +
                                    sign * (same(a.first, b.second) + same(a.second, b.first)));
      });
    };
    for (std::size_t k = 0; k < kCrossedSpreads; ++k) {
      EXPECT_NEAR(got[0][k].gain, whole(k).log_likelihood() - whole(0).log_likelihood(), 1e-6) << k;
      EXPECT_NEAR(got[0][k].error, whole(k).error(), 1e-6) << k;
    }
  }
}

TEST(CrossedLabels, PairsHaveEffectsBesideThoseOfOneColumn) {
  const CrossedRows rows = some_crossed_rows(30, 4, 3);
  for (const Crossing crossing : {Crossing::in_first, Crossing::in_second}) {
    const CrossedGains got = Questions(rows).gains(crossing);
    const auto whole = [&](std::size_t k, std::size_t l) {
      return whole_covariance(rows, [&](const CrossedRow& a, const CrossedRow& b) {
        const double one = crossing == Crossing::in_first ? same(a.first, b.first) : same(a.second, b.second);
        return crossed_spread(k) * same(a.first, b.first) * same(a.second, b.second) +
               crossed_spread(l) * one;
      });
    };
    for (const std::size_t k : {std::size_t{0}, std::size_t{3}, std::size_t{6}}) {
      for (const std::size_t l : {std::size_t{0}, std::size_t{2}})
        EXPECT_NEAR(got[k][l].gain, whole(k, l).log_likelihood() - whole(0, 0).log_likelihood(), 1e-6);
    }
  }
}

TEST(CrossedLabels, WhatAColumnExplainsIsThatOfTheWholeCovariance) {
  const CrossedRows rows = some_crossed_rows(30, 6, 4);
  const CrossedExplained got = Questions(rows).explained();
  for (std::size_t i = 0; i < kExplainedSpreads.size(); ++i) {
    for (std::size_t j = 0; j < kExplainedSpreads.size(); ++j) {
      const WholeCovariance expected = whole_covariance(rows, [&](const CrossedRow& a, const CrossedRow& b) {
        return crossed_spread(kExplainedSpreads[i]) * same(a.first, b.first) +
               crossed_spread(kExplainedSpreads[j]) * same(a.second, b.second);
      });
      EXPECT_NEAR(got[i * kExplainedSpreads.size() + j], expected.gain_of_x(), 1e-6) << i << " " << j;
    }
  }
}

TEST(CrossedLabels, EvidenceIsTheMeanOverSpreads) {
  const CrossedGains gains = Questions(some_crossed_rows(25, 5, 3)).gains(Crossing::apart);
  const CrossedEvidence evidence = crossed_evidence(gains);
  double both = 0, first = 0, beside = 0;
  for (std::size_t k = 1; k < kCrossedSpreads; ++k) {
    first += std::exp(gains[k][0].gain) / 6;
    beside += std::exp(gains[2][k].gain) / 6;
    for (std::size_t l = 1; l < kCrossedSpreads; ++l) both += std::exp(gains[k][l].gain) / 36;
  }
  EXPECT_NEAR(evidence.first, std::log(first), 1e-9);
  EXPECT_NEAR(evidence.both, std::log(both), 1e-9);
  EXPECT_NEAR(evidence.of_first[1], std::log(beside), 1e-9);
}

// A row without a label, or without a value, counts as if it were not there.
TEST(CrossedLabels, PassOverWhatIsMissing) {
  CrossedRows rows = some_crossed_rows(25, 5, 3);
  const CrossedGains expected = Questions(rows).gains(Crossing::apart);
  rows.insert(rows.begin() + 4, {NAN, 1, 1, 55});
  rows.insert(rows.begin() + 8, {4, NAN, 1, 55});
  rows.insert(rows.begin() + 9, {17, 2, 1, NAN});  // a label without a value
  rows.push_back({4, 1, 1, std::numeric_limits<double>::infinity()});
  const CrossedGains got = Questions(rows).gains(Crossing::apart);
  for (std::size_t k = 0; k < kCrossedSpreads; ++k) {
    for (std::size_t l = 0; l < kCrossedSpreads; ++l)
      EXPECT_NEAR(got[k][l].gain, expected[k][l].gain, 1e-9) << k << " " << l;
  }
}

TEST(CrossedLabels, OfTooManyThoseWithTheMostRowsAreLookedAt) {
  CrossedRows all, most;
  Rng rng(5, Purpose::test, 12);
  for (int i = 0; i < 800; ++i) {
    // Labels 0 to 63 have more rows than 64 to 99, in both columns.
    const double first = i % 3 == 0 ? 64 + i / 3 % 36 : i % 64,
                 second = i % 5 == 0 ? 64 + i / 5 % 36 : i / 2 % 64;
    all.push_back({first, second, 0, std::sin(first) + rng.normal()});
    if (second < 64) most.push_back(all.back());
  }
  // One column is looked at whole, the other in part.
  Questions questions(all);
  const TwoLabels labels = questions.labels(Crossing::apart);
  EXPECT_EQ(std::min(labels.first_count, labels.second_count), kMostCrossedLabels);
  const CrossedGains got = questions.gains(Crossing::apart),
                     expected = Questions(most).gains(Crossing::apart);
  EXPECT_NEAR(got[3][3].gain, expected[3][3].gain, 1e-6);
  EXPECT_EQ(questions.labels(Crossing::alike).first_count, kMostCrossedLabels);
}

TEST(CrossedLabels, OddDataGiveFiniteNumbers) {
  for (const CrossedRows& rows :
       std::vector<CrossedRows>{{},
                                {{1, 1, 0, 5}},
                                {{1, 1, 0, 5}, {2, 1, 1, 5}},
                                {{1, 1, 0, 5}, {1, 2, 1, 6}},
                                {{NAN, 1, 0, 5}, {1, NAN, 1, 6}},
                                {{1, 1, 2, 2}, {1, 2, 2, 2}, {2, 1, 5, 5}, {2, 2, 5, 5}},
                                {{1, 2, -1e300, 1e300}, {2, 1, 1e300, -1e300}, {2, 2, 0, 0}}}) {
    Questions questions(rows);
    for (std::size_t k = 0; k < kCrossings.size(); ++k) {
      for (const auto& row : questions.gains(static_cast<Crossing>(k))) {
        for (const CrossedGain& of : row) {
          EXPECT_TRUE(std::isfinite(of.gain) && std::isfinite(of.mean) && std::isfinite(of.error));
        }
      }
    }
    for (const double gain : questions.explained()) EXPECT_TRUE(std::isfinite(gain));
  }
}

// Of rows with these labels, drawn anew for each data set.
struct TrueEffects {
  std::array<double, 7> first, second;
  std::array<std::array<double, 7>, 7> pair;

  explicit TrueEffects(Rng& rng) {
    const auto draw = [&](auto& all) {
      for (double& effect : all) effect = rng.normal();
    };
    draw(first);
    draw(second);
    for (auto& of_label : pair) draw(of_label);
  }
};

// 200 data sets of 80 rows (first, second, y) of labels 1 to 6: y as `make(effects, a, b)` says, beside
// noise.
template <class Make>
std::vector<Crossing> crossings_of(Make make, const LabelGroups& groups = {}) {
  Rng rng(9, Purpose::test, 13);
  std::vector<float> x;
  std::vector<std::int64_t> offsets = {0};
  for (int set = 0; set < 200; ++set) {
    const TrueEffects effects(rng);
    for (int i = 0; i < 80; ++i) {
      const auto a = static_cast<std::size_t>(rng.uniform(1, 7));
      const auto b = static_cast<std::size_t>(rng.uniform(1, 7));
      x.push_back(static_cast<float>(a));
      x.push_back(static_cast<float>(b));
      x.push_back(static_cast<float>(make(effects, a, b) + rng.normal()));
    }
    offsets.push_back(offsets.back() + 80);
  }
  std::vector<Crossing> ways;
  for (const CrossedColumns& found :
       find_crossings({{x.data(), offsets.back(), 3, 3}, offsets.data(), 200}, {0, 1}, groups)) {
    EXPECT_TRUE(found.same_columns({0, 1}));
    ways.push_back(found.crossing);
  }
  return ways;
}

// By chance fewer than one data set in 55 says clearly more in any other way; six of 200 are asked for.
TEST(CrossedLabels, AreFoundToBeCrossedInMoreThanOneWay) {
  using List = std::vector<Crossing>;
  using E = const TrueEffects&;
  using Label = std::size_t;
  const List apart = {Crossing::apart};
  EXPECT_EQ(crossings_of([](E, Label, Label) { return 0.0; }), apart);
  EXPECT_EQ(crossings_of([](E e, Label a, Label b) { return e.first[a] + e.second[b]; }), apart) << "readers";
  EXPECT_EQ(crossings_of([](E e, Label a, Label) { return e.first[a]; }), apart);
  const auto parents = [](E e, Label a, Label b) { return e.first[a] + e.first[b]; };
  const auto teams = [](E e, Label a, Label b) { return e.first[a] - e.first[b]; };
  EXPECT_EQ(crossings_of(parents), (List{Crossing::apart, Crossing::alike}));
  EXPECT_EQ(crossings_of(teams), (List{Crossing::apart, Crossing::opposed}));
  EXPECT_EQ(crossings_of(teams, {{0, 1}}), (List{Crossing::apart, Crossing::opposed}));
  EXPECT_EQ(crossings_of(teams, {{0}, {1}}), apart) << "said to name other things";
  // Pupils of several classes, with and without differences between these.
  const auto pupils = [](E e, Label a, Label b) { return 3 * e.first[a] + e.pair[a][b]; };
  EXPECT_EQ(crossings_of(pupils), (List{Crossing::apart, Crossing::in_first}));
  EXPECT_EQ(crossings_of([](E e, Label a, Label b) { return 3 * e.second[b] + e.pair[a][b]; }),
            (List{Crossing::apart, Crossing::in_second}));
  EXPECT_EQ(crossings_of([](E e, Label a, Label b) { return e.pair[a][b]; }),
            (List{Crossing::apart, Crossing::in_first, Crossing::in_second}));
}

}  // namespace
}  // namespace occam
