#include "occam/check/missed/rich_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

RichStatistics learned(const std::vector<float>& rows, std::vector<std::string> names, bool ordered) {
  const auto D = static_cast<std::int64_t>(names.size());
  const std::int64_t offsets[] = {0, static_cast<std::int64_t>(rows.size()) / D};
  return RichStatistics::learn({{rows.data(), offsets[1], D, D}, offsets, 1}, names, ordered);
}

std::vector<float> statistics(const RichStatistics& rich, const std::vector<float>& rows, std::int64_t D) {
  std::vector<float> out(static_cast<std::size_t>(rich.size()), NAN);
  rich.of({rows.data(), static_cast<std::int64_t>(rows.size()) / D, D, D}, out);
  return out;
}

// As it was before asinh was taken of it.
double named(const RichStatistics& rich, const std::vector<float>& values, const std::string& name) {
  const auto found = std::find(rich.names().begin(), rich.names().end(), name);
  EXPECT_NE(found, rich.names().end()) << name;
  return found == rich.names().end()
             ? NAN
             : std::sinh(static_cast<double>(values[static_cast<std::size_t>(found - rich.names().begin())]));
}

std::vector<float> normals(std::size_t count) {
  Rng rng(1, Purpose::test, 0);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal()));
  return values;
}

TEST(RichStatistics, HaveOneNameEach) {
  for (const bool ordered : {false, true}) {
    const RichStatistics rich = learned(normals(300), {"a", "b", "c"}, ordered);
    const std::set<std::string> names(rich.names().begin(), rich.names().end());
    EXPECT_EQ(names.size(), rich.names().size()) << ordered;
    for (const float value : statistics(rich, normals(30), 3)) EXPECT_TRUE(std::isfinite(value));
  }
}

// Half of the symbols repeat the one before last.
TEST(RichStatistics, SeeHowFarBackSymbolsRemember) {
  Rng rng(1, Purpose::test, 1);
  std::vector<float> free, delayed;
  for (std::size_t i = 0; i < 200; ++i) {
    free.push_back(std::floor(static_cast<float>(3 * rng.uniform())));
    delayed.push_back(i % 4 < 2 || i < 2 ? free.back() : delayed[i - 2]);
  }
  const RichStatistics rich = learned(free, {"s"}, true);
  const auto gain = [&](const std::vector<float>& rows, const char* name) {
    return named(rich, statistics(rich, rows, 1), name);
  };
  EXPECT_LT(gain(free, "evidence that s depends on the one before"), 0);
  EXPECT_LT(gain(free, "evidence that s depends on the two before"), 0);
  EXPECT_GT(gain(delayed, "evidence that s depends on the two before"),
            10 + gain(delayed, "evidence that s depends on the one before"));
}

// Symbols that stay for three rows or more, beside some that may change at once.
TEST(RichStatistics, SeeForHowLongSymbolsStay) {
  Rng rng(1, Purpose::test, 2);
  std::vector<float> free, lasting;
  for (int i = 0, age = 1; i < 400; ++i, ++age) {
    free.push_back(rng.uniform() < 0.5 ? 0.0f : 1.0f);
    const bool leaves = age > 3 && rng.uniform() < 0.5;
    lasting.push_back(lasting.empty() ? 0.0f : leaves ? 1 - lasting.back() : lasting.back());
    if (leaves) age = 1;
  }
  const RichStatistics rich = learned(free, {"s"}, true);
  const auto ageing = [&](const std::vector<float>& rows) {
    return named(rich, statistics(rich, rows, 1),
                 "evidence that how long s stays 1 depends on how long it has");
  };
  EXPECT_LT(ageing(free), 0);
  EXPECT_GT(ageing(lasting), 10);
}

