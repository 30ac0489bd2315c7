// A reference table: data sets simulated before, by `occam simulate` or by another program, as npz, csv or
// tsv.
//   npz   data (sum N, D), n (K), model (K) as indices, and optionally parameters (K, P)
//   csv   one row per observation: dataset, model (its name), the columns of the problem, and optionally the
//         parameters by name; the rows of a data set stand together. Other columns are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/core/progress.hpp"
#include "occam/data/batch.hpp"
#include "occam/io/csv_dialect.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// The files of a table: one path, or several with commas between, such as jobs of a cluster have written.
std::vector<std::string> table_files(const std::string& path);

class ReferenceTable {
 public:
  // The files of `path`, one behind the other. Error(bad_data) where two of them hold the same, as jobs with
  // the same seed would write; and, with the line where there is one, when the file does not fit the problem:
  // columns, models, sizes, values that are not finite. `format` is that of csv files; `notes` is told what
  // was recognised.
  static ReferenceTable read(const std::string& path, const Problem& problem, const CsvFormat& format = {},
                             ProgressSink* notes = nullptr);

  std::int64_t size() const { return all_.size(); }
  const Batch& all() const { return all_; }
  // 16 hexadecimal digits made from data and models.
  const std::string& fingerprint() const { return fingerprint_; }

  // Whether a training sets data set k aside, to judge the run: every tenth.
  static bool held_out(std::int64_t k) { return k % 10 == 9; }

 private:
  Batch all_;
  std::string fingerprint_;
};

}  // namespace occam
