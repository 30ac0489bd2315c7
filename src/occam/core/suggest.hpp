// "Did you mean": the known name nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occam {

// The nearest of `known` by edit distance (adjacent swaps count one), or "" when nothing is near enough.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);

// " (did you mean 'x'?)", or " (known: a, b, c)" when nothing is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace occam
