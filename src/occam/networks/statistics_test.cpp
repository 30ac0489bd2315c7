#include "occam/networks/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"
#include "occam/data/periods.hpp"
#include "occam/data/spreads.hpp"

namespace occam {
namespace {

struct Series {
  std::vector<double> base;
  std::vector<float> raw;

  explicit Series(const std::vector<double>& values) : base(values), raw(values.begin(), values.end()) {}
  std::vector<double> statistics(StatisticsList list = kNewestStatistics) const {
    const Statistics statistics({{0, true}}, list);
    std::vector<double> out(static_cast<std::size_t>(statistics.size()));
    Workspace workspace;
    const auto n = static_cast<std::int64_t>(base.size());
    statistics.of({base.data(), n, 1, 1}, {raw.data(), n, 1, 1}, out.data(), workspace);
    return out;
  }
};

std::vector<double> autoregressive(double phi, std::int64_t n) {
  Rng rng(3, Purpose::test, 0);
  std::vector<double> x = {rng.normal()};
  for (std::int64_t t = 1; t < n; ++t) x.push_back(phi * x.back() + rng.normal());
  return x;
}

// The order in which statistics of one column come: mean, spread, autocorrelations (two numbers each), ...
constexpr std::size_t kFirstLag = 2;

TEST(Statistics, FindTheCoefficientOfAnAutoregression) {
  for (const double phi : {-0.6, 0.0, 0.8, 1.05}) {
    const std::vector<double> s = Series(autoregressive(phi, 400)).statistics();
    const bool found =
        std::any_of(s.begin(), s.end(), [phi](double x) { return std::abs(std::sinh(x) - phi) < 0.08; });
    EXPECT_TRUE(found) << phi;
    if (std::abs(phi) < 1) {
      EXPECT_NEAR(std::tanh(s[kFirstLag]), phi, 0.1);
    }
  }
}

// Waves, from the longest to two observations, stand before 72 gains, 60 of which are theirs.
TEST(Statistics, FindWaves) {
  std::vector<double> x = autoregressive(0, 96);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] += 2 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 6);
  const std::vector<double> s = Series(x).statistics(StatisticsList::with_gains);
  const auto waves = std::vector<double>(s.end() - 96, s.end() - 72);
  EXPECT_EQ(std::max_element(waves.begin(), waves.end()) - waves.begin(), 48 / 6 - 1);
  const auto gains = std::vector<double>(s.end() - 61, s.end() - 1);
  EXPECT_EQ(std::min_element(gains.begin(), gains.end()) - gains.begin(), 120 / 6 - 1);
}

// Three symbols as indicators: every other pair of them is repeated.
TEST(Statistics, TellHowFarBackSymbolsRemember) {
  Rng rng(3, Purpose::test, 1);
  std::vector<std::int64_t> codes;
  for (std::size_t i = 0; i < 300; ++i)
    codes.push_back(i % 4 < 2 ? static_cast<std::int64_t>(3 * rng.uniform()) : codes[i - 2]);
  std::vector<double> base;
  std::vector<float> raw;
  for (const std::int64_t code : codes) {
    for (std::int64_t k = 0; k < 3; ++k) base.push_back(code == k ? 1 : 0);
    raw.push_back(static_cast<float>(code));
  }
  const Statistics statistics({{0, false}, {0, false}, {0, false}});
  std::vector<double> out(static_cast<std::size_t>(statistics.size()));
  Workspace workspace;
  statistics.of({base.data(), 300, 3, 3}, {raw.data(), 300, 1, 1}, out.data(), workspace);
  // Before what a change of three shares would gain: gains of one and of two back, in three forms.
  const double* const gains = out.data() + out.size() - 3 - 6;
  EXPECT_GT(std::sinh(gains[3]), 10 + std::sinh(gains[0]));
  EXPECT_NEAR(gains[5] * 300, std::sinh(gains[3]), 1e-9);
}

// The second column follows on the first.
struct TwoSeries {
  static constexpr std::int64_t n = 120;
  std::vector<double> base;
  std::vector<float> raw;

