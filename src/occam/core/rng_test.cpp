#include "occam/core/rng.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"

namespace occam {
namespace {

// Vectors for philox4x32 with 10 rounds from Random123's kat_vectors: counter, key, output.
TEST(Rng, PhiloxGivesThePublishedVectors) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_block({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, StreamIsTheSequenceOfItsBlocks) {
  const std::uint64_t seed = 0x0123456789abcdef;
  const std::uint64_t item = 0xfedcba9876543210;
  Rng rng(seed, Purpose::test, item);
  for (std::uint32_t block = 0; block < 100; ++block) {
    const auto expected = philox_block(
        {block, static_cast<std::uint32_t>(Purpose::test), 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567});
    for (const std::uint32_t word : expected) ASSERT_EQ(rng.bits32(), word) << "block " << block;
  }
}

TEST(Rng, StreamsDifferByEachOfTheirThreeNames) {
  std::set<std::uint64_t> firsts;
  int streams = 0;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const Purpose purpose : {Purpose::train, Purpose::validate, Purpose::test, Purpose::derive}) {
      for (const std::uint64_t item : {0ull, 1ull, 1ull << 32, 1ull << 63}) {
        firsts.insert(Rng(seed, purpose, item).bits64());
        ++streams;
      }
    }
  }
  EXPECT_EQ(static_cast<int>(firsts.size()), streams);
}

TEST(Rng, SameNameSameDrawsAndCopiesContinueAlike) {
  Rng a(7, Purpose::train, 3);
  Rng b(7, Purpose::train, 3);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(a.normal(), b.normal());
  Rng c = a;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.gamma(0.3), c.gamma(0.3));
}

TEST(Rng, UniformStaysInsideItsInterval) {
  Rng rng(1, Purpose::test, 0);
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
  }
}

// Every value of a range turns up, and nothing else; ranges up to all 64 bits do not overflow.
TEST(Rng, UniformIntCoversItsRange) {
  Rng rng(1, Purpose::test, 1);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(rng.uniform_int(-2, 3));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2, 3}));
  EXPECT_EQ(rng.uniform_int(5, 5), 5);
  bool negative = false;
  bool positive = false;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t x = rng.uniform_int(INT64_MIN, INT64_MAX);
    (x < 0 ? negative : positive) = true;
    EXPECT_GE(rng.uniform_int(INT64_MAX - 1, INT64_MAX), INT64_MAX - 1);
  }
  EXPECT_TRUE(negative && positive);
}

TEST(Rng, ExtremeParametersGiveLegalValues) {
  Rng rng(1, Purpose::test, 2);
  for (int i = 0; i < 2000; ++i) {
    for (const double shape : {1e-8, 1e-3, 1.0, 1e8}) {
      const double x = rng.gamma(shape);
      ASSERT_TRUE(x >= 0.0 && std::isfinite(x)) << shape;
    }
    for (const double a : {1e-9, 1e-2, 1.0, 1e9}) {
      for (const double b : {1e-9, 1.0, 1e9}) {
        const double x = rng.beta(a, b);
        ASSERT_TRUE(x >= 0.0 && x <= 1.0) << a << " " << b;
      }
    }
    ASSERT_EQ(rng.poisson(0.0), 0);
    ASSERT_NEAR(static_cast<double>(rng.poisson(1e15)), 1e15, 1e9);
  }
}

TEST(Rng, CategoricalNeverPicksAZeroWeight) {
  Rng rng(1, Purpose::test, 3);
  const std::vector<double> weights = {0.0, 2.0, 0.0, 1e-3, 0.0};
  for (int i = 0; i < 5000; ++i) {
    const auto k = rng.categorical(weights);
    ASSERT_TRUE(k == 1 || k == 3) << k;
  }
}

TEST(Rng, RefusesParametersWithoutADistribution) {
  Rng rng(1, Purpose::test, 4);
  EXPECT_THROW(rng.uniform_int(2, 1), Error);
  EXPECT_THROW(rng.gamma(0.0), Error);
  EXPECT_THROW(rng.gamma(NAN), Error);
  EXPECT_THROW(rng.beta(1.0, -1.0), Error);
  EXPECT_THROW(rng.poisson(-1.0), Error);
  EXPECT_THROW(rng.poisson(NAN), Error);
  EXPECT_THROW(rng.categorical({}), Error);
  EXPECT_THROW(rng.categorical(std::vector<double>{0.0, 0.0}), Error);
  EXPECT_THROW(rng.categorical(std::vector<double>{1.0, -0.5}), Error);
}

}  // namespace
}  // namespace occam
