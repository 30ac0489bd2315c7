// The report of `occam compare`: answers for observed data sets as a Report, with Bayes factors in words
// (Kass and Raftery 1995), what the answers say together, and what u can and cannot tell for this network,
// or that it has none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "occam/check/finding.hpp"
#include "occam/compare/answer_writer.hpp"
#include "occam/compare/flag_causes.hpp"
#include "occam/compare/model_posterior.hpp"
#include "occam/networks/network_file.hpp"

namespace occam {

// "bare mention", "positive", "strong" or "very strong" by the natural log Bayes factor (limits 1, 3, 5), or
// "against" where it is negative, which happens under another model prior than the training's.
std::string bayes_factor_words(double log_bayes_factor);

// Collects answers as they come. Counts and means are of all data sets; the tables hold the first kMostRows,
// so that the page stays quick.
class ComparisonReport {
 public:
  static constexpr std::int64_t kMostRows = 5000;

  // `empty`: the posterior that answers come as, with the model prior in use. `file` must outlive this.
  ComparisonReport(const NetworkFile& file, ModelPosterior empty);

  // `extras` holds a verdict for every data set, and how foreign it looks where the network can tell.
  void add(const ModelPosterior& answers, const AnswerExtras& extras);

  // `origin` opens the provenance: command, network file, data.
  Report report(std::vector<std::pair<std::string, std::string>> origin) const;

 private:
  struct Answer;  // what is derived from one row of kept_
  Answer answer(std::int64_t b) const;
  std::vector<std::string> unique_ids() const;
  std::vector<std::int64_t> models_by_mean() const;
  bool u_is_identified() const;

  Finding answers() const;
  Finding models() const;
  Finding bayes_factors() const;
  Finding uncertainty() const;
  Finding no_concentrations() const;
  Finding scope() const;
  Table answers_table() const;
  Table probabilities_table() const;

  const NetworkFile& file_;
  ModelPosterior kept_;
  AnswerExtras extras_;          // of the rows kept: scope, verdicts, notes
  std::vector<double> scope_p_;  // of all that can be judged
  bool has_scope_ = false;
  std::int64_t count_ = 0;
  std::int64_t decided_ = 0;
  std::int64_t out_of_scope_ = 0;
  FlagCauses flags_;
  std::vector<std::int64_t> best_;       // (J) how often each model was the most probable
  std::vector<double> sum_p_;            // (J)
  std::vector<std::int64_t> strengths_;  // (words for Bayes factors)
  double sum_u_ = 0;
};

}  // namespace occam
