// Trials of the decision model on a GPU (decision_trial.hpp). The longest of 32 trials takes three times as
// long as they do on average, so the threads of a warp do not wait for it: whoever is done takes the next
// trial of all. When there are several who are, that is: to start one takes as long as many steps, and the
// others wait for that.
#include <cuda_runtime.h>

#include <algorithm>

#include "occam/models/decision_trial.hpp"

namespace occam {
namespace {

constexpr int kThreads = 128;
constexpr int kIdle = 8;           // threads of a warp that start together
constexpr std::int64_t kEach = 16;  // trials of a thread, on average, where there are many
constexpr unsigned kWarp = 0xffffffffu;

// Takes a trial for each thread that wants one, or `trials` for those that get none. By the whole warp.
__device__ std::int64_t take(TrialsHead& head, bool wanted) {
  const unsigned lane = threadIdx.x % 32, who = __ballot_sync(kWarp, wanted);
  unsigned long long first = 0;
  if (lane == 0 && who != 0) first = atomicAdd(&head.taken, static_cast<unsigned long long>(__popc(who)));
  first = __shfl_sync(kWarp, first, 0);
  const auto item = static_cast<std::int64_t>(first + __popc(who & ((1u << lane) - 1u)));
  return wanted ? min(item, head.trials) : head.trials;
}

// The trial that a thread has at hand.
struct Hand {
  const std::int64_t none;
  std::int64_t item = none;
  bool moving = false;  // if there is one: else it has to start, or to start again
  bool first_condition = false;
  bool gaussian = false;
  float last = 0.0f;
  LevyNoise noise;
  const TrialSet* set = nullptr;
  TrialRun run;

  __device__ explicit Hand(std::int64_t none) : none(none) {}
  __device__ bool empty() const { return item == none; }
  __device__ void take_up(const TrialsHead& head, std::int64_t taken) {
    item = taken;
    const TrialInput input = head.trial_array()[item];
    set = head.set_array() + input.set();
    noise = set->levy;
    last = set->max_steps;
    gaussian = set->gaussian;
    first_condition = input.first_condition();
    run = TrialRun(input);
  }
  __device__ void start() {
    run.start(*set, first_condition);
    moving = true;
  }
  __device__ void go_on(TrialOutput* out) {
    if (!run.ended(last)) {
      gaussian ? trial::gaussian_stretch(run.walk, last) : trial::levy_stretch(run.walk, noise, last);
    }
    if (!run.ended(last)) return;
    moving = false;
    if (!run.over()) return;
    out[item] = run.output(*set);
    item = none;
  }
};

__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    trials_kernel(TrialsHead* head, TrialOutput* out) {
  Hand hand(head->trials);
  bool more = true;  // trials that nobody has taken, as far as the warp knows
  for (;;) {
    const int idle = __popc(__ballot_sync(kWarp, !hand.moving));
    const bool waiting = __any_sync(kWarp, !hand.moving && !hand.empty());
    if ((more || waiting) && idle >= kIdle) {
      const bool wanted = more && hand.empty();
      const std::int64_t taken = take(*head, wanted);
      if (taken != hand.none) hand.take_up(*head, taken);
      more = __all_sync(kWarp, wanted ? taken != hand.none : more);
      if (!hand.moving && !hand.empty()) hand.start();
    } else if (idle == 32) {
      return;
    }
    if (hand.moving) hand.go_on(out);
  }
}

}  // namespace

void launch_trials(const std::byte* in, std::byte* out, std::int64_t items, void* stream) {
  constexpr std::int64_t kFew = 1024;  // these run all at once
  const std::int64_t lanes = std::max(std::min(items, kFew), items / kEach);
  const auto blocks = static_cast<unsigned>((lanes + kThreads - 1) / kThreads);
  auto* const head = reinterpret_cast<TrialsHead*>(const_cast<std::byte*>(in));
  trials_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      head, reinterpret_cast<TrialOutput*>(out));
}

}  // namespace occam
