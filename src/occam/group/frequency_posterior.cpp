#include "occam/group/frequency_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "occam/core/rng.hpp"
#include "occam/group/two_models.hpp"
#include "occam/group/variational.hpp"

namespace occam {
namespace {

constexpr std::int64_t kClosedFormN = 1024;  // two models: time grows with the square of N
constexpr std::int64_t kRuns = 32;           // independent chains, or runs of particles: these give the error
constexpr std::int64_t kFewest = 64;         // sweeps or particles, however large N J is
constexpr double kBudget = 2e9;              // steps over a number, all runs together
constexpr std::uint64_t kMarginalStreams = std::uint64_t{1} << 32;  // chains have the items below

bool in_closed_form(const Evidences& evidences) {
  return evidences.J() == 2 && evidences.N() <= kClosedFormN;
}

std::int64_t affordable(std::int64_t wanted, const Evidences& evidences) {
  const double each = static_cast<double>(kRuns * evidences.N() * evidences.J());
  return std::min(wanted, std::max(kFewest, static_cast<std::int64_t>(kBudget / each)));
}

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// One Markov chain over r.
class Chain {
 public:
  Chain(const Evidences& evidences, double alpha0, const std::vector<double>& start, Rng rng)
      : evidences_(evidences),
        alpha0_(alpha0),
        rng_(rng),
        r_(start.size()),
        counts_(start.size()),
        order_(start.size()),
        sums_(index(evidences.N())),
        rest_(index(evidences.N())) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    draw_dirichlet(start);
  }

  void sweep() {
    draw_models();
    std::vector<double>& shape = shape_;
    shape.resize(r_.size());
    for (std::size_t k = 0; k < r_.size(); ++k) shape[k] = alpha0_ + counts_[k];
    draw_dirichlet(shape);
    if (alpha0_ >= 1) move_pairs();  // below, frequencies of exactly zero are possible, which have no pairs
  }

  const std::vector<double>& r() const { return r_; }
  const std::vector<double>& counts() const { return counts_; }  // data sets drawn to be of each model

 private:
  static constexpr std::size_t kMostPairs = 6;  // a sweep

  void draw_dirichlet(const std::vector<double>& shape) {
    double sum = 0;
    for (std::size_t k = 0; k < r_.size(); ++k) sum += r_[k] = rng_.gamma(shape[k]);
    for (double& value : r_) value /= sum;
  }

  void draw_models() {
    std::fill(counts_.begin(), counts_.end(), 0.0);
    for (std::int64_t n = 0; n < evidences_.N(); ++n) {
      const auto w = evidences_.row(n);
      double sum = 0;
      for (std::size_t k = 0; k < r_.size(); ++k) sum += r_[k] * w[k];
      double left = rng_.uniform() * sum;
      std::size_t chosen = 0;
      for (std::size_t k = 0; k < r_.size(); ++k) {
        const double weight = r_[k] * w[k];
        if (weight > 0) chosen = k;  // rounding may leave a little after the last
        left -= weight;
        if (left < 0) break;
      }
      counts_[chosen] += 1;
    }
  }

  void move_pairs() {
    for (std::int64_t n = 0; n < evidences_.N(); ++n) {
      const auto w = evidences_.row(n);
      double sum = 0;
      for (std::size_t k = 0; k < r_.size(); ++k) sum += r_[k] * w[k];
      sums_[index(n)] = sum;
    }
    const std::size_t pairs = std::min(r_.size() / 2, kMostPairs);
    for (std::size_t i = 0; i < 2 * pairs; ++i) {
      const std::int64_t last = static_cast<std::int64_t>(r_.size()) - 1;
      std::swap(order_[i], order_[index(rng_.uniform_int(static_cast<std::int64_t>(i), last))]);
    }
    for (std::size_t i = 0; i < pairs; ++i) move_pair(order_[2 * i], order_[2 * i + 1]);
  }

  // Slice sampling (Neal 2003) of t in (0, 1), where r_i = t s and r_j = (1 - t) s.
  void move_pair(std::size_t i, std::size_t j) {
    const double s = r_[i] + r_[j];
    for (std::int64_t n = 0; n < evidences_.N(); ++n) {
      const auto w = evidences_.row(n);
      rest_[index(n)] = std::max(0.0, sums_[index(n)] - r_[i] * w[i] - r_[j] * w[j]);
    }
    const double height = log_density(i, j, s, r_[i] / s) - rng_.exponential();
    double low = 0, high = 1, t = rng_.uniform();
    while (log_density(i, j, s, t) < height && high - low > 1e-15) {
      (t < r_[i] / s ? low : high) = t;
      t = rng_.uniform(low, high);
    }
    if (high - low <= 1e-15) return;  // rounding left nowhere to go
    r_[i] = t * s;
    r_[j] = (1 - t) * s;
    for (std::int64_t n = 0; n < evidences_.N(); ++n) {
      const auto w = evidences_.row(n);
      sums_[index(n)] = rest_[index(n)] + r_[i] * w[i] + r_[j] * w[j];
    }
  }

