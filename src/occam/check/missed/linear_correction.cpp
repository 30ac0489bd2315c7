#include "occam/check/missed/linear_correction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

constexpr std::array<double, 4> kRidges = {1, 0.1, 0.01, 0.001};
constexpr int kSteps = 8;                    // per ridge
constexpr std::int64_t kMostUsed = 160;      // statistics
constexpr std::int64_t kMostWeights = 2400;  // statistics times models

double dot(std::span<const float> a, std::span<const float> b) {
  std::array<float, 16> sums = {};
  std::size_t i = 0;
  double total = 0;
  // Sums of a few thousand terms at a time are as good in float as the ranks are.
  while (i + 16 <= a.size()) {
    const std::size_t end = std::min(i + 2048, a.size() - a.size() % 16);
    sums.fill(0);
    for (; i < end; i += 16) {
      for (std::size_t k = 0; k < 16; ++k) sums[k] += a[i + k] * b[i + k];
    }
    for (const float sum : sums) total += sum;
  }
  for (; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

// Lower triangle of L with L L' = matrix (n, n), in place. The ridge keeps it positive definite.
void cholesky(std::vector<double>& matrix, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * n + k] * matrix[j * n + k];
      matrix[i * n + j] = i == j ? std::sqrt(sum) : sum / matrix[j * n + j];
    }
  }
}

void solve(const std::vector<double>& L, std::size_t n, std::vector<double>& x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
}

class Correction {
 public:
  Correction(const LearningRows& rows, const Scores& scores, ThreadPool& pool)
      : rows_(rows), pool_(pool), J_(static_cast<std::size_t>(rows.J)), offset_(scores) {
    find_gradients(scores);
    choose_statistics();
    find_products();
  }

  // Takes steps as long as they help the stopping rows; `scores` are the best on the way.
  void improve(Scores& scores) {
    const std::size_t F = used_.size() + 1;
    weights_.assign(F * J_, 0);
    double best = log_loss(rows_, scores, rows_.stop, pool_);
    Scores now = scores;
    for (const double ridge : kRidges) {
      std::vector<double> L = products_;
      for (std::size_t f = 0; f < F; ++f) L[f * F + f] += f + 1 < F ? ridge : 1e-6;
      cholesky(L, F);
      bool better = false;
      for (int step = 0; step < kSteps; ++step) {
        rows_.pause();
        find_gradients(now);
        take_step(L, ridge);
        apply(now);
        const double loss = log_loss(rows_, now, rows_.stop, pool_);
        if (!(loss < best)) continue;
        best = loss;
        scores = now;
        better = true;
      }
      if (!better && ridge < kRidges.front()) break;
    }
  }

 private:
  std::span<const float> fitted(std::span<const float> column) const {
    return column.subspan(static_cast<std::size_t>(rows_.fit.begin),
                          static_cast<std::size_t>(rows_.fit.size()));
  }

