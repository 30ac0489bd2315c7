// Communicator: this process among others that do the same work, its ranks. All of them run the same program
// on the same input and hold the same state; where there is much to do, each does a part, and what came of it
// is exchanged, so that all hold the same again. Every function below is called by all ranks in the same
// order, from one thread, and gives all of them the same result.
//   alone()       one process, no others
//   join_mpi()    those that mpirun or srun started (mpi_communicator.hpp)
//   DryRun        plays one rank of many, and counts what it would send (dry_run.hpp)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace occam {

// Hands out the tasks of a loop one by one, over all ranks: for tasks whose running times vary widely. From
// any thread.
class Dispenser {
 public:
  virtual ~Dispenser() = default;
  // The next task, or one beyond the last.
  virtual std::int64_t take() = 0;
  // Nothing is handed out any more: something has failed.
  virtual void stop() = 0;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  bool is_alone() const { return size() == 1; }
  // There are no others, though there seem to be: this one has to do their part as well.
  virtual bool is_dry_run() const { return false; }
  // Among the ranks of this machine, for what they have to divide among themselves.
  virtual int local_rank() const { return 0; }
  virtual int local_size() const { return 1; }

  // Rank 0 has the bytes, the others get them.
  virtual void broadcast(std::span<std::byte>) {}
  // The bytes of all ranks one behind the other; ends[r] is where those of rank r end.
  virtual void gather(std::span<const std::byte> own, std::vector<std::byte>& all,
                      std::vector<std::int64_t>& ends);
  // Rank r has filled bytes [ends[r-1], ends[r]) of an array; afterwards all have all of it.
  virtual void complete(std::byte*, std::span<const std::int64_t>) {}
  // Rank r gets bytes [from_ends[r-1], from_ends[r]) of `from`; what rank r has for us goes to
  // [to_ends[r-1], to_ends[r]) of `to`.
  virtual void exchange(const std::byte* from, std::span<const std::int64_t> from_ends, std::byte* to,
                        std::span<const std::int64_t> to_ends);
  // Whether it is so on any rank.
  virtual bool any(bool here) { return here; }
  virtual std::int64_t sum(std::int64_t here) { return here; }

  // For loops of so many tasks; null where there is nothing to hand out to, or no way to do it. All ranks
  // exchange something before they come to the end of such a loop.
  virtual std::unique_ptr<Dispenser> hand_out(std::int64_t) { return nullptr; }
  // Whether that costs next to nothing, so that it is worth it for short tasks, too.
  virtual bool hands_out_freely() const { return false; }

  // The end of the work on this rank, with its exit code: waits until all have come, and returns the code of
  // the run. A rank that has failed (code other than 0) waits a few seconds; then the others are still at
  // work, for it failed alone, and the answer is -1.
  virtual int leave(int code) { return code; }
  // Ends all ranks at once.
  virtual void abort(int code);

  // Typed forms.
  template <class T>
  void broadcast_values(std::span<T> values) {
    broadcast(std::as_writable_bytes(values));
  }
  // As complete(); ends count values.
  template <class T>
  void complete_values(std::vector<T>& values, std::span<const std::int64_t> ends) {
    std::vector<std::int64_t> bytes(ends.begin(), ends.end());
    for (std::int64_t& end : bytes) end *= static_cast<std::int64_t>(sizeof(T));
    complete(reinterpret_cast<std::byte*>(values.data()), bytes);
  }
};

// The process by itself.
Communicator& alone();

// The share of rank r of `count` things in a row: [part(count, r, size), part(count, r + 1, size)).
inline std::int64_t part(std::int64_t count, std::int64_t r, std::int64_t size) {
  return count * r / size;
}

// How many processes mpirun, srun or their like say they have started, this one among them; 1 where nothing
// is said.
int started_processes();

}  // namespace occam
