// The man page occam(1), from what the verbs declare.
#pragma once

#include <string>

#include "verb.hpp"

namespace occam {

// In the man macros of roff. Verbs for developers are left out.
std::string manual(const Verbs& verbs);

}  // namespace occam
