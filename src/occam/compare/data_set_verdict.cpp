#include "occam/compare/data_set_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace occam {
namespace {

// Data that look this foreign deserve a word, even where they pass.
constexpr double kUnusual = 0.05;

}  // namespace

Fields fields(VerdictOptions& o) {
  return {field("scope_level", o.scope_level,
                "a data set is out of scope when simulated ones look as foreign less often than this")
              .at_least(0)
              .at_most(0.5),
          field("decided_above", o.decided_above, "a verdict needs a model more probable than this")
              .at_least(0)
              .at_most(1)};
}

std::string_view word(VerdictKind verdict) {
  switch (verdict) {
    case VerdictKind::decided:
      return "decided";
    case VerdictKind::ambiguous:
      return "ambiguous";
    case VerdictKind::out_of_scope:
      return "out-of-scope";
    case VerdictKind::outside_training:
      return "outside-training";
  }
  return "";
}

DataSetVerdict verdict_on(const ModelPosterior& answers, std::int64_t b,
                          const std::optional<ScopeAnswer>& scope, const VerdictOptions& options) {
  const std::int64_t best = answers.best(b);
  const std::string& name = answers.model_names()[static_cast<std::size_t>(best)];
  const double p = answers.probabilities(b)[static_cast<std::size_t>(best)];
  // First of all: a network asked about what it has never seen knows neither models nor scope.
  if (!answers.flag(b).empty()) {
    return {VerdictKind::outside_training,
            fmt::format("the network was not trained for such data: {}; neither its probabilities nor its "
                        "scope can be trusted here",
                        answers.flag(b))};
  }
  if (!std::isfinite(p)) {
    return {VerdictKind::outside_training,
            "the network gives no number for such data; are units and columns what they should be?"};
  }
  // Scores of other designs were all there is to rank it among: models are not to blame.
  if (scope && scope->p < options.scope_level && scope->lonely_design) {
    return {VerdictKind::outside_training,
            fmt::format("it cannot be said whether a model makes such data (scope_p {:.2g}): {}; train with "
                        "a design that covers it",
                        scope->p, kLonelyDesign)};
  }
  if (scope && scope->p < options.scope_level) {
    return {
        VerdictKind::out_of_scope,
        fmt::format("no model makes such data: only {:.2g} % of simulated data sets look this foreign{}{}",
                    100 * scope->p, scope->reason.empty() ? "" : "; ", scope->reason)};
  }
  const std::string in_scope =
      scope ? fmt::format("; {} (scope_p {:.2g})",
                          scope->p < kUnusual ? "the data look unusual" : "nothing unusual about the data",
                          scope->p)
            : "";
  if (p <= options.decided_above) {
    return {VerdictKind::ambiguous,
            fmt::format("{} is the most probable, but only with {:.3f}{}", name, p, in_scope)};
  }
  if (answers.agreement(b) < 1) {
    return {VerdictKind::ambiguous,
            fmt::format("{} is the most probable ({:.3f}), but {:.0f} % of the networks disagree{}", name, p,
                        100 * (1 - answers.agreement(b)), in_scope)};
  }
  const double spread = answers.spread(b, best);
  return {VerdictKind::decided, fmt::format("{} with probability {:.3f}{}{}", name, p,
                                            spread > 0 ? fmt::format(" +- {:.2g}", spread) : "", in_scope)};
}

std::vector<bool> benjamini_hochberg(std::span<const double> p, double level) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::size_t discoveries = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (p[order[k]] <= level * static_cast<double>(k + 1) / static_cast<double>(p.size()))
      discoveries = k + 1;
  }
  std::vector<bool> result(p.size(), false);
  for (std::size_t k = 0; k < discoveries; ++k) result[order[k]] = true;
  return result;
}

}  // namespace occam
