// Text of unknown origin made fit to be shown or stored: control characters cannot steer a terminal, bytes
// that are not UTF-8 become some.
#pragma once

#include <string>
#include <string_view>

namespace occam {

// For a message: on one line, `text` with control characters and broken UTF-8 as \x1b, cut to about `limit`
// bytes with "..." where it is longer.
std::string shown(std::string_view text, std::size_t limit = 60);

// For a terminal: the same for a text of any length, in which line ends and tabs stay.
std::string shown_text(std::string_view text);

// Whether shown() would show `text` as it is, if it is long enough: fit for a name.
bool is_plain(std::string_view text);

// Whether `text` is valid UTF-8 (no overlong forms, no surrogates).
bool is_utf8(std::string_view text);

// `text` if it is UTF-8; otherwise its bytes as characters of Windows-1252, of which Latin-1 is a part.
std::string as_utf8(std::string_view text);

}  // namespace occam
