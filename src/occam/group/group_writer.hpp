// Groups as csv, json and text for a terminal, under the names users rely on (docs/groups.md).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/group/groups.hpp"
#include "occam/io/file.hpp"

namespace occam {

// answers.csv -> answers.groups.csv; the ending stays .csv or .tsv.
std::string groups_path(const std::string& answers_path);

// One row per group and model. Numbers that do not exist are empty cells. What is said of a group as a whole
// is repeated in each of its rows, what is said of all groups in every row.
void write_groups_csv(const GroupComparison& comparison, ByteSink sink, char delimiter = ',');

// {"groups": [{"group", "n", "left_out": [{"dataset", "why"}], "models": [{"model", ...}], ...}],
//  "difference": {...} or null, "settings": {...}}; null for numbers that do not exist.
nlohmann::json groups_json(const GroupComparison& comparison);

// The most frequent models of every group, what was left out, whether groups differ, and how to read it.
std::string groups_text(const GroupComparison& comparison);

// When random effects are right, and when fixed effects.
std::string effects_sentence();
// Whether the groups differ, in a sentence; empty where there is but one.
std::string difference_sentence(const GroupComparison& comparison);
// "3 left out: s1, s2 (out-of-scope); s7 (outside-training)", or empty. At most `most` names.
std::string left_out_sentence(const GroupResult& group, std::size_t most = 10);

}  // namespace occam
