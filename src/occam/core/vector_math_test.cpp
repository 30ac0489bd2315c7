#include "occam/core/vector_math.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace occam {
namespace {

// Over all normal numbers, and closely around 1, where a logarithm is small beside its argument.
TEST(VectorMath, LogarithmsAreThoseOfTheLibrary) {
  std::vector<double> x;
  for (int i = -10200; i <= 10200; ++i) x.push_back(std::exp2(i / 10.0 + 0.01));
  for (int i = -4000; i <= 4000; ++i) x.push_back(1 + i * 1e-4 + (i % 2) * 1e-12);
  x.push_back(std::numeric_limits<double>::min());
  x.push_back(std::numeric_limits<double>::max());
  x.push_back(1);
  std::erase_if(x, [](double value) { return !(value > 0); });
  std::vector<double> logs = x;
  take_logs(logs);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(logs[i], std::log(x[i]), 5e-16 * (std::abs(std::log(x[i])) + 1e-3)) << x[i];
}

TEST(VectorMath, ExponentialsAreThoseOfTheLibrary) {
  std::vector<double> x;
  for (int i = -70000; i <= 70000; i += 7) x.push_back(i / 100.0);
  x.insert(x.end(), {0.0, -0.0, 1e-300, -1e-17, 0.34657, -0.34658});
  std::vector<double> exps = x;
  take_exps(exps);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(exps[i] / std::exp(x[i]), 1, 1e-15) << x[i];
  EXPECT_EQ(plain_exp(0), 1);
  EXPECT_EQ(plain_exp(-1e308), plain_exp(-700));
  EXPECT_EQ(plain_exp(-std::numeric_limits<double>::infinity()), plain_exp(-700));
}

}  // namespace
}  // namespace occam
