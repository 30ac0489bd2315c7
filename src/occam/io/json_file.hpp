// JSON, with errors that point at the place: "file:line:column: what". Strict JSON: no comments, no trailing
// commas, no repeated keys, at most 100 levels deep and 64 MiB long. Whatever JSON this program reads goes
// through here, since it may come from anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "occam/core/error.hpp"

namespace occam {

inline constexpr std::size_t kLongestJson = std::size_t{64} << 20;

enum class JsonStyle { pretty, compact };

// Parses `text`; `name` is what messages call it. Throws Error(kind).
nlohmann::json parse_json(std::string_view text, std::string_view name, ErrorKind kind);

// Reads a file. Throws what read_file throws, and Error(kind) where the text is not JSON.
nlohmann::json read_json(const std::string& path, ErrorKind kind);

// As text: pretty (two spaces, final newline) or on one line. NaN and infinities become null, as JSON has no
// word for them; broken UTF-8 becomes U+FFFD.
std::string json_text(const nlohmann::json& value, JsonStyle style = JsonStyle::pretty);

// json_text into a file, atomically. Throws Error(io).
void write_json(const std::string& path, const nlohmann::json& value, JsonStyle style = JsonStyle::pretty);

}  // namespace occam
