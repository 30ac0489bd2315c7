#include "occam/scope/whitening.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/core/rng.hpp"

namespace occam {
namespace {

TEST(SymmetricEigen, SolvesAKnownMatrix) {
  // Eigenvalues 3 and 1, eigenvectors (1, 1) and (1, -1).
  std::vector<double> matrix = {2, 1, 1, 2}, values, vectors;
  symmetric_eigen(matrix, 2, values, vectors);
  EXPECT_NEAR(values[0], 3, 1e-12);
  EXPECT_NEAR(values[1], 1, 1e-12);
  EXPECT_NEAR(std::fabs(vectors[0]), std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(vectors[0], vectors[2], 1e-12);
  EXPECT_NEAR(vectors[1], -vectors[3], 1e-12);
}

TEST(SymmetricEigen, RebuildsARandomMatrix) {
  constexpr std::int64_t n = 20;
  Rng rng(1, Purpose::test, 0);
  std::vector<double> matrix(n * n), values, vectors;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) matrix[i * n + j] = matrix[j * n + i] = rng.normal();
  }
  std::vector<double> work = matrix;
  symmetric_eigen(work, n, values, vectors);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += vectors[i * n + k] * values[k] * vectors[j * n + k];
      EXPECT_NEAR(sum, matrix[i * n + j], 1e-9);
    }
  }
  EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
}

// x0 and x1 nearly the same, x2 apart, x3 always 7.
std::vector<float> features(std::int64_t count) {
  Rng rng(1, Purpose::test, 1);
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i) {
    const double common = rng.normal();
    x.insert(x.end(), {static_cast<float>(common + 0.05 * rng.normal()),
                       static_cast<float>(common + 0.05 * rng.normal()),
                       static_cast<float>(5 + 2 * rng.normal()), 7.0f});
  }
  return x;
}

TEST(Whitening, MakesComponentsUncorrelatedAndOfEqualSize) {
  const std::vector<float> x = features(4000);
  const Whitening w = Whitening::learn(x, 4, 3, 1.0);
  double sums[3] = {}, products[3][3] = {};
  for (std::size_t i = 0; i < 4000; ++i) {
    float y[3];
    EXPECT_TRUE(w.apply({x.data() + 4 * i, 4}, y));
    for (int a = 0; a < 3; ++a) {
      sums[a] += y[a] / 4000;
      for (int b = 0; b < 3; ++b) products[a][b] += y[a] * y[b] / 4000;
    }
  }
  for (int a = 0; a < 3; ++a) {
    EXPECT_NEAR(sums[a], 0, 1e-3);
    for (int b = 0; b < 3; ++b) EXPECT_NEAR(products[a][b], a == b ? 1 : 0, a == 2 && b == 2 ? 0.5 : 0.02);
  }
}

TEST(Whitening, TellsAFeatureThatNeverVariedBefore) {
  const std::vector<float> x = features(500);
  const Whitening w = Whitening::learn(x, 4, 3, 0.5);
  std::vector<float> y(3);
  EXPECT_TRUE(w.apply(std::vector<float>{0, 0, 5, 7}, y));
  EXPECT_FALSE(w.apply(std::vector<float>{0, 0, 5, 7.1f}, y));
}

TEST(Whitening, RoundTripsAndRefusesDamage) {
  const Whitening w = Whitening::learn(features(500), 4, 3, 0.5);
  Safetensors contents;
  w.add_to(contents, "w.");
  const Whitening again = Whitening::from(contents, "w.", 4);
  std::vector<float> a(3), b(3);
  w.apply(std::vector<float>{1, 2, 3, 7}, a);
  again.apply(std::vector<float>{1, 2, 3, 7}, b);
  EXPECT_EQ(a, b);
  EXPECT_THROW(Whitening::from(contents, "w.", 3), Error);
  Safetensors infinite = contents;
  reinterpret_cast<float*>(infinite.tensors[3].second.bytes.data())[0] = INFINITY;
  EXPECT_THROW(Whitening::from(infinite, "w.", 4), Error);
  contents.tensors[1].second = NdArray::of<float>({2}, std::span(a.data(), 2));
  EXPECT_THROW(Whitening::from(contents, "w.", 4), Error);
}

}  // namespace
}  // namespace occam
