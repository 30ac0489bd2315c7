// The whole check of a network, or of predictions from elsewhere: a Report with every finding and a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "occam/check/diagnostic.hpp"
#include "occam/check/robustness.hpp"
#include "occam/check/verdict.hpp"

namespace occam {

class Batch;
class PredictionReader;
class PredictionWriter;
class ReferenceTable;
struct NetworkFile;

struct CheckRequest {
  std::uint64_t seed = 1;
  std::int64_t data_sets = 2000;  // for each size, and for the problem's own sizes
  std::vector<std::int64_t> n;    // sizes to check one by one, before the problem's own
  CheckOptions options;
  std::optional<RobustnessRequest> robustness;
  std::int64_t missed_data_sets = 0;  // to find what the network missed; 0: it is not looked for
  const Batch* table =
      nullptr;  // check these rows of it instead of simulating; n and robustness do not apply
  std::vector<std::int64_t> table_rows = {};
  PredictionWriter* save = nullptr;  // gets the predictions for the problem's own sizes
};

// Data sets for a second learner where nobody says how many: a check of few is meant to be quick.
std::int64_t usual_missed_data_sets(std::int64_t data_sets);

// The data sets of a table to check a network on: where it was trained from this very table, those that
// training set aside, which is said.
std::vector<std::int64_t> rows_to_check(const ReferenceTable& table, const NetworkFile& file,
                                        ProgressSink& progress);

struct CheckResult {
  Report report;
  Verdict verdict;
};

// Simulates fresh data sets of the test stream, asks the network, and judges the answers. The finding `sizes`
// has one row for each size asked for and one, "all", for the problem's own; the other findings are about the
// latter. Where `missed_data_sets` are asked for, and not too few, the finding `missed` is there too.
// Throws Error(interrupted) when `progress` asks to stop.
CheckResult check_network(Comparator& comparator, const Problem& problem, const CheckRequest& request,
                          ThreadPool& pool, ProgressSink& progress);

// The same diagnostics on predictions that some program made. `model_prior` is used where the reader has
// none; it may be empty.
CheckResult check_predictions(PredictionReader& reader, const std::string& name,
                              const std::vector<double>& model_prior, const CheckOptions& options,
                              std::uint64_t seed, ThreadPool& pool, ProgressSink& progress);

// The value of a metric of the findings, or NaN where it is not among them.
double metric_value(const std::vector<Finding>& findings, const std::string& name);

}  // namespace occam
