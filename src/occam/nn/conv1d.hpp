// Convolution over time, valid (no padding), with stride: output row t is act(sum_j x[t stride + j] W[j] +
// b), W (kernel, in, out). A window of rows is contiguous in memory, so the product needs no copy of the
// input.
#pragma once

#include <cstdint>
#include <string>

#include "occam/nn/dense.hpp"

namespace occam {

template <class T>
class Conv1d {
 public:
  // in_stride: elements between rows of the input, fixed so that weights can be packed to match.
  Conv1d(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
         std::int64_t in_stride, std::int64_t out, std::int64_t kernel, std::int64_t stride,
         Activation activation);

  std::int64_t out() const { return out_; }
  std::int64_t kernel() const { return kernel_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t rows_out(std::int64_t rows_in) const { return (rows_in - kernel_) / stride_ + 1; }

  void pack(const T* weights, T* packed) const;

  // Output rows of all series behind each other, with offsets, in the workspace. Every series must hold at
  // least `kernel` rows.
  Ragged<T> forward(const T* packed, Ragged<const T> x, Workspace& workspace) const;
  // dy is overwritten; d_x (as x; data null: not wanted) is set. The weight gradients of each series are
  // added to its own of `gradients` (sets).
  void backward(const T* packed, Ragged<const T> x, Ragged<const T> y, Matrix<T> dy, Matrix<T> d_x,
                T* const* gradients) const;

 private:
  std::int64_t in_, in_stride_, out_, kernel_, stride_;
  Activation activation_;
  std::int64_t weight_, bias_;
  std::int64_t spread_, forward_panels_, backward_panels_, backward_size_, bias_row_;
};

}  // namespace occam
