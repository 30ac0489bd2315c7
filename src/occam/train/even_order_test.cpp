#include "occam/train/even_order.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace occam {
namespace {

Batch batch_of(const std::vector<std::int64_t>& sizes) {
  Batch batch;
  batch.reset(1, 1, 2);
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    batch.append(static_cast<std::int32_t>(b % 2), 2 * sizes[b], sizes[b]);  // half of what was asked for
  }
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    std::ranges::fill(batch.mutable_data(b), static_cast<float>(b));
    batch.mutable_parameters(b)[0] = static_cast<double>(b);
  }
  batch.mutable_failed_draws()[1] = 7;
  return batch;
}

TEST(EvenOrder, PartsHaveAboutEquallyManyObservations) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t b = 0; b < 64; ++b) sizes.push_back(1 + b * 37 % 300);
  Batch batch = batch_of(sizes);
  EvenOrder().apply(batch);
  const std::int64_t share = batch.rows() / 16;
  // Where each sixteenth ends, a data set ends, or one does within a few observations.
  for (std::int64_t part = 1; part < 16; ++part) {
    std::int64_t nearest = batch.rows();
    for (const std::int64_t end : batch.offsets()) nearest = std::min(nearest, std::abs(end - part * share));
    EXPECT_LE(nearest, 25) << part;
  }
}

TEST(EvenOrder, KeepsEveryDataSetWithWhatBelongsToIt) {
  Batch batch = batch_of({3, 1, 4, 1, 5, 9, 2, 6});
  const std::vector<std::int64_t> sizes = {3, 1, 4, 1, 5, 9, 2, 6};
  EvenOrder().apply(batch);
  ASSERT_EQ(batch.size(), 8);
  std::vector<bool> seen(8);
  for (std::int64_t b = 0; b < 8; ++b) {
    const auto original = static_cast<std::size_t>(batch.parameters(b)[0]);
    seen[original] = true;
    EXPECT_EQ(batch[b].n, sizes[original]);
    EXPECT_EQ(batch.sizes()[b], 2 * sizes[original]);
    EXPECT_EQ(batch.models()[b], static_cast<std::int32_t>(original % 2));
    for (const float x : batch[b].values()) EXPECT_EQ(x, static_cast<float>(original));
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](bool x) { return x; }));
  EXPECT_EQ(batch.failed_draws()[1], 7);
}

TEST(EvenOrder, LeavesEqualSizesAlone) {
  Batch batch = batch_of({5, 5, 5});
  EvenOrder().apply(batch);
  EXPECT_EQ(batch.parameters()[0], 0);
  EXPECT_EQ(batch.parameters()[2], 2);
}

}  // namespace
}  // namespace occam
