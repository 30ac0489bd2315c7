// What was missed: a lower bound, in nats, of the evidence in the data that a network leaves unused. A
// network can be perfectly calibrated and blind; this is the check that sees it. Fresh data sets are
// simulated, a second learner (second_learner.hpp) gets the network's log p and plain statistics of the raw
// data (rich_statistics.hpp), and what it gains over the network was there to be found.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "occam/check/diagnostic.hpp"

namespace occam {

class Batch;
class Comparator;
class Problem;
class ThreadPool;

struct MissedRequest {
  std::uint64_t seed = 1;
  std::int64_t data_sets = 20000;
  const Batch* table = nullptr;  // take these rows of it, in any order, instead of simulating
  std::span<const std::int64_t> table_rows = {};
};

struct Missed {
  std::vector<double> gain;     // (B) of the second learner over the network, data set by data set [nats]
  std::vector<std::int64_t> n;  // (B) their sizes
  double log_loss = 0;          // of the network on the same data sets [nats]
  // Statistics that the corrections go along with, the closest first, each with the part it explains alone.
  std::vector<std::pair<std::string, double>> statistics;

  double estimate() const;  // mean gain
  double se() const;        // its standard error
  // What the network misses at least: holds with probability 1 - level. Never below 0.
  double bound(double level = 0.025) const;
};

// How many data sets it takes: those asked for, or those of the table; fewer where they are large or there is
// much to say of them, judged by the first ones. 0 where they are too few to learn from.
std::int64_t missed_data_sets(const Problem& problem, const MissedRequest& request, ThreadPool& pool);

// `done` is called with the number of data sets behind; it may throw to stop. Data sets are of the stream
// Purpose::missed, which nothing else sees. Error(usage) where missed_data_sets is 0.
Missed measure_missed(Comparator& comparator, const Problem& problem, const MissedRequest& request,
                      ThreadPool& pool, const std::function<void(std::int64_t)>& done);

// Up to here, nothing is called missed: it would change no conclusion.
inline constexpr double kNegligible = 0.002;  // nats

// What else is known of what the network lacks; NaN where it is not.
struct KnownGap {
  double kl = std::numeric_limits<double>::quiet_NaN();             // from the exact posterior
  double training_gain = std::numeric_limits<double>::quiet_NaN();  // expected from longer training
};

// `level`: the false-alarm probability of its one test.
Finding missed_finding(const Missed& missed, const KnownGap& known, double limit, double level);

}  // namespace occam
