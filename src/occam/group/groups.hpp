// The population behind many data sets: which share of it each model describes (random-effects model
// selection; Stephan et al. 2009, Rigoux et al. 2014), whether all models are equally frequent, which model
// they would all share if they had to (fixed effects), and whether groups differ in their frequencies.
// Numbers come from the exact posterior; the variational ones that other programs report stand beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "occam/compare/data_set_verdict.hpp"
#include "occam/compare/model_posterior.hpp"
#include "occam/group/frequency_posterior.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

// One data set of a group.
struct GroupMember {
  std::string id;
  std::string group;
  std::vector<double> log_evidence;  // (J) up to a constant of the data set; -inf where a model is excluded
  std::string left_out;              // why it does not count ("out-of-scope"); empty: it counts
};

// NaN: there is none (no data set counts).
struct ModelInGroup {
  double frequency = std::numeric_limits<double>::quiet_NaN();  // expected, in the population
  double frequency_low = frequency, frequency_high = frequency;
  double exceedance = frequency;            // probability that no model is more frequent
  double protected_exceedance = frequency;  // the same, allowing that all may be equally frequent
  double log_group_bf = frequency;  // fixed effects: ln Bayes factor against the best; NaN: all excluded
  // By the variational approximation, as SPM, VBA and groupBMC have them.
  double variational_frequency = frequency;
  double variational_exceedance = frequency;
  double variational_protected_exceedance = frequency;
};

struct LeftOut {
  std::string id, why;
};

struct GroupResult {
  std::string name;
  std::int64_t n = 0;  // data sets that count
  std::vector<LeftOut> left_out;
  std::vector<ModelInGroup> models;                           // (J)
  double p_equal = std::numeric_limits<double>::quiet_NaN();  // probability that all are equally frequent
  double variational_bor = p_equal;  // the same by the variational approximation (Bayesian omnibus risk)
  double error = 0;                  // largest standard error of frequencies, bounds and exceedances
  double p_equal_error = 0;
  std::vector<std::string> notes;  // what to keep in mind, in sentences
};

// Two hypotheses with even odds: the groups share one vector of frequencies, or each has its own. From
// marginal likelihoods (exact for two models, else sampled with the error given).
struct GroupDifference {
  std::int64_t groups = 0;  // that have data sets which count
  double p_same = 0;
  double log_bf_different = 0;  // ln Bayes factor of different frequencies against the same
  double error = 0;             // of the logarithm: standard errors added up
};

struct GroupComparison {
  std::vector<std::string> model_names;
  FrequencyOptions options;
  std::vector<GroupResult> groups;            // by first appearance
  std::optional<GroupDifference> difference;  // two or more groups with data sets which count
};

// Error(usage) for fewer than two models or options out of range, Error(bad_data) where no data set is left
// or an evidence is not a number.
GroupComparison compare_groups(const std::vector<std::string>& model_names,
                               const std::vector<GroupMember>& members, const FrequencyOptions& options,
                               ThreadPool& pool);

// Collects members from answers as they come. Models whose prior is zero in `empty` take no part.
class GroupCollector {
 public:
  explicit GroupCollector(const ModelPosterior& empty);

  // `left_out` by data set: why it does not count, or empty.
  void add(const ModelPosterior& answers, const std::vector<std::string>& groups,
           const std::vector<std::string>& left_out);

  const std::vector<std::string>& model_names() const { return names_; }
  const std::vector<GroupMember>& members() const { return members_; }
  GroupComparison compare(const FrequencyOptions& options, ThreadPool& pool) const {
    return compare_groups(names_, members_, options, pool);
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::int64_t> models_;  // their places in the answers
  std::vector<GroupMember> members_;
};

}  // namespace occam
