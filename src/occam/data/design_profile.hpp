// DesignProfile: which designs a network was trained on. It describes the design of a data set by a few
// numbers (the share of each level; mean and spread of a column that takes many values, of their logarithms
// where these span orders of magnitude), says in words where
// one lies outside, and gives the coordinates in which designs are near each other, so that a data set can be
// judged among simulated ones of the like design. The share of missing values (NaN) of an observed column is
// one of these numbers: no model explains it either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/data/matrix.hpp"

namespace occam {

class DesignProfile {
 public:
  // No design columns: nothing is ever foreign.
  DesignProfile() = default;
  // `columns` are the names of all columns of the data, `design` says which of them are set by the
  // experimenter, `missing` (places, ascending) in which observed ones values may be missing. Several parts,
  // as they come.
  static DesignProfile learn(const std::vector<Ragged<const float>>& data,
                             const std::vector<std::string>& columns, const std::vector<bool>& design,
                             const std::vector<std::int64_t>& missing = {});

  bool empty() const { return columns_.empty(); }
  // For each of D columns whether it is one of the design.
  std::vector<bool> is_design(std::int64_t D) const;

  // Places of the columns in which values may be missing, ascending.
  std::vector<std::int64_t> missing() const;

  // In what the design of these rows differs from all that were trained on, or an empty text. Of `labels`
  // (places of columns) the numbers are only those that labels were given: the text counts them.
  std::string foreign(Matrix<const float> rows, const std::vector<std::int64_t>& labels = {}) const;

  // What describes a design, column after column: the share of each level, or mean and standard deviation, or
  // the share of missing values.
  std::vector<double> statistics(Matrix<const float> rows) const;
  std::vector<std::string> statistic_names() const;

  // Coordinates of a design; near ones are alike.
  std::int64_t dimensions() const { return dimensions_; }
  std::vector<float> coordinates(Matrix<const float> rows) const;

  // What statistics of the data may depend on through the design alone: the size, and for each dimension the
  // share (mean, spread) and its count as a logarithm, and their squares.
  std::int64_t explanatory_size() const { return empty() ? 0 : 1 + 4 * dimensions_; }
  std::vector<float> explanatory(Matrix<const float> rows) const;

  nlohmann::json json() const;
  // Error(bad_config) or nlohmann::json::exception where it does not fit the columns.
  static DesignProfile from_json(const nlohmann::json& json, const std::vector<std::string>& columns);

 private:
  struct Column {
    std::string name;
    std::int64_t at = 0;        // its place in a row
    std::vector<float> levels;  // ascending; empty where it takes many values
    double smallest = 0, largest = 0;
    bool by_logarithm = false;  // where it is spread over orders of magnitude
    double scale = 1;           // standard deviation of its values, or of their logarithms
    bool observed = false;  // not of the design: what is described is the share of its missing values, alone

    // A value on the scale on which designs are alike.
    double scaled(double x) const;
    bool has_shares() const { return observed || !levels.empty(); }
    std::size_t statistics() const { return observed ? 1 : levels.empty() ? 2 : levels.size(); }
  };
  static Column describe(const std::string& name, std::int64_t at,
                         const std::vector<Ragged<const float>>& data);
  std::string statistic_name(std::size_t index) const;
  std::string foreign_value(Matrix<const float> rows, const std::vector<std::int64_t>& labels) const;
  std::string foreign_labels(const Column& column, double labels, std::size_t statistic, double seen,
                             std::size_t at) const;
  std::size_t band(std::int64_t rows) const;
  void count_dimensions();

  std::vector<Column> columns_;
  std::int64_t dimensions_ = 0;
  std::vector<std::int64_t> band_rows_;  // upper ends of bands of sizes
  std::vector<double> low_, high_;       // (bands, dimensions) of the statistics in data sets of such a size
};

}  // namespace occam
