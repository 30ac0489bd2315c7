#include "occam/abc/abc_result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/file.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/npz.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr std::size_t kModelsShown = 6;
constexpr double kFewParticles = 50;  // probabilities are then uncertain by 0.07 or more

std::size_t best_of(const std::vector<double>& p) {
  return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

// All models where they are few; otherwise the most probable ones.
std::vector<std::size_t> shown_models(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() <= kModelsShown) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  order.resize(kModelsShown);
  return order;
}

std::string factor_text(double log_factor) {
  if (log_factor > std::log(1e6)) return "more than a million";
  return fmt::format("{:.3g}", std::exp(log_factor));
}

std::string answer_in_words(const AbcResult& result, const AbcRecord& record) {
  const Problem& problem = record.problem;
  const std::vector<double>& p = result.populations.back().p;
  const std::size_t best = best_of(p);
  std::vector<double> log_bf = log_bayes_factors(problem, p);
  std::string text =
      fmt::format("{} is the most probable model, p = {:.4f}", problem.model_names()[best], p[best]);
  std::size_t second = best == 0 ? 1 : 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (j != best && p[j] > p[second]) second = j;
  }
  if (p[second] > 0) {
    text += fmt::format("; Bayes factor against {}: {}", problem.model_names()[second],
                        factor_text(-log_bf[second]));
  } else {
    text += "; no particle of another model is left";
  }
  text += fmt::format(". After {} simulations: {}.\n", result.simulations, result.stopped);
  const double ess = result.populations.back().ess;
  if (ess < kFewParticles) {
    text += fmt::format(
        "These particles are worth only {:.0f}: take more (--population-size), or a wider kernel "
        "(--kernel-width).\n",
        ess);
  }
  return text;
}

std::vector<std::string> parameter_columns(const Problem& problem) {
  std::vector<std::string> names;
  for (const std::string& name : problem.parameter_names()) {
    const bool taken = name == "model" || name == "weight" || name == "distance";
    names.push_back(taken ? "parameter_" + name : name);
  }
  return names;
}

// Parameters of particle k by slot, NaN where the model has none: (slots).
std::vector<double> by_slot(const Particles& particles, const Problem& problem, std::int64_t k) {
  std::vector<double> values(static_cast<std::size_t>(problem.P()), NAN);
  const std::span<const std::int64_t> slots = problem.slots(particles.models[static_cast<std::size_t>(k)]);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] >= 0) values[static_cast<std::size_t>(slots[i])] = particles.parameters(k)[i];
  }
  return values;
}

void write_particles_text(const std::string& path, const AbcResult& result, const Problem& problem,
                          char delimiter) {
  AtomicFile file(path);
  std::vector<std::string> columns = {"model", "weight", "distance"};
  for (std::string& name : parameter_columns(problem)) columns.push_back(std::move(name));
  CsvWriter writer(file.sink(), columns, delimiter);
  const Particles& particles = result.particles;
  for (std::int64_t k = 0; k < particles.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    writer.cell(problem.model_names()[static_cast<std::size_t>(particles.models[at])])
        .cell(particles.weights[at])
        .cell(particles.distances[at]);
    for (const double value : by_slot(particles, problem, k)) {
      if (std::isnan(value)) {
        writer.missing();
      } else {
        writer.cell(value);
      }
    }
    writer.end_row();
  }
  file.commit();
}

void write_particles_npz(const std::string& path, const AbcResult& result, const Problem& problem) {
  const Particles& particles = result.particles;
  const std::int64_t K = particles.size();
  const std::vector<std::int64_t> models(particles.models.begin(), particles.models.end());
  std::vector<double> parameters;
  for (std::int64_t k = 0; k < K; ++k) {
    const std::vector<double> values = by_slot(particles, problem, k);
    parameters.insert(parameters.end(), values.begin(), values.end());
  }
  const std::string meta = json_text({{"format", "occam-particles"},
                                      {"models", problem.model_names()},
                                      {"parameters", problem.parameter_names()},
                                      {"problem", problem.name()}},
                                     JsonStyle::compact);
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(meta.data()), meta.size());
  NpzWriter writer(path);
  writer.add("model", ArrayView::of<std::int64_t>({K}, models));
  writer.add("weight", ArrayView::of<double>({K}, particles.weights));
  writer.add("distance", ArrayView::of<double>({K}, particles.distances));
  writer.add("parameters", ArrayView::of<double>({K, problem.P()}, parameters));
  writer.add("meta", ArrayView::of<std::uint8_t>({static_cast<std::int64_t>(bytes.size())}, bytes));
  writer.commit();
}

}  // namespace

std::vector<double> log_bayes_factors(const Problem& problem, const std::vector<double>& p) {
  const std::size_t best = best_of(p);
  const auto evidence = [&](std::size_t j) { return std::log(p[j]) - std::log(problem.model_prior()[j]); };
  std::vector<double> result;
  for (std::size_t j = 0; j < p.size(); ++j) result.push_back(evidence(j) - evidence(best));
  return result;
}

std::optional<std::vector<double>> exact_posterior(const Problem& problem, DataView data,
                                                   ProgressSink& progress) {
  if (!problem.has_exact_posterior()) return std::nullopt;
  try {
    std::vector<double> p = problem.exact_log_posterior(data).value();
    for (double& value : p) value = std::exp(value);
    return p;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
    progress.say(fmt::format("no exact posterior: {}", error.what()));
    return std::nullopt;
  }
}

