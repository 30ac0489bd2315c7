#include "occam/abc/abc.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "occam/abc/candidates.hpp"
#include "occam/abc/population_size.hpp"
#include "occam/abc/weighted.hpp"
#include "occam/core/error.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

// Candidates that fit into half a second are simulated at a time, so that Ctrl-C is heard.
constexpr double kRoundSeconds = 0.5;

class AbcRun {
 public:
  AbcRun(const Problem& problem, DataView observed, std::int64_t n, const AbcOptions& options,
         std::uint64_t seed, ThreadPool& pool, ProgressSink& progress)
      : problem_(problem),
        observed_(observed),
        n_(n),
        o_(options),
        seed_(seed),
        pool_(pool),
        progress_(progress) {}

  AbcResult run() {
    prepare();
    result_.failed.assign(static_cast<std::size_t>(problem_.J()), 0);
    const std::int64_t last = population_count();
    std::int64_t size = population_size(0, nullptr);
    for (std::int64_t t = 0; t < last; ++t) {
      const double epsilon = next_epsilon(t);
      if (t > 0 && o_.epsilons.empty() && !(epsilon < result_.populations.back().epsilon)) {
        result_.stopped = fmt::format("no particle is closer than {:.4g}", epsilon);
        break;
      }
      std::optional<Proposal> proposal;
      if (t > 0) {
        proposal.emplace(problem_, result_.particles, o_.stay, o_.kernel_width);
        size = population_size(t, &*proposal);
      }
      if (!fill(t, epsilon, size, proposal ? &*proposal : nullptr)) break;
      if (done(t, last)) break;
    }
    return std::move(result_);
  }

 private:
  bool rejection() const { return o_.method == "rejection"; }

  std::int64_t population_count() const {
    if (rejection()) return 1;
    if (!o_.epsilons.empty()) return static_cast<std::int64_t>(o_.epsilons.size());
    if (!o_.population_sizes.empty()) return static_cast<std::int64_t>(o_.population_sizes.size());
    return o_.populations;
  }

  // Summary, scales, distance; and the distances of the prior predictive, where something asks for them.
  void prepare() {
    const SummarySpec spec(o_.summary);
    const bool first_epsilon = !rejection() && o_.epsilons.empty();
    Batch batch;
    if (spec.learns() || o_.scale || first_epsilon) simulate_prior(batch);
    summary_ = spec.make({problem_, observed_, spec.learns() ? &batch : nullptr, o_.summary_network, pool_});
    const std::vector<std::string> names = summary_->names();
    std::vector<float> observed(names.size());
    summary_->of({&observed_, 1}, observed);
    const std::vector<float> statistics = statistics_of(batch);
    distance_.emplace(o_.distance, observed, scales_of(statistics, names.size()), names);
    for (std::int64_t b = 0; first_epsilon && b < batch.size(); ++b) {
      const double distance =
          (*distance_)({statistics.data() + static_cast<std::size_t>(b) * names.size(), names.size()});
      if (std::isfinite(distance)) prior_distances_.push_back(distance);
    }
    if (first_epsilon && prior_distances_.empty()) {
      throw Error(ErrorKind::bad_data,
                  "no data set simulated from the prior has finite statistics; take another --summary");
    }
    candidates_.emplace(problem_, observed_, n_, *summary_, *distance_, seed_, pool_);
  }

  // As many as a population has; their streams are those of population 0, candidates have 1 and above.
  void simulate_prior(Batch& batch) {
    constexpr std::int64_t kFewest = 200;
    constexpr std::int64_t kMost = 2000;
    SimulatorOptions options;
    options.n = n_;
    Simulator simulator(problem_, seed_, Purpose::abc, options);
    result_.calibration = std::clamp(population_size(0, nullptr), kFewest, kMost);
    progress_.update(0, 0, "simulating from the prior");
    simulator.simulate_range(0, result_.calibration, pool_, batch);
    result_.simulations += result_.calibration;
  }

  std::vector<float> statistics_of(const Batch& batch) const {
    const auto S = static_cast<std::size_t>(summary_->size());
    std::vector<float> statistics(static_cast<std::size_t>(batch.size()) * S);
    std::vector<DataView> sets;
    for (std::int64_t b = 0; b < batch.size(); ++b) sets.push_back(batch[b]);
    if (summary_->takes_all_threads()) {
      summary_->of(sets, statistics);
    } else {
      pool_.for_each(batch.size(), [&](std::int64_t b, int) {
        const auto at = static_cast<std::size_t>(b);
        summary_->of({&sets[at], 1}, std::span(statistics).subspan(at * S, S));
      });
    }
    return statistics;
  }

  std::vector<double> scales_of(const std::vector<float>& statistics, std::size_t S) const {
    std::vector<double> scales(S, 1.0);
    for (std::size_t s = 0; o_.scale && s < S; ++s) {
      std::vector<double> values;
      for (std::size_t at = s; at < statistics.size(); at += S) {
        if (std::isfinite(statistics[at])) values.push_back(statistics[at]);
      }
      scales[s] = robust_scale(values);
    }
    return scales;
  }

