#include "occam/networks/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

struct Series {
  std::vector<double> base;
  std::vector<float> raw;

  explicit Series(const std::vector<double>& values) : base(values), raw(values.begin(), values.end()) {}
  std::vector<double> statistics() const {
    const Statistics statistics({{0, true}});
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

// Waves, from the longest to two observations, stand before 36 gains, 24 of which are theirs.
TEST(Statistics, FindWaves) {
  std::vector<double> x = autoregressive(0, 96);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] += 2 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 6);
  const std::vector<double> s = Series(x).statistics();
  const auto waves = std::vector<double>(s.end() - 60, s.end() - 36);
  EXPECT_EQ(std::max_element(waves.begin(), waves.end()) - waves.begin(), 48 / 6 - 1);
  const auto gains = std::vector<double>(s.end() - 25, s.end() - 1);
  EXPECT_EQ(std::min_element(gains.begin(), gains.end()) - gains.begin(), 48 / 6 - 1);
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

// Networks of older files read what they learned from.
TEST(Statistics, KeepOlderLists) {
  const Series series(autoregressive(0.5, 50));
  const std::vector<double> all = series.statistics();
  for (const auto& [list, size] : std::vector<std::pair<StatisticsList, std::size_t>>{
           {StatisticsList::first, all.size() - 36 - 24},
           {StatisticsList::with_waves_and_memory, all.size() - 36}}) {
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