// Answers that begin at once behind a delay, beside some whose share rises slowly: whatever the delay.
TEST(RichStatistics, SeeWhetherValuesCrowdAtAnEnd) {
  Rng rng(1, Purpose::test, 5);
  std::vector<float> at_once, slowly;
  for (int i = 0; i < 400; ++i) {
    at_once.push_back(static_cast<float>(200 + 100 * rng.gamma(1)));
    slowly.push_back(static_cast<float>(300 + 50 * rng.gamma(4)));
  }
  const RichStatistics rich = learned(at_once, {"time"}, false);
  const auto crowd = [&](const std::vector<float>& rows, const char* end) {
    return named(rich, statistics(rich, rows, 1),
                 (std::string("mean log distance of time from the ") + end).c_str());
  };
  EXPECT_NEAR(crowd(at_once, "least"), -0.577, 0.15) << "the mean logarithm of exponential times";
  EXPECT_GT(crowd(slowly, "least"), -0.3);
  for (std::vector<float>* rows : {&at_once, &slowly}) {
    for (float& x : *rows) x = -x;
  }
  EXPECT_NEAR(crowd(at_once, "largest"), -0.577, 0.15);
  EXPECT_GT(crowd(slowly, "largest"), -0.3);
}

// Rain on some days, in spells or strewn: nothing that rounding or a limit of detection would not bring, too.
TEST(RichStatistics, SeeWhatComesAgainAndAgainApartFromTheRest) {
  Rng rng(1, Purpose::test, 3);
  std::vector<float> strewn, spells;
  for (int i = 0; i < 400; ++i) {
    strewn.push_back(rng.uniform() < 0.5 ? 0 : static_cast<float>(rng.gamma(0.6)));
    spells.push_back(i / 20 % 2 == 0 ? 0 : static_cast<float>(rng.gamma(0.6)));
  }
  const RichStatistics rich = learned(strewn, {"rain"}, true);
  const auto memory = [&](const std::vector<float>& rows) {
    return named(rich, statistics(rich, rows, 1), "evidence that (rain = 0) depends on the one before");
  };
  EXPECT_LT(memory(strewn), 3);
  EXPECT_GT(memory(spells), 50);
  const std::vector<float> values = statistics(rich, strewn, 1);
  EXPECT_NEAR(named(rich, values, "mean of log (rain but for 0)"), -1.54, 0.4) << "digamma(0.6)";
  const std::vector<float> dry(30, 0);
  for (const float value : statistics(rich, dry, 1)) EXPECT_TRUE(std::isfinite(value));
}

// What is apart comes in addition, however many columns there are then.
TEST(RichStatistics, LoseNothingByWhatComesAgainAndAgain) {
  const std::vector<float> rows = normals(1600);
  std::vector<float> with_zeros = rows;
  for (std::size_t i = 0; i < rows.size(); i += 12) with_zeros[i] = with_zeros[i + 1] = 0;
  const std::vector<std::string> columns = {"a", "b", "c", "d"};
  const RichStatistics plain = learned(rows, columns, true), apart = learned(with_zeros, columns, true);
  ASSERT_GT(apart.size(), plain.size());
  for (std::int64_t i = 0; i < plain.size(); ++i)
    EXPECT_EQ(apart.names()[static_cast<std::size_t>(i)], plain.names()[static_cast<std::size_t>(i)]);
  const std::set<std::string> names(apart.names().begin(), apart.names().end());
  EXPECT_EQ(names.size(), apart.names().size());
  EXPECT_TRUE(names.contains("mean of (b = 0)"));
  for (const float value : statistics(apart, with_zeros, 4)) EXPECT_TRUE(std::isfinite(value));
}

TEST(RichStatistics, SeeWaves) {
  std::vector<float> rows = normals(96);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] += 2 * std::sin(2 * std::numbers::pi_v<float> * static_cast<float>(i) / 6);
  const RichStatistics rich = learned(normals(300), {"x"}, true);
  const std::vector<float> values = statistics(rich, rows, 1);
  EXPECT_NEAR(named(rich, values, "frequency of the strongest wave of x"), 8, 1e-3);
  EXPECT_GT(named(rich, values, "strength of waves of x with period 6"), 20);
  EXPECT_LT(named(rich, values, "strength of waves of x with period 4"), 5);
}

