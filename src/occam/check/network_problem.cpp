#include "occam/check/network_problem.hpp"

#include <algorithm>

#include "occam/core/error.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem_file.hpp"

namespace occam {
namespace {

bool has_own_simulator(const Problem& problem) {
  return std::any_of(problem.models().begin(), problem.models().end(), [](const Model& model) {
    return dynamic_cast<const OwnFamily*>(&model.family()) != nullptr && model.family().simulates();
  });
}

Problem same_as_trained(Problem problem, const NetworkFile& file, const std::string& where) {
  if (problem.fingerprint() == file.fingerprint) return problem;
  throw Error(
      ErrorKind::bad_config,
      "{}: this is not what the network was trained with: the problem or a simulator has changed since "
      "(fingerprint {}, the network has {}); train again, or take the files of then",
      where, problem.fingerprint(), file.fingerprint);
}

}  // namespace

Problem network_problem(const NetworkFile& file, const std::string& network_path,
                        const std::string& problem_path) {
  if (!problem_path.empty()) return same_as_trained(load_problem(problem_path), file, problem_path);
  Problem detached = read_problem(file.problem, file.problem_name);
  if (!has_own_simulator(detached)) return detached;
  std::string missing;
  for (const std::string& folder : {folder_of(network_path), folder_of("here")}) {
    try {
      return same_as_trained(read_problem(file.problem, file.problem_name, folder), file, folder);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_input) throw;
      missing = error.what();
    }
  }
  throw Error(
      ErrorKind::no_input,
      "the simulators of '{}' are needed, and are neither beside the network file nor here ({}); name the "
      "problem file with --problem FILE.toml",
      file.problem_name, missing);
}

}  // namespace occam