  double next_epsilon(std::int64_t t) const {
    if (rejection()) return o_.epsilons.empty() ? o_.min_epsilon : o_.epsilons.back();
    if (!o_.epsilons.empty()) return o_.epsilons[static_cast<std::size_t>(t)];
    double quantile = 0;
    if (t == 0) {
      const std::vector<double> even(prior_distances_.size(), 1.0);
      quantile = weighted_quantile(prior_distances_, even, o_.quantile);
    } else {
      quantile = weighted_quantile(result_.particles.distances, result_.particles.weights, o_.quantile);
      if (quantile >= result_.populations.back().epsilon) quantile = next_distance();
    }
    return std::max(o_.min_epsilon, quantile);  // never closer than was asked for
  }

  // Where distances take few values, most may equal epsilon: the largest one below it, if there is any.
  double next_distance() const {
    const double last = result_.populations.back().epsilon;
    double below = -1;
    for (const double distance : result_.particles.distances) {
      if (distance < last) below = std::max(below, distance);
    }
    return below < 0 ? last : below;
  }

  std::int64_t population_size(std::int64_t t, const Proposal* proposal) const {
    if (!o_.population_sizes.empty()) return o_.population_sizes[static_cast<std::size_t>(t)];
    if (!o_.adaptive || proposal == nullptr) return o_.population_size;
    PopulationSizeOptions options;
    options.mean_cv = o_.mean_cv;
    options.largest = o_.largest_population;
    return adapted_population_size(*proposal, result_.populations.back().size, options, seed_, t, pool_);
  }

  // Candidates that a population may take: by --min-acceptance, and what is left of --max-simulations.
  std::int64_t limit(std::int64_t size) const {
    const double by_acceptance = std::ceil(static_cast<double>(size) / o_.min_acceptance);
    auto most = static_cast<std::int64_t>(std::min(by_acceptance, 0x1p39));
    if (o_.max_simulations > 0) most = std::min(most, o_.max_simulations - result_.simulations);
    return std::max<std::int64_t>(most, 0);
  }

  std::int64_t round_size(std::int64_t wanted, std::int64_t accepted, std::int64_t tried,
                          std::int64_t left) const {
    // Before the first round of a population: as if the quantile of the last acceptance had been seen.
    const double seen = 4 * std::clamp(expected_, 0.001, 1.0);
    const double rate = (static_cast<double>(accepted) + seen) / (static_cast<double>(tried) + 4);
    double count = 1.1 * static_cast<double>(wanted - accepted) / rate;
    if (seconds_each_ > 0) count = std::min(count, kRoundSeconds / seconds_each_);
    return std::min(left, std::clamp(static_cast<std::int64_t>(count), candidates_->fewest(),
                                     std::max(candidates_->fewest(), candidates_->most())));
  }

  // Simulates until the population has its particles; false when it had to be given up.
  bool fill(std::int64_t t, double epsilon, std::int64_t size, const Proposal* proposal) {
    Candidates::Propose propose = [&](Rng& rng, std::int32_t& model, std::span<double> theta) {
      model = static_cast<std::int32_t>(problem_.sample_model(rng));
      problem_.models()[static_cast<std::size_t>(model)].sample_parameters(rng, theta);
    };
    if (proposal != nullptr) {
      propose = [&](Rng& rng, std::int32_t& model, std::span<double> theta) {
        proposal->sample(rng, model, theta);
      };
    }
    Particles particles;
    particles.stride = candidates_->stride();
    const std::int64_t most = limit(size);
    std::int64_t tried = 0;
    while (particles.size() < size && tried < most) {
      report(t, epsilon, particles.size(), size, tried);
      const auto start = std::chrono::steady_clock::now();
      const std::int64_t count = round_size(size, particles.size(), tried, most - tried);
      candidates_->run(t + 1, tried, count, propose);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      seconds_each_ = took.count() / static_cast<double>(count);
      pool_.ranks().broadcast_values(std::span(&seconds_each_, 1));  // rounds are alike on all ranks
      for (std::int64_t b = 0; b < count && particles.size() < size; ++b, ++tried)
        take(b, epsilon, particles);
    }
    result_.simulations += tried;
    const bool complete = particles.size() == size;
    if (!complete) result_.stopped = given_up(t, epsilon, particles.size(), size, tried);
    // Rejection needs no fixed number of particles: what was accepted is a sample all the same.
    if (!complete && !(rejection() && particles.size() > 0)) {
      if (t == 0) {
        throw Error(ErrorKind::bad_data, "{}; raise --min-epsilon, or take fewer statistics (--summary)",
                    result_.stopped);
      }
      return false;
    }
    finish(epsilon, tried, proposal, std::move(particles));
    return complete;
  }

