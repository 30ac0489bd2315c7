// occam models: the problems built in, their models and their data.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/io/json_file.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/own/helpers.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct ModelsOptions {
  bool json = false;
  std::string show;
  std::string helper;
};

Fields fields(ModelsOptions& options) {
  return {
      field("json", options.json, "write the list as JSON"),
      field("show", options.show, "write this problem as a problem file, to read or to edit"),
      field("helper", options.helper,
            "write the helper for simulators of your own in this language (simulators find it by themselves)")
          .one_of({"python", "r", "cpp"})};
}

// "flat, fair", or the ends of a list too long to read.
std::string names_text(const std::vector<std::string>& names) {
  if (names.size() <= 10) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {}, ..., {}", names[0], names[1], names.back());
}

std::string columns_text(const Problem& problem) {
  std::string text;
  for (const Column& column : problem.columns()) {
    text += fmt::format("    column {}: {}{}\n", column.name, column.description,
                        column.given() ? fmt::format(" ({})", word(column.role)) : "");
  }
  return text;
}

// "shift (0 to 5 s)", for the ways in which the data can be disturbed.
std::string disturbances_text(const Problem& problem) {
  std::string text;
  for (const Disturbance& one : disturbances(problem)) {
    text += fmt::format("{}{} ({} to {}{}{})", text.empty() ? "" : ", ", one.name, one.from, one.to,
                        one.unit.empty() ? "" : " ", one.unit);
  }
  return text;
}

std::string problem_text(const Problem& problem) {
  std::string text = fmt::format("{}\n", problem.name());
  if (!problem.description().empty()) text += fmt::format("    {}\n", problem.description());
  text += fmt::format("    {} models: {}\n", problem.J(), names_text(problem.model_names()));
  text += columns_text(problem);
  text += fmt::format("    N: {}, {}\n", problem.size().text(),
                      problem.ordered() ? "in order (a series)" : "in any order (exchangeable)");
  text += fmt::format("    exact posterior: {}\n", problem.has_exact_posterior() ? "known" : "not known");
  const std::string disturbed = disturbances_text(problem);
  if (!disturbed.empty()) text += fmt::format("    disturbances: {}\n", disturbed);
  return text;
}

nlohmann::json problem_json(const Problem& problem) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Column& column : problem.columns()) {
    columns.push_back(
        {{"name", column.name}, {"description", column.description}, {"role", word(column.role)}});
  }
  nlohmann::json disturbed = nlohmann::json::array();
  for (const Disturbance& one : disturbances(problem)) {
    disturbed.push_back({{"name", one.name},
                         {"description", one.description},
                         {"unit", one.unit},
                         {"from", one.from},
                         {"to", one.to}});
  }
  return {{"name", problem.name()},
          {"description", problem.description()},
          {"fingerprint", problem.fingerprint()},
          {"models", problem.model_names()},
          {"model_prior", problem.model_prior()},
          {"columns", columns},
          {"parameters", problem.parameter_names()},
          {"n", problem.size().text()},
          {"ordered", problem.ordered()},
          // A C++ file of the user's own may know it, but is not compiled to be shown.
          {"exact_posterior", simulator_files(problem).empty() && problem.has_exact_posterior()},
          {"disturbances", disturbed}};
}

// The ready-made network for a problem, or nothing.
const ReadyMade* network_for_problem(const std::vector<ReadyMade>& networks, const std::string& name) {
  const auto found = std::find_if(networks.begin(), networks.end(),
                                  [&](const ReadyMade& one) { return one.problem == name; });
  return found == networks.end() ? nullptr : &*found;
}

nlohmann::json with_network(nlohmann::json problem, const ReadyMade* network) {
  problem["ready_made"] = nullptr;
  if (network != nullptr) problem["ready_made"] = {{"path", network->path}, {"made", network->record}};
  return problem;
}

void list_problems(const ModelsOptions& options) {
  std::string text;
  nlohmann::json list = nlohmann::json::array();
  const std::vector<ReadyMade> networks = ReadyMadeNetworks::of_program().all();
  for (const std::string& name : catalogue().problem_names()) {
    const Problem problem = builtin_problem(name);
    const ReadyMade* const network = network_for_problem(networks, name);
    if (options.json) {
      list.push_back(with_network(problem_json(problem), network));
      continue;
    }
    if (!text.empty()) text += '\n';
    text += problem_text(problem);
    if (network != nullptr) text += fmt::format("    ready-made network: {}\n", made_text(network->record));
  }
  options.json ? Call::print_data(json_text(list)) : Call::print(text);
}

void models(const ModelsOptions& options) {
  for (const Helper& helper : helpers()) {
    if (helper.language == options.helper) return Call::print_data(helper.text);
  }
  if (options.show.empty()) return list_problems(options);
  const Problem problem = load_problem(options.show);
  Call::print_data(options.json ? json_text(problem_json(problem)) : problem_toml(problem));
}

}  // namespace

void register_models(Verbs& verbs) {
  auto o = std::make_shared<ModelsOptions>();
  verbs.add("models", "List the built-in problems and their models")
      .about(R"(
        Lists the problems that are built in: the models each compares, the columns of its data, the
        number N of observations in a data set, whether the exact posterior model probabilities are
        known, and whether a ready-made network is installed (`occam compare NAME DATA` asks it).
      )")
      .options(fields(*o))
      .example("occam models", "the list")
      .example("occam models --show beta-binomial > coins.toml", "a problem file to start your own from")
      .run([o](const Call&) { models(*o); });
}

}  // namespace occam
