#include "occam/io/json_file.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/io/file.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

constexpr int kDeepestJson = 100;  // the library prints values recursively: depth costs stack

// nlohmann writes "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...; last
// read"; the place is said in our own way, so only what follows it is kept.
std::string json_reason(std::string_view what) {
  const auto column = what.find(", column ");
  const auto colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  if (column != std::string_view::npos && colon != std::string_view::npos)
    return shown(what.substr(colon + 2), 200);
  const auto bracket = what.find("] ");
  return shown(bracket == std::string_view::npos ? what : what.substr(bracket + 2), 200);
}

std::string json_place(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto line_start = before.rfind('\n');
  const auto column = before.size() - (line_start == std::string_view::npos ? 0 : line_start + 1) + 1;
  return fmt::format("{}:{}", line, column);
}

// Called by the parser at each value: refuses repeated keys (the parser would keep the last) and deep
// nesting.
class JsonGuard {
 public:
  JsonGuard(std::string_view name, ErrorKind kind) : name_(name), kind_(kind) {}

  bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kDeepestJson) throw Error(kind_, "{}: nested deeper than {} levels", name_, kDeepestJson);
      keys_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      keys_.pop_back();
    } else if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second)
        throw Error(kind_, "{}: the key '{}' is given twice", name_, shown(key));
    }
    return true;
  }

 private:
  std::string_view name_;
  ErrorKind kind_;
  std::vector<std::set<std::string>> keys_;  // of the objects that are open
};

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view name, ErrorKind kind) {
  if (text.size() > kLongestJson)
    throw Error(kind, "{}: JSON of {} bytes; at most {} are read", name, text.size(), kLongestJson);
  JsonGuard guard(name, kind);
  try {
    return nlohmann::json::parse(text.begin(), text.end(),
                                 [&guard](int depth, nlohmann::json::parse_event_t event,
                                          nlohmann::json& parsed) { return guard(depth, event, parsed); });
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(kind, "{}:{}: not JSON: {}", name, json_place(text, error.byte), json_reason(error.what()));
  } catch (const nlohmann::json::exception& error) {
    throw Error(kind, "{}: not JSON: {}", name, json_reason(error.what()));
  }
}

nlohmann::json read_json(const std::string& path, ErrorKind kind) {
  return parse_json(read_file(path), path, kind);
}

std::string json_text(const nlohmann::json& value, JsonStyle style) {
  constexpr auto replace = nlohmann::json::error_handler_t::replace;
  if (style == JsonStyle::compact) return value.dump(-1, ' ', false, replace);
  return value.dump(2, ' ', false, replace) + '\n';
}

void write_json(const std::string& path, const nlohmann::json& value, JsonStyle style) {
  write_file_atomic(path, json_text(value, style));
}

}  // namespace occam
