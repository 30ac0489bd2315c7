// Observations as a body reads them: standardised, masks of missing values, columns relative to their own
// data set, waves, indicators and how long values stay (inputs.hpp). Rows are made when they are asked for,
// so that a long data set is never there as a whole.
#pragma once

#include <cstdint>

#include "occam/data/matrix.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

struct NetworkConfig;

// Values further out than this many standard deviations count as so many.
inline constexpr double kFarthestInput = 10;
// The same of columns as they are. No training goes so far; sums of squares of more would be infinite in
// float, and answers not numbers.
inline constexpr double kLargestInput = 1e6;

// z (n, D): transformed and standardised; NaN where missing.
void standardise(const NetworkConfig& config, Matrix<const float> data, Matrix<double> z);

template <class T>
class InputRows {
 public:
  InputRows() = default;
  // Keeps both arguments by reference, and what it learns of each data set in the workspace.
  InputRows(const NetworkConfig& config, Ragged<const float> data, Workspace& workspace);

  static std::int64_t width(const NetworkConfig& config);  // columns of a row

  std::int64_t sets() const { return data_.sets; }
  const std::int64_t* offsets() const { return data_.offsets; }
  std::int64_t size(std::int64_t set) const { return data_.size(set); }
  std::int64_t longest() const;  // rows of the largest data set
  // A data set as it was given.
  Matrix<const float> raw(std::int64_t set) const {
    return data_.x.rows_from(data_.offsets[set], data_.size(set));
  }

  // Rows first .. first + count - 1, unpadded.
  Matrix<const T> rows(std::int64_t first, std::int64_t count, Workspace& workspace) const;
  Ragged<const T> all(Workspace& workspace) const {
    return {rows(0, data_.x.rows, workspace), data_.offsets, data_.sets};
  }

 private:
  // Mean and one over the spread of a column in its own data set, the least and the largest of its values,
  // and how many there are.
  struct OwnScale {
    double mean, factor, low, high, count;
  };
  OwnScale own_scale(std::int64_t set, std::int64_t column) const;
  void write_relative(std::int64_t column, std::int64_t first, std::int64_t count, T* out) const;
  void write_ends(std::int64_t column, std::int64_t first, std::int64_t count, T* out,
                  Workspace& workspace) const;
  void write_stays(std::int64_t column, std::int64_t first, std::int64_t count, T* out) const;

  const NetworkConfig* config_ = nullptr;
  Ragged<const float> data_;
  OwnScale* scales_ = nullptr;  // (sets, D), where there are such columns
};

}  // namespace occam
