// Answers as files: csv, tsv or json, one row or object per data set, under the names users rely on:
//   dataset, n, best, p_<model>..., alpha_<model>..., log_bf_<model>..., u, flag
// log_bf_<model> is the natural log Bayes factor of that model against `best`. With parameter estimates,
// estimate_<parameter>... follow. Rows are written as they come, so memory does not grow with their number.
#pragma once

#include <memory>
#include <string>

#include "occam/compare/comparator.hpp"
#include "occam/io/file.hpp"

namespace occam {

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  virtual void add(const ModelPosterior& answers, const ParameterEstimates* estimates) = 0;
  virtual void end() = 0;
};

// By the ending of `path`: .csv, .tsv or .json; Error(usage) for others. `parameters`: names of the estimates
// that will come, or empty.
std::unique_ptr<AnswerWriter> make_answer_writer(const std::string& path, ByteSink sink,
                                                 const NetworkFile& file,
                                                 const std::vector<std::string>& parameters);

// Lines for a terminal: the most probable models, u and flags. At most `rows` data sets.
std::string answer_header(const ModelPosterior& answers);
std::string answer_lines(const ModelPosterior& answers, std::int64_t rows);

}  // namespace occam