  TwoSeries() {
    Rng rng(3, Purpose::test, 4);
    double first = 0, second = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      second = 0.4 * second + 0.5 * first + rng.normal();
      first = 0.3 * first + rng.normal();
      base.insert(base.end(), {first, second});
    }
    raw.assign(base.begin(), base.end());
  }
  std::vector<double> statistics(StatisticsList list = kNewestStatistics) const {
    const Statistics statistics({{0, true}, {1, true}}, list);
    std::vector<double> out(static_cast<std::size_t>(statistics.size()));
    Workspace workspace;
    statistics.of({base.data(), n, 2, 2}, {raw.data(), n, 2, 2}, out.data(), workspace);
    return out;
  }
  // Of column a with column b so many rows before.
  double correlation(std::size_t a, std::size_t b, std::size_t before) const {
    double sums[5] = {};
    for (std::size_t i = 1; i < n; ++i) {
      const double x = base[2 * i + a], y = base[2 * (i - before) + b];
      const double terms[5] = {x, y, x * x, y * y, x * y};
      for (int k = 0; k < 5; ++k) sums[k] += terms[k] / (n - 1);
    }
    return (sums[4] - sums[0] * sums[1]) /
           std::sqrt((sums[2] - sums[0] * sums[0]) * (sums[3] - sums[1] * sums[1]));
  }
};

TEST(Statistics, TellWhatLeadsWhat) {
  const TwoSeries series;
  const std::vector<double> all = series.statistics(StatisticsList::with_dependence);
  const auto list = partial_correlations(4, 2, 96);
  const double* const gains = all.data() + all.size() - list.size();
  const auto gain = [&](int a, int b, std::uint32_t given) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const PartialCorrelation& p) {
      return p.a == a && p.b == b && p.given == given;
    });
    return gains[at - list.begin()];
  };
  // Columns 0 and 1 of a row, and 2 and 3 of the row before: what the first says of the second beyond what
  // that one says of itself, and the other way round.
  EXPECT_GT(gain(1, 2, 0b1000), 2 * gain(0, 3, 0b0100));
  double between = 0;  // of columns 2 and 3: rows from the first to the last but one
  {
    double sums[5] = {};
    for (std::size_t i = 0; i + 1 < TwoSeries::n; ++i) {
      const double x = series.base[2 * i], y = series.base[2 * i + 1];
      const double terms[5] = {x, y, x * x, y * y, x * y};
      for (int k = 0; k < 5; ++k) sums[k] += terms[k] / (TwoSeries::n - 1);
    }
    between = (sums[4] - sums[0] * sums[1]) /
              std::sqrt((sums[2] - sums[0] * sums[0]) * (sums[3] - sums[1] * sums[1]));
  }
  const double led = series.correlation(1, 0, 1), own = series.correlation(1, 1, 1);
  const double partial = (led - own * between) / std::sqrt((1 - own * own) * (1 - between * between));
  EXPECT_NEAR(gain(1, 2, 0b1000), std::log1p(-(TwoSeries::n - 1) * std::log1p(-partial * partial) / 8), 1e-6);
  // Older lists end before.
  const std::vector<double> older = series.statistics(StatisticsList::with_gains);
  ASSERT_EQ(older.size() + list.size(), all.size());
  EXPECT_TRUE(std::equal(older.begin(), older.end(), all.begin()));
}

