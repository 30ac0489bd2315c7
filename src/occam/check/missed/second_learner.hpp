// SecondLearner: what a second learner, which starts from the network's log p and sees plain statistics of
// the data, does better than the network. It learns on one half of the data sets and is judged on the other,
// then the other way round, so that every data set is judged by a learner that never saw its true model:
//   gain_b = log p'_b(true model) - log p_b(true model)   [nats].
// The mean gain is at most what the network misses, KL(exact || network), whatever the learner is worth: no
// predictions have a smaller expected log-loss than the exact posterior.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace occam {

class ThreadPool;

// B data sets.
struct SecondLearnerInput {
  std::int64_t J = 0;
  std::vector<double> log_p;        // (B, J) of the network
  std::vector<std::int32_t> truth;  // (B) index of the true model
  std::int64_t statistics = 0;      // F
  std::vector<float> values;        // (B, F), none of them NaN

  std::int64_t size() const { return static_cast<std::int64_t>(truth.size()); }
};

struct SecondOpinion {
  std::vector<double> gain;  // (B) nats
  // (F) how much of the corrections of p goes along with each statistic alone: a part of one, 0 where nothing
  // was corrected.
  std::vector<double> explains;
};

// Needs at least kFewestToLearn data sets, in an order that says nothing about models. The same seed gives
// the same bits on any number of threads. `pause` is called now and then; it may throw to stop.
inline constexpr std::int64_t kFewestToLearn = 1000;
SecondOpinion second_opinion(
    const SecondLearnerInput& input, std::uint64_t seed, ThreadPool& pool,
    const std::function<void()>& pause = [] {});

}  // namespace occam
