#include "occam/networks/statistics.hpp"

#include <algorithm>
#include <cmath>

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