// The second column follows on the first three rows later, and remembers itself.
TEST(Statistics, TellHowLateOneFollowsOnAnother) {
  Rng rng(3, Purpose::test, 5);
  TwoSeries series;
  for (std::size_t i = 0; i < TwoSeries::n; ++i) {
    series.base[2 * i] = rng.normal();
    series.base[2 * i + 1] = rng.normal();
    if (i >= 3) series.base[2 * i + 1] += 0.5 * series.base[2 * i - 1] + 0.6 * series.base[2 * (i - 3)];
  }
  series.raw.assign(series.base.begin(), series.base.end());
  const std::vector<double> all = series.statistics(StatisticsList::with_delays);
  const std::vector<double> older = series.statistics(StatisticsList::with_dependence);
  // Of the first to the second after 0 .. 8 rows, then of the second to the first after 1 .. 8.
  ASSERT_EQ(all.size(), older.size() + 9 + 8);
  EXPECT_TRUE(std::equal(older.begin(), older.end(), all.begin()));
  const std::vector<double> delays(all.begin() + static_cast<std::ptrdiff_t>(older.size()), all.end());
  EXPECT_EQ(std::max_element(delays.begin(), delays.end()) - delays.begin(), 3);
  EXPECT_GT(delays[3], 1.2);  // 120 observations of r = .5 gain 17 nats on average
  for (std::size_t i = 0; i < delays.size(); ++i) {
    if (i == 3) continue;
    EXPECT_LT(delays[i], 0.9) << i;  // 6 nats by chance: about once in 2,000 data sets
  }
}

// A state that is kept for 20 rows' time on average, at times that say so; and one that is not.
TEST(Statistics, TellHowLongASymbolIsRememberedWhereAColumnSaysWhen) {
  Rng rng(3, Purpose::test, 6);
  const auto gain_of_memory = [&](double keeps) {
    std::vector<double> base;
    std::vector<float> raw;
    double state = 1;
    for (int i = 0; i < 100; ++i) {
      if (rng.uniform() > keeps) state = rng.uniform() < 0.5 ? 0 : 1;
      for (const double x : {static_cast<double>(i), state}) base.push_back(x);
      for (const double x : {static_cast<double>(i), state}) raw.push_back(static_cast<float>(x));
    }
    const Statistics statistics({{0, true}, {1, false}}, kNewestStatistics, {.time = {0, 1.0}});
    std::vector<double> out(static_cast<std::size_t>(statistics.size()));
    Workspace workspace;
    statistics.of({base.data(), 100, 2, 2}, {raw.data(), 100, 2, 2}, out.data(), workspace);
    // Of a memory of any length, before line and line beyond it, and before what tells of periods.
    return 2 * std::sinh(out[out.size() - 3 - (kOctaves + 3)]);
  };
  EXPECT_GT(gain_of_memory(0.95), 20);
  EXPECT_LT(gain_of_memory(0), 3);
}

// Noise at irregular times, with a sine of 7.3 gaps.
std::vector<double> of_times(double size, StatisticsList list) {
  Rng rng(3, Purpose::test, 8);
  std::vector<double> base;
  double at = 0;
  for (int i = 0; i < 80; ++i) {
    at += 2 * rng.uniform();
    base.insert(base.end(), {at, size * std::sin(2 * std::numbers::pi * at / 7.3) + rng.normal()});
  }
  const std::vector<float> raw(base.begin(), base.end());
  const Statistics statistics({{0, true}, {1, true}}, list, {.time = {0, 1.0}});
  std::vector<double> out(static_cast<std::size_t>(statistics.size()));
  Workspace workspace;
  statistics.of({base.data(), 80, 2, 2}, {raw.data(), 80, 2, 2}, out.data(), workspace);
  return out;
}

// Eight octaves, any of them, the best, and which that is.
TEST(Statistics, TellOfPeriodsWhereAColumnSaysWhen) {
  const std::vector<double> none = of_times(0, kNewestStatistics), wave = of_times(1.5, kNewestStatistics);
  EXPECT_LT(2 * std::sinh(none.end()[-3]), 4);
  EXPECT_GT(2 * std::sinh(wave.end()[-3]), 15);
  EXPECT_NEAR(std::exp2(wave.back()), 7.3, 0.3);
  const std::vector<double> before = of_times(1.5, StatisticsList::with_delays),
                            then = of_times(1.5, StatisticsList::with_periods);
  ASSERT_EQ(before.size(), then.size() - (kOctaves + 3))
      << "networks of older files read what they learned from";
  EXPECT_TRUE(std::equal(before.begin(), before.end(), then.begin()));
}

