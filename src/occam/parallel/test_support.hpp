// Ranks for tests: threads of one process that pass each other what they have through shared memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "occam/parallel/communicator.hpp"

namespace occam::testing_support {

class ThreadRank final : public Communicator {
 public:
  // What the ranks share.
  struct Board {
    explicit Board(int ranks) : size(ranks), barrier(ranks), places(static_cast<std::size_t>(ranks)) {}
    struct Place {
      const std::byte* bytes = nullptr;
      std::vector<std::int64_t> ends;
      std::int64_t number = 0;
    };
    int size;
    std::barrier<> barrier;
    std::vector<Place> places;
    std::atomic<std::int64_t> next{0};
  };
  ThreadRank(Board& board, int rank) : board_(board), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return board_.size; }

  void broadcast(std::span<std::byte> bytes) override {
    show(bytes.data(), {});
    if (rank_ > 0) std::copy_n(board_.places[0].bytes, bytes.size(), bytes.data());
    wait();
  }
  void gather(std::span<const std::byte> own, std::vector<std::byte>& all,
              std::vector<std::int64_t>& ends) override {
    show(own.data(), {static_cast<std::int64_t>(own.size())});
    all.clear();
    ends.clear();
    for (const Board::Place& place : board_.places) {
      all.insert(all.end(), place.bytes, place.bytes + place.ends[0]);
      ends.push_back(static_cast<std::int64_t>(all.size()));
    }
    wait();
  }
  void complete(std::byte* whole, std::span<const std::int64_t> ends) override {
    show(whole, {});
    for (std::size_t r = 0; r < ends.size(); ++r) {
      const std::int64_t first = r == 0 ? 0 : ends[r - 1];
      if (static_cast<int>(r) != rank_)
        std::copy(board_.places[r].bytes + first, board_.places[r].bytes + ends[r], whole + first);
    }
    wait();
  }
  void exchange(const std::byte* from, std::span<const std::int64_t> from_ends, std::byte* to,
                std::span<const std::int64_t> to_ends) override {
    show(from, {from_ends.begin(), from_ends.end()});
    for (std::size_t r = 0; r < to_ends.size(); ++r) {
      const Board::Place& place = board_.places[r];
      const auto own = static_cast<std::size_t>(rank_);
      std::copy(place.bytes + (rank_ == 0 ? 0 : place.ends[own - 1]), place.bytes + place.ends[own],
                to + (r == 0 ? 0 : to_ends[r - 1]));
    }
    wait();
  }
  bool any(bool here) override { return sum(here ? 1 : 0) > 0; }
  std::int64_t sum(std::int64_t here) override {
    board_.places[static_cast<std::size_t>(rank_)].number = here;
    wait();
    std::int64_t total = 0;
    for (const Board::Place& place : board_.places) total += place.number;
    wait();
    return total;
  }
  std::unique_ptr<Dispenser> hand_out(std::int64_t) override {
    wait();
    if (rank_ == 0) board_.next = 0;
    wait();
    return std::make_unique<Counter>(board_.next);
  }

 private:
  class Counter final : public Dispenser {
   public:
    explicit Counter(std::atomic<std::int64_t>& next) : next_(next) {}
    std::int64_t take() override { return next_++; }
    void stop() override { next_ = std::int64_t{1} << 60; }

   private:
    std::atomic<std::int64_t>& next_;
  };
  void wait() { board_.barrier.arrive_and_wait(); }
  void show(const std::byte* bytes, std::vector<std::int64_t> ends) {
    auto& place = board_.places[static_cast<std::size_t>(rank_)];
    place.bytes = bytes;
    place.ends = std::move(ends);
    wait();
  }

  Board& board_;
  int rank_;
};

// Calls body(communicator) on so many ranks at once.
inline void on_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  ThreadRank::Board board(ranks);
  std::vector<std::thread> threads;  // libc++ 16 has no std::jthread
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&board, &body, rank] {
      ThreadRank communicator(board, rank);
      body(communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace occam::testing_support
