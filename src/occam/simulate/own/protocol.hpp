// What occam and a simulator program say to each other over the program's standard input and output. One
// request at a time, for many data sets of one model; docs/own-models.md has the rules.
//
//   request   one line of JSON: {"occam": 1, "model": "fair", "columns": 1, "names": ["x"], "n": [2, 1],
//             "seed": 17, "seeds": [4, 5], "parameters": {"theta": [0.5, 0.1]}}
//             and, where the design is given, "design": {"dose": [0.2, 0.4, 0.1]}: one value for each row of
//             all data sets; "columns" and "names" then speak of the observed ones, which alone are answered
//   answer    the rows of all data sets, one after the other: an npy array (sum of n, columns), or as many
//             lines of numbers separated by commas; or one line "error: what went wrong"
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "occam/simulate/family.hpp"
#include "occam/simulate/own/answer.hpp"

namespace occam {

// One line, newline included. `names` are those of theta in the requests; `seeds` has one for each. The
// design of the requests, if they have one, stands in their rows.
std::string request_line(const std::string& model, const std::vector<Column>& columns,
                         const std::vector<std::string>& names, std::span<const SimulationRequest> requests,
                         std::span<const std::uint64_t> seeds);
// The columns that an answer to such requests has, as places in a row.
std::vector<std::size_t> answered_columns(const std::vector<Column>& columns, bool designed);

// Takes an answer piece by piece, as it comes through a pipe. Whatever comes, memory stays below a fixed
// multiple of what was asked for, and what is not an answer is Error(bad_data) that says why.
class AnswerReader final : public Answer {
 public:
  AnswerReader(std::int64_t rows, std::int64_t columns);

  // Takes the next bytes. An answer must end where the request asks it to: more is an error too.
  void add(std::string_view bytes) override;
  bool complete() const override { return complete_; }
  // (rows, columns) when complete.
  std::span<const float> values() const { return values_; }

 private:
  void take_npy();
  void take_lines();
  void take_line(std::string_view line);
  void refuse_more(std::size_t used) const;

  std::int64_t rows_, columns_;
  std::string bytes_;       // not yet understood
  std::size_t needed_ = 0;  // npy: bytes of the whole answer, once its header is known
  std::size_t taken_ = 0;   // lines: bytes of bytes_ already understood
  std::vector<float> values_;
  bool complete_ = false;
};

}  // namespace occam
