// Answers as files: csv, tsv or json, one row or object per data set, under the names users rely on:
//   dataset, n, best, p_<model>..., alpha_<model>..., log_bf_<model>..., u, flag
// log_bf_<model> is the natural log Bayes factor of that model against `best`. Without an evidential head
// alpha_<model> and u are missing values. Of an ensemble, spread_<model>... and agreement follow; of a
// network that answers by samples, spread_<model>...; with a scope reference scope_p and scope_p_<model>...;
// then verdict and explanation, and what else was asked for. Rows are written as they come, so memory does
// not grow with their number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "occam/compare/comparator.hpp"
#include "occam/compare/data_set_verdict.hpp"
#include "occam/io/file.hpp"

namespace occam {

// What may stand beside the answers of some data sets.
struct AnswerExtras {
  ParameterEstimates estimates;          // values empty: not wanted
  std::vector<float> summary;            // (sets, S) the network's summary of each data set, or empty
  std::vector<ScopeAnswer> scope;        // (sets), or empty
  std::vector<DataSetVerdict> verdicts;  // (sets)
};

// A verdict on each data set, with what extras.scope says of it.
std::vector<DataSetVerdict> verdicts_on(const ModelPosterior& answers, const AnswerExtras& extras,
                                        const VerdictOptions& options);

// Nothing stands for a missing value.
using AnswerCell = std::variant<std::monostate, std::int64_t, double, std::string>;

// The columns of a table of answers: names once, then one row of cells per data set.
class AnswerColumns {
 public:
  AnswerColumns(const NetworkFile& file, bool estimates, std::int64_t summary_width);

  const std::vector<std::string>& names() const { return names_; }
  std::vector<AnswerCell> row(const ModelPosterior& answers, const AnswerExtras& extras,
                              std::int64_t b) const;

 private:
  std::vector<std::string> names_;
  bool ensemble_, spread_, concentrations_, scope_, scope_by_model_, estimates_;
  std::size_t summary_width_;
};

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  virtual void add(const std::vector<AnswerCell>& row) = 0;
  virtual void end() = 0;
};

// By the ending of `path`: .csv, .tsv or .json; Error(usage) for others.
std::unique_ptr<AnswerWriter> make_answer_writer(const std::string& path, ByteSink sink,
                                                 const NetworkFile& file,
                                                 const std::vector<std::string>& columns);

// Lines for a terminal: verdict, the most probable models, and flags. At most `rows` data sets.
std::string answer_header(const ModelPosterior& answers, bool scope);
std::string answer_lines(const ModelPosterior& answers, const AnswerExtras& extras, std::int64_t rows);

}  // namespace occam
