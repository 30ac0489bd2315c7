// TOML files through toml++, with errors as "file:line:column: what". This header only declares toml++'s
// types: a file that looks into a table includes toml_library.hpp itself, so the others do not pay for
// compiling it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace toml {
inline namespace v3 {
class node;
class table;
}  // namespace v3
}  // namespace toml

namespace occam {

// Parses `text`; `name` is what messages and toml_place call it. Throws Error(bad_config), also for keys of
// more than 100 parts (a.b.c has three).
toml::table parse_toml(std::string_view text, std::string_view name);

// Reads a file. Throws what read_file throws (missing: no_input), and Error(bad_config) where it is not TOML.
toml::table read_toml(const std::string& path);

// Where a node stood: "file:line:column". Nodes made by a program, not a parser, give "(no file)".
std::string toml_place(const toml::node& node);

// The same values as JSON; dates and times become their text. This is how a TOML value reaches Field::set.
nlohmann::json toml_to_json(const toml::node& node);

}  // namespace occam
