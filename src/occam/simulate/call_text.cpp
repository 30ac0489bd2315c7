#include "occam/simulate/call_text.hpp"

#include <cctype>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/from_chars.hpp"

namespace occam {
namespace {

std::string_view without_spaces_around(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The whole of `part` as a number, or an error that shows the text it stands in.
double argument_number(std::string_view part, std::string_view text) {
  std::string_view digits = part = without_spaces_around(part);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double number = 0.0;
  const auto [end, status] = from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc{} || end != digits.data() + digits.size() || number != number) {
    throw Error(ErrorKind::bad_config, "'{}': '{}' is not a number", text, part);
  }
  return number;
}

}  // namespace

CallText parse_call(std::string_view text) {
  text = without_spaces_around(text);
  if (text.empty()) {
    throw Error(ErrorKind::bad_config,
                "'' is empty; expected a number or name(number, ...) such as uniform(0, 1)");
  }
  const auto open = text.find('(');
  if (open == std::string_view::npos) {
    const bool word =
        std::isalpha(static_cast<unsigned char>(text.front())) && text != "inf" && text != "nan";
    if (!word) return {"", {argument_number(text, text)}};
    return {std::string(text), {}};  // a bare name: the caller says which arguments it lacks
  }
  if (text.back() != ')' || text.find('(', open + 1) != std::string_view::npos) {
    throw Error(ErrorKind::bad_config, "'{}': expected name(number, ...), with one pair of parentheses",
                text);
  }
  CallText call{std::string(without_spaces_around(text.substr(0, open))), {}};
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  if (without_spaces_around(rest).empty()) return call;
  for (;;) {
    const auto comma = rest.find(',');
    call.arguments.push_back(argument_number(rest.substr(0, comma), text));
    if (comma == std::string_view::npos) return call;
    rest.remove_prefix(comma + 1);
  }
}

std::string number_text(double value) {
  return fmt::format("{}", value);
}

std::string call_text(std::string_view name, const std::vector<double>& arguments) {
  std::string text = fmt::format("{}(", name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += number_text(arguments[i]);
  }
  return text + ")";
}

}  // namespace occam
