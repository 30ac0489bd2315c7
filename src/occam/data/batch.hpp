// Batch: simulated data sets with their model indices and parameters. Ragged: data set b has rows
// offsets[b]..offsets[b+1]-1 of one row-major float array (rows, D), so a network reads it without copying.
// Memory is kept between uses: filling a batch again does not allocate unless it is larger than ever before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "occam/data/matrix.hpp"

namespace occam {

// One data set: n observations of D columns, row-major. Does not own them.
struct DataView {
  const float* data = nullptr;
  std::int64_t n = 0;
  std::int64_t D = 0;

  float at(std::int64_t row, std::int64_t column) const { return data[row * D + column]; }
  std::span<const float> values() const { return {data, static_cast<std::size_t>(n * D)}; }
};

class Batch {
 public:
  std::int64_t size() const { return static_cast<std::int64_t>(models_.size()); }  // B
  std::int64_t columns() const { return D_; }                                      // D
  std::int64_t parameters_per_data_set() const { return P_; }                      // P
  std::int64_t rows() const { return offsets_.back(); }  // of all data sets together

  std::span<const float> data() const { return {data_.data(), static_cast<std::size_t>(rows() * D_)}; }
  std::span<const std::int64_t> offsets() const { return offsets_; }  // (B + 1)
  std::span<const std::int32_t> models() const { return models_; }    // (B) index of the true model
  std::span<const std::int64_t> sizes() const { return sizes_; }      // (B) the N asked for
  std::span<const double> parameters() const { return parameters_; }  // (B, P), NaN where a model has none
  std::span<const double> parameters(std::int64_t b) const;           // (P)
  std::span<const std::int64_t> failed_draws() const { return failed_; }  // (J) draws without usable data
  // All data sets as a network takes them; valid until the batch is filled again.
  Ragged<const float> view() const { return {{data_.data(), rows(), D_, D_}, offsets_.data(), size()}; }
  DataView operator[](std::int64_t b) const {
    return {data_.data() + offsets_[b] * D_, offsets_[b + 1] - offsets_[b], D_};
  }

  // Filling. reset() empties the batch; append() adds a data set of `rows` rows with unset data and NaN
  // parameters and returns its index; the mutable views write into it. Spans stay valid until the next
  // append.
  void reset(std::int64_t columns, std::int64_t parameters, std::int64_t models);
  std::int64_t append(std::int32_t model, std::int64_t size, std::int64_t rows);
  std::span<float> mutable_data(std::int64_t b);
  std::span<double> mutable_parameters(std::int64_t b);
  std::span<std::int64_t> mutable_failed_draws() { return failed_; }
  // Keeps the first rows[b] rows of every data set and closes the gaps. rows[b] <= the rows it has.
  void shrink(std::span<const std::int64_t> rows);

 private:
  std::int64_t D_ = 0;
  std::int64_t P_ = 0;
  std::vector<float> data_;  // at least rows() * D; only ever grows, so that no reuse writes zeros first
  std::vector<std::int64_t> offsets_ = {0};
  std::vector<std::int32_t> models_;
  std::vector<std::int64_t> sizes_;
  std::vector<double> parameters_;
  std::vector<std::int64_t> failed_;
};

// Copies data sets `rows` of a batch into another.
void gather(const Batch& from, std::span<const std::int64_t> rows, std::int64_t models, Batch& to);

}  // namespace occam