// Before the end of the list of a series of one column: twelve numbers of regimes, then eight octaves of
// periods, any of them, the best, and which that is.
TEST(Statistics, TellOfRegimesAndPeriodsOfASeries) {
  constexpr std::size_t kPeriods = kOctaves + 3, kRegimes = 12;
  const auto newest = [](const std::vector<double>& values) {
    const std::vector<double> s = Series(values).statistics();
    return std::vector<double>(s.end() - kRegimes - kPeriods, s.end());
  };
  Rng rng(3, Purpose::test, 11);
  std::vector<double> wave, changed = {0};
  for (int i = 0; i < 300; ++i) {
    wave.push_back(std::sin(2 * std::numbers::pi * i / 11) + rng.normal());
    changed.push_back((i < 150 ? -0.8 : 0.8) * changed.back() + rng.normal());
  }
  const std::vector<double> noise = newest(autoregressive(0, 300)), of_wave = newest(wave),
                            of_change = newest(changed);
  EXPECT_NEAR(std::exp2(of_wave.back()), 11, 0.2);
  EXPECT_GT(2 * std::sinh(of_wave.end()[-3]), 10);
  EXPECT_LT(2 * std::sinh(noise.end()[-3]), 3);
  // Another line from some time on.
  const auto at_most = [](const std::vector<double>& s) {
    return *std::max_element(s.begin(), s.begin() + kRegimes);
  };
  EXPECT_LT(2 * std::sinh(at_most(noise)), 8);
  EXPECT_GT(2 * std::sinh(at_most(of_change)), 30);
}

// 120 rows of x, y that steps over it or not, and two columns of three values, one of which follows the other
// or not. Nine numbers of y over x, then one of the two.
TEST(Statistics, TellOfShapesAndTables) {
  const auto of_rows = [](bool related) {
    Rng rng(3, Purpose::test, 12);
    std::vector<float> raw;
    for (int i = 0; i < 120; ++i) {
      const double x = rng.uniform(0, 10), y = (related && x > 5 ? 3 : 0) + rng.normal();
      const double a = std::floor(rng.uniform(0, 3)), b = std::floor(rng.uniform(0, 3));
      for (const double value : {x, y, a, related && i % 2 == 0 ? a : b})
        raw.push_back(static_cast<float>(value));
    }
    const Statistics all({{0, true}, {1, true}, {2, false}, {3, false}}, StatisticsList::none,
                         {.relations = {.shaped = {{0, 1}}, .tabled = {2, 3}}});
    std::vector<double> out(static_cast<std::size_t>(all.size()));
    Workspace workspace;
    EXPECT_FALSE(all.reads_base());
    all.of({}, {raw.data(), 120, 4, 4}, out.data(), workspace);
    return out;
  };
  const std::vector<double> related = of_rows(true), apart = of_rows(false);
  ASSERT_EQ(related.size(), 10u);
  EXPECT_GT(2 * std::sinh(*std::max_element(related.begin(), related.end() - 1)), 20);
  EXPECT_LT(2 * std::sinh(*std::max_element(apart.begin(), apart.end() - 1)), 8);
  EXPECT_GT(2 * std::sinh(related.back()), 10);
  EXPECT_LT(2 * std::sinh(apart.back()), 2);
}

// Sixty values strewn over a square; the first column is a place, the second another, the third wanders over
// them or not.
std::vector<double> of_places(double share, double spoilt = 0.5) {
  Rng rng(3, Purpose::test, 9);
  std::vector<double> base, phase;
  for (int k = 0; k < 2; ++k) phase.push_back(6 * rng.uniform());
  for (int i = 0; i < 60; ++i) {
    const double x = 3 * rng.uniform(), y = 3 * rng.uniform();
    const double hills = std::sin(3 * x + phase[0]) * std::sin(3 * y + phase[1]);
    base.insert(base.end(), {x, y, 2 * share * hills + (1 - share) * rng.normal()});
  }
  std::vector<float> raw(base.begin(), base.end());
  raw[3] = static_cast<float>(spoilt);
  const Statistics statistics({{0, true}, {1, true}, {2, true}}, StatisticsList::none,
                              {.places = {{0, 1}, {1, 1}}});
  std::vector<double> out(static_cast<std::size_t>(statistics.size()));
  Workspace workspace;
  statistics.of({base.data(), 60, 3, 3}, {raw.data(), 60, 3, 3}, out.data(), workspace);
  return out;
}

