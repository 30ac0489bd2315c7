#include "occam/simulate/simulation_file.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/npz.hpp"
#include "occam/simulate/exact_posteriors.hpp"
#include "occam/simulate/own/program_family.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

// Where simulated data sets go, a batch at a time. `exact` is (B, J), or empty.
class Destination {
 public:
  virtual ~Destination() = default;
  virtual void add(const Batch& batch, std::span<const double> exact) = 0;
  virtual void commit() = 0;
};

std::vector<std::string> exact_columns(const Problem& problem) {
  std::vector<std::string> names;
  for (const std::string& model : problem.model_names()) names.push_back("exact_" + model);
  return names;
}

class TextDestination : public Destination {
 public:
  TextDestination(const Problem& problem, const SimulationFileOptions& options, const std::string& path,
                  char delimiter)
      : names_(problem.model_names()),
        with_parameters_(options.with_parameters),
        file_(path),
        writer_(file_.sink(), header(problem, options), delimiter) {}

  void add(const Batch& batch, std::span<const double> exact) override {
    const std::size_t J = names_.size();
    for (std::int64_t b = 0; b < batch.size(); ++b, ++count_) {
      const DataView data = batch[b];
      for (std::int64_t row = 0; row < data.n; ++row) {
        writer_.cell(count_).cell(names_[static_cast<std::size_t>(batch.models()[b])]);
        for (std::int64_t d = 0; d < data.D; ++d) {
          if (const float value = data.at(row, d); std::isnan(value)) {
            writer_.missing();
          } else {
            writer_.cell(value);
          }
        }
        if (with_parameters_) add_parameters(batch.parameters(b));
        if (!exact.empty()) {
          for (const double p : exact.subspan(static_cast<std::size_t>(b) * J, J)) writer_.cell(p);
        }
        writer_.end_row();
      }
    }
  }

  void commit() override { file_.commit(); }

 private:
  static std::vector<std::string> header(const Problem& problem, const SimulationFileOptions& options) {
    std::vector<std::string> columns = {"dataset", "model"};
    for (const Column& column : problem.columns()) columns.push_back(column.name);
    if (options.with_parameters) {
      columns.insert(columns.end(), problem.parameter_names().begin(), problem.parameter_names().end());
    }
    if (options.exact) {
      for (std::string& name : exact_columns(problem)) columns.push_back(std::move(name));
    }
    std::set<std::string> seen;
    for (const std::string& column : columns) {
      if (!seen.insert(column).second) {
        throw Error(ErrorKind::usage,
                    "two columns of the table would be called '{}'; write an .npz file instead", column);
      }
    }
    return columns;
  }

  void add_parameters(std::span<const double> theta) {
    for (const double value : theta) {
      if (std::isnan(value)) {
        writer_.missing();
      } else {
        writer_.cell(value);
      }
    }
  }

  std::vector<std::string> names_;
  bool with_parameters_;
  AtomicFile file_;
  CsvWriter writer_;
  std::int64_t count_ = 0;
};

class NpzDestination : public Destination {
 public:
  NpzDestination(const Problem& problem, const SimulationFileOptions& options, std::uint64_t seed,
                 const std::string& path)
      : problem_(problem), options_(options), seed_(seed), path_(path) {
    require_writable(path);
  }

  void add(const Batch& batch, std::span<const double> exact) override {
    data_.insert(data_.end(), batch.data().begin(), batch.data().end());
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      n_.push_back(batch[b].n);
      model_.push_back(batch.models()[b]);
    }
    parameters_.insert(parameters_.end(), batch.parameters().begin(), batch.parameters().end());
    exact_.insert(exact_.end(), exact.begin(), exact.end());
  }

  void commit() override {
    const auto K = static_cast<std::int64_t>(n_.size());
    const std::int64_t D = problem_.D();
    NpzWriter writer(path_);
    writer.add("data", ArrayView::of<float>({static_cast<std::int64_t>(data_.size()) / D, D}, data_));
    writer.add("n", ArrayView::of<std::int64_t>({K}, n_));
    writer.add("model", ArrayView::of<std::int64_t>({K}, model_));
    if (options_.with_parameters)
      writer.add("parameters", ArrayView::of<double>({K, problem_.P()}, parameters_));
    if (options_.exact) writer.add("exact", ArrayView::of<double>({K, problem_.J()}, exact_));
    const std::string meta = json_text(description(), JsonStyle::compact);
    const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(meta.data()),
                                              meta.size());
    writer.add("meta", ArrayView::of<std::uint8_t>({static_cast<std::int64_t>(bytes.size())}, bytes));
    writer.commit();
  }

 private:
  nlohmann::json description() const {
    nlohmann::json columns = nlohmann::json::array();
    for (const Column& column : problem_.columns()) columns.push_back(column.name);
    SimulationFileOptions options = options_;
    return {{"format", "occam-simulations"},
            {"format_version", 1},
            {"problem", problem_.name()},
            {"fingerprint", problem_.fingerprint()},
            {"seed", seed_},
            {"models", problem_.model_names()},
            {"model_prior", problem_.model_prior()},
            {"columns", columns},
            {"parameters", problem_.parameter_names()},
            {"options", fields_json(fields(options))},
            {"version", kVersion}};
  }

  Problem problem_;
  SimulationFileOptions options_;
  std::uint64_t seed_;
  std::string path_;
  std::vector<float> data_;
  std::vector<std::int64_t> n_;
  std::vector<std::int64_t> model_;
  std::vector<double> parameters_;
  std::vector<double> exact_;
};

