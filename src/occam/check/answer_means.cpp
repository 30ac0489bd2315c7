#include "occam/check/answer_means.hpp"

#include <cmath>
#include <string>

#include "occam/compare/comparator.hpp"
#include "occam/data/batch.hpp"
#include "occam/scope/scope.hpp"

namespace occam {

AnswerMeans answer_means(const Predictor& predictor, const Batch& batch) {
  AnswerMeans means;
  Comparator& comparator = predictor.comparator;
  ModelPosterior answers = comparator.empty_posterior();
  const std::int64_t count = batch.size();
  const Ragged<const float> data = batch.view();
  const NetworkOutputs outputs = comparator.outputs(data);
  comparator.add_answers(std::vector<std::string>(static_cast<std::size_t>(count)), data, outputs, answers,
                         nullptr);
  require_numbers(answers);
  if (predictor.scope != nullptr) {
    for (const ScopeAnswer& one : judge_scope(*predictor.scope, comparator, data, outputs))
      means.caught.add(one.p <= kScopeLevel ? 1 : 0);
  }
  means.chosen.assign(static_cast<std::size_t>(answers.J()), 0.0);
  const double most = std::log(static_cast<double>(answers.J()));
  for (std::int64_t b = 0; b < count; ++b) {
    const std::vector<double> p = answers.probabilities(b);
    double entropy = 0;
    for (const double value : p) entropy -= value > 0 ? value * std::log(value) : 0;
    const auto best = static_cast<std::size_t>(answers.best(b));
    means.largest.add(p[best]);
    means.entropy.add(entropy / most);
    if (answers.has_concentrations()) means.u.add(answers.uncertainty(b));
    means.chosen[best] += 1.0 / static_cast<double>(count);
  }
  return means;
}

}  // namespace occam
