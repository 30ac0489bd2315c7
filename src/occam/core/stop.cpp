#include "occam/core/stop.hpp"

#include <atomic>
#include <cstdint>
#include <ctime>

#include "occam/core/error.hpp"

namespace occam {
namespace {

std::atomic<std::int64_t> stopped_at_ns{0};  // 0: no wish
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ns() noexcept {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

}  // namespace

void request_stop() noexcept {
  std::int64_t none = 0;
  stopped_at_ns.compare_exchange_strong(none, now_ns());
}

bool stop_requested() noexcept {
  return stopped_at_ns.load() != 0;
}

double seconds_since_stop() noexcept {
  const std::int64_t at = stopped_at_ns.load();
  return at == 0 ? 0.0 : 1e-9 * static_cast<double>(now_ns() - at);
}

void end_if_stopped() {
  constexpr double kGrace_s = 1.0;
  if (stop_requested() && seconds_since_stop() > kGrace_s)
    throw Error(ErrorKind::interrupted, "stopped while data sets were simulated");
}

}  // namespace occam