std::unique_ptr<Destination> open_destination(const Problem& problem, const SimulationFileOptions& options,
                                              std::uint64_t seed, const std::string& path) {
  if (path == "-") return std::make_unique<TextDestination>(problem, options, "/dev/stdout", ',');
  if (path.ends_with(".npz")) return std::make_unique<NpzDestination>(problem, options, seed, path);
  if (path.ends_with(".tsv")) return std::make_unique<TextDestination>(problem, options, path, '\t');
  if (path.ends_with(".csv") || path.starts_with("/dev/")) {
    return std::make_unique<TextDestination>(problem, options, path, ',');
  }
  throw Error(ErrorKind::usage, "cannot tell the format of '{}': its name should end in .csv, .tsv or .npz",
              path);
}

// Data sets to simulate at a time: as many as fit in about 64 MiB, at least one.
std::int64_t chunk_size(const Problem& problem, std::int64_t largest_n) {
  std::int64_t rows = 1;
  for (std::int64_t j = 0; j < problem.J(); ++j) rows = std::max(rows, problem.max_rows(j, largest_n));
  return std::clamp<std::int64_t>((std::int64_t{16} << 20) / (rows * problem.D()), 1, 1024);
}

void report_failures(const Problem& problem, std::span<const std::int64_t> failed, ProgressSink& progress) {
  for (std::size_t j = 0; j < failed.size(); ++j) {
    if (failed[j] == 0) continue;
    progress.warn(fmt::format("model '{}': {} draws from its prior gave no usable data and were drawn again",
                              problem.model_names()[j], failed[j]));
  }
}

}  // namespace

Fields fields(SimulationFileOptions& options) {
  return {field("datasets", options.datasets, "data sets to simulate").at_least(1),
          field("model", options.model, "simulate this model only").by_default("drawn from the model prior"),
          field("n", options.n, "observations in every data set")
              .at_least(1)
              .at_most(static_cast<double>(SizeDistribution::kLargest))
              .by_default("drawn as the problem says"),
          field("with_parameters", options.with_parameters, "also write the parameters behind each data set"),
          field("exact", options.exact,
                "also write the exact posterior model probabilities, for problems that have them"),
          field("disturb", options.disturb,
                "disturb the data, as NAME=STRENGTH; `occam models` lists what a problem offers")};
}

void write_simulations(const Problem& problem, const SimulationFileOptions& options, std::uint64_t seed,
                       const std::string& path, ThreadPool& pool, ProgressSink& progress) {
  if (options.exact && !problem.has_exact_posterior()) {
    throw Error(ErrorKind::usage, "problem '{}' has no exact posterior; `occam models` shows which have one",
                problem.name());
  }
  SimulatorOptions simulator_options;
  if (!options.model.empty()) simulator_options.model = problem.model_index(options.model);
  if (options.n > 0) simulator_options.n = options.n;
  std::optional<DisturbanceRequest> disturbance;
  if (!options.disturb.empty()) disturbance = DisturbanceRequest::parse(options.disturb);
  simulator_options.complete = disturbance.has_value();  // what goes missing is disturbed before
  // Which parameters are free is a matter of the models simulated from; what is exact, of those compared.
  const Problem simulated = disturbance ? replaced_problem(problem, *disturbance) : problem;
  Simulator simulator(simulated, seed, Purpose::simulate, simulator_options);

  const std::unique_ptr<Destination> destination = open_destination(simulated, options, seed, path);
  const std::int64_t chunk = chunk_size(problem, options.n > 0 ? options.n : problem.sizes().second);
  std::vector<std::int64_t> failed(static_cast<std::size_t>(problem.J()), 0);
  Batch batch;
  std::vector<double> exact;
  for (std::int64_t first = 0; first < options.datasets; first += chunk) {
    progress.update(first, options.datasets, "");
    if (progress.stop_requested()) {
      throw Error(ErrorKind::interrupted, "interrupted after {} of {} data sets", first, options.datasets);
    }
    simulator.simulate_range(first, std::min(chunk, options.datasets - first), pool, batch,
                             [&](std::int64_t done) { progress.update(first + done, options.datasets, ""); });
    for (std::size_t j = 0; j < failed.size(); ++j) failed[j] += batch.failed_draws()[j];
    if (disturbance) {
      transform_batch(problem, *disturbance, seed, first, pool, batch);
      lose_values(problem, seed, Purpose::simulate, first, batch);
    }
    if (options.exact) exact = exact_posteriors(problem, batch, pool);
    destination->add(batch, exact);
  }
  end_programs(problem);  // before a file is there whose last rows may be wrong
  destination->commit();
  report_failures(problem, failed, progress);
}

}  // namespace occam
