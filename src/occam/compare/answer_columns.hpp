// The columns of answers, kept once: name, meaning and value of each. Files of answers, the report, the docs
// and other front ends all take them from here. To add a column is to add an entry to the list.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "occam/compare/comparator.hpp"
#include "occam/compare/data_set_verdict.hpp"

namespace occam {

// What may stand beside the answers of some data sets.
struct AnswerExtras {
  ParameterEstimates estimates;          // values empty: not wanted
  std::vector<float> summary;            // (sets, S) the network's summary of each data set, or empty
  std::vector<ScopeAnswer> scope;        // (sets), or empty
  std::vector<DataSetVerdict> verdicts;  // (sets)
  std::vector<std::string> notes;        // (sets) what to know about the data themselves, or empty
};

// Nothing stands for a missing value.
using AnswerCell = std::variant<std::monostate, std::int64_t, double, std::string>;

// What a network and the options of a comparison allow to say.
struct AnswerShape {
  AnswerShape(const NetworkFile& file, bool estimates, std::int64_t summary_width);

  const std::vector<std::string>& models;
  const std::vector<std::string>& parameters;
  bool ensemble, spread, concentrations, scope, scope_by_model, estimates;
  bool sequential = false;  // several rows for a data set, after so many observations
  std::int64_t summary_width;
};

// One data set, with what several columns need.
struct AnswerRow {
  AnswerRow(const ModelPosterior& answers, const AnswerExtras& extras, std::int64_t b);

  const ModelPosterior& answers;
  const AnswerExtras& extras;
  std::int64_t b;
  std::int64_t best;
  std::vector<double> p;  // (J)
};

struct AnswerColumn {
  // How often it stands there: once, for every model or parameter, or for every number of the summary.
  enum class Per { data_set, model, parameter, summary };

  std::string name;  // a stem where there are several: "p_" for p_<model>
  Per per = Per::data_set;
  std::string heading;  // on a page
  std::string meaning;
  std::string when;  // it is there, in words; empty: always
  std::function<bool(const AnswerShape&)> present;
  std::function<AnswerCell(const AnswerRow&, std::int64_t index)> cell;

  std::string pattern() const;  // "p_<model>"
  std::vector<std::string> names(const AnswerShape& shape) const;
};

// All there are, in the order in which files have them.
const std::vector<AnswerColumn>& answer_columns();
// By its pattern.
const AnswerColumn& answer_column(std::string_view pattern);

// The columns of one table of answers: names once, then one row of cells per data set.
class AnswerTable {
 public:
  explicit AnswerTable(const AnswerShape& shape);

  const std::vector<std::string>& names() const { return names_; }
  std::vector<AnswerCell> row(const ModelPosterior& answers, const AnswerExtras& extras,
                              std::int64_t b) const;

 private:
  struct Part {
    const AnswerColumn* column;
    std::int64_t count;
  };
  std::vector<Part> parts_;
  std::vector<std::string> names_;
};

}  // namespace occam
