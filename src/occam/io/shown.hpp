// Untrusted text made fit for an error message: short, on one line, valid UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace occam {

// `text` with control characters and broken UTF-8 as '?', cut to `limit` bytes with "..." where it is longer.
std::string shown(std::string_view text, std::size_t limit = 60);

// Whether `text` is valid UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

}  // namespace occam
