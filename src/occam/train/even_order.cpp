#include "occam/train/even_order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace occam {

// The longest data set that is left goes to the part that has the fewest observations.
void EvenOrder::apply(Batch& batch) {
  const auto n = [&](std::int64_t b) { return batch[b].n; };
  by_size_.resize(static_cast<std::size_t>(batch.size()));
  std::iota(by_size_.begin(), by_size_.end(), 0);
  if (std::all_of(by_size_.begin(), by_size_.end(), [&](std::int64_t b) { return n(b) == n(0); })) return;
  std::sort(by_size_.begin(), by_size_.end(),
            [&](std::int64_t b, std::int64_t c) { return n(b) != n(c) ? n(b) > n(c) : b < c; });
  parts_.resize(kParts);
  for (auto& part : parts_) part.clear();
  std::array<std::int64_t, kParts> rows{};
  for (const std::int64_t b : by_size_) {
    const auto least = static_cast<std::size_t>(std::min_element(rows.begin(), rows.end()) - rows.begin());
    parts_[least].push_back(b);
    rows[least] += n(b);
  }
  order_.clear();
  for (const auto& part : parts_) order_.insert(order_.end(), part.begin(), part.end());
  const auto failed = batch.failed_draws();
  gather(batch, order_, static_cast<std::int64_t>(failed.size()), arranged_);
  std::copy(failed.begin(), failed.end(), arranged_.mutable_failed_draws().begin());
  std::swap(batch, arranged_);
}

}  // namespace occam
