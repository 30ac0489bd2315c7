#include "occam/data/returned.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace occam {
namespace {

Returned returned_of(const std::vector<std::int32_t>& from, const std::vector<std::int32_t>& to,
                     const std::vector<double>& values) {
  std::vector<std::int32_t> pair_room(returned_room(from.size()), -9);
  const ReturnedPairs pairs = returned_pairs(from, to, pair_room);
  std::vector<double> room(4 * pairs.count, NAN);
  return returned(pairs, values, room);
}

TEST(Returned, IsTheCorrelationOfPairsBothWays) {
  // 0-1: 3 and 2; 2-3: 5 (of 4 and 6) and 7; 4-4 is no pair, 5-6 has one way, and one row lacks a label.
  const std::vector<std::int32_t> from = {0, 1, 2, 3, 2, 4, 5, -1}, to = {1, 0, 3, 2, 3, 4, 6, 2};
  const std::vector<double> values = {3, 2, 4, 7, 6, 1, 0, 9};
  const Returned got = returned_of(from, to, values);
  const double mean = 32 / 8.0;
  const double products = (3 - mean) * (2 - mean) + (5 - mean) * (7 - mean);
  const double squares = (1 + 4 + 1 + 9) / 2.0;
  EXPECT_EQ(got.pairs, 2);
  EXPECT_NEAR(got.correlation, products / squares, 1e-12);
  EXPECT_NEAR(got.gain(), -std::log1p(-got.correlation * got.correlation), 1e-12);
  // Whatever the order of rows, and of columns.
  EXPECT_EQ(returned_of(to, from, values).correlation, got.correlation);
}

TEST(Returned, ValuesThatAreMissingTakeTheirPairWithThem) {
  const Returned got = returned_of({0, 1, 2, 3}, {1, 0, 3, 2}, {3, NAN, 1, 2});
  EXPECT_EQ(got.pairs, 1);
  EXPECT_EQ(returned_of({0, 1}, {1, 0}, {NAN, NAN}).gain(), 0);
  EXPECT_EQ(returned_of({0, 2}, {1, 3}, {1, 2}).pairs, 0);
}

}  // namespace
}  // namespace occam
