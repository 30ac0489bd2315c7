// The structure of columns as network files hold it, among what is known of their statistics.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "occam/data/structure.hpp"

namespace occam {

// Adds a key for whatever there is.
void structure_to_json(const Structure& structure, nlohmann::json& statistics);
// Throws nlohmann::json::exception, or Error, where a file is not as it should be.
Structure structure_from_json(const nlohmann::json& statistics);

// Throws Error unless its columns are among so many, and everything is as find_structure would have it.
void check_structure(const Structure& structure, std::int64_t columns);

// Columns of so many, each named once, in their order.
bool increasing_columns(const std::vector<std::int64_t>& columns, std::int64_t count);

}  // namespace occam
