#include "occam/data/structure.hpp"

#include <utility>

namespace occam {

bool Structure::none() const {
  return time.column < 0 && labels.columns.empty() && places.columns.empty() && relations.shaped.empty() &&
         relations.tabled.empty();
}

Structure find_structure(Ragged<const float> data, bool ordered, std::vector<std::int64_t> labels,
                         const LabelGroups& groups, const std::vector<std::int64_t>& design) {
  Structure found;
  if (ordered) {
    found.time = find_time(data);
  } else {
    found.places = find_places(data, design, labels);
    found.relations = {find_shaped(data, labels, design), find_tabled(data)};
  }
  found.labels = {labels, find_orders(data, labels, ordered, design), find_crossings(data, labels, groups)};
  return found;
}

}  // namespace occam
