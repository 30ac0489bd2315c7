// A column of the data, and what part it plays: `observed` values are what the models explain, `design` is
// what the experimenter set (a condition, a dose, the time of a measurement) and no model has to explain. A
// `label` is given, too, and says only which rows belong together (a person, a litter, a clinic): its numbers
// or names mean nothing beyond that. In the data the labels of each data set are 1, 2, 3, ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace occam {

enum class Role : std::uint8_t { observed, design, label };

inline const char* word(Role role) {
  return role == Role::observed ? "observed" : role == Role::design ? "design" : "label";
}

struct Column {
  std::string name;         // as in a csv header: "rt"
  std::string description;  // with its unit: "response time [s]"
  Role role = Role::observed;
  // Of a label: another column of labels, which names the same things (teams at home, and away).
  std::string same_as = {};

  bool given() const { return role != Role::observed; }  // no model has to explain it
  bool operator==(const Column&) const = default;
};

inline bool has_design(const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const Column& c) { return c.given(); });
}

// Where the columns of a role stand.
inline std::vector<std::int64_t> columns_of(const std::vector<Column>& columns, Role role) {
  std::vector<std::int64_t> places;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].role == role) places.push_back(static_cast<std::int64_t>(c));
  }
  return places;
}
inline std::vector<std::int64_t> labels_of(const std::vector<Column>& columns) {
  return columns_of(columns, Role::label);
}

// Columns of labels, those together that name the same things.
using LabelGroups = std::vector<std::vector<std::int64_t>>;

inline std::vector<std::int64_t> columns_in(const LabelGroups& groups) {
  std::vector<std::int64_t> columns;
  for (const auto& group : groups) columns.insert(columns.end(), group.begin(), group.end());
  return columns;
}

inline LabelGroups label_groups(const std::vector<Column>& columns) {
  LabelGroups groups;
  // What a column is said to be the same as is said of no other.
  const auto first_name = [&](std::int64_t c) {
    const Column& column = columns[static_cast<std::size_t>(c)];
    return column.same_as.empty() ? column.name : column.same_as;
  };
  for (const std::int64_t c : labels_of(columns)) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return first_name(group.front()) == first_name(c);
    });
    if (known == groups.end()) {
      groups.push_back({c});
    } else {
      known->push_back(c);
    }
  }
  return groups;
}

}  // namespace occam
