#include "occam/simulate/missing.hpp"

#include <algorithm>
#include <limits>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/simulate/family.hpp"

namespace occam {

void place_missing(std::vector<MissingColumn>& missing, const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  for (MissingColumn& one : missing) {
    const auto found = std::find(names.begin(), names.end(), one.name);
    if (found == names.end()) {
      throw Error(ErrorKind::bad_config, "missing: the data have no column '{}'{}", one.name,
                  did_you_mean(one.name, names));
    }
    one.at = found - names.begin();
    if (columns[static_cast<std::size_t>(one.at)].given()) {
      throw Error(ErrorKind::bad_config,
                  "missing: '{}' is a column of the design, which is always known; only observed values can "
                  "be missing",
                  one.name);
    }
    Parameter{"missing", "", 0.0, 1.0}.check(one.rate);
  }
  std::sort(missing.begin(), missing.end(),
            [](const MissingColumn& a, const MissingColumn& b) { return a.at < b.at; });
  const auto twice =
      std::adjacent_find(missing.begin(), missing.end(),
                         [](const MissingColumn& a, const MissingColumn& b) { return a.at == b.at; });
  if (twice != missing.end())
    throw Error(ErrorKind::bad_config, "missing: column '{}' is named twice", twice->name);
}

std::vector<std::int64_t> places_of(const std::vector<MissingColumn>& missing) {
  std::vector<std::int64_t> places;
  for (const MissingColumn& one : missing) places.push_back(one.at);
  return places;
}

void take_away(const std::vector<MissingColumn>& missing, Rng& rng, MutableData data) {
  for (const MissingColumn& one : missing) {
    if (one.patterns) continue;
    const double rate = one.rate.sample(rng);
    for (std::int64_t row = 0; row < data.n; ++row) {
      if (rng.uniform() < rate) data.at(row, one.at) = std::numeric_limits<float>::quiet_NaN();
    }
  }
}

}  // namespace occam
