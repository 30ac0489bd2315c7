// Evidence as data come in, as a finding of the report of `occam compare`: how the probabilities of the
// models went with the number of observations, when each question was settled, and whether it flipped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/check/finding.hpp"
#include "occam/compare/model_posterior.hpp"

namespace occam {

// Collects answers to prefixes as they come: those of one data set together, by rising k.
class SequentialReport {
 public:
  static constexpr std::int64_t kMostSets = 200;  // in the table behind the figure

  // `answers`: one data set, an answer for every prefix; `settled_above`: how probable a model has to be.
  void add(const ModelPosterior& answers, double settled_above);
  Finding finding() const;

 private:
  struct Course {
    std::string id;
    std::string best;           // at the end
    std::int64_t settled = 0;   // from this k on the same model is decided; 0: never
    std::int64_t flips = 0;     // how often the most probable model changed
    std::int64_t observed = 0;  // N
  };
  std::vector<Course> courses_;
  Table table_ = {"sequential", "Probabilities as observations come in", {"dataset", "k", "model", "p"}};
};

}  // namespace occam
