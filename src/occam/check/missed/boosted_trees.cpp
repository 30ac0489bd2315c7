#include "occam/check/missed/boosted_trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "occam/core/rng.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

constexpr std::int64_t kBlock = 512;  // rows per task
constexpr std::uint8_t kAllLeft = 255;
constexpr std::uint64_t kTreeStreams = std::uint64_t{1} << 62;  // items beyond those of data sets

// A node's best split: rows whose bin is above `bin` go right.
struct Split {
  double gain = 0;
  std::int64_t statistic = 0;
  std::uint8_t bin = kAllLeft;
};

// K: targets that a split is judged by. A cell of a histogram holds their sums, that of the weights, and the
// number of rows.
template <std::size_t K>
class Forest {
 public:
  Forest(const LearningRows& rows, const TreeOptions& options, std::uint64_t seed, ThreadPool& pool)
      : rows_(rows),
        options_(options),
        seed_(seed),
        pool_(pool),
        J_(static_cast<std::size_t>(rows.J)),
        node_(static_cast<std::size_t>(rows.ranks.rows)),
        targets_(static_cast<std::size_t>(rows.fit.size())) {}

  void improve(Scores& scores) {
    Scores now = scores;
    double best = log_loss(rows_, now, rows_.stop, pool_);
    int since = 0;
    for (int round = 0; round < options_.rounds && since < options_.patience; ++round, ++since) {
      rows_.pause();
      Rng rng(seed_, Purpose::missed, kTreeStreams + static_cast<std::uint64_t>(round));
      draw_statistics(rng);
      find_targets(now, rng);
      grow();
      add_leaves(now);
      const double loss = log_loss(rows_, now, rows_.stop, pool_);
      if (!(loss < best)) continue;
      best = loss;
      scores = now;
      since = -1;
    }
  }

 private:
  using Cell = std::array<float, K + 2>;  // targets, weight, rows
  static constexpr std::size_t kWeight = K, kRows = K + 1;

  void draw_statistics(Rng& rng) {
    const std::int64_t F = rows_.ranks.size();
    drawn_.resize(static_cast<std::size_t>(F));
    std::iota(drawn_.begin(), drawn_.end(), std::int64_t{0});
    const std::int64_t wanted = std::min(F, options_.statistics);
    if (wanted == F) return;
    for (std::int64_t i = 0; i < wanted; ++i) {
      std::swap(drawn_[static_cast<std::size_t>(i)],
                drawn_[static_cast<std::size_t>(rng.uniform_int(i, F - 1))]);
    }
    drawn_.resize(static_cast<std::size_t>(wanted));
  }

  template <class Visit>
  void in_blocks(Stretch stretch, const Visit& visit) {
    pool_.for_each((stretch.size() + kBlock - 1) / kBlock, [&](std::int64_t block, int) {
      const std::int64_t first = stretch.begin + block * kBlock;
      visit(first, std::min(first + kBlock, stretch.end));
    });
  }

  // With as many targets as models, or two models, the gradients themselves; else mixtures of them.
  std::vector<double> draw_mixture(Rng& rng) const {
    std::vector<double> mixture(K * J_);
    for (std::size_t k = 0; k < K; ++k) {
      for (std::size_t j = 0; j < J_; ++j) {
        mixture[k * J_ + j] = J_ <= 3 ? (k == j ? 1.0 : 0.0) : rng.normal();
      }
    }
    return mixture;
  }

