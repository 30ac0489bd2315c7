#include "occam/check/missed/learning_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "occam/check/statistics.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

// Fills the ranks of one statistic. Returns false where it never varies.
bool rank_one(std::span<const float> values, std::int64_t columns, std::int64_t column,
              std::span<std::uint8_t> bins, std::span<float> normal) {
  const std::size_t B = bins.size();
  std::vector<std::pair<float, std::int32_t>> sorted(B);
  for (std::size_t b = 0; b < B; ++b) {
    sorted[b] = {values[b * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)],
                 static_cast<std::int32_t>(b)};
  }
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front().first == sorted.back().first) return false;
  for (std::size_t first = 0, last = 0; first < B; first = last) {
    while (last < B && sorted[last].first == sorted[first].first) ++last;
    const double middle = 0.5 * static_cast<double>(first + last) / static_cast<double>(B);
    const auto bin = static_cast<std::uint8_t>(middle * Ranks::kBins);
    const auto quantile = static_cast<float>(normal_quantile(middle));
    for (std::size_t i = first; i < last; ++i) {
      bins[static_cast<std::size_t>(sorted[i].second)] = bin;
      normal[static_cast<std::size_t>(sorted[i].second)] = quantile;
    }
  }
  return true;
}

}  // namespace

Ranks rank_statistics(std::span<const float> values, std::int64_t columns, ThreadPool& pool) {
  Ranks ranks;
  ranks.rows = static_cast<std::int64_t>(values.size()) / columns;
  const auto B = static_cast<std::size_t>(ranks.rows);
  std::vector<std::uint8_t> bins(B * static_cast<std::size_t>(columns));
  std::vector<float> normal(bins.size());
  std::vector<std::uint8_t> varies(static_cast<std::size_t>(columns));
  pool.for_each(columns, [&](std::int64_t c, int) {
    const std::size_t at = static_cast<std::size_t>(c) * B;
    varies[static_cast<std::size_t>(c)] =
        rank_one(values, columns, c, {bins.data() + at, B}, {normal.data() + at, B}) ? 1 : 0;
  });
  for (std::int64_t c = 0; c < columns; ++c) {
    if (varies[static_cast<std::size_t>(c)] == 0) continue;
    const std::size_t from = static_cast<std::size_t>(c) * B;
    const std::size_t to = ranks.statistics.size() * B;
    std::copy_n(bins.data() + from, B, bins.data() + to);
    std::copy_n(normal.data() + from, B, normal.data() + to);
    ranks.statistics.push_back(c);
  }
  bins.resize(ranks.statistics.size() * B);
  normal.resize(bins.size());
  ranks.bins = std::move(bins);
  ranks.normal = std::move(normal);
  return ranks;
}

void softmax(std::span<const double> score, std::span<double> p) {
  const double largest = *std::max_element(score.begin(), score.end());
  double sum = 0;
  for (std::size_t j = 0; j < score.size(); ++j) sum += p[j] = std::exp(score[j] - largest);
  for (double& one : p) one /= sum;
}

double log_loss(const LearningRows& rows, const Scores& scores, Stretch stretch, ThreadPool& pool) {
  constexpr std::int64_t kRowsAtOnce = 512;
  const auto J = static_cast<std::size_t>(rows.J);
  std::vector<double> sums(static_cast<std::size_t>((stretch.size() + kRowsAtOnce - 1) / kRowsAtOnce));
  pool.for_each(static_cast<std::int64_t>(sums.size()), [&](std::int64_t block, int) {
    const std::int64_t first = stretch.begin + block * kRowsAtOnce;
    double sum = 0;
    for (std::int64_t b = first; b < std::min(first + kRowsAtOnce, stretch.end); ++b) {
      const double* score = scores.data() + static_cast<std::size_t>(b) * J;
      const double largest = *std::max_element(score, score + J);
      double total = 0;
      for (std::size_t j = 0; j < J; ++j) total += std::exp(score[j] - largest);
      sum += largest + std::log(total) - score[rows.truth[static_cast<std::size_t>(b)]];
    }
    sums[static_cast<std::size_t>(block)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace occam