  double log_density(std::size_t i, std::size_t j, double s, double t) const {
    double sum = (alpha0_ - 1) * (std::log(t) + std::log1p(-t));
    double product = 1;  // of factors up to 1; a logarithm for each of them would take most of the time
    for (std::int64_t n = 0; n < evidences_.N(); ++n) {
      const auto w = evidences_.row(n);
      product *= rest_[index(n)] + s * (t * w[i] + (1 - t) * w[j]);
      if (product > 1e-100) continue;
      sum += std::log(product);
      product = 1;
    }
    return sum + std::log(product);
  }

  const Evidences& evidences_;
  double alpha0_;
  Rng rng_;
  std::vector<double> r_, counts_, shape_;  // (J)
  std::vector<std::size_t> order_;          // (J) shuffled a little further by every sweep
  std::vector<double> sums_, rest_;         // (N) sum of r_k w_nk over all k, and over those not in the pair
};

// What one chain says.
struct ChainSummary {
  std::vector<double> mean, low, high, exceedance;  // (J)
  std::vector<float> draws;                         // (J, sweeps)
};

// The value below which share `share` lies. Reorders.
double drawn_quantile(std::span<float> values, double share) {
  const double place = share * static_cast<double>(values.size()) - 0.5;
  const auto last = static_cast<std::int64_t>(values.size()) - 1;
  const auto at = values.begin() + std::clamp<std::int64_t>(std::llround(place), 0, last);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

ChainSummary run_chain(const Evidences& evidences, const FrequencyOptions& options,
                       const std::vector<double>& start, std::int64_t sweeps, std::int64_t run) {
  const std::size_t J = index(evidences.J());
  ChainSummary result;
  result.mean.assign(J, 0.0);
  result.exceedance.assign(J, 0.0);
  result.draws.resize(J * index(sweeps));
  Chain chain(evidences, options.alpha0, start,
              Rng(options.seed, Purpose::group, static_cast<std::uint64_t>(run)));
  for (std::int64_t i = 0; i < sweeps / 8 + 16; ++i) chain.sweep();  // to forget the start
  const double total = static_cast<double>(evidences.N()) + static_cast<double>(J) * options.alpha0;
  const auto share = 1 / static_cast<double>(sweeps);
  for (std::int64_t i = 0; i < sweeps; ++i) {
    chain.sweep();
    const auto& r = chain.r();
    for (std::size_t k = 0; k < J; ++k) {
      // Given the models drawn, the mean of r is known, which varies less than r itself.
      result.mean[k] += share * (options.alpha0 + chain.counts()[k]) / total;
      result.draws[k * index(sweeps) + index(i)] = static_cast<float>(r[k]);
    }
    result.exceedance[index(std::max_element(r.begin(), r.end()) - r.begin())] += share;
  }
  std::vector<float> copy;
  for (std::size_t k = 0; k < J; ++k) {
    const float* draws = result.draws.data() + k * index(sweeps);
    copy.assign(draws, draws + sweeps);
    result.low.push_back(drawn_quantile(copy, (1 - options.level) / 2));
    result.high.push_back(drawn_quantile(copy, (1 + options.level) / 2));
  }
  return result;
}

// Mean over the runs, and its standard error.
std::pair<double, double> mean_and_error(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

ModelFrequencies sampled_posterior(const Evidences& evidences, const FrequencyOptions& options,
                                   ThreadPool& pool) {
  const std::int64_t sweeps = affordable(options.sweeps, evidences);
  const std::vector<double> start = variational_alpha(evidences, options.alpha0);
  std::vector<ChainSummary> runs(index(kRuns));
  pool.for_each(kRuns, [&](std::int64_t run, int) {
    runs[index(run)] = run_chain(evidences, options, start, sweeps, run);
  });
  ModelFrequencies result;
  const auto over_runs = [&](std::vector<double> ChainSummary::*what, std::size_t k) {
    std::vector<double> values;
    for (const ChainSummary& run : runs) values.push_back((run.*what)[k]);
    const auto [mean, error] = mean_and_error(values);
    result.error = std::max(result.error, error);
    return mean;
  };
  std::vector<float> all;
  for (std::size_t k = 0; k < index(evidences.J()); ++k) {
    result.mean.push_back(over_runs(&ChainSummary::mean, k));
    result.exceedance.push_back(over_runs(&ChainSummary::exceedance, k));
    over_runs(&ChainSummary::low, k);
    over_runs(&ChainSummary::high, k);
    // The bounds themselves come from all draws together; the mean over runs would be a little biased.
    all.clear();
    for (const ChainSummary& run : runs) {
      const float* draws = run.draws.data() + k * index(sweeps);
      all.insert(all.end(), draws, draws + sweeps);
    }
    result.low.push_back(drawn_quantile(all, (1 - options.level) / 2));
    result.high.push_back(drawn_quantile(all, (1 + options.level) / 2));
  }
  return result;
}

// One run of particles through all data sets. An unbiased estimate of p(data); its logarithm is returned.
double run_particles(const Evidences& evidences, const std::vector<std::int64_t>& order, double alpha0,
                     std::int64_t particles, Rng rng) {
  const std::size_t J = index(evidences.J());
  const std::size_t P = index(particles);
  std::vector<double> state(P * J, alpha0), next(P * J);  // alpha0 + data sets of each model so far
  std::vector<double> weights(P, 1.0), terms(J);
  double log_estimate = 0;
  double total = alpha0 * static_cast<double>(J);
  const auto rescale = [&] {
    const double mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(P);
    log_estimate += std::log(mean);
    for (double& weight : weights) weight /= mean;
  };
  for (const std::int64_t n : order) {
    const auto w = evidences.row(n);
    for (std::size_t p = 0; p < P; ++p) {
      double* counts = state.data() + p * J;
      double sum = 0;
      for (std::size_t k = 0; k < J; ++k) sum += terms[k] = counts[k] * w[k];
      weights[p] *= sum / total;
      double left = rng.uniform() * sum;
      std::size_t chosen = 0;
      for (std::size_t k = 0; k < J; ++k) {
        if (terms[k] > 0) chosen = k;
        left -= terms[k];
        if (left < 0) break;
      }
      counts[chosen] += 1;
    }
    total += 1;
    rescale();
    double squares = 0;
    for (const double weight : weights) squares += weight * weight;
    if (squares < 2 * static_cast<double>(P)) continue;
    // Fewer than half of the particles count: draw anew (systematic resampling).
    double upto = 0, at = rng.uniform();
    std::size_t copies = 0;
    for (std::size_t p = 0; p < P; ++p) {
      upto += weights[p];
      for (; at < upto && copies < P; at += 1) {
        std::copy_n(state.data() + p * J, J, next.data() + copies++ * J);
      }
    }
    for (; copies < P; ++copies) std::copy_n(state.data() + (P - 1) * J, J, next.data() + copies * J);
    std::swap(state, next);
    std::fill(weights.begin(), weights.end(), 1.0);
  }
  return log_estimate;
}

// Those with clear evidence first: they tell where the others belong.
std::vector<std::int64_t> most_decisive_first(const Evidences& evidences) {
  std::vector<double> spread;  // 1: one model alone, J: all alike
  for (std::int64_t n = 0; n < evidences.N(); ++n) {
    const auto w = evidences.row(n);
    spread.push_back(std::accumulate(w.begin(), w.end(), 0.0));
  }
  std::vector<std::int64_t> order(spread.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return spread[index(a)] < spread[index(b)]; });
  return order;
}

}  // namespace

ModelFrequencies frequency_posterior(const Evidences& evidences, const FrequencyOptions& options,
                                     ThreadPool& pool) {
  if (!in_closed_form(evidences)) return sampled_posterior(evidences, options, pool);
  const TwoModelPosterior exact(evidences, options.alpha0);
  const double low = exact.quantile((1 - options.level) / 2);
  const double high = exact.quantile((1 + options.level) / 2);
  const double below = exact.cdf(0.5);
  return {{exact.mean(), 1 - exact.mean()}, {low, 1 - high}, {high, 1 - low}, {1 - below, below}, 0};
}

LogMarginal log_marginal(const Evidences& evidences, const FrequencyOptions& options, ThreadPool& pool) {
  if (in_closed_form(evidences)) return {TwoModelPosterior(evidences, options.alpha0).log_marginal(), 0};
  const std::vector<std::int64_t> order = most_decisive_first(evidences);
  const std::int64_t particles = affordable(options.particles, evidences);
  std::vector<double> estimates(index(kRuns));
  pool.for_each(kRuns, [&](std::int64_t run, int) {
    Rng rng(options.seed, Purpose::group, kMarginalStreams + static_cast<std::uint64_t>(run));
    estimates[index(run)] = run_particles(evidences, order, options.alpha0, particles, rng);
  });
  const double top = *std::max_element(estimates.begin(), estimates.end());
  for (double& value : estimates) value = std::exp(value - top);
  const auto [mean, error] = mean_and_error(estimates);
  return {top + std::log(mean), error / mean};
}

}  // namespace occam
