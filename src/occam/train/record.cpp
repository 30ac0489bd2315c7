#include "occam/train/record.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "occam/core/version.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/column_ranges.hpp"
#include "occam/train/warm_start.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr std::int64_t kGoldenSets = 4;

// In rows, which a reader of the file will compare its own data with, not in the N asked for. A simulator may
// write fewer rows than N allows.
std::pair<std::int64_t, std::int64_t> trained_sizes(const Problem& problem, const TrainingData& data,
                                                    bool table) {
  std::int64_t low = data.sample[0].n;
  std::int64_t high = low;
  for (const Batch* batch : {&data.sample, &data.validation}) {
    for (std::int64_t b = 0; b < batch->size(); ++b) {
      low = std::min(low, (*batch)[b].n);
      high = std::max(high, (*batch)[b].n);
    }
  }
  if (table) return {low, high};
  const auto [smallest, largest] = problem.sizes();
  for (std::int64_t j = 0; j < problem.J(); ++j) {
    low = std::min(low, problem.max_rows(j, smallest));
    high = std::max(high, problem.max_rows(j, largest));
  }
  return {low, high};
}

void describe_problem(const Problem& problem, NetworkFile& file) {
  file.problem_name = problem.name();
  file.problem = problem_toml(problem);
  file.fingerprint = problem.fingerprint();
  file.ordered = problem.ordered();
  for (const Column& column : problem.columns()) file.columns.push_back(column.name);
  file.model_names = problem.model_names();
  file.model_prior.assign(problem.model_prior().begin(), problem.model_prior().end());
  file.parameter_names = problem.parameter_names();
}

void describe_targets(const ParameterTargets& targets, NetworkFile& file) {
  file.parameter_mean = targets.mean;
  file.parameter_scale = targets.scale;
  file.parameter_mask = targets.masks;
  const auto tamed = [](const ColumnInput& input) { return input.transformation != Transformation::none; };
  if (std::any_of(targets.inputs.begin(), targets.inputs.end(), tamed))
    file.parameter_inputs = targets.inputs;
}

void describe_data(const Problem& problem, const TrainingData& data, bool table, NetworkFile& file) {
  std::tie(file.smallest_n, file.largest_n) = trained_sizes(problem, data, table);
  file.ranges = column_ranges({&data.sample, &data.validation});
  std::vector<bool> design;
  for (const Column& column : problem.columns()) design.push_back(column.given());
  file.labels = label_groups(problem.columns());
  file.design = DesignProfile::learn({data.sample.view(), data.validation.view()}, file.columns, design,
                                     file.config.missing);
}

json record_of(const TrainOptions& options, const TrainRun& run, const TrainingProgress& at) {
  TrainOptions copy = options;
  json record = {{"options", fields_json(fields(copy))},
                 {"seed", run.seed},
                 {"steps", at.step},
                 {"total", at.total},
                 {"attempts", at.attempt + 1},
                 {"best_step", at.best_step},
                 {"validation_loss", at.best_loss},
                 {"validation_history", at.history},
                 {"looks", at.looks},
                 {"data_sets", at.step * options.batch / options.replay},
                 {"failed_draws", at.failed},
                 {"source", run.table ? "table" : "simulation"},
                 {"program", std::string("occam ") + kVersion}};
  if (at.expected_gain >= 0) record["expected_gain"] = at.expected_gain;
  if (run.table) record["table"] = run.table->fingerprint();
  if (run.start) record["start"] = weight_checksum(run.start->members[start_member(run)]);
  return record;
}

}  // namespace

std::size_t start_member(const TrainRun& run) {
  return static_cast<std::size_t>(run.member) % run.start->members.size();
}

json run_identity(const Problem& problem, const TrainOptions& options, const TrainRun& run,
                  const NetworkConfig& config) {
  TrainOptions copy = options;
  return {{"problem", problem.fingerprint()},
          {"seed", run.seed},
          {"member of the ensemble", run.member},
          {"set of training options", fields_json(fields(copy))},
          {"network", config.json()},
          {"network to start from", run.start ? weight_checksum(run.start->members[start_member(run)]) : ""}};
}

NetworkFile trained_network(const Problem& problem, const TrainOptions& options, const TrainRun& run,
                            const NetworkConfig& config, const LearningPlan& plan, const TrainingData& data,
                            const TrainingProgress& at, const std::string& doubt) {
  NetworkFile file;
  file.config = config;
  file.link = plan.link;
  file.members = {at.best};
  describe_problem(problem, file);
  describe_targets(plan.targets, file);
  describe_data(problem, data, run.table != nullptr, file);
  file.record = record_of(options, run, at);
  if (const auto whole = whole_columns({&data.sample, &data.validation}); !whole.empty())
    file.record["whole_columns"] = whole;
  if (!doubt.empty()) file.record["doubt"] = doubt;
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(kGoldenSets, data.sample.size())));
  std::iota(first.begin(), first.end(), 0);
  Batch golden;
  gather(data.sample, first, problem.J(), golden);
  file.golden = make_golden(file, golden.view());
  return file;
}

}  // namespace occam
