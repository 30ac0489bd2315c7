// The range of each column in simulated data, kept in the network file, so that observed data in other units
// or codes can be told.
#pragma once

#include <vector>

#include "occam/data/batch.hpp"
#include "occam/networks/network_file.hpp"

namespace occam {

// Of all observations in these batches, which have the same columns.
std::vector<ColumnRange> column_ranges(const std::vector<const Batch*>& batches);
// Which columns hold whole numbers only, such as counts; none where there are no observations.
std::vector<std::int64_t> whole_columns(const std::vector<const Batch*>& batches);

}  // namespace occam
