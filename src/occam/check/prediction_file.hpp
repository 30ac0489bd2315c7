// Files of predictions, for check --predictions and --save-predictions: what any program can write and
// recompute. csv or tsv: columns p_<model>..., `true` (name or index from 0), and, where known, n, u,
// exact_<model>...; others are ignored. npz: p (K, J), true (K), and n, u, exact; names of the models in
// `meta`, a JSON object as bytes, or model_1, model_2, ...
#pragma once

#include <memory>
#include <string>

#include "occam/check/predictions.hpp"
#include "occam/core/progress.hpp"
#include "occam/io/csv_dialect.hpp"

namespace occam {

// Largest distance of a row of probabilities from one in all.
inline constexpr double kSumTolerance = 1e-3;

// A file of predictions open for reading. All faults are Error(bad_data) with line and column, or row, and
// what was found: probabilities that are negative, missing, or do not sum to one within kSumTolerance,
// unknown models, columns that are not there. Fails as read_file does for what cannot be read.
class PredictionReader {
 public:
  virtual ~PredictionReader() = default;
  virtual const PredictionLayout& layout() const = 0;
  // The next block; false at the end.
  virtual bool next(Predictions& block) = 0;

  // By the ending of `path`: .npz, else text in the given format; `notes` is told what was recognised.
  static std::unique_ptr<PredictionReader> open(const std::string& path, const CsvFormat& format = {},
                                                ProgressSink* notes = nullptr);
};

// Text is written as it comes, npz is held in memory. The file appears with commit().
class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  virtual void add(const Predictions& block) = 0;
  virtual void commit() = 0;

  // By the ending of `path`: .csv, .tsv or .npz; Error(usage) for others.
  static std::unique_ptr<PredictionWriter> create(const std::string& path, const PredictionLayout& layout);
};

}  // namespace occam
