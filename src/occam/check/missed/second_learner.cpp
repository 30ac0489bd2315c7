#include "occam/check/missed/second_learner.hpp"

#include <algorithm>
#include <cmath>

#include "occam/check/missed/boosted_trees.hpp"
#include "occam/check/missed/linear_correction.hpp"
#include "occam/core/error.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

constexpr double kMostWork = 1e8;  // data sets times models times rounds
constexpr double kStop = 0.25;     // the part of a half that says when to stop
// The part that the network keeps in the second opinion: no gain is below its logarithm, so that no rare
// blunder of the learner goes unseen by the interval of the mean.
constexpr double kKept = 0.05;

// Corrected probabilities of the rows that are not in `half`.
void learn_on(Stretch half, const SecondLearnerInput& input, const Ranks& ranks, std::uint64_t seed,
              ThreadPool& pool, const std::function<void()>& pause, std::vector<double>& corrected) {
  const auto stop = static_cast<std::int64_t>(kStop * static_cast<double>(half.size()));
  const LearningRows rows{
      ranks, input.J, input.truth, {half.begin, half.end - stop}, {half.end - stop, half.end}, pause};
  Scores scores = input.log_p;
  correct_linearly(rows, scores, pool);
  TreeOptions trees;
  const auto most = static_cast<int>(kMostWork / static_cast<double>(input.size() * input.J));
  trees.rounds = std::clamp(most, 30, trees.rounds);
  correct_by_trees(rows, trees, seed, scores, pool);
  const auto J = static_cast<std::size_t>(input.J);
  std::vector<double> p(J), own(J);
  for (std::int64_t b = 0; b < input.size(); ++b) {
    if (b >= half.begin && b < half.end) continue;
    const std::size_t at = static_cast<std::size_t>(b) * J;
    softmax({scores.data() + at, J}, p);
    softmax({input.log_p.data() + at, J}, own);
    for (std::size_t j = 0; j < J; ++j) corrected[at + j] = (1 - kKept) * p[j] + kKept * own[j];
  }
}

// Between-bin part of the sum of squares of corrected minus own p, over all models.
std::vector<double> explained(const SecondLearnerInput& input, const Ranks& ranks,
                              const std::vector<double>& corrected, ThreadPool& pool) {
  const auto J = static_cast<std::size_t>(input.J);
  const auto B = static_cast<std::size_t>(input.size());
  std::vector<double> change(corrected);
  std::vector<double> own(J);
  double total = 0;
  for (std::size_t b = 0; b < B; ++b) {
    softmax({input.log_p.data() + b * J, J}, own);
    for (std::size_t j = 0; j < J; ++j) {
      change[b * J + j] -= own[j];
      total += change[b * J + j] * change[b * J + j];
    }
  }
  std::vector<double> result(static_cast<std::size_t>(input.statistics), 0.0);
  if (!(total > 0)) return result;
  pool.for_each(ranks.size(), [&](std::int64_t f, int) {
    std::vector<double> sums(Ranks::kBins * J), counts(Ranks::kBins);
    const std::span<const std::uint8_t> bins = ranks.bins_of(f);
    for (std::size_t b = 0; b < B; ++b) {
      counts[bins[b]] += 1;
      for (std::size_t j = 0; j < J; ++j) sums[bins[b] * J + j] += change[b * J + j];
    }
    double between = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (counts[i / J] > 0) between += sums[i] * sums[i] / counts[i / J];
    }
    result[static_cast<std::size_t>(ranks.statistics[static_cast<std::size_t>(f)])] = between / total;
  });
  return result;
}

}  // namespace

SecondOpinion second_opinion(const SecondLearnerInput& input, std::uint64_t seed, ThreadPool& pool,
                             const std::function<void()>& pause) {
  const std::int64_t B = input.size();
  if (B < kFewestToLearn) {
    throw Error(ErrorKind::usage, "a second learner needs at least {} data sets, there are {}",
                kFewestToLearn, B);
  }
  const Ranks ranks = rank_statistics(input.values, input.statistics, pool);
  const auto J = static_cast<std::size_t>(input.J);
  std::vector<double> corrected(input.log_p.size());
  learn_on({0, B / 2}, input, ranks, seed, pool, pause, corrected);
  learn_on({B / 2, B}, input, ranks, seed, pool, pause, corrected);
  SecondOpinion opinion;
  std::vector<double> own(J);
  for (std::size_t b = 0; b < static_cast<std::size_t>(B); ++b) {
    const auto truth = static_cast<std::size_t>(input.truth[b]);
    softmax({input.log_p.data() + b * J, J}, own);
    // Own p can be zero where its logarithm is far below those of the rest.
    opinion.gain.push_back(std::log(std::max(corrected[b * J + truth], 1e-300)) -
                           std::log(std::max(own[truth], 1e-300)));
  }
  opinion.explains = explained(input, ranks, corrected, pool);
  return opinion;
}

}  // namespace occam
