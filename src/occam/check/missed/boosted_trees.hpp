// Boosted trees (Friedman 2001): small regression trees, one a round, each fitted to what the scores so far
// get wrong and added with a small weight, until the stopping rows get no better. Splits are sought among the
// bins of the statistics (Ranks); the leaves of a tree hold a value for each of the J models,
//   w_j = rate * sum ([t = j] - p_j) / (sum p_j (1 - p_j) + penalty),
// so that a round costs one tree however many models there are. With more than three models a split is judged
// by three random mixtures of their gradients (Iosipoi & Vakhrushev 2022), drawn anew each round.
#pragma once

#include "occam/check/missed/learning_rows.hpp"

namespace occam {

struct TreeOptions {
  int depth = 4;
  int rounds = 300;   // at most
  int patience = 25;  // rounds without gain before the end
  double rate = 0.1;
  double penalty = 5;  // in the unit of p (1 - p), summed over rows
  std::int64_t smallest_leaf = 20;
  std::int64_t statistics = 80;  // looked at in a round, drawn anew
};

// Corrects the scores of all rows, not only of those fitted. Where no tree helps the stopping rows, they stay
// what they are, to the bit. The same for any number of threads.
void correct_by_trees(const LearningRows& rows, const TreeOptions& options, std::uint64_t seed,
                      Scores& scores, ThreadPool& pool);

}  // namespace occam
