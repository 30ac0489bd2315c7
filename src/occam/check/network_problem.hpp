// The problem a network was trained for, ready to simulate: the network file holds it as text, but not the
// simulators of the user's own that it may name.
#pragma once

#include <string>

#include "occam/networks/network_file.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// Simulators of the user's own are looked for beside `problem_path` if it is given, otherwise beside the
// network file and in the present folder. Error(no_input) when they are in none of these; Error(bad_config)
// when what is found is not what the network was trained with: another problem, or a simulator changed since.
Problem network_problem(const NetworkFile& file, const std::string& network_path,
                        const std::string& problem_path);

}  // namespace occam
