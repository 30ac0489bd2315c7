#include "occam/check/retention.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "occam/simulate/exact_posteriors.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

std::int64_t place(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

// The problem with only those of its models that the network knows; nothing where these are fewer than two.
std::optional<Problem> shared_part(const Problem& problem, const NetworkFile& file) {
  ProblemSpec spec = problem.spec();
  spec.models.clear();
  spec.model_prior.clear();
  for (std::int64_t j = 0; j < problem.J(); ++j) {
    const Model& model = problem.models()[static_cast<std::size_t>(j)];
    if (place(file.model_names, model.name()) < 0) continue;
    spec.models.push_back(model);
    spec.model_prior.push_back(problem.model_prior()[static_cast<std::size_t>(j)]);
  }
  if (spec.models.size() < 2) return std::nullopt;
  const double sum = std::accumulate(spec.model_prior.begin(), spec.model_prior.end(), 0.0);
  for (double& p : spec.model_prior) p /= sum;
  return Problem(std::move(spec));
}

// One network's answers, restricted to the models of `problem`.
class Answers {
 public:
  Answers(Comparator& comparator, const Problem& problem)
      : comparator_(comparator), prior_(comparator.file().model_names.size(), 0.0) {
    for (std::int64_t j = 0; j < problem.J(); ++j) {
      places_.push_back(static_cast<std::size_t>(
          place(comparator.file().model_names, problem.model_names()[static_cast<std::size_t>(j)])));
      prior_[places_.back()] = problem.model_prior()[static_cast<std::size_t>(j)];
    }
  }

  // `exact` is (B, J) of the shared models, or empty.
  void add(const Batch& batch, std::span<const double> exact) {
    ModelPosterior posterior = comparator_.empty_posterior();
    comparator_.compare(std::vector<std::string>(static_cast<std::size_t>(batch.size())), batch.view(),
                        posterior);
    const ModelPosterior restricted = posterior.with_model_prior(prior_);
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      const std::vector<double> log_p = restricted.log_probabilities(b);
      const std::size_t truth =
          places_[static_cast<std::size_t>(batch.models()[static_cast<std::size_t>(b)])];
      sums_.accuracy += static_cast<std::size_t>(restricted.best(b)) == truth ? 1 : 0;
      sums_.log_loss -= log_p[truth];
      if (!exact.empty()) {
        const std::size_t J = places_.size();
        sums_.kl =
            sums_.kl.value_or(0) + divergence(exact.subspan(static_cast<std::size_t>(b) * J, J), log_p);
      }
    }
    count_ += static_cast<double>(batch.size());
  }

  Retention::Figures means() const {
    Retention::Figures result{sums_.accuracy / count_, sums_.log_loss / count_, sums_.kl};
    if (result.kl) *result.kl /= count_;
    return result;
  }

 private:
  double divergence(std::span<const double> log_exact, const std::vector<double>& log_p) const {
    double sum = 0;
    for (std::size_t j = 0; j < log_exact.size(); ++j) {
      const double p = std::exp(log_exact[j]);
      if (p > 0) sum += p * (log_exact[j] - log_p[places_[j]]);
    }
    return sum;
  }

  Comparator& comparator_;
  std::vector<double> prior_;        // (J of the network)
  std::vector<std::size_t> places_;  // (J of the problem)
  Retention::Figures sums_;
  double count_ = 0;
};

}  // namespace

std::optional<Retention> measure_retention(Comparator& before, Comparator& after, const Problem& problem,
                                           std::uint64_t seed, std::int64_t data_sets, ThreadPool& pool) {
  constexpr std::int64_t kSetsAtOnce = 1000;
  const std::optional<Problem> shared = shared_part(problem, before.file());
  if (!shared) return std::nullopt;
  Answers was(before, *shared), is(after, *shared);
  Simulator simulator(*shared, seed, Purpose::test);
  Batch batch;
  for (std::int64_t first = 0; first < data_sets; first += kSetsAtOnce) {
    simulator.simulate_range(first, std::min(kSetsAtOnce, data_sets - first), pool, batch);
    std::vector<double> exact;
    if (shared->has_exact_posterior()) exact = exact_log_posteriors(*shared, batch, pool);
    was.add(batch, exact);
    is.add(batch, exact);
  }
  return Retention{shared->model_names(), data_sets, was.means(), is.means()};
}

}  // namespace occam
