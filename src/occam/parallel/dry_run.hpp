// One process that plays one rank of many and counts what it would send: for predictions of how training
// scales to more ranks than there are at hand. What the others would send is missing: it does their
// simulations itself, and their gradients are zero, so what it learns means nothing.
#pragma once

#include "occam/parallel/communicator.hpp"

namespace occam {

class DryRun final : public Communicator {
 public:
  DryRun(int rank, int size) : rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool is_dry_run() const override { return true; }

  void broadcast(std::span<std::byte> bytes) override;
  void gather(std::span<const std::byte> own, std::vector<std::byte>& all,
              std::vector<std::int64_t>& ends) override;
  void complete(std::byte* whole, std::span<const std::int64_t> ends) override;
  void exchange(const std::byte* from, std::span<const std::int64_t> from_ends, std::byte* to,
                std::span<const std::int64_t> to_ends) override;
  bool any(bool here) override;
  std::int64_t sum(std::int64_t here) override;

  // Collective calls, and the bytes that this rank would take out of them and put into them, since the last
  // clear().
  struct Traffic {
    std::int64_t calls = 0, sent = 0, received = 0;
  };
  const Traffic& traffic() const { return traffic_; }
  void clear() { traffic_ = {}; }

 private:
  void count(std::int64_t sent, std::int64_t received);

  int rank_, size_;
  Traffic traffic_;
};

}  // namespace occam
