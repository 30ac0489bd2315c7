// A pool of threads for loops over independent items. Which thread runs which item is not fixed; results must
// depend on the item alone. No allocation per call. The ranks among which this process works go along with
// its threads: loops that are worth it are shared out among both (shared_loop.hpp). So does a device for
// inner loops (loop_device.hpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "occam/parallel/communicator.hpp"
#include "occam/parallel/loop_device.hpp"

namespace occam {

class ThreadPool {
 public:
  // `threads` includes the calling thread; 0 means one per core this process may use. All ranks make their
  // pools in the same order.
  explicit ThreadPool(int threads = 0, Communicator& ranks = alone());
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  Communicator& ranks() const { return ranks_; }
  // Threads of all ranks together: the same number on each of them.
  std::int64_t workers() const { return all_workers_; }
  // What runs inner loops of simulations in place of these threads, if anything does.
  LoopDevice* loop_device() const { return loop_device_.get(); }
  void set_loop_device(std::shared_ptr<LoopDevice> device) { loop_device_ = std::move(device); }

  // Calls body(item, worker) for item = 0..count-1, worker in [0, threads()), and returns when all are done.
  // If bodies throw, the exception of the lowest item that failed is rethrown; items not yet begun are
  // skipped. One loop at a time: not re-entrant.
  template <class Body>
  void for_each(std::int64_t count, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run(count, const_cast<void*>(static_cast<const void*>(&body)),
        [](void* context, std::int64_t item, int worker) { (*static_cast<Plain*>(context))(item, worker); });
  }

 private:
  using Call = void (*)(void* context, std::int64_t item, int worker);
  void run(std::int64_t count, void* context, Call call);
  void work(int worker);
  void worker_main(int worker);

  Communicator& ranks_;
  std::vector<std::thread> workers_;
  std::int64_t all_workers_ = 1;
  std::shared_ptr<LoopDevice> loop_device_;
  std::atomic<std::uint32_t> generation_{0};  // a new loop, or the end: workers wait on it
  std::atomic<int> busy_{0};                  // workers still in the present loop
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  bool stopping_ = false;

  std::int64_t count_ = 0;
  void* context_ = nullptr;
  Call call_ = nullptr;

  std::mutex error_mutex_;
  std::int64_t error_item_ = 0;
  std::exception_ptr error_;
};

// Cores this process may use (affinity respected).
int available_cores();
// This rank's share of them, where ranks of one machine are not bound to cores of their own. By all ranks.
int available_cores(Communicator& ranks);

}  // namespace occam
