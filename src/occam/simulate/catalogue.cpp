#include "occam/simulate/catalogue.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"

namespace occam {

void register_models(Catalogue& catalogue);  // generated from the list in models/CMakeLists.txt

std::vector<std::string> Catalogue::problem_names() const {
  std::vector<std::string> names;
  for (const std::string& problem : problems.names()) {
    for (const BuiltinProblem::Variant& variant : problems.at(problem).variants) {
      names.push_back(variant.name.empty() ? problem : problem + ":" + variant.name);
    }
  }
  return names;
}

const Catalogue& catalogue() {
  static const Catalogue all = [] {
    Catalogue made;
    register_models(made);
    return made;
  }();
  return all;
}

std::shared_ptr<const Family> make_family(std::string_view name) {
  return make_family(name, nlohmann::json::object(), name);
}

std::shared_ptr<const Family> make_family(std::string_view name, const nlohmann::json& settings,
                                          std::string_view where) {
  std::shared_ptr<Family> family = catalogue().families.at(name, ErrorKind::bad_config)();
  set_fields(family->settings(), settings, where);
  family->configure();
  return family;
}

Problem builtin_problem(std::string_view name) {
  const auto colon = name.find(':');
  const std::string_view base = name.substr(0, colon);
  const std::string_view wanted = colon == std::string_view::npos ? "" : name.substr(colon + 1);
  const BuiltinProblem* problem = catalogue().problems.find(base);
  if (problem != nullptr) {
    for (const BuiltinProblem::Variant& variant : problem->variants) {
      if (variant.name != wanted) continue;
      ProblemSpec spec = variant.make();
      spec.name = std::string(name);
      spec.description = variant.description;
      return Problem(std::move(spec));
    }
  }
  const std::vector<std::string> known = catalogue().problem_names();
  throw Error(ErrorKind::usage, "unknown problem '{}'{}; `occam models` lists them, files must end in .toml",
              name, did_you_mean(name, known));
}

}  // namespace occam
