// Option fields. Each component takes one options struct whose defaults are written once, in the struct; one
// function `Fields fields(Options&)` beside it names every field. Command-line flags, TOML keys, help texts,
// the tables in the docs and the provenance record are all derived from that list.
//
//   struct TrainOptions { std::int64_t iterations = 5000; };
//   Fields fields(TrainOptions& o) {
//     return {field("iterations", o.iterations, "training steps").at_least(1)};
//   }
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace occam {

using FieldTarget = std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*,
                                 std::vector<double>*>;

struct Field {
  std::string name;    // snake_case; the flag is --with-dashes
  std::string help;    // one line, for a scientist
  FieldTarget target;  // points into the options struct the list was made from
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_open = false;             // min itself excluded
  std::vector<std::string> choices;  // of a string field
  std::string default_text;          // what leaving it out means, where the value itself does not say so

  Field&& at_least(double value) &&;
  Field&& above(double value) &&;
  Field&& at_most(double value) &&;
  Field&& one_of(std::vector<std::string> values) &&;
  Field&& by_default(std::string text) &&;  // "all cores"

  std::string flag() const;            // "--batch-size"
  std::string type() const;            // "integer", "number", "text", "true/false", "list of integers", ...
  std::string expected() const;        // "an integer, at least 1"
  std::string value() const;           // the present value as text, as TOML would write it
  std::string default_shown() const;   // default_text or value(); empty for an empty text
  std::string markdown_cells() const;  // "default | meaning", for a table in the docs
  nlohmann::json json() const;         // the present value
  void parse(std::string_view text);   // parse and check; throws Error(usage) that names the field
  void set(const nlohmann::json& v);   // the same from JSON (a TOML value arrives this way too)
  void check() const;                  // the present value against the limits
};

using Fields = std::vector<Field>;

template <class Value>
Field field(std::string name, Value& target, std::string help) {
  Field result;
  result.name = std::move(name);
  result.help = std::move(help);
  result.target = &target;
  return result;
}

// All values as one JSON object: the provenance record.
nlohmann::json fields_json(const Fields& fields);

// Sets fields from a JSON object; an unknown key is an Error(bad_config) that suggests the nearest one.
void set_fields(Fields fields, const nlohmann::json& object, std::string_view where);

// A Markdown table (key, default, meaning), for the docs.
std::string fields_markdown(const Fields& fields);

}  // namespace occam
