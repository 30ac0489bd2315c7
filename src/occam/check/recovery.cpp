#include "occam/check/recovery.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace occam {
namespace {

// Data sets simulated and judged at a time.
constexpr std::int64_t kChunk = 1000;

std::int64_t largest(std::span<const double> p) {
  return std::max_element(p.begin(), p.end()) - p.begin();
}

double divergence(std::span<const double> log_exact, std::span<const double> log_network) {
  double sum = 0;
  for (std::size_t j = 0; j < log_exact.size(); ++j) {
    const double p = std::exp(log_exact[j]);
    if (p > 0) sum += p * (log_exact[j] - log_network[j]);
  }
  return sum;
}

// Sums over data sets, judged batch by batch.
class Judge {
 public:
  Judge(Comparator& comparator, const Problem& problem, ThreadPool& pool)
      : comparator_(comparator), problem_(problem), pool_(pool) {
    if (problem.has_exact_posterior()) sum_.exact.emplace();
  }

  // Data sets `sets` of a batch.
  void add(const Batch& batch, std::span<const std::int64_t> sets) {
    for (const std::int64_t b : sets) {
      const DataView data = batch[b];
      data_.insert(data_.end(), data.values().begin(), data.values().end());
      offsets_.push_back(offsets_.back() + data.n);
      models_.push_back(batch.models()[static_cast<std::size_t>(b)]);
      if (static_cast<std::int64_t>(models_.size()) == kChunk) judge();
    }
  }

  Recovery result() {
    judge();
    Recovery result = sum_;
    const auto K = static_cast<double>(result.data_sets);
    result.accuracy /= K;
    result.log_loss /= K;
    if (result.exact) {
      result.exact->accuracy /= K;
      result.exact->log_loss /= K;
      result.exact->kl /= K;
      result.exact->kl_se = std::sqrt(std::max(0.0, squares_ / K - result.exact->kl * result.exact->kl) / K);
    }
    return result;
  }

 private:
  void judge() {
    const auto count = static_cast<std::int64_t>(models_.size());
    if (count == 0) return;
    const std::int64_t D = problem_.D();
    ModelPosterior answers = comparator_.empty_posterior();
    comparator_.compare(std::vector<std::string>(models_.size()),
                        {{data_.data(), offsets_.back(), D, D}, offsets_.data(), count}, answers);
    std::vector<std::vector<double>> exact(models_.size());
    if (sum_.exact) {
      pool_.for_each(count, [&](std::int64_t b, int) {
        const DataView data{data_.data() + offsets_[b] * D, offsets_[b + 1] - offsets_[b], D};
        exact[static_cast<std::size_t>(b)] = *problem_.exact_log_posterior(data);
      });
    }
    for (std::int64_t b = 0; b < count; ++b) judge_one(b, answers, exact[static_cast<std::size_t>(b)]);
    sum_.data_sets += count;
    data_.clear();
    offsets_.assign(1, 0);
    models_.clear();
  }

  void judge_one(std::int64_t b, const ModelPosterior& answers, const std::vector<double>& log_exact) {
    const std::int64_t truth = models_[static_cast<std::size_t>(b)];
    sum_.accuracy += answers.best(b) == truth ? 1 : 0;
    const std::vector<double> log_p = answers.log_probabilities(b);
    sum_.log_loss -= log_p[static_cast<std::size_t>(truth)];
    if (!sum_.exact) return;
    sum_.exact->accuracy += largest(log_exact) == truth ? 1 : 0;
    sum_.exact->log_loss -= log_exact[static_cast<std::size_t>(truth)];
    const double kl = divergence(log_exact, log_p);
    sum_.exact->kl += kl;
    squares_ += kl * kl;
  }

  Comparator& comparator_;
  const Problem& problem_;
  ThreadPool& pool_;
  Recovery sum_;
  double squares_ = 0;
  std::vector<float> data_;
  std::vector<std::int64_t> offsets_ = {0};
  std::vector<std::int32_t> models_;
};

std::vector<std::int64_t> numbers_below(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

Recovery measure_recovery(Comparator& comparator, const Problem& problem, std::uint64_t seed,
                          std::int64_t data_sets, std::optional<std::int64_t> n, ThreadPool& pool) {
  SimulatorOptions options;
  options.n = n;
  Simulator simulator(problem, seed, Purpose::test, options);
  Judge judge(comparator, problem, pool);
  Batch batch;
  for (std::int64_t first = 0; first < data_sets; first += kChunk) {
    const std::int64_t count = std::min(kChunk, data_sets - first);
    simulator.simulate_range(first, count, pool, batch);
    judge.add(batch, numbers_below(count));
  }
  return judge.result();
}

Recovery measure_recovery(Comparator& comparator, const Problem& problem, const ReferenceTable& table,
                          bool held_out_only, ThreadPool& pool) {
  std::vector<std::int64_t> sets = numbers_below(table.size());
  if (held_out_only) std::erase_if(sets, [](std::int64_t k) { return !ReferenceTable::held_out(k); });
  Judge judge(comparator, problem, pool);
  judge.add(table.all(), sets);
  return judge.result();
}

}  // namespace occam
