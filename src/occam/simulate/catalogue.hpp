// The catalogue: simulation families by name and the problems built from them. Filled from the list in
// models/CMakeLists.txt; a file models/x.cpp in that list defines register_x(Catalogue&).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/core/registry.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// Makes a family with default settings, not yet configured.
using FamilyFactory = std::function<std::unique_ptr<Family>()>;

// A built-in problem: what the published study describes, and variants such as `as_run`, named
// problem:variant. The maker leaves the name and the description to the catalogue.
struct BuiltinProblem {
  struct Variant {
    std::string name;         // "" for the problem itself
    std::string description;  // one or two sentences
    std::function<ProblemSpec()> make;
  };
  std::vector<Variant> variants;  // the plain one first
};

struct Catalogue {
  Registry<FamilyFactory> families{"family"};
  Registry<BuiltinProblem> problems{"problem"};

  // Names of all problems, variants included: "gaussian-mixtures", "gaussian-mixtures:as_run", ...
  std::vector<std::string> problem_names() const;
};

// All that is built in. Made at the first call.
const Catalogue& catalogue();

// A configured family. Throws Error(bad_config) on an unknown name or setting; `where` opens the message.
std::shared_ptr<const Family> make_family(std::string_view name);
std::shared_ptr<const Family> make_family(std::string_view name, const nlohmann::json& settings,
                                          std::string_view where);

// A built-in problem, `name` or `name:variant`. Throws Error(usage) that suggests the nearest name.
Problem builtin_problem(std::string_view name);

}  // namespace occam
