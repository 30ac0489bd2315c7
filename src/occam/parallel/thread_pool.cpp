#include "occam/parallel/thread_pool.hpp"

#include <algorithm>
#include <cstring>
#include <sched.h>
#include <span>
#include <unistd.h>
#include <utility>

namespace occam {
namespace {

// Waiting threads look at the flag for a few microseconds before they sleep: training steps follow each other
// faster than the kernel wakes a thread.
constexpr int kSpins = 2000;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Value>
void wait_while(std::atomic<Value>& flag, Value old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (flag.load(std::memory_order_acquire) != old) return;
    relax();
  }
  while (flag.load(std::memory_order_acquire) == old) flag.wait(old, std::memory_order_acquire);
}

// Those that this process may use: none where the system does not say.
cpu_set_t allowed_cores() {
  cpu_set_t cores{};
#ifdef __linux__
  ::sched_getaffinity(0, sizeof(cores), &cores);
#endif
  return cores;
}

}  // namespace

int available_cores() {
#ifdef __linux__
  const cpu_set_t cores = allowed_cores();
  if (const int allowed = CPU_COUNT(&cores); allowed > 0) return allowed;
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int available_cores(Communicator& ranks) {
  const int mine = available_cores();
  if (ranks.is_alone()) return mine;
  // Ranks of one machine that may use the same cores: nobody has shared them out.
  struct Place {
    char machine[256] = {};
    cpu_set_t cores = allowed_cores();
  } place;
  ::gethostname(place.machine, sizeof(place.machine) - 1);
  std::vector<std::byte> all;
  std::vector<std::int64_t> ends;
  ranks.gather(std::as_bytes(std::span(&place, 1)), all, ends);
  int sharing = 0;
  for (std::size_t at = 0; at < all.size(); at += sizeof(Place))
    sharing += std::memcmp(all.data() + at, &place, sizeof(Place)) == 0 ? 1 : 0;
  return std::max(1, mine / std::max(1, sharing));
}

ThreadPool::ThreadPool(int threads, Communicator& ranks) : ranks_(ranks) {
  const int total = threads > 0 ? threads : available_cores(ranks);
  for (int worker = 1; worker < total; ++worker) {
    workers_.emplace_back([this, worker] { worker_main(worker); });
  }
  all_workers_ = ranks_.sum(total);
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::int64_t count, void* context, Call call) {
  if (count <= 0) return;
  count_ = count;
  context_ = context;
  call_ = call;
  error_ = nullptr;
  failed_.store(false, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  if (!workers_.empty()) {
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
  }
  work(0);
  for (int busy = busy_.load(std::memory_order_acquire); busy != 0;
       busy = busy_.load(std::memory_order_acquire)) {
    wait_while(busy_, busy);
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::work(int worker) {
  while (!failed_.load(std::memory_order_relaxed)) {
    const std::int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
    if (item >= count_) return;
    try {
      call_(context_, item, worker);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      if (!error_ || item < error_item_) {
        error_ = std::current_exception();
        error_item_ = item;
      }
      failed_.store(true, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::worker_main(int worker) {
  std::uint32_t seen = 0;
  for (;;) {
    wait_while(generation_, seen);
    seen = generation_.load(std::memory_order_acquire);
    if (stopping_) return;
    work(worker);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

}  // namespace occam
