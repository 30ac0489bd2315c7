// What occam ships for models of the user's own: helpers for Python and R and a C++ header, embedded in the
// program so that it needs no other file, and the folder where they and compiled simulators are kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occam {

struct Helper {
  std::string_view language;  // "python"
  std::string_view file;      // "occam_simulator.py"
  std::string_view text;
};

const std::vector<Helper>& helpers();

// The one that is compiled together with a user's C++ file.
inline constexpr std::string_view kWorkerSource = "occam/worker_main.cc";

// $XDG_CACHE_HOME/occam, or ~/.cache/occam; made if need be, for this user alone. Error(io) where that is not
// possible, or where it belongs to somebody else or others can write to it.
std::string cache_folder();

// A folder in it with all helpers, as this version of the program has them.
std::string helper_folder();

}  // namespace occam
