#include "occam/check/predictions.hpp"

#include <algorithm>
#include <cmath>

#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/exact_posteriors.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

// Data sets simulated and judged at a time.
constexpr std::int64_t kChunk = 1000;

}  // namespace

void Predictions::clear() {
  p.clear();
  truth.clear();
  n.clear();
  conditions.clear();
  u.clear();
  exact.clear();
  scope_p.clear();
}

double divergence(std::span<const double> q, std::span<const double> p) {
  const auto log_of = [](double x) { return std::log(std::max(x, kSmallestProbability)); };
  double sum = 0;
  for (std::size_t j = 0; j < q.size(); ++j) {
    if (q[j] > 0) sum += q[j] * (log_of(q[j]) - log_of(p[j]));
  }
  return sum;
}

void require_numbers(const ModelPosterior& answers) {
  for (std::int64_t b = 0; b < answers.size(); ++b) {
    for (const double p : answers.probabilities(b)) {
      if (std::isfinite(p)) continue;
      throw Error(ErrorKind::bad_data,
                  "the network's answer to a data set of {} observations is not a number; nothing can be "
                  "measured of such a network",
                  answers.n(b));
    }
  }
}

PredictionLayout prediction_layout(const Comparator& comparator, const Problem& problem) {
  const NetworkFile& file = comparator.file();
  PredictionLayout layout;
  layout.model_names = file.model_names;
  layout.model_prior = file.model_prior;
  layout.conditions = file.design.statistic_names();
  layout.has_n = true;
  layout.has_u = file.config.head_kind().concentrations;
  layout.has_exact = problem.has_exact_posterior();
  layout.has_scope = !file.scope.is_null();
  return layout;
}

namespace {

// What the network says of the data sets of a batch.
void answer(const Predictor& predictor, const Problem& problem, const Batch& batch, ThreadPool& pool,
            Predictions& block) {
  Comparator& comparator = predictor.comparator;
  ModelPosterior answers = comparator.empty_posterior();
  const Ragged<const float> data = batch.view();
  const NetworkOutputs outputs = comparator.outputs(data);
  comparator.add_answers(std::vector<std::string>(static_cast<std::size_t>(batch.size())), data, outputs,
                         answers, nullptr);
  require_numbers(answers);
  block.clear();
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const std::vector<double> p = answers.probabilities(b);
    block.p.insert(block.p.end(), p.begin(), p.end());
    if (answers.has_concentrations()) block.u.push_back(answers.uncertainty(b));
  }
  block.truth.assign(batch.models().begin(), batch.models().end());
  block.n.assign(batch.sizes().begin(), batch.sizes().end());
  const DesignProfile& design = comparator.file().design;
  for (std::int64_t b = 0; !design.empty() && b < batch.size(); ++b) {
    const std::vector<double> of = design.statistics(data.x.rows_from(data.offsets[b], data.size(b)));
    block.conditions.insert(block.conditions.end(), of.begin(), of.end());
  }
  if (problem.has_exact_posterior()) block.exact = exact_posteriors(problem, batch, pool);
  if (predictor.scope == nullptr) return;
  for (const ScopeAnswer& one : judge_scope(*predictor.scope, comparator, data, outputs))
    block.scope_p.push_back(one.p);
}

}  // namespace

void predict(const Predictor& predictor, const Problem& problem, const PredictRequest& request,
             ThreadPool& pool, const PredictionSink& sink, const std::function<void(std::int64_t)>& done) {
  SimulatorOptions options;
  options.n = request.n;
  Simulator simulator(problem, request.seed, Purpose::test, options);
  Batch batch;
  Predictions block;
  for (std::int64_t first = 0; first < request.data_sets; first += kChunk) {
    const std::int64_t count = std::min(kChunk, request.data_sets - first);
    simulator.simulate_range(first, count, pool, batch);
    answer(predictor, problem, batch, pool, block);
    sink(block);
    done(first + count);
  }
}

void predict(const Predictor& predictor, const Problem& problem, const Batch& all,
             std::span<const std::int64_t> rows, ThreadPool& pool, const PredictionSink& sink,
             const std::function<void(std::int64_t)>& done) {
  Batch batch;
  Predictions block;
  for (std::size_t first = 0; first < rows.size(); first += kChunk) {
    const std::size_t count = std::min<std::size_t>(kChunk, rows.size() - first);
    gather(all, rows.subspan(first, count), problem.J(), batch);
    answer(predictor, problem, batch, pool, block);
    sink(block);
    done(static_cast<std::int64_t>(first + count));
  }
}

}  // namespace occam
