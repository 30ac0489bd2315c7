// Two rules keep names that users chose from becoming code in a page: text goes through escaped(), data
// through as_data().
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace occam {

// As html text or the value of an attribute in double quotes; broken UTF-8 becomes U+FFFD.
std::string escaped(const std::string& text);

// As json inside a script element, which only "<" could end; it occurs in strings alone.
std::string as_data(const nlohmann::json& value);

}  // namespace occam