// y = x1 + x2 exactly, in columns that are not correlated with each other.
TEST(RichStatistics, SeeWhatColumnsExplainTogether) {
  std::vector<float> rows;
  for (int i = 0; i < 40; ++i) {
    const float a = i % 2 == 0 ? 1 : -1, b = i / 2 % 2 == 0 ? 1 : -1, c = i / 4 % 2 == 0 ? 1 : -1;
    rows.insert(rows.end(), {a, b, c, a + b});
  }
  const RichStatistics rich = learned(normals(400), {"x1", "x2", "x3", "y"}, false);
  const std::vector<float> values = statistics(rich, rows, 4);
  // One column explains half of the variance, two all of it.
  EXPECT_NEAR(named(rich, values, "evidence that y depends on another column"), 20 * std::log(2), 0.01);
  EXPECT_GT(named(rich, values, "evidence that y depends on more than one column"), 200);
  EXPECT_NEAR(named(rich, values, "evidence that x3 depends on all other columns"), 0, 0.01);
}

TEST(RichStatistics, SeeLinesCurvesAndChanges) {
  std::vector<float> curve, series;
  for (int i = -20; i <= 20; ++i) {
    const auto x = static_cast<float>(i) / 10;
    curve.insert(curve.end(), {x, x * x});
    series.push_back((i <= 4 ? 0.0f : 5.0f) + static_cast<float>(i % 2) * 0.1f);
  }
  const RichStatistics two = learned(normals(400), {"x", "y"}, false);
  const std::vector<float> of_curve = statistics(two, curve, 2);
  EXPECT_NEAR(named(two, of_curve, "evidence for a slope of y on x"), 0, 0.01);
  EXPECT_GT(named(two, of_curve, "evidence for a curve of y on x"), 100);
  const RichStatistics one = learned(normals(400), {"x"}, true);
  const std::vector<float> of_series = statistics(one, series, 1);
  EXPECT_NEAR(named(one, of_series, "place of the change of the level of x"), 25.0 / 41, 1e-4);
  EXPECT_GT(named(one, of_series, "evidence for a change of the level of x at the best place"), 10);
}

TEST(RichStatistics, SeeAutoregressionsThatExplode) {
  std::vector<float> series = {1e-3f, 2e-3f};
  while (series.size() < 100)
    series.push_back(1.9f * series[series.size() - 1] - 0.1f * series[series.size() - 2]);
  const RichStatistics rich = learned(normals(400), {"x"}, true);
  const std::vector<float> values = statistics(rich, series, 1);
  for (const float value : values) ASSERT_TRUE(std::isfinite(value));
  EXPECT_GT(named(rich, values, "evidence that x depends on 1 earlier values around zero"), 100);
}

// One series that follows another a step later, and choices that are repeated after a reward only.
TEST(RichStatistics, SeeWhatLeadsAndWhatDecides) {
  Rng rng(1, Purpose::test, 4);
  std::vector<float> apart, led, decided;
  double before = 0;
  float choice = 0;
  bool rewarded = false;
  for (std::size_t i = 0; i < 200; ++i) {
    const double x = rng.normal(), y = rng.normal();
    apart.insert(apart.end(), {static_cast<float>(x), static_cast<float>(y)});
    led.insert(led.end(), {static_cast<float>(x), static_cast<float>(0.5 * before + y)});
    before = x;
    choice = rewarded ? choice : 1 - choice;
    rewarded = rng.uniform() < 0.5;
    decided.insert(decided.end(), {rewarded ? 1.0f : 0.0f, choice});
  }
  const RichStatistics rich = learned(apart, {"x", "y"}, true);
  const auto gained = [&](const std::vector<float>& rows, const char* name) {
    return named(rich, statistics(rich, rows, 2), name);
  };
  EXPECT_LT(gained(apart, "evidence that x leads y"), 6);
  EXPECT_GT(gained(led, "evidence that x leads y"), 12);  // 200 observations of r = .45 gain 22 on average
  EXPECT_LT(gained(led, "evidence that y leads x"), 6);
  EXPECT_GT(gained(decided, "evidence that x decides how y goes on"), 100);
  EXPECT_LT(gained(led, "evidence that x decides how y goes on"), 6);
}

