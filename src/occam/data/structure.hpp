// What columns are to each other: which of them says when, who or where, and which are looked at together.
#pragma once

#include <cstdint>
#include <vector>

#include "occam/data/carry_over.hpp"
#include "occam/data/crossed_labels.hpp"
#include "occam/data/labels.hpp"
#include "occam/data/matrix.hpp"
#include "occam/data/places.hpp"
#include "occam/data/series.hpp"
#include "occam/data/shapes.hpp"
#include "occam/data/tables.hpp"

namespace occam {

// Columns that say which rows belong together.
struct LabelColumns {
  std::vector<std::int64_t> columns;
  std::vector<LabelOrder> orders;         // of those whose rows follow on each other
  std::vector<CrossedColumns> crossings;  // of those that are looked at beside each other
};

// What columns of exchangeable data are looked at beside each other.
struct Relations {
  std::vector<ShapedColumns> shaped;  // one over the other
  std::vector<std::int64_t> tabled;   // each with each
};

struct Structure {
  TimeColumn time;
  LabelColumns labels;
  PlaceColumns places;
  Relations relations;

  bool none() const;
};

// As simulated data sets show it. `labels` are those columns that are labels, found or declared; `groups`
// what was declared of them, `design` the columns that somebody set.
Structure find_structure(Ragged<const float> data, bool ordered, std::vector<std::int64_t> labels,
                         const LabelGroups& groups, const std::vector<std::int64_t>& design);

}  // namespace occam
