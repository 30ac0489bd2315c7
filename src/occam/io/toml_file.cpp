#include "occam/io/toml_file.hpp"

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

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view name) {
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
