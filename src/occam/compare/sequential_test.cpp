#include "occam/compare/sequential.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(Sequential, SizesDoubleUpToAll) {
  EXPECT_EQ(sequential_sizes(1, {}), Sizes({1}));
  EXPECT_EQ(sequential_sizes(8, {}), Sizes({1, 2, 4, 8}));
  EXPECT_EQ(sequential_sizes(11, {}), Sizes({1, 2, 4, 8, 11}));
}

TEST(Sequential, SizesAskedForEndWithAll) {
  EXPECT_EQ(sequential_sizes(30, {10, 20, 50}), Sizes({10, 20, 30}));
  EXPECT_EQ(sequential_sizes(20, {10, 20, 50}), Sizes({10, 20}));
  EXPECT_EQ(sequential_sizes(5, {10}), Sizes({5}));
}

TEST(Sequential, SizesAreReadFromText) {
  EXPECT_EQ(parse_sizes(""), Sizes());
  EXPECT_EQ(parse_sizes("50,10,20"), Sizes({10, 20, 50}));
  for (const char* bad :
       {"0", "-3", "ten", "1,,2", "1,", ",1", ",", "1.5", " 1", "3,3", "99999999999999999999"}) {
    EXPECT_THROW(parse_sizes(bad), Error) << bad;
  }
}

TEST(Sequential, RefusesOrdersOfSeries) {
  EXPECT_NO_THROW(check_sequential({.orders = 10}, false));
  EXPECT_NO_THROW(check_sequential({}, true));
  EXPECT_THROW(check_sequential({.orders = 1}, true), Error);
  EXPECT_THROW(check_sequential({.orders = -1}, false), Error);
  EXPECT_THROW(check_sequential({.sizes = {2, 2}}, false), Error);
  EXPECT_THROW(check_sequential({.sizes = {0, 2}}, false), Error);
}

TEST(Sequential, OrdersArePermutationsNamedBySeedAndItem) {
  const auto order = random_order(50, 1, 3, 0);
  EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 50U);
  EXPECT_EQ(order, random_order(50, 1, 3, 0));
  EXPECT_NE(order, random_order(50, 2, 3, 0));
  EXPECT_NE(order, random_order(50, 1, 4, 0));
  EXPECT_NE(order, random_order(50, 1, 3, 1));
}

// Each of three rows comes first equally often: 9000 orders, five standard deviations (false alarm 2e-6).
TEST(Sequential, OrdersAreUniform) {
  std::vector<int> first(3, 0);
  for (std::int64_t order = 0; order < 9000; ++order)
    ++first[static_cast<std::size_t>(random_order(3, 1, 0, order)[0])];
  for (const int count : first) EXPECT_NEAR(count, 3000, 5 * 45);
}

// Rows wider than what they hold, as the engine has them.
const std::vector<float> kValues = {1, 10, -1, 2, 20, -1, 3, 30, -1, 4, 40, -1, 5, 50, -1};
const Matrix<const float> kObservations{kValues.data(), 5, 2, 3};

std::vector<float> rows_of(const Ragged<const float>& data, std::int64_t set) {
  std::vector<float> result;
  for (std::int64_t i = data.offsets[set]; i < data.offsets[set + 1]; ++i) {
    result.insert(result.end(), data.x.row(i), data.x.row(i) + data.x.columns);
  }
  return result;
}

TEST(Sequential, PrefixesFollowTheFile) {
  const Prefixes prefixes(kObservations, 0, {});
  const Ragged<const float> view = prefixes.view();
  ASSERT_EQ(view.sets, 4);
  EXPECT_EQ(prefixes.list()[2].k, 4);
  EXPECT_EQ(rows_of(view, 1), (std::vector<float>{1, 10, 2, 20}));
  EXPECT_EQ(rows_of(view, 3), (std::vector<float>{1, 10, 2, 20, 3, 30, 4, 40, 5, 50}));
}

TEST(Sequential, PrefixesInRandomOrdersEndAsInTheFile) {
  const SequentialOptions options{.sizes = {2}, .orders = 3, .seed = 5};
  const Prefixes prefixes(kObservations, 7, options);
  const Ragged<const float> view = prefixes.view();
  ASSERT_EQ(view.sets, 4);  // three orders of two, and all
  for (std::int64_t order = 0; order < 3; ++order) {
    const auto rows = random_order(5, 5, 7, order);
    EXPECT_EQ(prefixes.list()[static_cast<std::size_t>(order)].order, order);
    EXPECT_EQ(rows_of(view, order)[0], static_cast<float>(rows[0] + 1));
    EXPECT_EQ(rows_of(view, order)[3], 10 * static_cast<float>(rows[1] + 1));
  }
  EXPECT_EQ(rows_of(view, 3), (std::vector<float>{1, 10, 2, 20, 3, 30, 4, 40, 5, 50}));
}

}  // namespace
}  // namespace occam