TEST(RichStatistics, SeeHowLateOneColumnFollowsOnAnother) {
  Rng rng(9, Purpose::test, 4);
  std::vector<float> rows;
  for (int i = 0; i < 200; ++i) {
    const double before = i >= 5 ? 0.6 * rows[static_cast<std::size_t>(2 * (i - 5))] : 0;
    const double own = i > 0 ? 0.5 * rows[static_cast<std::size_t>(2 * i - 1)] : 0;
    for (const double x : {rng.normal(), before + own + rng.normal()}) rows.push_back(static_cast<float>(x));
  }
  const RichStatistics rich = learned(rows, {"x", "y"}, true);
  const std::vector<float> seen = statistics(rich, rows, 2);
  // 200 observations of r = .5 gain 29 nats on average.
  EXPECT_GT(named(rich, seen, "evidence that y follows on x after 5 rows"), 12);
  EXPECT_LT(named(rich, seen, "evidence that y follows on x after 4 rows"), 6);
  EXPECT_LT(named(rich, seen, "evidence that x follows on y at all"), 8);
  EXPECT_EQ(named(rich, seen, "evidence that y follows on x at all"),
            named(rich, seen, "evidence that y follows on x after 5 rows"));
}

// At times 1 apart, or 3: the second column wanders, the third does not.
TEST(RichStatistics, SeeHowLongAColumnIsRememberedWhereAnotherSaysWhen) {
  Rng rng(9, Purpose::test, 3);
  std::vector<float> rows;
  double at = 0, wanders = 0;
  for (int i = 0; i < 100; ++i) {
    const double step = i % 2 == 0 ? 1 : 3, kept = std::exp(-step / 4);
    at += step;
    wanders = kept * wanders + std::sqrt(1 - kept * kept) * rng.normal();
    for (const double x : {at, wanders, rng.normal()}) rows.push_back(static_cast<float>(x));
  }
  const RichStatistics rich = learned(rows, {"when", "x", "y"}, true);
  const std::vector<float> seen = statistics(rich, rows, 3);
  EXPECT_GT(named(rich, seen, "evidence that x is remembered"), 8);
  EXPECT_LT(named(rich, seen, "evidence that y is remembered"), 3);
  EXPECT_GT(named(rich, seen, "evidence that x is remembered for 4.02"),
            named(rich, seen, "evidence that x is remembered for 64.3"));
}

// Times 0 to 2 apart: the second column comes back after 9, the third does not.
TEST(RichStatistics, SeeThatAColumnComesBackWhereAnotherSaysWhen) {
  Rng rng(9, Purpose::test, 5);
  std::vector<float> rows;
  double at = 0;
  for (int i = 0; i < 80; ++i) {
    at += 2 * rng.uniform();
    for (const double x : {at, 1.5 * std::sin(2 * 3.14159265 * at / 9) + rng.normal(), rng.normal()})
      rows.push_back(static_cast<float>(x));
  }
  const RichStatistics rich = learned(rows, {"when", "x", "y"}, true);
  const std::vector<float> seen = statistics(rich, rows, 3);
  EXPECT_GT(named(rich, seen, "evidence that x comes back"), 10);
  EXPECT_LT(named(rich, seen, "evidence that y comes back"), 4);
}

// Strewn over a square: the third column has hills and valleys, the fourth has none.
TEST(RichStatistics, SeeThatAColumnIsAlikeAtNearPlaces) {
  Rng rng(9, Purpose::test, 6);
  std::vector<float> rows;
  for (int i = 0; i < 80; ++i) {
    const double x = rng.uniform(), y = rng.uniform();
    for (const double value :
         {x, y, 2 * std::sin(9 * x) * std::sin(9 * y) + 0.5 * rng.normal(), rng.normal()})
      rows.push_back(static_cast<float>(value));
  }
  const std::int64_t offsets[] = {0, 80};
  const RichStatistics rich = RichStatistics::learn({{rows.data(), 80, 4, 4}, offsets, 1},
                                                    {"x", "y", "height", "noise"}, false, {true, true});
  const std::vector<float> seen = statistics(rich, rows, 4);
  EXPECT_GT(named(rich, seen, "evidence that height is alike at near places beyond a slope"), 10);
  EXPECT_LT(named(rich, seen, "evidence that noise is alike at near places beyond a slope"), 2);
}

