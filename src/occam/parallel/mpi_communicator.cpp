#include "occam/parallel/mpi_communicator.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <mpi.h>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "occam/core/error.hpp"

namespace occam {
namespace {

using namespace std::chrono_literals;

// How long a rank that failed waits for the others to fail as well, before it ends them.
constexpr auto kPatience = 3s;
// MPI counts in int.
constexpr std::int64_t kLargest = std::numeric_limits<int>::max();

// Counts and places from ends.
struct Places {
  std::vector<int> counts, firsts;
  explicit Places(std::span<const std::int64_t> ends) {
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
      firsts.push_back(static_cast<int>(first));
      counts.push_back(static_cast<int>(end - first));
      first = end;
    }
  }
};

// Rank 0 keeps the counter. A thread of its own answers the others, since all its other threads may be busy
// with a task for minutes; it looks for requests now and then instead of waiting inside MPI, which would keep
// a core busy. MPI's one-sided counters are no way out: with most networks they move only while the rank that
// keeps them is inside MPI.
class MpiDispenser final : public Dispenser {
 public:
  MpiDispenser(MPI_Comm comm, int rank, int size, std::int64_t count)
      : comm_(comm), rank_(rank), others_(size - 1), count_(count) {
    if (rank_ == 0) server_ = std::thread([this] { serve(); });
  }
  ~MpiDispenser() override {
    if (rank_ == 0) {
      server_.join();
    } else {
      send(kDone);
    }
  }
  MpiDispenser(const MpiDispenser&) = delete;
  MpiDispenser& operator=(const MpiDispenser&) = delete;

  std::int64_t take() override {
    if (rank_ == 0) return next();
    const std::lock_guard lock(mutex_);
    if (last_ >= count_) return last_;
    send(kTake);
    MPI_Recv(&last_, 1, MPI_INT64_T, 0, kAnswer, comm_, MPI_STATUS_IGNORE);
    return last_;
  }

  void stop() override {
    if (rank_ == 0) {
      next_ = count_;
      return;
    }
    const std::lock_guard lock(mutex_);
    send(kStop);
    last_ = count_;
  }

 private:
  static constexpr int kRequest = 1, kAnswer = 2;  // tags
  static constexpr int kTake = 0, kStop = 1, kDone = 2;

  void send(int what) { MPI_Send(&what, 1, MPI_INT, 0, kRequest, comm_); }

  std::int64_t next() { return next_ < count_ ? next_++ : count_; }

  void serve() {
    while (others_ > 0) {
      int there = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, kRequest, comm_, &there, &status);
      if (there == 0) {
        std::this_thread::sleep_for(100us);
        continue;
      }
      int what = 0;
      MPI_Recv(&what, 1, MPI_INT, status.MPI_SOURCE, kRequest, comm_, MPI_STATUS_IGNORE);
      if (what == kTake) {
        const std::int64_t task = next();
        MPI_Send(&task, 1, MPI_INT64_T, status.MPI_SOURCE, kAnswer, comm_);
      } else if (what == kStop) {
        next_ = count_;
      } else {
        --others_;
      }
    }
  }

  MPI_Comm comm_;
  int rank_, others_;
  std::int64_t count_, last_ = -1;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;  // one request at a time
  std::thread server_;
};

// Counters in memory that all ranks of one machine see. Loops use them in turn: when one begins, that of a
// loop long past is set back, which all ranks have left, since each loop ends with an exchange.
class SharedCounters {
 public:
  explicit SharedCounters(MPI_Comm machine) {
    int rank = 0;
    MPI_Comm_rank(machine, &rank);
    keeper_ = rank == 0;
    Counter* own = nullptr;
    MPI_Win_allocate_shared(keeper_ ? kCounters * sizeof(Counter) : 0, 1, MPI_INFO_NULL, machine, &own,
                            &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &counters_);
    for (std::int64_t i = 0; keeper_ && i < kCounters; ++i) new (counters_ + i) Counter;
    MPI_Barrier(machine);
  }
  void free() { MPI_Win_free(&window_); }

  std::atomic<std::int64_t>& next() {
    const std::int64_t loop = loops_++;
    if (keeper_) counters_[(loop + kCounters / 2) % kCounters].next = 0;
    return counters_[loop % kCounters].next;
  }

 private:
  static constexpr std::int64_t kCounters = 16;
  struct alignas(64) Counter {  // a cache line each
    std::atomic<std::int64_t> next{0};
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free, "locks are not shared between processes");

  bool keeper_ = false;
  MPI_Win window_ = MPI_WIN_NULL;
  Counter* counters_ = nullptr;
  std::int64_t loops_ = 0;
};

class LocalDispenser final : public Dispenser {
 public:
  LocalDispenser(std::atomic<std::int64_t>& next, std::int64_t count) : next_(next), count_(count) {}
  std::int64_t take() override { return std::min(next_.fetch_add(1), count_); }
  void stop() override { next_ = count_; }