  void take(std::int64_t b, double epsilon, Particles& particles) {
    if (candidates_->failed(b)) ++result_.failed[static_cast<std::size_t>(candidates_->model(b))];
    if (!(candidates_->distance(b) <= epsilon)) return;
    particles.models.push_back(candidates_->model(b));
    particles.theta.insert(particles.theta.end(), candidates_->theta(b).begin(), candidates_->theta(b).end());
    particles.distances.push_back(candidates_->distance(b));
  }

  void finish(double epsilon, std::int64_t tried, const Proposal* proposal, Particles particles) {
    const auto size = static_cast<double>(particles.size());
    particles.weights.assign(particles.models.size(), 1 / size);
    if (proposal != nullptr) proposal->weigh(particles, pool_);
    const double acceptance = size / static_cast<double>(tried);
    result_.populations.push_back({epsilon, particles.size(), tried, acceptance,
                                   effective_size(particles.weights),
                                   particles.model_probabilities(problem_.J())});
    result_.particles = std::move(particles);
    expected_ = acceptance * o_.quantile;
  }

  std::string given_up(std::int64_t t, double epsilon, std::int64_t accepted, std::int64_t size,
                       std::int64_t tried) const {
    const bool by_total = o_.max_simulations > 0 && result_.simulations >= o_.max_simulations;
    return fmt::format(
        "population {} was given up with {} of {} particles within epsilon {:.4g} after {} "
        "simulations ({})",
        t + 1, accepted, size, epsilon, tried, by_total ? "--max-simulations" : "--min-acceptance");
  }

  // Whether the population just filled is the last, and why.
  bool done(std::int64_t t, std::int64_t last) {
    const AbcPopulation& latest = result_.populations.back();
    const auto alive = std::count_if(latest.p.begin(), latest.p.end(), [](double p) { return p > 0; });
    if (rejection()) {
      result_.stopped = "the population is full";
    } else if (o_.epsilons.empty() && latest.epsilon <= o_.min_epsilon) {
      result_.stopped = fmt::format("epsilon reached {:.4g} (--min-epsilon)", o_.min_epsilon);
    } else if (o_.stop_at_one_model && alive == 1) {
      result_.stopped = "one model is left (--stop-at-one-model)";
    } else if (t + 1 == last) {
      result_.stopped = fmt::format("that was the last population ({})", last);
    } else if (o_.max_simulations > 0 && result_.simulations >= o_.max_simulations) {
      result_.stopped = "the simulations are used up (--max-simulations)";
    }
    return !result_.stopped.empty();
  }

  void report(std::int64_t t, double epsilon, std::int64_t accepted, std::int64_t size, std::int64_t tried) {
    progress_.update(
        result_.simulations + tried, 0,
        fmt::format("population {}, epsilon {:.4g}, {} of {} particles, acceptance {:.2g}", t + 1, epsilon,
                    accepted, size, static_cast<double>(accepted) / std::max<double>(1, tried)));
    if (progress_.stop_requested()) {
      throw Error(ErrorKind::interrupted,
                  "interrupted in population {} at epsilon {:.4g}; nothing was "
                  "written",
                  t + 1, epsilon);
    }
  }

  const Problem& problem_;
  DataView observed_;
  std::int64_t n_;
  const AbcOptions& o_;
  std::uint64_t seed_;
  ThreadPool& pool_;
  ProgressSink& progress_;

  std::unique_ptr<Summary> summary_;
  std::optional<Distance> distance_;
  std::optional<Candidates> candidates_;
  std::vector<double> prior_distances_;
  double expected_ = 0.5;    // acceptance of the population to come
  double seconds_each_ = 0;  // per candidate, in the last round
  AbcResult result_;
};

}  // namespace

std::int64_t size_to_simulate(const Problem& problem, std::int64_t rows) {
  if (takes_design(problem)) return rows;
  const Family& family = problem.models().front().family();
  const SizeDistribution& size = problem.size();
  const bool fixed = size.kind() == SizeDistribution::Kind::fixed;
  if (fixed && problem.ordered() && rows <= family.max_rows(size.low())) return size.low();
  std::int64_t low = 0;
  std::int64_t high = 1;
  while (high < SizeDistribution::kLargest && family.max_rows(high) < rows) {
    low = high;
    high = std::min(2 * high, SizeDistribution::kLargest);
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (family.max_rows(middle) < rows ? low : high) = middle;
  }
  if (family.max_rows(high) == rows) return high;
  throw Error(ErrorKind::bad_data,
              "no size gives data sets of {} rows (n = {} gives {}); say which to simulate with --n", rows,
              high, family.max_rows(high));
}

AbcResult run_abc(const Problem& problem, DataView observed, std::int64_t n, const AbcOptions& options,
                  std::uint64_t seed, ThreadPool& pool, ProgressSink& progress) {
  check(options);
  for (const Model& model : problem.models()) {
    if (!model.family().simulates()) {
      throw Error(ErrorKind::usage, "model '{}' of problem '{}' cannot be simulated, as ABC needs",
                  model.name(), problem.name());
    }
  }
  return AbcRun(problem, observed, n, options, seed, pool, progress).run();
}

}  // namespace occam