TEST(Statistics, TellOfPatchesWhereColumnsSayWhere) {
  const std::vector<double> noise = of_places(0), patches = of_places(0.7);
  ASSERT_EQ(noise.size(), 2 * kPatches + 4);
  EXPECT_LT(2 * std::sinh(noise[2 * kPatches + 1]), 2);
  EXPECT_GT(2 * std::sinh(patches[2 * kPatches + 1]), 10);
  // A file of a stranger's may name columns of places in which values may be missing.
  for (const double spoilt : {static_cast<double>(NAN), HUGE_VAL, 3e38}) {
    for (const double x : of_places(0.7, spoilt)) EXPECT_TRUE(std::isfinite(x)) << spoilt;
  }
}

// Five people, ten rows each; people differ by `apart` times what rows do. Of two columns the label comes
// first.
std::vector<double> of_labels(double apart, std::size_t missing = 0) {
  Rng rng(3, Purpose::test, 7);
  constexpr std::int64_t kRows = 50;
  std::vector<double> base;
  std::vector<float> raw;
  std::vector<double> own;
  for (int k = 0; k < 5; ++k) own.push_back(apart * rng.normal());
  for (std::int64_t i = 0; i < kRows; ++i) {
    const auto k = static_cast<std::size_t>(i % 5);
    base.push_back(static_cast<double>(k));
    base.push_back(static_cast<std::size_t>(i) < missing ? NAN : own[k] + rng.normal());
  }
  raw.assign(base.begin(), base.end());
  const Statistics statistics({{0, false}, {1, true}}, StatisticsList::none, {.labels = {.columns = {0}}});
  std::vector<double> out(static_cast<std::size_t>(statistics.size()));
  Workspace workspace;
  statistics.of({base.data(), kRows, 2, 2}, {raw.data(), kRows, 2, 2}, out.data(), workspace);
  return out;
}

TEST(Statistics, TellByHowMuchValuesDifferBetweenLabels) {
  const std::vector<double> alike = of_labels(0), different = of_labels(2);
  ASSERT_EQ(alike.size(), kSpreadsBetween.size() + 4 + kShapesOfSpreads.size() + 1);
  const std::size_t any = kSpreadsBetween.size();
  EXPECT_LT(2 * std::sinh(alike[any]), 2);
  EXPECT_GT(2 * std::sinh(different[any]), 10);
  EXPECT_NEAR(std::expm1(different[any + 2]), 5, 1e-9) << "labels";
  EXPECT_NEAR(std::expm1(different[any + 3]), 10, 1e-9) << "rows that share one";
  EXPECT_NEAR(std::expm1(of_labels(2, 25)[any + 3]), 5, 1e-9) << "those that are there count";
}

// 80 rows of eight people by five words: words make a difference of `words` times what rows do, people of
// three times that.
std::vector<double> of_crossed(double words, const std::vector<CrossedColumns>& crossings = {{0, 1}}) {
  Rng rng(3, Purpose::test, 8);
  constexpr std::int64_t kRows = 80;
  std::array<double, 8> person;
  std::array<double, 5> word;
  for (double& own : person) own = 3 * rng.normal();
  for (double& own : word) own = words * rng.normal();
  std::vector<double> base;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const auto who = static_cast<std::size_t>(rng.uniform(0, 8)),
               what = static_cast<std::size_t>(rng.uniform(0, 5));
    for (const double x :
         {static_cast<double>(who), static_cast<double>(what), person[who] + word[what] + rng.normal()})
      base.push_back(x);
  }
  const std::vector<float> raw(base.begin(), base.end());
  const Statistics all({{0, true}, {1, true}, {2, true}}, StatisticsList::none,
                       {.labels = {.columns = {0, 1}, .crossings = crossings}});
  const Statistics labels({{0, true}, {1, true}, {2, true}}, StatisticsList::none,
                          {.labels = {.columns = {0, 1}}});
  std::vector<double> out(static_cast<std::size_t>(all.size()));
  Workspace workspace;
  all.of({base.data(), kRows, 3, 3}, {raw.data(), kRows, 3, 3}, out.data(), workspace);
  // What crossings add comes last.
  return {out.begin() + labels.size(), out.end()};
}