  // [t = j] - p_j of the rows to fit, model by model.
  void find_gradients(const Scores& scores) {
    const auto n = static_cast<std::size_t>(rows_.fit.size());
    gradients_.resize(n * J_);
    std::vector<double> p(J_);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t b = static_cast<std::size_t>(rows_.fit.begin) + i;
      softmax({scores.data() + b * J_, J_}, p);
      for (std::size_t j = 0; j < J_; ++j) {
        const bool is_true = static_cast<std::size_t>(rows_.truth[b]) == j;
        gradients_[j * n + i] = static_cast<float>((is_true ? 1 : 0) - p[j]);
      }
    }
  }
  std::span<const float> gradient(std::size_t j) const {
    const auto n = static_cast<std::size_t>(rows_.fit.size());
    return {gradients_.data() + j * n, n};
  }

  // Those that go along most with what the network got wrong.
  void choose_statistics() {
    const std::int64_t F = rows_.ranks.size();
    std::vector<double> strength(static_cast<std::size_t>(F));
    pool_.for_each(F, [&](std::int64_t f, int) {
      for (std::size_t j = 0; j < J_; ++j) {
        const double sum = dot(fitted(rows_.ranks.normal_of(f)), gradient(j));
        strength[static_cast<std::size_t>(f)] += sum * sum;
      }
    });
    used_.resize(static_cast<std::size_t>(F));
    std::iota(used_.begin(), used_.end(), std::int64_t{0});
    std::stable_sort(used_.begin(), used_.end(), [&](std::int64_t a, std::int64_t b) {
      return strength[static_cast<std::size_t>(a)] > strength[static_cast<std::size_t>(b)];
    });
    const std::int64_t most = std::min({F, kMostUsed, std::max<std::int64_t>(20, kMostWeights / rows_.J)});
    used_.resize(static_cast<std::size_t>(most));
  }

  // Z'Z / n, with a column of ones at the end.
  void find_products() {
    const std::size_t F = used_.size() + 1;
    const auto n = static_cast<double>(rows_.fit.size());
    ones_.assign(static_cast<std::size_t>(rows_.ranks.rows), 1.0F);
    products_.assign(F * F, 0);
    pool_.for_each(static_cast<std::int64_t>(F), [&](std::int64_t f, int) {
      for (std::int64_t g = 0; g <= f; ++g) {
        const double product = dot(fitted(column(f)), fitted(column(g))) / n;
        products_[static_cast<std::size_t>(f) * F + static_cast<std::size_t>(g)] = product;
      }
    });
  }
  std::span<const float> column(std::int64_t f) const {
    const auto at = static_cast<std::size_t>(f);
    return at < used_.size() ? rows_.ranks.normal_of(used_[at]) : std::span<const float>(ones_);
  }

  void take_step(const std::vector<double>& L, double ridge) {
    const std::size_t F = used_.size() + 1;
    const auto n = static_cast<double>(rows_.fit.size());
    pool_.for_each(rows_.J, [&](std::int64_t model, int) {
      const auto j = static_cast<std::size_t>(model);
      double* w = weights_.data() + j * F;
      std::vector<double> x(F);
      for (std::size_t f = 0; f < F; ++f) {
        x[f] = dot(fitted(column(static_cast<std::int64_t>(f))), gradient(j)) / n;
        if (f + 1 < F) x[f] -= 0.5 * ridge * w[f];
      }
      solve(L, F, x);
      for (std::size_t f = 0; f < F; ++f) w[f] += 2 * x[f];
    });
  }

  void apply(Scores& scores) {
    constexpr std::int64_t kTogether = 512;
    const std::size_t F = used_.size() + 1;
    const std::int64_t B = rows_.ranks.rows;
    pool_.for_each((B + kTogether - 1) / kTogether, [&](std::int64_t block, int) {
      const auto first = static_cast<std::size_t>(block * kTogether);
      const auto count = static_cast<std::size_t>(std::min(kTogether, B - block * kTogether));
      std::vector<float> sum(count);
      for (std::size_t j = 0; j < J_; ++j) {
        std::fill(sum.begin(), sum.end(), 0.0F);
        for (std::size_t f = 0; f < F; ++f) {
          const auto w = static_cast<float>(weights_[j * F + f]);
          const float* z = column(static_cast<std::int64_t>(f)).data() + first;
          for (std::size_t i = 0; i < count; ++i) sum[i] += w * z[i];
        }
        for (std::size_t i = 0; i < count; ++i) {
          scores[(first + i) * J_ + j] = offset_[(first + i) * J_ + j] + static_cast<double>(sum[i]);
        }
      }
    });
  }

  const LearningRows& rows_;
  ThreadPool& pool_;
  std::size_t J_;
  Scores offset_;
  std::vector<std::int64_t> used_;  // statistics, the strongest first
  std::vector<float> ones_;
  std::vector<double> products_;  // (F + 1, F + 1)
  std::vector<double> weights_;   // (J, F + 1)
  std::vector<float> gradients_;  // (J, rows to fit)
};

}  // namespace

void correct_linearly(const LearningRows& rows, Scores& scores, ThreadPool& pool) {
  if (rows.ranks.size() == 0) return;
  Correction(rows, scores, pool).improve(scores);
}

}  // namespace occam
