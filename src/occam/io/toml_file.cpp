#include "occam/io/toml_file.hpp"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/shown.hpp"
#include "occam/io/toml_library.hpp"

namespace occam {
namespace {

std::string region_place(const toml::source_region& region) {
  const std::string file = region.path ? *region.path : "(no file)";
  if (!region.begin) return file;  // an implied table, such as `a` in [a.b]
  return fmt::format("{}:{}:{}", file, region.begin.line, region.begin.column);
}

// Keys may be dotted, a.b.c, and each dot is a level: the parser takes any number, and whoever walks through
// the tables after it, its own clean-up first, runs out of stack. (Nested arrays and inline tables it
// limits.)
constexpr int kDeepestKey = 100;

// Where the string that opens at `at` ends: behind its last quote, or at the end of the text.
std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool escapes = quote == '"';
  const bool long_form = text.substr(at, 3) == std::string(3, quote);
  at += long_form ? 3 : 1;
  for (; at < text.size(); ++at) {
    if (text[at] == '\\' && escapes) {
      ++at;
    } else if (!long_form && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    } else if (long_form && text.substr(at, 3) == std::string(3, quote)) {
      at += 3;
      for (int i = 0; i < 2 && at < text.size() && text[at] == quote; ++i) ++at;  // quotes that belong to it
      return at;
    }
  }
  return text.size();
}

// The line on which a key has more than kDeepestKey dots, or 0.
std::ptrdiff_t line_of_deep_key(std::string_view text) {
  int dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = string_end(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots > kDeepestKey) return 1 + std::count(text.begin(), text.begin() + at, '\n');
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
    ++at;
  }
  return 0;
}

// Dotted keys in inline tables in arrays: each is allowed so many levels, and together they make thousands.
constexpr int kDeepestNode = 200;

void require_shallow(const toml::node& node, std::string_view name, int levels = kDeepestNode) {
  if (levels == 0) throw Error(ErrorKind::bad_config, "{}: nested deeper than {} levels", name, kDeepestNode);
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : *table) require_shallow(value, name, levels - 1);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& value : *array) require_shallow(value, name, levels - 1);
  }
}

std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (; number > 1 && !text.empty(); --number)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find_first_of("\r\n"));
}

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// A value without quotes that can only be text, such as uniform(1, 100) behind `lambda =`; with what it
// calls.
std::string_view bare_text(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '"' || line[at] == '\'') {
      at = string_end(line, at);
      continue;
    }
    if (line[at] == '#') break;
    if (line[at++] != '=') continue;
    const std::size_t begin = std::min(line.find_first_not_of(" \t", at), line.size());
    std::size_t end = begin;
    while (end < line.size() && (is_word_letter(line[end]) || (line[end] >= '0' && line[end] <= '9'))) ++end;
    const std::string_view word = line.substr(begin, end - begin);
    if (word.empty() || !is_word_letter(word[0])) continue;
    if (word == "true" || word == "false" || word == "inf" || word == "nan") continue;
    if (end < line.size() && line[end] == '(') end = std::min(line.find(')', end), line.size() - 1) + 1;
    return line.substr(begin, end - begin);
  }
  return {};
}

std::string quotes_hint(std::string_view text, const toml::source_region& region) {
  if (!region.begin) return "";
  const std::string_view bare = bare_text(line_of(text, region.begin.line));
  if (bare.empty() || bare.find_first_of("\"'") != std::string_view::npos) return "";
  return fmt::format("; text needs quotes: \"{}\"", shown(bare, 100));
}

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view name) {
  if (const auto line = line_of_deep_key(text); line > 0)
    throw Error(ErrorKind::bad_config, "{}:{}: a key of more than {} parts", name, line, kDeepestKey);
  try {
    toml::table table = toml::parse(text, name);
    require_shallow(table, name);
    return table;
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::bad_config, "{}: {}{}", region_place(error.source()),
                shown(error.description(), 300), quotes_hint(text, error.source()));
  }
}

toml::table read_toml(const std::string& path) {
  return parse_toml(read_file(path), path);
}

std::string toml_place(const toml::node& node) {
  return region_place(node.source());
}

nlohmann::json toml_to_json(const toml::node& node) {
  nlohmann::json result;
  node.visit([&result](const auto& item) {
    using Item = std::decay_t<decltype(item)>;
    if constexpr (std::is_same_v<Item, toml::table>) {
      result = nlohmann::json::object();
      for (const auto& [key, value] : item) result[std::string(key.str())] = toml_to_json(value);
    } else if constexpr (std::is_same_v<Item, toml::array>) {
      result = nlohmann::json::array();
      for (const auto& value : item) result.push_back(toml_to_json(value));
    } else if constexpr (toml::is_date<Item> || toml::is_time<Item> || toml::is_date_time<Item>) {
      std::ostringstream text;
      text << item.get();
      result = text.str();
    } else {
      result = item.get();
    }
  });
  return result;
}

}  // namespace occam
