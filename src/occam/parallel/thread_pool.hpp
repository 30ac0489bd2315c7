// A pool of threads for loops over independent items. Which thread runs which item is not fixed; results must
// depend on the item alone. No allocation per call.
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

namespace occam {

class ThreadPool {
 public:
  // `threads` includes the calling thread; 0 means one per core this process may use.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

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

  std::vector<std::thread> workers_;
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

}  // namespace occam
