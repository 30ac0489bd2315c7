// Requests to a family, and whether what it made is usable: the one rule for all who simulate.
#pragma once

#include <span>

#include "occam/data/column.hpp"
#include "occam/simulate/family.hpp"

namespace occam {

// Simulates all requests together, on the device if there is one and the family has code for it. Those that
// gave no usable data (no row, or a value that is not finite) have no rows afterwards. Error(internal) where
// the family wrote more rows than it promised. Columns that are labels become 1, 2, 3, ... in each data set.
void simulate_usable(const Family& family, std::int64_t columns, const LabelGroups& labels,
                     std::span<SimulationRequest> requests, LoopDevice* device = nullptr);

}  // namespace occam
