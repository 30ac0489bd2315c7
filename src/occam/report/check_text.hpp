// What a check found, as lines for a terminal: the table by size, what is not fine, the verdict.
#pragma once

#include <string>

#include "occam/check/check_network.hpp"

namespace occam {

std::string check_text(const CheckResult& result);

}  // namespace occam
