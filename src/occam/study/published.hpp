// Ours beside the published figures and the best possible ones.
#pragma once

#include <vector>

#include "occam/check/finding.hpp"
#include "occam/study/study.hpp"

namespace occam {

// A table with one row per figure of the study whose metric was measured, and a judgement for every aim.
// Figures whose network or experiment this scale leaves out are left out. Error(bad_config) for a metric that
// no finding has although its finding and its network are there: a slip in expected.json.
Finding published_figures(const Study& study, const std::vector<Finding>& findings);

}  // namespace occam