// Gains of six spreads of people beside words, six of words beside people, then of both over people alone.
TEST(Statistics, TellWhatOneLabelSaysBesideAnother) {
  const std::vector<double> alike = of_crossed(0), different = of_crossed(2);
  ASSERT_EQ(alike.size(), 2 * kSpreadsBetween.size() + 4 + 12);
  const std::size_t beyond_people = 2 * kSpreadsBetween.size();
  EXPECT_LT(2 * std::sinh(alike[beyond_people]), 1);
  EXPECT_GT(2 * std::sinh(different[beyond_people]), 8);
  EXPECT_GT(2 * std::sinh(different[beyond_people + 1]), 30) << "of people beyond words";
  const std::size_t joint = kSpreadsBetween.size() + 4 + 12;
  EXPECT_EQ(of_crossed(1, {{0, 1}, {0, 1, Crossing::opposed}}).size(), alike.size() + joint);
  const std::size_t pairs = 2 * kSpreadsBetween.size() + 4 + 3 + 12;
  EXPECT_EQ(of_crossed(1, {{0, 1}, {0, 1, Crossing::in_first}}).size(), alike.size() + pairs);
}

// 60 rows of six people, person by person, x beside y: slopes that differ by `slopes`, and what carries over.
std::vector<double> of_people(double slopes, double carry, LabelColumns labels) {
  Rng rng(3, Purpose::test, 9);
  constexpr std::int64_t kRows = 60;
  std::vector<double> base;
  double slope = 0, swing = 0;
  for (std::int64_t i = 0; i < kRows; ++i) {
    if (i % 10 == 0) slope = slopes * rng.normal();
    const double x = rng.normal();
    swing = (i % 10 == 0 ? 0 : carry * swing) + rng.normal();
    for (const double value : {static_cast<double>(i / 10), x, slope * x + swing}) base.push_back(value);
  }
  const std::vector<float> raw(base.begin(), base.end());
  const std::vector<BaseChannel> channels = {{0, true}, {1, true}, {2, true}};
  const Statistics all(channels, StatisticsList::none, {.labels = labels});
  const Statistics before(channels, StatisticsList::none, {.labels = {.columns = labels.columns}},
                          LabelList::differences);
  std::vector<double> out(static_cast<std::size_t>(all.size()));
  Workspace workspace;
  all.of({base.data(), kRows, 3, 3}, {raw.data(), kRows, 3, 3}, out.data(), workspace);
  return {out.begin() + before.size(), out.end()};
}

// What is said at last: whether x and y are spread more widely for some people.
constexpr std::size_t kOfSpreads = 2 * (kShapesOfSpreads.size() + 1);

// Of y on x, then of x on y: gains of six spreads between slopes, of one slope, of any, and of any over one.
TEST(Statistics, TellWhetherSlopesDifferBetweenLabels) {
  constexpr std::size_t kEach = kSpreadsBetween.size() + 3;
  const std::vector<double> alike = of_people(0, 0, {.columns = {0}}),
                            differ = of_people(2, 0, {.columns = {0}});
  ASSERT_EQ(differ.size(), 2 * kEach + kOfSpreads);
  EXPECT_GT(differ.back(), alike.back()) << "slopes that differ spread y more widely";
  EXPECT_LT(2 * std::sinh(alike[kEach - 1]), 1);
  EXPECT_GT(2 * std::sinh(differ[kEach - 1]), 8);
}

