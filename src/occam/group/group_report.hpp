// Groups as a finding of the report of `occam compare`: a table, a figure over it, judgements in words.
#pragma once

#include "occam/check/finding.hpp"
#include "occam/group/groups.hpp"

namespace occam {

// Tables `groups` (one row per group and model) and, where any were, `left_out`; the figure shows expected
// frequencies with their intervals, of each group's most frequent models.
Finding group_finding(const GroupComparison& comparison);

}  // namespace occam
