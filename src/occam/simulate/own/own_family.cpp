#include "occam/simulate/own/own_family.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/io/file.hpp"
#include "occam/io/shown.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/simulate/own/compiled_family.hpp"
#include "occam/simulate/own/program_family.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {
namespace {

std::string parameters_text(const std::vector<Parameter>& parameters, std::span<const double> theta) {
  std::vector<std::string> texts;
  for (std::size_t p = 0; p < theta.size(); ++p) {
    texts.push_back(fmt::format("{} = {}", parameters[p].name, number_text(theta[p])));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// The words of a command; text is cut at spaces.
std::vector<std::string> words_of(const nlohmann::json& simulator) {
  const auto refuse = [] {
    throw Error(
        ErrorKind::bad_config,
        "simulator: expected a C++ file (\"model.cpp\"), a command (\"python3 model.py\") or a list of its "
        "words ([\"python3\", \"model.py\"])");
  };
  std::vector<std::string> words;
  if (simulator.is_string()) {
    const std::string text = simulator.get<std::string>();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t space = std::min(text.find_first_of(" \t", at), text.size());
      if (space > at) words.push_back(text.substr(at, space - at));
      at = space + 1;
    }
  } else if (simulator.is_array()) {
    for (const nlohmann::json& word : simulator) {
      if (!word.is_string()) refuse();
      words.push_back(word.get<std::string>());
    }
  } else {
    refuse();
  }
  if (words.empty() || words[0].empty()) refuse();
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) refuse();
  }
  return words;
}

bool ends_with_any(const std::string& text, std::initializer_list<const char*> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return text.ends_with(ending); });
}

}  // namespace

OwnFamily::OwnFamily(OwnModel model) : model_(std::move(model)) {}

nlohmann::json OwnFamily::identity() const {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& column : model_.columns) columns.push_back(column.name);
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [file, hash] : files_) files[file] = hash;
  nlohmann::json identity = {
      {"columns", columns}, {"ordered", model_.ordered}, {"simulator", model_.simulator}, {"files", files}};
  for (const Column& column : model_.columns) {
    if (column.given()) identity[word(column.role)].push_back(column.name);
    if (!column.same_as.empty()) identity["same_as"][column.name] = column.same_as;
  }
  // What is simulated together may share random numbers.
  if (model_.sets != OwnModel().sets) identity["sets"] = model_.sets;
  return identity;
}

std::int64_t OwnFamily::simulate(std::span<const double>, std::int64_t, Rng&, std::span<float>) const {
  throw Error(ErrorKind::usage,
              "model '{}' has no simulator: its data come from a table (occam train --table FILE, occam "
              "check --table "
              "FILE)",
              model_.name);
}

std::string OwnFamily::path_of(const std::string& file) const {
  return (std::filesystem::path(model_.folder) / file).string();
}

void OwnFamily::depends_on(const std::string& file) {
  for (const auto& [known, hash] : files_) {
    if (known == file) return;
  }
  files_.emplace_back(file, hexadecimal_hash(read_file(path_of(file))));
}

std::string OwnFamily::label() const {
  return fmt::format("model '{}' (simulator `{}`)", shown(model_.name), simulator_text(model_.simulator));
}

std::string OwnFamily::request_text(const SimulationRequest& request) const {
  const std::string parameters = parameters_text(model_.parameters, request.theta);
  return fmt::format("n = {}{}{}", request.n, parameters.empty() ? "" : ", ", parameters);
}

std::int64_t OwnFamily::checked(const SimulationRequest& request, std::span<const float> values) const {
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad == values.end()) return request.n;
  const std::size_t D = model_.columns.size();
  bool nothing = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool given = request.designed && model_.columns[i % D].given();
    nothing = nothing && (given || std::isnan(values[i]));
  }
  if (nothing) return 0;
  const auto at = static_cast<std::size_t>(bad - values.begin());
  throw Error(
      ErrorKind::bad_data,
      "{}: column '{}' is {} in row {} of {} ({}); data must be finite numbers, or all NaN for a draw that "
      "gives no usable data and is to be drawn again",
      label(), model_.columns[at % D].name, *bad, at / D + 1, request.n,
      parameters_text(model_.parameters, request.theta));
}

std::int64_t NamedFamily::simulate(std::span<const double>, std::int64_t, Rng&, std::span<float>) const {
  throw Error(
      ErrorKind::no_input,
      "{}: new data sets are needed, and a simulator of your own is run only from a problem file that "
      "you name; look at what it does, then give --problem FILE.toml",
      label());
}

std::shared_ptr<const OwnFamily> make_own_family(OwnModel model, WorkerPools& pools) {
  if (model.simulator.is_null()) return std::make_shared<OwnFamily>(std::move(model));
  std::vector<std::string> words = words_of(model.simulator);
  if (model.folder.empty()) return std::make_shared<NamedFamily>(std::move(model));
  if (words.size() == 1) {
    if (ends_with_any(words[0], {".cpp", ".cc", ".cxx"})) {
      return std::make_shared<CompiledFamily>(std::move(model), words[0], pools);
    }
    // A script alone is run by the usual program for it.
    if (words[0].ends_with(".py")) words.insert(words.begin(), "python3");
    if (ends_with_any(words[0], {".R", ".r"})) words.insert(words.begin(), "Rscript");
    if (words[0].ends_with(".jl")) words.insert(words.begin(), "julia");
  }
  return std::make_shared<ProgramFamily>(std::move(model), std::move(words), pools);
}

std::vector<std::string> simulator_files(const Problem& problem) {
  std::vector<std::string> paths;
  for (const Model& model : problem.models()) {
    const auto* own = dynamic_cast<const OwnFamily*>(&model.family());
    if (own == nullptr) continue;
    for (const auto& [file, hash] : own->files())
      paths.push_back((std::filesystem::path(own->model().folder) / file).string());
  }
  return paths;
}

std::vector<NamedPath> problem_inputs(const Problem& problem) {
  std::vector<NamedPath> inputs;
  if (problem.design() != nullptr) {
    for (const std::string& path : problem.design()->files()) inputs.push_back({"design", path});
  }
  for (const std::string& path : simulator_files(problem)) inputs.push_back({"simulator", path});
  return inputs;
}

std::string simulator_text(const nlohmann::json& simulator) {
  constexpr std::size_t kLongest = 500;
  if (simulator.is_string()) return shown(simulator.get<std::string>(), kLongest);
  if (!simulator.is_array()) return "none";
  return shown(fmt::format("{}", fmt::join(simulator.get<std::vector<std::string>>(), " ")), kLongest);
}

}  // namespace occam