  void find_targets(const Scores& scores, Rng& rng) {
    const std::vector<double> mixture = draw_mixture(rng);
    p_.resize(static_cast<std::size_t>(rows_.fit.size()) * J_);
    in_blocks(rows_.fit, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t b = first; b < last; ++b) {
        const auto i = static_cast<std::size_t>(b - rows_.fit.begin);
        const std::span<double> p{p_.data() + i * J_, J_};
        softmax({scores.data() + static_cast<std::size_t>(b) * J_, J_}, p);
        Cell& target = targets_[i];
        target.fill(0);
        for (std::size_t k = 0; k < K; ++k) {
          double sum = mixture[k * J_ + static_cast<std::size_t>(rows_.truth[static_cast<std::size_t>(b)])];
          for (std::size_t j = 0; j < J_; ++j) sum -= mixture[k * J_ + j] * p[j];
          target[k] = static_cast<float>(sum);
        }
        double squares = 0;
        for (const double one : p) squares += one * one;
        target[kWeight] = static_cast<float>(1 - squares);
        target[kRows] = 1;
      }
    });
  }

  // Level by level; afterwards node_ tells the leaf of every row.
  void grow() {
    std::fill(node_.begin(), node_.end(), std::uint8_t{0});
    for (int level = 0; level < options_.depth; ++level) {
      const auto nodes = std::size_t{1} << level;
      std::vector<Split> found(drawn_.size() * nodes);
      pool_.for_each(static_cast<std::int64_t>(drawn_.size()), [&](std::int64_t i, int) {
        search(drawn_[static_cast<std::size_t>(i)],
               {found.data() + static_cast<std::size_t>(i) * nodes, nodes});
      });
      std::vector<Split> best(nodes);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].gain > best[i % nodes].gain) best[i % nodes] = found[i];
      }
      in_blocks({0, rows_.ranks.rows}, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t b = first; b < last; ++b) {
          std::uint8_t& node = node_[static_cast<std::size_t>(b)];
          const Split& split = best[node];
          const bool right =
              rows_.ranks.bins[static_cast<std::size_t>(split.statistic * rows_.ranks.rows + b)] > split.bin;
          node = static_cast<std::uint8_t>(2 * node + (right ? 1 : 0));
        }
      });
    }
  }

  // The best split of every node by one statistic.
  void search(std::int64_t statistic, std::span<Split> best) const {
    std::vector<Cell> histogram(best.size() * Ranks::kBins, Cell{});
    const auto first = static_cast<std::size_t>(rows_.fit.begin);
    const std::uint8_t* bins = rows_.ranks.bins_of(statistic).data() + first;
    const std::uint8_t* node = node_.data() + first;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      Cell& cell = histogram[static_cast<std::size_t>(node[i]) * Ranks::kBins + bins[i]];
      for (std::size_t k = 0; k < K + 2; ++k) cell[k] += targets_[i][k];
    }
    for (std::size_t at = 0; at < best.size(); ++at) {
      best[at] = best_split({histogram.data() + at * Ranks::kBins, Ranks::kBins});
      best[at].statistic = statistic;
    }
  }

  double value(const Cell& cell) const {
    double squares = 0;
    for (std::size_t k = 0; k < K; ++k) squares += static_cast<double>(cell[k]) * cell[k];
    return squares / (cell[kWeight] + options_.penalty);
  }

  Split best_split(std::span<const Cell> bins) const {
    Cell all{};
    for (const Cell& cell : bins) {
      for (std::size_t k = 0; k < K + 2; ++k) all[k] += cell[k];
    }
    const auto smallest = static_cast<float>(options_.smallest_leaf);
    const double before = value(all);
    Split best;
    Cell left{};
    for (std::size_t bin = 0; bin + 1 < bins.size(); ++bin) {
      for (std::size_t k = 0; k < K + 2; ++k) left[k] += bins[bin][k];
      Cell right;
      for (std::size_t k = 0; k < K + 2; ++k) right[k] = all[k] - left[k];
      if (left[kRows] < smallest || right[kRows] < smallest) continue;
      const double gain = value(left) + value(right) - before;
      if (gain > best.gain) best = {gain, 0, static_cast<std::uint8_t>(bin)};
    }
    return best;
  }

  void add_leaves(Scores& scores) {
    const std::size_t leaves = std::size_t{1} << options_.depth;
    std::vector<double> gradient(leaves * J_), curvature(leaves * J_);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const std::size_t b = static_cast<std::size_t>(rows_.fit.begin) + i;
      const std::size_t leaf = node_[b];
      for (std::size_t j = 0; j < J_; ++j) {
        const double p = p_[i * J_ + j];
        gradient[leaf * J_ + j] -= p;
        curvature[leaf * J_ + j] += p * (1 - p);
      }
      gradient[leaf * J_ + static_cast<std::size_t>(rows_.truth[b])] += 1;
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] *= options_.rate / (curvature[i] + options_.penalty);
    }
    in_blocks({0, rows_.ranks.rows}, [&](std::int64_t first, std::int64_t last) {
      for (auto b = static_cast<std::size_t>(first); b < static_cast<std::size_t>(last); ++b) {
        for (std::size_t j = 0; j < J_; ++j) scores[b * J_ + j] += gradient[node_[b] * J_ + j];
      }
    });
  }

  const LearningRows& rows_;
  const TreeOptions& options_;
  std::uint64_t seed_;
  ThreadPool& pool_;
  std::size_t J_;
  std::vector<std::int64_t> drawn_;  // statistics of this round
  std::vector<std::uint8_t> node_;   // (B)
  std::vector<Cell> targets_;        // (rows to fit)
  std::vector<double> p_;            // (rows to fit, J)
};

}  // namespace

void correct_by_trees(const LearningRows& rows, const TreeOptions& options, std::uint64_t seed,
                      Scores& scores, ThreadPool& pool) {
  if (rows.ranks.size() == 0) return;
  if (rows.J == 2) {
    Forest<1>(rows, options, seed, pool).improve(scores);
  } else {
    Forest<3>(rows, options, seed, pool).improve(scores);
  }
}

}  // namespace occam
