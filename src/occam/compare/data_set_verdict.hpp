// The verdict on one data set, in a word and a sentence.
//   outside-training  the network was not trained for such a size or design: nothing it says can be trusted
//   out-of-scope      data as foreign as this are rare under all models: none of the probabilities means much
//   ambiguous         no model is probable enough, or the members of an ensemble disagree
//   decided           one model is clearly more probable than all others together
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "occam/compare/model_posterior.hpp"
#include "occam/core/fields.hpp"

namespace occam {

// How foreign one data set looks beside simulated ones.
struct ScopeAnswer {
  double p = 1;                  // how often simulated data look at least this foreign
  std::vector<double> by_model;  // (J) the same under each model alone; empty where there are too many models
  std::string reason;            // what stands out, in words; empty where nothing does
  bool lonely_design = false;    // whether hardly any simulated data set has a design near this one
};

struct VerdictOptions {
  double scope_level = 0.01;
  double decided_above = 0.9;
};
Fields fields(VerdictOptions& o);

inline constexpr const char* kLonelyDesign =
    "hardly any simulated data set has a design near this one, as shares, means and spreads of its columns "
    "go";

enum class VerdictKind { decided, ambiguous, out_of_scope, outside_training };
std::string_view word(VerdictKind verdict);  // "out-of-scope"

struct DataSetVerdict {
  VerdictKind verdict = VerdictKind::ambiguous;
  std::string explanation;  // one sentence
};

DataSetVerdict verdict_on(const ModelPosterior& answers, std::int64_t b,
                          const std::optional<ScopeAnswer>& scope, const VerdictOptions& options);

// Which of many p-values count as discoveries when at most this share of them may be false (Benjamini &
// Hochberg 1995).
std::vector<bool> benjamini_hochberg(std::span<const double> p, double level);

}  // namespace occam
