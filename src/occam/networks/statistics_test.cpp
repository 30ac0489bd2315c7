#include "occam/networks/statistics.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

TEST(Statistics, Debug) {
  const Statistics s({{0, true}, {1, true}}, false);
  Workspace w;
  for (int k = 0; k < 4; ++k) {
    Rng rng(1, Purpose::test, k);
    const std::int64_t n = 50;
    Matrix<double> base = w.matrix<double>(n, 2);
    Matrix<float> raw = w.matrix<float>(n, 2);
    for (int i = 0; i < n; ++i) {
      base.row(i)[0] = rng.normal();
      base.row(i)[1] = 0.3 * k * base.row(i)[0] + rng.normal();
      if (i % 5 == 0) base.row(i)[1] = NAN;
    }
    std::vector<double> out(s.size());
    s.of(base, raw, out.data(), w);
    for (double x : out) printf("%.2f ", x);
    printf("\n");
  }
}

}  // namespace
}  // namespace occam