// Six carries beside a level, six beside a line, then what any of these say.
TEST(Statistics, TellWhatCarriesOverWithinLabels) {
  constexpr std::size_t kSlopes = 2 * (kSpreadsBetween.size() + 3), kEach = 2 * kCarries + 5;
  const LabelColumns labels{.columns = {0}, .orders = {{.label = 0}}};
  const std::vector<double> fresh = of_people(0, 0, labels), carried = of_people(0, 0.9, labels);
  ASSERT_EQ(carried.size(), kSlopes + 2 * kEach + kOfSpreads);
  const std::size_t any = kSlopes + kEach + 2 * kCarries + 1;  // of y
  EXPECT_LT(2 * std::sinh(fresh[any]), 1);
  EXPECT_GT(2 * std::sinh(carried[any]), 4);
}

// Thirty pairs of people who speak of each other.
TEST(Statistics, TellWhatIsSaidTheOtherWayAround) {
  const auto of_pairs = [](double returned) {
    Rng rng(3, Purpose::test, 10);
    std::vector<double> base;
    for (int i = 0; i < 30; ++i) {
      const double a = i % 6, b = 6 + i / 6, said = rng.normal();
      for (const double value : {a, b, said, b, a, returned * said + rng.normal()}) base.push_back(value);
    }
    const std::vector<float> raw(base.begin(), base.end());
    const Statistics all({{0, true}, {1, true}, {2, true}}, StatisticsList::none,
                         {.labels = {.columns = {0, 1}, .crossings = {{0, 1}, {0, 1, Crossing::returned}}}});
    std::vector<double> out(static_cast<std::size_t>(all.size()));
    Workspace workspace;
    all.of({base.data(), 60, 3, 3}, {raw.data(), 60, 3, 3}, out.data(), workspace);
    return std::vector<double>(out.end() - 3, out.end());
  };
  EXPECT_GT(2 * std::sinh(of_pairs(2)[0]), 5);
  EXPECT_LT(2 * std::sinh(of_pairs(-2)[0]), -5);
  EXPECT_LT(std::abs(2 * std::sinh(of_pairs(0)[0])), 4);
  EXPECT_NEAR(std::expm1(of_pairs(0)[2]), 30, 1e-9);
}

// Indicators of two atoms say as much as two columns of their own, not as the two symbols of one.
TEST(Statistics, TellOfEachAtomByItself) {
  const auto size = [](std::vector<BaseChannel> base) {
    return Statistics(std::move(base), StatisticsList::with_waves_and_memory).size();
  };
  EXPECT_EQ(size({{0, true}, {0, false}, {0, false}}), size({{0, true}, {1, false}, {2, false}}));
  EXPECT_LT(size({{0, false}, {0, false}}), size({{0, false}, {1, false}})) << "levels go together";
}

// Networks of older files read what they learned from.
TEST(Statistics, KeepOlderLists) {
  const Series series(autoregressive(0.5, 50));
  const std::vector<double> all = series.statistics();
  for (const auto& [list, size] : std::vector<std::pair<StatisticsList, std::size_t>>{
           {StatisticsList::first, all.size() - 23 - 72 - 24},
           {StatisticsList::with_waves_and_memory, all.size() - 23 - 72},
           {StatisticsList::with_periods, all.size() - 23}}) {
    const Statistics older({{0, true}}, list);
    ASSERT_EQ(static_cast<std::size_t>(older.size()), size);
    std::vector<double> out(size);
    Workspace workspace;
    older.of({series.base.data(), 50, 1, 1}, {series.raw.data(), 50, 1, 1}, out.data(), workspace);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), all.begin()));
  }
}

TEST(Statistics, AreFiniteWhateverTheData) {
  const std::vector<std::vector<double>> all = {
      {1}, {0, 0, 0, 0, 0, 0}, {1, 2}, {1e30, -1e30, 1e-30, 5, 3, 2, 1}, {NAN, 1, NAN, 2, 3, 4, 5, 6}};
  for (const std::vector<double>& values : all) {
    for (const double x : Series(values).statistics()) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Statistics, TellAChangeAndWhereItIs) {
  std::vector<double> x(100, -1.0);
  std::fill(x.begin() + 30, x.end(), 1.0);
  const std::vector<double> s = Series(x).statistics();
  EXPECT_TRUE(std::any_of(s.begin(), s.end(), [](double v) { return std::abs(v - 0.3) < 1e-9; }));
}

}  // namespace
}  // namespace occam