// Ten people, twelve rows each: they differ in y, and not in z.
TEST(RichStatistics, SeeThatAColumnDiffersBetweenTheLabelsOfAnother) {
  Rng rng(9, Purpose::test, 4);
  std::vector<float> rows;
  std::vector<double> own;
  for (int k = 0; k < 10; ++k) own.push_back(1.5 * rng.normal());
  for (int i = 0; i < 120; ++i) {
    const int k = static_cast<int>(rng.uniform() * 10);
    for (const double x : {k + 1.0, own[static_cast<std::size_t>(k)] + rng.normal(), rng.normal()})
      rows.push_back(static_cast<float>(x));
  }
  const RichStatistics rich = learned(rows, {"person", "y", "z"}, false);
  const std::vector<float> seen = statistics(rich, rows, 3);
  EXPECT_GT(named(rich, seen, "evidence that y differs between values of person"), 8);
  EXPECT_LT(named(rich, seen, "evidence that z differs between values of person"), 3);
}

// Eight readers of ten texts, 160 ratings: readers differ three times as much as texts do.
TEST(RichStatistics, SeeWhatOneLabelSaysBesideAnother) {
  Rng rng(9, Purpose::test, 5);
  std::vector<double> reader, text;
  for (int k = 0; k < 10; ++k) {
    reader.push_back(3 * rng.normal());
    text.push_back(rng.normal());
  }
  std::vector<float> rows;
  for (int i = 0; i < 160; ++i) {
    const auto a = static_cast<std::size_t>(rng.uniform() * 8),
               b = static_cast<std::size_t>(rng.uniform() * 10);
    for (const double x :
         {static_cast<double>(a + 1), static_cast<double>(b + 1), reader[a] + text[b] + rng.normal(),
          reader[a] - reader[b % 8] + rng.normal(), reader[a] + rng.normal()})
      rows.push_back(static_cast<float>(x));
  }
  const std::int64_t offsets[] = {0, 160};
  const RichStatistics rich = RichStatistics::learn(
      {{rows.data(), 160, 5, 5}, offsets, 1}, {"reader", "text", "y", "teams", "one"}, false, {true, true});
  const std::vector<float> seen = statistics(rich, rows, 5);
  EXPECT_GT(named(rich, seen, "evidence that y differs by text beside reader"), 5);
  EXPECT_LT(named(rich, seen, "evidence that one differs by text beside reader"), 1);
}

// Five classes of four pupils, numbered in each class anew: their numbers alone say nothing, unless they are
// declared to be labels.
TEST(RichStatistics, SeePairsOfDeclaredLabels) {
  Rng rng(9, Purpose::test, 6);
  std::vector<float> rows;
  std::array<std::array<double, 4>, 5> own;
  for (auto& of_class : own) {
    for (double& one : of_class) one = 2 * rng.normal();
  }
  for (int i = 0; i < 160; ++i) {
    const auto a = static_cast<std::size_t>(i % 5), b = static_cast<std::size_t>(i / 5 % 4);
    for (const double x : {static_cast<double>(a + 1), static_cast<double>(b + 1), own[a][b] + rng.normal()})
      rows.push_back(static_cast<float>(x));
  }
  const std::int64_t offsets[] = {0, 160};
  const std::vector<std::string> names = {"class", "pupil", "score"};
  const RichStatistics rich =
      RichStatistics::learn({{rows.data(), 160, 3, 3}, offsets, 1}, names, false, {true, true}, {{0}, {1}});
  const std::vector<float> seen = statistics(rich, rows, 3);
  const bool beside_class =
      std::find(rich.names().begin(), rich.names().end(),
                "evidence that score differs by pairs of class and pupil beside class") != rich.names().end();
  const std::string column = beside_class ? "class" : "pupil";
  EXPECT_GT(named(rich, seen, "evidence that score differs by pairs of class and pupil beside " + column),
            20);
}

