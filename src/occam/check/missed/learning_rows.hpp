// LearningRows: what the second learner sees. Every data set is a row: the network's log p, the true model,
// and F statistics, each turned into its rank among all rows, so that no range and no tail matters. Rows lie
// in three stretches: those to fit, those that say when to stop, and those to be judged, whose true models no
// learner looks at.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace occam {

class ThreadPool;

// Ranks of F statistics among B rows, twice: as one of at most kBins bins with about as many rows each, and
// as a normal quantile. Equal values have equal ranks; statistics that never vary are left out.
struct Ranks {
  static constexpr int kBins = 64;

  std::int64_t rows = 0;                 // B
  std::vector<std::int64_t> statistics;  // (F) places of those kept
  std::vector<std::uint8_t> bins;        // (F, B)
  std::vector<float> normal;             // (F, B)

  std::int64_t size() const { return static_cast<std::int64_t>(statistics.size()); }  // F
  std::span<const std::uint8_t> bins_of(std::int64_t f) const {
    return {bins.data() + f * rows, static_cast<std::size_t>(rows)};
  }
  std::span<const float> normal_of(std::int64_t f) const {
    return {normal.data() + f * rows, static_cast<std::size_t>(rows)};
  }
};

// From values (B, columns), row-major, none of them NaN.
Ranks rank_statistics(std::span<const float> values, std::int64_t columns, ThreadPool& pool);

struct Stretch {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

struct LearningRows {
  const Ranks& ranks;
  std::int64_t J = 0;
  std::span<const std::int32_t> truth;  // (B)
  Stretch fit, stop;                    // what is judged is the rest
  std::function<void()> pause = [] {};  // called now and then while learning; may throw to stop
};

// Logarithms of model probabilities (B, J) that learners correct in place.
using Scores = std::vector<double>;

// p (J) from logarithms up to a constant.
void softmax(std::span<const double> score, std::span<double> p);
// -log p of the true model, summed over a stretch of rows.
double log_loss(const LearningRows& rows, const Scores& scores, Stretch stretch, ThreadPool& pool);

}  // namespace occam
