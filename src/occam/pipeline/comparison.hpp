// From observed data sets to answers, with all that is said beside them: model prior, scope, verdicts, notes
// on ranges and rows left out, answers as data come in, and warnings over all. What `compare` writes and
// shows is made of this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "occam/compare/answer_writer.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/compare/flag_causes.hpp"
#include "occam/compare/observed.hpp"
#include "occam/compare/range_check.hpp"
#include "occam/compare/sequential.hpp"
#include "occam/scope/scope.hpp"

namespace occam {

struct ComparisonOptions {
  std::string model_prior;  // "a=0.2,b=0.8"; empty: that of the network
  bool parameters = false;  // rough point estimates of the best model's parameters
  bool summary = false;     // the network's summary of each data set
  std::optional<SequentialOptions> sequential = {};
  VerdictOptions verdict = {};
  std::string device = kDefaultEngine;
};

// Answers for some data sets, with all that is said beside them.
struct Answered {
  ModelPosterior answers;
  AnswerExtras extras;
};

// Why each data set does not count for its group ("out-of-scope"); an empty text where it does.
std::vector<std::string> left_out_of_group(const Answered& answered);

class Comparison {
 public:
  // Error(usage) for what cannot be done with this network.
  Comparison(NetworkFile file, ComparisonOptions options, ThreadPool& pool);

  const NetworkFile& file() const { return comparator_.file(); }
  const ComparisonOptions& options() const { return options_; }
  bool has_scope() const { return scope_.has_value(); }
  const AnswerTable& columns() const { return columns_; }  // of the answers
  std::int64_t summary_width() const { return comparator_.summary_width(); }
  ModelPosterior empty_answers() const;

  // How data of this network are read: its columns, and where values may be missing.
  ObservedOptions reading() const;

  // The answer for each data set. Error(bad_data) as Network::check.
  Answered answer(const ObservedSets& sets);
  // Data set b of `sets` as its observations come in. The last answer is the one for all of them, of `whole`,
  // to the bit.
  Answered course(const ObservedSets& sets, std::int64_t b, const Answered& whole);

  std::int64_t answered() const { return answered_; }  // data sets so far
  // What there is to say about all of them.
  std::vector<std::string> warnings() const;
  // What the engine has to say of itself; often nothing.
  std::string remark() const { return comparator_.remark(); }

 private:
  Answered judge(const std::vector<std::string>& ids, Ragged<const float> data);
  void count(const Answered& answered, std::int64_t b);
  void warn_of_scope(std::vector<std::string>& warnings) const;

  ComparisonOptions options_;
  Comparator comparator_;
  std::vector<double> prior_;
  std::optional<ScopeReference> scope_;
  RangeCheck ranges_;
  AnswerTable columns_;
  std::vector<double> scope_p_;  // of data sets that can be judged
  std::int64_t out_of_scope_ = 0;
  std::int64_t lonely_ = 0;  // of those outside training, for their design alone
  std::int64_t answered_ = 0;
  FlagCauses flags_;
};

}  // namespace occam
