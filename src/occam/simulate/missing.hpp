// Values that go missing after simulation: which columns lose some, and how many. No model explains it and no
// simulator sees it; a missing value is NaN in a batch.
//
//   [columns]                                          in a problem file
//   y = { missing = 0.1 }                              each value with this probability
//   y = { missing = "uniform(0, 0.3)" }                the same, with a rate drawn anew for each data set
//   y = { missing = true }                             "uniform(0, 0.5)"
//   y = { missing = "from" }                           where the user's csv has none ([design] from = ...)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/core/rng.hpp"
#include "occam/data/column.hpp"
#include "occam/simulate/disturbance.hpp"
#include "occam/simulate/prior.hpp"

namespace occam {

struct MissingColumn {
  std::string name;
  Prior rate;             // within 0 to 1
  bool patterns = false;  // as in the csv of the design, whatever the rate
  std::int64_t at = 0;    // its place among the columns; the problem finds it

  // As in a problem file: a rate, a prior, or "from".
  std::string text() const { return patterns ? "from" : rate.text(); }
};

// Finds the columns by their names and puts them in order. Error(bad_config) where one is unknown, named
// twice, part of the design, or has a rate that is no probability.
void place_missing(std::vector<MissingColumn>& missing, const std::vector<Column>& columns);

// Their places, ascending.
std::vector<std::int64_t> places_of(const std::vector<MissingColumn>& missing);

// Takes values away at random, for all columns but those with patterns.
void take_away(const std::vector<MissingColumn>& missing, Rng& rng, MutableData data);

}  // namespace occam
