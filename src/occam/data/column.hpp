// A column of the data, and what part it plays: `observed` values are what the models explain, `design` is
// what the experimenter set (a condition, a dose, the time of a measurement) and no model has to explain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace occam {

enum class Role : std::uint8_t { observed, design };

struct Column {
  std::string name;         // as in a csv header: "rt"
  std::string description;  // with its unit: "response time [s]"
  Role role = Role::observed;

  bool operator==(const Column&) const = default;
};

inline bool has_design(const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.role == Role::design; });
}

}  // namespace occam
