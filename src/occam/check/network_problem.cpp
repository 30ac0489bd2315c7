#include "occam/check/network_problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem_file.hpp"

namespace occam {
namespace {

// The simulators that a problem names but does not hold, each once, for people.
std::vector<std::string> named_simulators(const Problem& problem) {
  std::vector<std::string> names;
  for (const Model& model : problem.models()) {
    const auto* named = dynamic_cast<const NamedFamily*>(&model.family());
    if (named == nullptr) continue;
    const std::string text = simulator_text(named->model().simulator);
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }
  return names;
}

bool close(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return std::abs(x - y) <= 1e-9; });
}

// What is simulated goes into the network's arrays, so the two have to agree.
Problem fitting(Problem problem, const NetworkFile& file, const std::string& where) {
  std::vector<std::string> columns;
  for (const Column& column : problem.columns()) columns.push_back(column.name);
  const char* differs = columns != file.columns                               ? "columns"
                        : places_of(problem.missing()) != file.config.missing ? "columns with missing values"
                        : problem.model_names() != file.model_names           ? "models"
                        : problem.ordered() != file.ordered                   ? "order of observations"
                        : !close(problem.model_prior(), file.model_prior)     ? "model prior"
                        : problem.parameter_names() != file.parameter_names   ? "parameters"
                                                                              : nullptr;
  if (differs == nullptr) return problem;
  throw Error(ErrorKind::bad_config,
              "{}: the problem and the network do not belong together: their {} differ", where, differs);
}

// A told problem may come from anyone. Data sets larger than any that the network was trained on are of no
// use to it, and could take all memory. (Of a table its own sizes are noted, whatever the problem says.)
void check_sizes(const Problem& problem, const NetworkFile& file) {
  if (file.record.value("source", "") == "table" || !problem.simulates()) return;
  const std::int64_t largest = problem.sizes().second;
  std::int64_t rows = 0;
  for (std::int64_t j = 0; j < problem.J(); ++j) rows = std::max(rows, problem.max_rows(j, largest));
  if (rows <= file.largest_n) return;
  throw Error(
      ErrorKind::bad_config,
      "{}: its problem tells of data sets of up to {} rows, but it was trained on {} at most; nothing "
      "is simulated",
      file.path, rows, file.largest_n);
}

Problem same_as_trained(Problem problem, const NetworkFile& file, const std::string& where) {
  if (problem.fingerprint() == file.fingerprint) return fitting(std::move(problem), file, where);
  throw Error(
      ErrorKind::bad_config,
      "{}: this is not what the network was trained with: the problem or a simulator has changed since "
      "(fingerprint {}, the network has {}); train again, or take the files of then",
      where, problem.fingerprint(), file.fingerprint);
}

}  // namespace

bool names_simulators(const Problem& problem) {
  return !named_simulators(problem).empty();
}

Problem told_problem(const NetworkFile& file) {
  return fitting(read_problem(file.problem, file.path + " (its problem)"), file, file.path);
}

Problem network_problem(const NetworkFile& file, const std::string& problem_path) {
  if (!problem_path.empty()) return same_as_trained(load_problem(problem_path), file, problem_path);
  Problem told = told_problem(file);
  const std::vector<std::string> simulators = named_simulators(told);
  if (simulators.empty()) {
    check_sizes(told, file);
    return told;
  }
  const auto in_python = [](const std::string& name) { return name.starts_with("python:"); };
  if (std::all_of(simulators.begin(), simulators.end(), in_python)) {
    throw Error(
        ErrorKind::no_input,
        "{}: the simulators of '{}' are needed, and they are functions of Python (`{}`), which this file "
        "only names: do it in Python, and hand the problem over by problem= (docs/python.md)",
        file.path, told.name(), fmt::join(simulators, "`, `"));
  }
  throw Error(ErrorKind::no_input,
              "{}: the simulators of '{}' are needed, and a network file may name programs but never starts "
              "them; it names `{}`: if you know and trust {}, name the problem file with --problem FILE.toml",
              file.path, told.name(), fmt::join(simulators, "`, `"), simulators.size() == 1 ? "it" : "them");
}

}  // namespace occam
