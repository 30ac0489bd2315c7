// The result of ABC as text, csv, json, and its particles as csv or npz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/abc/abc.hpp"

namespace occam {

// What the result answers, for the record.
struct AbcRecord {
  const Problem& problem;
  const AbcOptions& options;
  std::uint64_t seed = 0;
  std::string data;     // the file
  std::string dataset;  // its id
  std::int64_t rows = 0;
  std::int64_t n = 0;
  std::optional<std::vector<double>> exact;  // (J) exact posterior, where it is known
};

// Natural log Bayes factors of all models against the most probable one, (J); -infinity where a model has no
// particle left.
std::vector<double> log_bayes_factors(const Problem& problem, const std::vector<double>& p);

// Exact posterior model probabilities (J), where the problem knows them. Data that are impossible under every
// model have none, which is said; ABC answers all the same.
std::optional<std::vector<double>> exact_posterior(const Problem& problem, DataView data,
                                                   ProgressSink& progress);
// Warns of models whose simulations gave no usable data.
void tell_failures(const AbcResult& result, const Problem& problem, ProgressSink& progress);

// One row per population, the exact posterior below where it is known, and the answer in words.
std::string abc_text(const AbcResult& result, const AbcRecord& record);
// population,epsilon,size,simulations,acceptance,ess,p_<model>...
std::string abc_csv(const AbcResult& result, const AbcRecord& record, char delimiter = ',');
nlohmann::json abc_json(const AbcResult& result, const AbcRecord& record);

// By its ending: .csv, .tsv or .json ("-": csv on standard output). Throws Error(usage) for others.
void check_abc_path(const std::string& path);
void write_abc(const std::string& path, const AbcResult& result, const AbcRecord& record);

// The last population: model, weight, distance and the free parameters (.csv, .tsv or .npz). A parameter that
// is called like one of the first three gets `parameter_` before its name.
void check_particles_path(const std::string& path);
void write_particles(const std::string& path, const AbcResult& result, const Problem& problem);

}  // namespace occam
