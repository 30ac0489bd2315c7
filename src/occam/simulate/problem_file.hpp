// Problem files (TOML). Priors are text (see prior.hpp), plain numbers are fixed values:
//
//   name = "coins"
//   n = "uniform(1, 100)"          # observations in a data set
//   [model.flat]                   # the order of these tables is the order of the models
//   family = "bernoulli"           # or once at the top, for all models
//   theta = "beta(1, 1)"
//
// A model may also have a simulator of the user's own (simulate/own/). docs/problem-files.md lists every key.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

// A built-in name, `name:variant`, or the path of a file that ends in .toml. Throws Error(usage) on an
// unknown name (the nearest is suggested), Error(no_input) on a missing file, Error(bad_config) as
// read_problem.
Problem load_problem(std::string_view name_or_path);

// Reads a problem from the text of a file; `path` is for messages. Every error is Error(bad_config) and opens
// with path:line:column. Safe for text from anywhere, such as that in a network file: simulators of the
// user's own are named but neither looked for nor run, and simulating such a model is an error.
Problem read_problem(std::string_view toml, const std::string& path);

// The same with simulators of the user's own, which lie in `folder` and will be run. Only for text from a
// file that the user named as a problem. Error(no_input) when one is missing.
Problem read_problem_to_run(std::string_view toml, const std::string& path, const std::string& folder);

// The same with simulators of the user's own that the caller makes, such as functions of an interpreter. Only
// for text that the user wrote.
using OwnFamilyMaker = std::function<std::shared_ptr<const OwnFamily>(OwnModel)>;
Problem read_problem_with(std::string_view toml, const std::string& path, const std::string& folder,
                          OwnFamilyMaker make);

// The folder of a file, from the root of the file system.
std::string folder_of(const std::string& path);

// Any problem as such a file, ready to edit. Reading it gives a problem with the same fingerprint.
std::string problem_toml(const Problem& problem);

}  // namespace occam
