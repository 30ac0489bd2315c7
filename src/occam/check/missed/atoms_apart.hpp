// Data in which values that come again and again (data/atoms) are missing where they were, and stand in
// columns of their own, as indicators: what is computed of a column is then computed of all its other values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

class AtomsApart {
 public:
  AtomsApart() = default;
  // A column of no more than `few` values has no atoms, nor has one that says when (`time`, -1: none does).
  AtomsApart(Ragged<const float> data, std::size_t few, std::int64_t time);

  // Columns of the data, then those of indicators.
  std::vector<std::string> names(std::vector<std::string> of_data) const;
  bool any() const { return !columns_.empty(); }
  // `room` keeps the result, where there are atoms.
  Matrix<const float> rows(Matrix<const float> of_data, std::vector<float>& room) const;

 private:
  struct Column {
    std::int64_t of;
    std::vector<float> atoms;
  };
  std::vector<Column> columns_;
};

}  // namespace occam
