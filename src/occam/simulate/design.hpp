// Design: what the experimenter set, drawn for every simulated data set before any model is asked. A
// simulator finds the design columns of its rows filled in and writes the observed ones.
//
//   [design]                                                    in a problem file
//   condition = { levels = [1, 2], shares = "any" }             levels, and how many rows each gets
//   dose = "uniform(0, 10)"                                     a value from a prior, anew in every row
//   age = { values = "uniform(20, 80)", constant = true }       the same in all rows of a data set
//
//   [design]                                                    or the user's own experiment
//   from = "trials.csv"
//   by = "subject"
//
// Shares: "equal" (as equal as n allows, the default), "random" (each row by chance, all levels alike),
// "any" (every data set has shares of its own, from balanced to nearly absent), or a list of numbers.
// factorial = true crosses all columns with levels, with each combination as often as any other.
// Immutable and safe to use from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/core/rng.hpp"
#include "occam/data/column.hpp"
#include "occam/simulate/disturbance.hpp"

namespace occam {

class Design {
 public:
  virtual ~Design() = default;

  // The size of a data set. `rng` is its design's own stream from its beginning, `drawn` what the problem's
  // distribution of n gave. Designs of real subjects know better.
  virtual std::int64_t size(Rng& rng, std::int64_t drawn) const;
  // Smallest and largest size, given those of the problem's distribution.
  virtual std::pair<std::int64_t, std::int64_t> sizes(std::int64_t low, std::int64_t high) const;
  // Whether the problem needs a distribution of n of its own.
  virtual bool needs_n() const { return true; }

  // Fills in the design columns of n rows (n, D), row-major. `rng` is the same stream, again from its
  // beginning; n need not be what size() said.
  virtual void fill(Rng& rng, std::int64_t n, std::span<float> rows) const = 0;

  // Takes away the values that the subject's csv lacks, in columns declared missing = "from". `rng` as above,
  // the size that of fill().
  virtual void take_away(Rng&, MutableData) const {}

  // Paths of the files that it was read from.
  virtual std::vector<std::string> files() const { return {}; }

  // As the table [design]; reads back as the same design, without any file.
  virtual nlohmann::json json() const = 0;
};

// Reads the table. `columns` are all of the problem's: each one with the role of design must be given, and
// none else. A csv is looked for in `folder`; `patterns` are observed columns whose missing values are to be
// taken from it as well. Error(bad_config) without a position, Error(no_input) for a csv
// that is not there; errors of the csv itself as CsvReader.
std::shared_ptr<const Design> make_design(const nlohmann::json& table, const std::vector<Column>& columns,
                                          const std::string& folder = "",
                                          const std::vector<std::string>& patterns = {});

}  // namespace occam
