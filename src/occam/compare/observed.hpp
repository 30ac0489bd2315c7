// Observed data sets from files: csv or tsv with a header, npy, npz, or csv on standard input. One data set
// after the other, in memory that does not grow with the file where the file allows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "occam/core/progress.hpp"
#include "occam/data/column.hpp"
#include "occam/data/matrix.hpp"
#include "occam/io/csv.hpp"

namespace occam {

// What to do with a row in which a value is missing (an empty cell, NA, NaN) where none may be.
enum class MissingRows { refuse, drop };

struct ObservedOptions {
  std::vector<std::string> columns;  // the network's, found by name; npy and npz: by position
  std::vector<std::string> by;     // csv: columns that tell data sets apart; empty: `dataset` if there is one
  bool by_dataset = true;          // `dataset` is taken for `by` where that is empty
  std::vector<double> factors;     // csv: what numbers of each column are multiplied by; empty: nothing
  std::string group;               // csv: a column that says which group a data set belongs to; may be empty
  std::int64_t chunk_sets = 1024;  // data sets handed over at a time, at most
  std::int64_t chunk_rows = 1 << 18;  // and rows, unless one data set has more
  MissingRows missing = MissingRows::refuse;
  std::vector<std::int64_t>
      may_miss;  // places of the columns in which values may be missing: NaN in the data
  // Places of the columns that only say which rows belong together. Of csv any text will do; in each data set
  // labels become 1, 2, 3, ...
  LabelGroups labels;
  // Places of the columns, of the design or labels, that every row has to have: nothing can be trained for
  // rows without.
  std::vector<std::int64_t> given;
  // What to try instead, for messages, and where the column is `given` (empty: the same): "{}" stands for its
  // name. May be empty.
  std::string missing_advice, given_advice;
  // The same where the cell that says whose a row is (`by`, `group`) is missing.
  std::string nameless_advice;
  CsvFormat csv;                  // what separates cells, and the decimal mark
  ProgressSink* notes = nullptr;  // told how a csv file was read, where that is not the usual
};

// What was left out because values were missing, or it was not known whose they are.
struct ObservedSummary {
  std::int64_t dropped_rows = 0;
  std::vector<std::string> lost_sets;  // ids of data sets of which no row was left
};

// Some data sets, as they come; valid during the call.
struct ObservedSets {
  const std::vector<std::string>& ids;
  Ragged<const float> data;
  const std::vector<std::string>& groups;    // (sets) empty texts where no column says so
  const std::vector<std::int64_t>& dropped;  // (sets) rows left out because a value was missing
};
using ObservedSink = std::function<void(const ObservedSets& sets)>;

// Calls the sink for all data sets of `path` ("-": csv on standard input). Error(no_input) for a missing
// file; Error(bad_data), with file, line and column where there are any, for missing columns, cells that are
// not numbers, missing values where none may be (unless rows with such are dropped), files without data,
// arrays of another shape; a data set with rows of two groups. Data sets are those whose values in all
// columns `by` agree; their ids are these values, joined by
// '/'. Ids are UTF-8: bytes that are not are taken for Windows-1252.
ObservedSummary read_observed(const std::string& path, const ObservedOptions& options,
                              const ObservedSink& sink);

// A csv text that can be opened as often as it has to be read, and what its data set is called where it holds
// only one.
struct ObservedCsv {
  std::function<CsvReader(const CsvOptions&)> open;
  std::string id;
};

// The same for data that are no file.
ObservedSummary read_observed(const ObservedCsv& file, const ObservedOptions& options,
                              const ObservedSink& sink);

}  // namespace occam
