#include "occam/data/sums.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace occam {
namespace {

// Whole numbers, of which every sum is exact: none is left out or taken twice, whatever is left over.
TEST(Sums, TakeEveryNumberOnce) {
  std::vector<double> x, y;
  double sum = 0, product = 0;
  for (int n = 0; n <= 40; ++n) {
    const std::int64_t count = n;
    EXPECT_EQ(sum_of(count, [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; }), sum) << n;
    EXPECT_EQ(product_of(x.data(), y.data(), count), product) << n;
    x.push_back(3 * n + 1);
    y.push_back(n * n - 7);
    sum += x.back();
    product += x.back() * y.back();
  }
}

}  // namespace
}  // namespace occam
