// Answers as files: csv, tsv or json, one row or object per data set, under the names of answer_columns.hpp.
// Rows are written as they come, so memory does not grow with their number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "occam/compare/answer_columns.hpp"
#include "occam/io/file.hpp"

namespace occam {

// A verdict on each data set, with what extras.scope says of it.
std::vector<DataSetVerdict> verdicts_on(const ModelPosterior& answers, const AnswerExtras& extras,
                                        const VerdictOptions& options);

class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  virtual void add(const std::vector<AnswerCell>& row) = 0;
  // `more`: what json files hold beside the data sets; other files leave it out.
  virtual void end(const nlohmann::json& more) = 0;
};

// By the ending of `path`: .csv, .tsv or .json; Error(usage) for others.
std::unique_ptr<AnswerWriter> make_answer_writer(const std::string& path, ByteSink sink,
                                                 const NetworkFile& file,
                                                 const std::vector<std::string>& columns);

// Lines for a terminal: verdict, the most probable models, and flags. At most `rows` data sets.
std::string answer_header(const ModelPosterior& answers, bool scope);
std::string answer_lines(const ModelPosterior& answers, const AnswerExtras& extras, std::int64_t rows);

}  // namespace occam