// What bends and steps over x, and what is a line of it.
TEST(RichStatistics, SeeWhatIsMoreThanALineOfAnotherColumn) {
  Rng rng(9, Purpose::test, 11);
  std::vector<float> rows;
  for (int i = 0; i < 400; ++i) {
    const double x = rng.uniform(0, 10);
    for (const double value :
         {x, 2 * std::max(0.0, x - 4) + rng.normal(), (x > 6 ? 3 : 0) + rng.normal(), x + rng.normal()})
      rows.push_back(static_cast<float>(value));
  }
  const RichStatistics rich = learned(rows, {"x", "bent", "stepped", "line"}, false);
  const std::vector<float> seen = statistics(rich, rows, 4);
  EXPECT_GT(named(rich, seen, "evidence for a bend rather than a curve of bent over x"), 1);
  EXPECT_GT(named(rich, seen, "evidence for a step rather than a bend of stepped over x"), 3);
  const auto& names = rich.names();
  EXPECT_EQ(std::find(names.begin(), names.end(), "evidence for a bend of line over x"), names.end());
}

// Three columns of few values: a and b follow on c, and on each other only through it.
TEST(RichStatistics, SeeWhatColumnsOfFewValuesSayOfEachOther) {
  Rng rng(9, Purpose::test, 12);
  std::vector<float> rows;
  for (int i = 0; i < 200; ++i) {
    const double c = std::floor(rng.uniform(0, 2));
    for (const double value : {rng.uniform() < 0.8 ? c : 1 - c, rng.uniform() < 0.8 ? c : 1 - c, c})
      rows.push_back(static_cast<float>(value));
  }
  const RichStatistics rich = learned(rows, {"a", "b", "c"}, false);
  const std::vector<float> seen = statistics(rich, rows, 3);
  EXPECT_GT(named(rich, seen, "evidence that a and c depend on each other"), 10);
  EXPECT_GT(named(rich, seen, "evidence that a and c depend on each other beside b"), 10);
  EXPECT_GT(named(rich, seen, "evidence that a and b depend on each other"), 1);
  EXPECT_LT(named(rich, seen, "evidence that a and b depend on each other beside c"), 0);
}

// A series whose law changes half way, one that follows on itself otherwise where it was large, and one that
// comes back every eleven rows.
TEST(RichStatistics, SeeRegimesAndPeriodsOfSeries) {
  Rng rng(9, Purpose::test, 13);
  std::vector<float> rows;
  double changed = 0, bent = 0;
  for (int i = 0; i < 300; ++i) {
    changed = (i < 150 ? -0.7 : 0.7) * changed + rng.normal();
    bent = (bent > 0 ? -0.7 : 0.7) * bent + rng.normal();
    const double wave = std::sin(2 * std::numbers::pi * i / 11) + rng.normal();
    for (const double value : {changed, bent, wave}) rows.push_back(static_cast<float>(value));
  }
  const RichStatistics rich = learned(rows, {"changed", "bent", "wave"}, true);
  const std::vector<float> seen = statistics(rich, rows, 3);
  EXPECT_GT(named(rich, seen, "evidence that changed follows on itself otherwise from some time on"), 10);
  EXPECT_GT(named(rich, seen, "evidence for that rather than for where changed was large"), 10);
  EXPECT_GT(named(rich, seen, "evidence that bent follows on itself otherwise where it was large"), 10);
  EXPECT_LT(named(rich, seen, "evidence for that rather than for where bent was large"), -10);
  EXPECT_GT(named(rich, seen, "evidence that wave comes back after 8 to 16"), 10);
  EXPECT_LT(named(rich, seen, "evidence that changed comes back after 8 to 16"), 3);
}