 private:
  std::atomic<std::int64_t>& next_;
  std::int64_t count_;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    threads_ = provided == MPI_THREAD_MULTIPLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    // Tasks are handed out, and ranks leave, while others are in the middle of something else.
    MPI_Comm_dup(MPI_COMM_WORLD, &work_);
    MPI_Comm_dup(MPI_COMM_WORLD, &tasks_);
    MPI_Comm_dup(MPI_COMM_WORLD, &end_);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local_rank_);
    MPI_Comm_size(machine, &local_size_);
    // Tests play ranks on machines of their own.
    if (local_size_ == size_ && std::getenv("OCCAM_RANKS_APART") == nullptr) counters_.emplace(machine);
    MPI_Comm_free(&machine);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }

  void broadcast(std::span<std::byte> bytes) override { broadcast_from(0, bytes); }

  void gather(std::span<const std::byte> own, std::vector<std::byte>& all,
              std::vector<std::int64_t>& ends) override {
    ends.resize(static_cast<std::size_t>(size_));
    const auto count = static_cast<std::int64_t>(own.size());
    MPI_Allgather(&count, 1, MPI_INT64_T, ends.data(), 1, MPI_INT64_T, work_);
    for (std::size_t r = 1; r < ends.size(); ++r) ends[r] += ends[r - 1];
    all.resize(static_cast<std::size_t>(ends.back()));
    std::copy(own.begin(), own.end(),
              all.begin() + (rank_ == 0 ? 0 : ends[static_cast<std::size_t>(rank_) - 1]));
    complete(all.data(), ends);
  }

  void complete(std::byte* whole, std::span<const std::int64_t> ends) override {
    if (ends.back() <= kLargest) {
      const Places places(ends);
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, whole, places.counts.data(), places.firsts.data(), MPI_BYTE,
                     work_);
      return;
    }
    std::int64_t first = 0;
    for (int r = 0; r < size_; ++r) {
      const std::int64_t end = ends[static_cast<std::size_t>(r)];
      broadcast_from(r, {whole + first, static_cast<std::size_t>(end - first)});
      first = end;
    }
  }

  void exchange(const std::byte* from, std::span<const std::int64_t> from_ends, std::byte* to,
                std::span<const std::int64_t> to_ends) override {
    if (std::max(from_ends.back(), to_ends.back()) > kLargest)
      throw Error(ErrorKind::usage,
                  "ranks would have to exchange more than {} bytes at once: use fewer ranks, "
                  "or a smaller network",
                  kLargest);
    const Places sent(from_ends), received(to_ends);
    MPI_Alltoallv(from, sent.counts.data(), sent.firsts.data(), MPI_BYTE, to, received.counts.data(),
                  received.firsts.data(), MPI_BYTE, work_);
  }

  bool any(bool here) override {
    int flag = here ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_LOR, work_);
    return flag != 0;
  }

  std::int64_t sum(std::int64_t here) override {
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT64_T, MPI_SUM, work_);
    return here;
  }

  bool hands_out_freely() const override { return counters_.has_value(); }
  std::unique_ptr<Dispenser> hand_out(std::int64_t count) override {
    if (counters_) return std::make_unique<LocalDispenser>(counters_->next(), count);
    if (!threads_) return nullptr;
    return std::make_unique<MpiDispenser>(tasks_, rank_, size_, count);
  }

  // Not a blocking call: MPI would keep a core busy, and a rank that failed must not wait for ever.
  int leave(int code) override {
    std::vector<int> codes(static_cast<std::size_t>(size_));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, end_, &request);
    const auto start = std::chrono::steady_clock::now();
    for (int all = 0;;) {
      MPI_Test(&request, &all, MPI_STATUS_IGNORE);
      if (all != 0) break;
      if (code != 0 && std::chrono::steady_clock::now() - start > kPatience) return -1;
      std::this_thread::sleep_for(1ms);
    }
    if (counters_) counters_->free();
    MPI_Finalize();
    return codes[0] != 0 ? codes[0] : *std::max_element(codes.begin(), codes.end());
  }

  void abort(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

 private:
  void broadcast_from(int root, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), static_cast<std::size_t>(kLargest));
      MPI_Bcast(bytes.data(), static_cast<int>(count), MPI_BYTE, root, work_);
      bytes = bytes.subspan(count);
    }
  }

  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  bool threads_ = false;
  std::optional<SharedCounters> counters_;  // where all ranks are on one machine
  MPI_Comm work_ = MPI_COMM_NULL, tasks_ = MPI_COMM_NULL, end_ = MPI_COMM_NULL;
};

}  // namespace

std::unique_ptr<Communicator> join_mpi() {
  return std::make_unique<MpiCommunicator>();
}

}  // namespace occam
