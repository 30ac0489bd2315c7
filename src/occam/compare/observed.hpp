// Observed data sets from files: csv or tsv with a header, npy, npz, or csv on standard input. One data set
// after the other, in memory that does not grow with the file where the file allows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "occam/core/progress.hpp"
#include "occam/data/matrix.hpp"
#include "occam/io/csv_dialect.hpp"

namespace occam {

// What to do with a row in which a value is missing (an empty cell, NA, NaN).
enum class MissingRows { refuse, drop };

struct ObservedOptions {
  std::vector<std::string> columns;  // the network's, found by name; npy and npz: by position
  std::vector<std::string> by;     // csv: columns that tell data sets apart; empty: `dataset` if there is one
  std::int64_t chunk_sets = 1024;  // data sets handed over at a time, at most
  std::int64_t chunk_rows = 1 << 18;  // and rows, unless one data set has more
  MissingRows missing = MissingRows::refuse;
  CsvFormat csv;                  // what separates cells, and the decimal mark
  ProgressSink* notes = nullptr;  // told how a csv file was read, where that is not the usual
};

// What was left out because values were missing.
struct ObservedSummary {
  std::int64_t dropped_rows = 0;
  std::vector<std::string> lost_sets;  // ids of data sets of which no row was left
};

// Takes some data sets: their ids and their observations.
using ObservedSink = std::function<void(const std::vector<std::string>& ids, Ragged<const float> data)>;

// Calls the sink for all data sets of `path` ("-": csv on standard input). Error(no_input) for a missing
// file; Error(bad_data), with file, line and column where there are any, for missing columns, cells that are
// not numbers, missing values (unless rows with such are dropped), files without data, arrays of another
// shape. Data sets are those whose values in all columns `by` agree; their ids are these values, joined by
// '/'. Ids are UTF-8: bytes that are not are taken for Windows-1252.
ObservedSummary read_observed(const std::string& path, const ObservedOptions& options,
                              const ObservedSink& sink);

}  // namespace occam
