// Turns a user's C++ file into a worker program (worker_main.cc), on first use, with the user's compiler, and
// keeps it by content.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace occam {

struct CompileRequest {
  std::string folder;                                      // of the problem file
  std::string source;                                      // in it
  std::vector<std::pair<std::string, std::string>> files;  // all that goes into it, with hashes of content
};

// The path of the program. Error(bad_config) with what the compiler said, that there is none, or that it
// needed longer than ten minutes ($OCCAM_COMPILER_TIMEOUT_S); Error(interrupted) when the user asks to stop.
std::string compiled_worker(const CompileRequest& request);

}  // namespace occam