void tell_failures(const AbcResult& result, const Problem& problem, ProgressSink& progress) {
  for (std::size_t j = 0; j < result.failed.size(); ++j) {
    if (result.failed[j] == 0) continue;
    progress.warn(
        fmt::format("model '{}': {} simulations gave no usable data and were rejected, which counts "
                    "against the model",
                    problem.model_names()[j], result.failed[j]));
  }
}

std::string abc_text(const AbcResult& result, const AbcRecord& record) {
  const Problem& problem = record.problem;
  const std::vector<std::size_t> shown = shown_models(result.populations.back().p);
  std::string text = fmt::format("{:>10}  {:>9}  {:>9}  {:>11}  {:>10}  {:>7}", "population", "epsilon",
                                 "particles", "simulations", "acceptance", "ESS");
  const auto width = [&](std::size_t j) { return std::max<std::size_t>(problem.model_names()[j].size(), 6); };
  for (const std::size_t j : shown) text += fmt::format("  {:>{}}", problem.model_names()[j], width(j));
  if (shown.size() < problem.model_names().size())
    text += fmt::format("  (and {} others)", problem.model_names().size() - shown.size());
  text += '\n';
  for (std::size_t t = 0; t < result.populations.size(); ++t) {
    const AbcPopulation& one = result.populations[t];
    text += fmt::format("{:>10}  {:>9.4g}  {:>9}  {:>11}  {:>10.4f}  {:>7.1f}", t + 1, one.epsilon, one.size,
                        one.simulations, one.acceptance, one.ess);
    for (const std::size_t j : shown) text += fmt::format("  {:>{}.4f}", one.p[j], width(j));
    text += '\n';
  }
  if (record.exact) {
    text += fmt::format("{:>10}{:>56}", "exact", "");
    for (const std::size_t j : shown) text += fmt::format("  {:>{}.4f}", (*record.exact)[j], width(j));
    text += '\n';
  }
  return text + '\n' + answer_in_words(result, record);
}

std::string abc_csv(const AbcResult& result, const AbcRecord& record, char delimiter) {
  std::vector<std::string> columns = {"population", "epsilon", "size", "simulations", "acceptance", "ess"};
  for (const std::string& name : record.problem.model_names()) columns.push_back("p_" + name);
  std::string text;
  CsvWriter writer([&](std::string_view row) { text += row; }, columns, delimiter);
  for (std::size_t t = 0; t < result.populations.size(); ++t) {
    const AbcPopulation& one = result.populations[t];
    writer.cell(static_cast<std::int64_t>(t) + 1)
        .cell(one.epsilon)
        .cell(one.size)
        .cell(one.simulations)
        .cell(one.acceptance)
        .cell(one.ess);
    for (const double p : one.p) writer.cell(p);
    writer.end_row();
  }
  return text;
}

json abc_json(const AbcResult& result, const AbcRecord& record) {
  const Problem& problem = record.problem;
  const auto named = [&](const auto& values) {
    json object = json::object();
    for (std::size_t j = 0; j < values.size(); ++j) object[problem.model_names()[j]] = values[j];
    return object;
  };
  json populations = json::array();
  for (std::size_t t = 0; t < result.populations.size(); ++t) {
    const AbcPopulation& one = result.populations[t];
    json row = {{"population", t + 1},
                {"epsilon", one.epsilon},
                {"size", one.size},
                {"simulations", one.simulations},
                {"acceptance", one.acceptance},
                {"ess", one.ess}};
    for (std::size_t j = 0; j < one.p.size(); ++j) row["p_" + problem.model_names()[j]] = one.p[j];
    populations.push_back(std::move(row));
  }
  AbcOptions options = record.options;
  const std::vector<double>& p = result.populations.back().p;
  json all = {
      {"problem", problem.name()},
      {"fingerprint", problem.fingerprint()},
      {"data", {{"file", record.data}, {"dataset", record.dataset}, {"rows", record.rows}, {"n", record.n}}},
      {"seed", record.seed},
      {"settings", fields_json(fields(options))},
      {"models", problem.model_names()},
      {"model_prior", problem.model_prior()},
      {"populations", populations},
      {"best", problem.model_names()[best_of(p)]},
      {"p", named(p)},
      {"log_bf", named(log_bayes_factors(problem, p))},
      {"simulations", result.simulations},
      {"calibration_simulations", result.calibration},
      {"failed_simulations", named(result.failed)},
      {"stopped", result.stopped},
      {"version", kVersion}};
  if (record.exact) all["exact"] = named(*record.exact);
  return all;
}

void check_abc_path(const std::string& path) {
  if (path.empty() || path == "-" || path.ends_with(".csv") || path.ends_with(".tsv") ||
      path.ends_with(".json") || path.starts_with("/dev/"))
    return;
  throw Error(ErrorKind::usage, "cannot tell the format of '{}': its name should end in .csv, .tsv or .json",
              path);
}

void write_abc(const std::string& path, const AbcResult& result, const AbcRecord& record) {
  check_abc_path(path);
  if (path.ends_with(".json")) return write_json(path, abc_json(result, record));
  write_file_atomic(path == "-" ? "/dev/stdout" : path,
                    abc_csv(result, record, path.ends_with(".tsv") ? '\t' : ','));
}

void check_particles_path(const std::string& path) {
  if (path.empty() || path.ends_with(".csv") || path.ends_with(".tsv") || path.ends_with(".npz")) return;
  throw Error(ErrorKind::usage, "--particles {}: its name should end in .csv, .tsv or .npz", path);
}

void write_particles(const std::string& path, const AbcResult& result, const Problem& problem) {
  check_particles_path(path);
  if (path.ends_with(".npz")) return write_particles_npz(path, result, problem);
  write_particles_text(path, result, problem, path.ends_with(".tsv") ? '\t' : ',');
}

}  // namespace occam
