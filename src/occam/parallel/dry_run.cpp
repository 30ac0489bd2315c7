#include "occam/parallel/dry_run.hpp"

#include <algorithm>

namespace occam {
namespace {

// Bytes of one rank, where ends say where those of each end.
std::int64_t bytes_of(std::span<const std::int64_t> ends, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  return ends[r] - (r == 0 ? 0 : ends[r - 1]);
}

}  // namespace

void DryRun::count(std::int64_t sent, std::int64_t received) {
  ++traffic_.calls;
  traffic_.sent += sent;
  traffic_.received += received;
}

void DryRun::broadcast(std::span<std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  count(rank_ == 0 ? size : 0, rank_ == 0 ? 0 : size);
}

// The others are taken to have as much as this one.
void DryRun::gather(std::span<const std::byte> own, std::vector<std::byte>& all,
                    std::vector<std::int64_t>& ends) {
  const auto size = static_cast<std::int64_t>(own.size());
  all.assign(own.begin(), own.end());
  ends.assign(static_cast<std::size_t>(size_), 0);
  std::fill(ends.begin() + rank_, ends.end(), size);
  count(size, (size_ - 1) * size);
}

void DryRun::complete(std::byte*, std::span<const std::int64_t> ends) {
  const std::int64_t own = bytes_of(ends, rank_);
  count(own, ends.back() - own);
}

void DryRun::exchange(const std::byte* from, std::span<const std::int64_t> from_ends, std::byte* to,
                      std::span<const std::int64_t> to_ends) {
  std::fill_n(to, to_ends.back(), std::byte{0});
  const std::int64_t own = bytes_of(from_ends, rank_);
  const std::byte* const begin = from + from_ends[static_cast<std::size_t>(rank_)] - own;
  std::copy_n(begin, own, to + to_ends[static_cast<std::size_t>(rank_)] - bytes_of(to_ends, rank_));
  count(from_ends.back() - own, to_ends.back() - own);
}

bool DryRun::any(bool here) {
  count(1, size_ - 1);
  return here;
}

std::int64_t DryRun::sum(std::int64_t here) {
  count(8, 8);
  return here * size_;
}

}  // namespace occam
