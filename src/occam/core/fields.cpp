#include "occam/core/fields.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/core/from_chars.hpp"
#include "occam/core/suggest.hpp"

namespace occam {
namespace {

using nlohmann::json;

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

[[noreturn]] void refuse(const Field& field, std::string_view got) {
  throw Error(ErrorKind::usage, "{}: '{}' is not {}", field.name, got, field.expected());
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Number>
Number parse_number(const Field& field, std::string_view text) {
  text = trimmed(text);
  Number number{};
  const auto [end, status] = from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || end != text.data() + text.size()) refuse(field, text);
  return number;
}

template <class Number>
std::vector<Number> parse_list(const Field& field, std::string_view text) {
  std::vector<Number> numbers;
  while (!trimmed(text).empty()) {
    const auto comma = text.find(',');
    numbers.push_back(parse_number<Number>(field, text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return numbers;
}

void check_number(const Field& field, double number) {
  const bool low = field.min_open ? !(number > field.min) : !(number >= field.min);
  if (low || !(number <= field.max) || !std::isfinite(number)) refuse(field, fmt::format("{}", number));
}

}  // namespace

Field&& Field::at_least(double value) && {
  min = value;
  return std::move(*this);
}
Field&& Field::above(double value) && {
  min = value;
  min_open = true;
  return std::move(*this);
}
Field&& Field::at_most(double value) && {
  max = value;
  return std::move(*this);
}
Field&& Field::one_of(std::vector<std::string> values) && {
  choices = std::move(values);
  return std::move(*this);
}

Field&& Field::by_default(std::string text) && {
  default_text = std::move(text);
  return std::move(*this);
}

std::string Field::flag() const {
  std::string text = "--" + name;
  for (char& c : text) {
    if (c == '_') c = '-';
  }
  return text;
}

std::string Field::type() const {
  return std::visit(Overload{[](bool*) { return "true/false"; }, [](std::int64_t*) { return "integer"; },
                             [](double*) { return "number"; }, [](std::string*) { return "text"; },
                             [](std::vector<std::int64_t>*) { return "list of integers"; },
                             [](std::vector<double>*) { return "list of numbers"; }},
                    target);
}

std::string Field::expected() const {
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(choices, ", "));
  std::string text = type();
  text = (text == "integer" ? "an " : "a ") + text;
  if (std::holds_alternative<bool*>(target)) text = "true or false";
  if (std::isfinite(min)) text += fmt::format("{} {}", min_open ? ", above" : ", at least", min);
  if (std::isfinite(max)) text += fmt::format("{} at most {}", std::isfinite(min) ? " and" : ",", max);
  return text;
}

json Field::json() const {
  return std::visit([](auto* value) { return nlohmann::json(*value); }, target);
}

std::string Field::value() const {
  return json().dump();
}

std::string Field::default_shown() const {
  if (!default_text.empty()) return default_text;
  if (const auto* text = std::get_if<std::string*>(&target)) return **text;
  return value();
}

void Field::parse(std::string_view text) {
  std::visit(
      Overload{[&](bool* value) {
                 if (text != "true" && text != "false") refuse(*this, text);
                 *value = text == "true";
               },
               [&](std::int64_t* value) { *value = parse_number<std::int64_t>(*this, text); },
               [&](double* value) { *value = parse_number<double>(*this, text); },
               [&](std::string* value) { *value = text; },
               [&](std::vector<std::int64_t>* value) { *value = parse_list<std::int64_t>(*this, text); },
               [&](std::vector<double>* value) { *value = parse_list<double>(*this, text); }},
      target);
  check();
}

void Field::set(const nlohmann::json& v) {
  const auto must = [&](bool ok) {
    if (!ok) refuse(*this, v.is_string() ? v.get<std::string>() : v.dump());
  };
  const auto all = [&](auto test) {
    must(v.is_array());
    for (const auto& item : v) must(test(item));
  };
  std::visit(
      Overload{[&](bool* value) { must(v.is_boolean()), *value = v.get<bool>(); },
               [&](std::int64_t* value) { must(v.is_number_integer()), *value = v.get<std::int64_t>(); },
               [&](double* value) { must(v.is_number()), *value = v.get<double>(); },
               [&](std::string* value) { must(v.is_string()), *value = v.get<std::string>(); },
               [&](std::vector<std::int64_t>* value) {
                 all([](const auto& item) { return item.is_number_integer(); });
                 *value = v.get<std::vector<std::int64_t>>();
               },
               [&](std::vector<double>* value) {
                 all([](const auto& item) { return item.is_number(); });
                 *value = v.get<std::vector<double>>();
               }},
      target);
  check();
}

void Field::check() const {
  std::visit(
      Overload{[](bool*) {}, [&](std::int64_t* value) { check_number(*this, static_cast<double>(*value)); },
               [&](double* value) { check_number(*this, *value); },
               [&](std::string* value) {
                 if (choices.empty()) return;
                 for (const std::string& choice : choices) {
                   if (choice == *value) return;
                 }
                 refuse(*this, *value);
               },
               [&](auto* values) {
                 for (const auto value : *values) check_number(*this, static_cast<double>(value));
               }},
      target);
}

json fields_json(const Fields& fields) {
  auto object = json::object();
  for (const Field& field : fields) object[field.name] = field.json();
  return object;
}

void set_fields(Fields fields, const json& object, std::string_view where) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  for (const auto& [key, value] : object.items()) {
    Field* match = nullptr;
    for (Field& field : fields) {
      if (field.name == key) match = &field;
    }
    if (match == nullptr) {
      throw Error(ErrorKind::bad_config, "{}: unknown key '{}'{}", where, key, did_you_mean(key, names));
    }
    try {
      match->set(value);
    } catch (const Error& error) {
      throw Error(ErrorKind::bad_config, "{}: {}", where, error.what());
    }
  }
}

std::string Field::markdown_cells() const {
  std::string shown = default_shown();
  if (default_text.empty() && !shown.empty()) shown = "`" + shown + "`";
  const bool limited = !choices.empty() || std::isfinite(min) || std::isfinite(max);
  return fmt::format("{} | {}{}", shown, help, limited ? fmt::format(" ({})", expected()) : "");
}

std::string fields_markdown(const Fields& fields) {
  std::string text = "| option | default | meaning |\n|---|---|---|\n";
  for (const Field& field : fields)
    text += fmt::format("| `{}` | {} |\n", field.name, field.markdown_cells());
  return text;
}

}  // namespace occam
