#include "occam/report/escape.hpp"

#include "occam/core/error.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/shown.hpp"

namespace occam {

std::string escaped(const std::string& text) {
  if (!is_utf8(text))
    return escaped(
        parse_json(json_text(text, JsonStyle::compact), "text", ErrorKind::internal).get<std::string>());
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string as_data(const nlohmann::json& value) {
  std::string result;
  for (const char c : json_text(value, JsonStyle::compact)) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace occam
