// Completion of the command line in a shell, from what the verbs declare.
#pragma once

#include <string>

#include "verb.hpp"

namespace occam {

// A script each, for the shell to load. Verbs for developers are left out.
std::string bash_completion(const Verbs& verbs);
std::string zsh_completion(const Verbs& verbs);
std::string fish_completion(const Verbs& verbs);

}  // namespace occam
