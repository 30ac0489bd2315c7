// The problem a network was trained for. The network file tells it as text, and may come from anywhere: what
// the text names is never looked for, opened or run.
#pragma once

#include <string>

#include "occam/networks/network_file.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// As the network file tells it: enough to name things, to read tables and to know exact posteriors, and to
// simulate with built-in families; models with a simulator of the user's own refuse to simulate.
// Error(bad_config) where the text is broken or tells of other columns or models than the network has.
Problem told_problem(const NetworkFile& file);

// Whether it has models whose simulators are the user's own, which a told problem only names.
bool names_simulators(const Problem& problem);

// Ready to simulate. Simulators of the user's own are run only from `problem_path`, a problem file that the
// user names: without one, a network that needs them is Error(no_input), which shows what would be run.
// Error(bad_config) when the problem file is not what the network was trained with: another problem, or a
// simulator changed since.
Problem network_problem(const NetworkFile& file, const std::string& problem_path);

}  // namespace occam