// Twelve people, ten rows each, one after the other: slopes differ, and one column carries over.
TEST(RichStatistics, SeeSlopesAndWhatCarriesOverWithinLabels) {
  Rng rng(9, Purpose::test, 14);
  std::vector<float> rows;
  double slope = 0, swing = 0;
  for (int i = 0; i < 120; ++i) {
    if (i % 10 == 0) slope = 2 * rng.normal();
    swing = (i % 10 == 0 ? 0 : 0.9 * swing) + rng.normal();
    const double x = rng.normal();
    for (const double value : {i / 10 + 1.0, x, slope * x + rng.normal(), swing})
      rows.push_back(static_cast<float>(value));
  }
  const std::int64_t offsets[] = {0, 120};
  const RichStatistics rich = RichStatistics::learn({{rows.data(), 120, 4, 4}, offsets, 1},
                                                    {"person", "x", "y", "mood"}, true, {}, {{0}});
  const std::vector<float> seen = statistics(rich, rows, 4);
  EXPECT_GT(named(rich, seen, "evidence that slopes of y on x differ between values of person"), 10);
  EXPECT_LT(named(rich, seen, "evidence that slopes of mood on x differ between values of person"), 3);
  EXPECT_GT(named(rich, seen, "evidence that mood carries over within values of person"), 5);
  EXPECT_GT(named(rich, seen, "evidence that y is spread more widely for some values of person"), 3);
  EXPECT_LT(named(rich, seen, "evidence that x is spread more widely for some values of person"), 2);
}

// Thirty pairs of people who speak of each other.
TEST(RichStatistics, SeeWhatIsReturned) {
  Rng rng(9, Purpose::test, 15);
  std::vector<float> rows;
  for (int i = 0; i < 30; ++i) {
    const double a = i % 6 + 1, b = 7 + i / 6, said = rng.normal();
    for (const double value : {a, b, said, rng.normal(), b, a, said + 0.3 * rng.normal(), rng.normal()})
      rows.push_back(static_cast<float>(value));
  }
  const std::int64_t offsets[] = {0, 60};
  const RichStatistics rich = RichStatistics::learn({{rows.data(), 60, 4, 4}, offsets, 1},
                                                    {"from", "to", "liking", "noise"}, false, {}, {{0, 1}});
  const std::vector<float> seen = statistics(rich, rows, 4);
  const std::string between = " goes with what it is the other way around between from and to";
  EXPECT_GT(named(rich, seen, "evidence that liking" + between), 5);
  EXPECT_LT(std::abs(named(rich, seen, "evidence that noise" + between)), 3);
}

TEST(RichStatistics, AreFiniteForStrangeData) {
  const float huge = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> cases = {{0, 0},
                                                 {huge, -huge, -huge, huge, huge, huge},
                                                 {NAN, NAN, NAN, NAN},
                                                 {NAN, 1, 2, NAN, 3, 4, 5, NAN},
                                                 {1e-38f, 1e30f, 2e-38f, -1e30f}};
  for (const bool ordered : {false, true}) {
    for (const auto& [name, sample] :
         {std::pair{"usual", normals(400)}, std::pair{"huge", std::vector<float>{huge, 0, -huge, 1, 5, 1}},
          std::pair{"constant", std::vector<float>(20, 3)}, std::pair{"none", std::vector<float>(20, NAN)}}) {
      const RichStatistics rich = learned(sample, {"a", "b"}, ordered);
      for (const std::vector<float>& rows : cases) {
        const std::vector<float> values = statistics(rich, rows, 2);
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_TRUE(std::isfinite(values[i])) << name << ": " << rich.names()[i];
        }
      }
    }
  }
}

// Missing values are left out, not counted as something.
TEST(RichStatistics, LeaveMissingValuesOut) {
  const RichStatistics rich = learned(normals(400), {"a"}, false);
  const std::vector<float> all = statistics(rich, {1, 2, 4}, 1);
  const std::vector<float> some = statistics(rich, {1, NAN, 2, 4, NAN}, 1);
  for (const char* name : {"mean of a", "log variance of a", "normal against Laplace tails of a"}) {
    EXPECT_FLOAT_EQ(static_cast<float>(named(rich, all, name)), static_cast<float>(named(rich, some, name)));
  }
}

}  // namespace
}  // namespace occam
