#include "occam/data/tables.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

// log probability of counts under uniform shares, by adding one value after the other.
double evidence(const std::vector<int>& counts) {
  double sum = 0, n = 0;
  for (const int count : counts) {
    for (int k = 0; k < count; ++k) sum += std::log((1 + k) / (static_cast<double>(counts.size()) + n++));
  }
  return sum;
}

TEST(Tables, EvidencesAreThoseOfSharesAddedUp) {
  // Columns a (2), b (3) and c (2) of eight rows; the last lacks b.
  const std::vector<std::int32_t> codes = {0, 0, 0, 0, 1, 1, 1, 1,   //
                                           0, 0, 1, 2, 2, 2, 2, -1,  //
                                           0, 1, 0, 1, 0, 1, 1, 0};
  const std::vector<std::int64_t> categories = {2, 3, 2};
  std::vector<double> got(table_pairs(3) + table_triples(3));
  table_evidences(codes, categories, got);
  EXPECT_NEAR(got[0], evidence({2, 1, 1}) + evidence({0, 0, 3}) - evidence({2, 1, 4}), 1e-12);  // a, b
  EXPECT_NEAR(got[1], 2 * evidence({2, 2}) - evidence({4, 4}), 1e-12);                          // a, c
  // a, b beside c: rows 0, 2, 4 have c = 0, rows 1, 3, 5, 6 c = 1.
  EXPECT_NEAR(got[3],
              evidence({1, 1, 0}) + evidence({0, 0, 1}) - evidence({1, 1, 1}) + evidence({1, 0, 1}) +
                  evidence({0, 0, 2}) - evidence({1, 0, 3}),
              1e-12);
  EXPECT_EQ(got.size(), 6u);
}

TEST(Tables, CodesAreValuesInTheirOrder) {
  const std::vector<float> rows = {7, NAN, -1, 7, 3, -1};
  std::vector<std::int32_t> codes(6);
  EXPECT_EQ(categories_of({rows.data(), 6, 1, 1}, 0, kMostCategories, codes), 3);
  EXPECT_EQ(codes, (std::vector<std::int32_t>{2, -1, 0, 2, 1, 0}));
  EXPECT_EQ(categories_of({rows.data(), 6, 1, 1}, 0, 2, codes), 2);
  EXPECT_EQ(codes, (std::vector<std::int32_t>{1, -1, 0, 1, -1, 0})) << "the first that come";
}

// Twenty data sets: a, b that follows it in this share of the rows, and one of many values.
std::vector<std::int64_t> tabled(double follows) {
  Rng rng(7, Purpose::test, 1);
  std::vector<float> x;
  std::vector<std::int64_t> offsets = {0};
  for (int i = 0; i < 20 * 40; ++i) {
    const double a = std::floor(rng.uniform(0, 3));
    const double b = rng.uniform(0, 1) < follows ? a : std::floor(rng.uniform(0, 3));
    for (const double value : {a, rng.normal(), b}) x.push_back(static_cast<float>(value));
    if (i % 40 == 39) offsets.push_back(i + 1);
  }
  return find_tabled({{x.data(), 800, 3, 3}, offsets.data(), 20});
}

TEST(Tables, AreLookedAtWhereColumnsDependOnEachOther) {
  EXPECT_EQ(tabled(0.6), (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(tabled(0).empty());
}

}  // namespace
}  // namespace occam
