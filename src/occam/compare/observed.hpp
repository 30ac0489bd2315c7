// Observed data sets from files: csv or tsv with a header, npy, npz, or csv on standard input. One data set
// after the other, in memory that does not grow with the file where the file allows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "occam/nn/matrix.hpp"

namespace occam {

struct ObservedOptions {
  std::vector<std::string> columns;  // the network's, found by name; npy and npz: by position
  std::vector<std::string> by;     // csv: columns that tell data sets apart; empty: `dataset` if there is one
  std::int64_t chunk_sets = 1024;  // data sets handed over at a time, at most
  std::int64_t chunk_rows = 1 << 18;  // and rows, unless one data set has more
};

// Takes some data sets: their ids and their observations.
using ObservedSink = std::function<void(const std::vector<std::string>& ids, Ragged<const float> data)>;

// Calls the sink for all data sets of `path` ("-": csv on standard input). Error(no_input) for a missing
// file; Error(bad_data), with file, line and column where there are any, for missing columns, cells that are
// not numbers, missing values, files without data, arrays of another shape.
void read_observed(const std::string& path, const ObservedOptions& options, const ObservedSink& sink);

}  // namespace occam
