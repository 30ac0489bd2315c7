// Sketch: a data set of any size as a fixed list of plain statistics, each with a name a scientist can read
// ("median rt where condition = 1"). Beside what a network has learned to look at, it keeps what the network
// may have learned to ignore.
//   exchangeable: shares, quantiles and spread of every column, within groups made by the columns that take
//   few
//     values; correlations between columns; where rows are in order of time all the same, autocorrelations
//     and trend
//   ordered: quantiles of values and of steps, autocorrelations, trend, power in frequency bands, crossings
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/data/matrix.hpp"

namespace occam {

// A list of numbers that a float can hold. Throws nlohmann::json::exception or Error(bad_config).
std::vector<float> finite_floats(const nlohmann::json& json);

class Sketch {
 public:
  Sketch() = default;
  // Learns from simulated data which columns take few values, and the levels to count crossings of.
  // `time`: the rows of exchangeable data are in order of time, and that they should not depend on it is to
  // be looked at too.
  // Columns of the `design` (none if it is empty) are what statistics are taken of others by; what they hold
  // themselves says nothing about models.
  static Sketch learn(Ragged<const float> data, const std::vector<std::string>& columns, bool ordered,
                      bool time = false, std::vector<bool> design = {});

  std::int64_t size() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

  // Statistics of one data set, rows (n, D), n >= 1; out (size()). All finite for finite data. Missing values
  // (NaN) are left out; where a column has none left, what is typical stands in.
  void of(Matrix<const float> rows, std::span<float> out) const;

  nlohmann::json json() const;
  // For data with these columns, giving `size` statistics: what is read must agree, and nothing is planned
  // before that is certain. Throws nlohmann::json::exception or Error(bad_config).
  static Sketch from_json(const nlohmann::json& json, const std::vector<std::string>& columns, bool ordered,
                          std::vector<bool> design, std::size_t size);

 private:
  // Observations where the column `a` has its level `level_a` and the column `b` its level `level_b`; -1:
  // any.
  struct Group {
    std::int64_t a = -1, level_a = -1, b = -1, level_b = -1;
  };
  void plan();
  double planned_size() const;
  double pair_groups(bool of_design) const;
  bool has_share(const Group& group) const;
  double share(const Group& group, Matrix<const float> rows, std::int64_t members) const;
  void plan_exchangeable();
  void plan_ordered();
  void exchangeable(Matrix<const float> rows, std::span<float> out) const;
  void describe_values(std::int64_t column, std::vector<float>& values, const float* overall,
                       float*& out) const;
  void dependence(Matrix<const float> rows, float* out) const;
  void ordered(Matrix<const float> rows, std::span<float> out) const;
  bool in(const Group& group, const float* row) const;
  bool is_design(std::int64_t column) const { return design_[static_cast<std::size_t>(column)]; }
  std::string describe(const Group& group) const;

  std::vector<std::string> columns_;
  bool ordered_ = false;
  bool time_ = false;
  std::vector<bool> design_;                // (D)
  std::vector<std::vector<float>> levels_;  // (D) the values of a column that takes few; empty: many
  std::vector<std::vector<float>> cross_;   // (D, 3) levels of ordered columns

  // Follows from the above.
  std::vector<std::string> names_;
  std::vector<Group> groups_;
  std::vector<std::int64_t> continuous_;  // columns that take many values, but those of the design
  std::vector<std::pair<std::int64_t, std::int64_t>> correlated_;
};

}  // namespace occam
