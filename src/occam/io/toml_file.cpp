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

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view name) {
  if (const auto line = line_of_deep_key(text); line > 0)
    throw Error(ErrorKind::bad_config, "{}:{}: a key of more than {} parts", name, line, kDeepestKey);
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::bad_config, "{}: {}", region_place(error.source()),
                shown(error.description(), 300));
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
