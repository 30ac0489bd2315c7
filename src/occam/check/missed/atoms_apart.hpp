// Data with more columns, where values come again and again (data/atoms): the column without them, where they
// are missing, and an indicator for each. What is computed of columns is then computed of these, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

class AtomsApart {
 public:
  AtomsApart() = default;
  // `few`: a column of no more values than that has no atoms.
  AtomsApart(Ragged<const float> data, std::size_t few);

  // Columns of the data, then the others.
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
