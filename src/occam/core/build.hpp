// Where results come from: the program with its commit, and the machine. For records of what was measured,
// never for files that must have the same bytes everywhere.
#pragma once

#include <string>

namespace occam {

// "occam 0.1.0, commit 1a2b3c4" (and "with changes", or no commit where it was built without git).
std::string program_text();

// "2 cores, x86_64, Intel Xeon ..., Linux".
std::string machine_text();

}  // namespace occam
