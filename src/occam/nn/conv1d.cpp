#include "occam/nn/conv1d.hpp"

#include <algorithm>

#include "occam/nn/tiles.hpp"

namespace occam {

template <class T>
Conv1d<T>::Conv1d(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
                  std::int64_t in_stride, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                  Activation activation)
    : in_(in),
      in_stride_(in_stride),
      out_(out),
      kernel_(kernel),
      stride_(stride),
      activation_(activation),
      weight_(layout.add(name + ".weight", {kernel, in, out}, Init::glorot)),
      bias_(layout.add(name + ".bias", {out}, Init::zeros)),
      spread_(packed.reserve(kernel * in_stride * out)),
      forward_panels_(packed.reserve(tile_elements<T>(kernel * in_stride, out))),
      backward_panels_(0),
      backward_size_(tile_elements<T>(out, in)),
      bias_row_(packed.reserve(out)) {
  backward_panels_ = packed.reserve(kernel * backward_size_);
}

template <class T>
void Conv1d<T>::pack(const T* weights, T* packed) const {
  const Kernels<T>& k = tile_kernels<T>();
  // Rows of zeros where the input is padded, so that a window is one contiguous row.
  T* spread = packed + spread_;
  std::fill_n(spread, kernel_ * in_stride_ * out_, T{0});
  for (std::int64_t j = 0; j < kernel_; ++j) {
    const T* tap = weights + weight_ + j * in_ * out_;
    std::copy_n(tap, in_ * out_, spread + j * in_stride_ * out_);
    k.pack(tap, 1, out_, out_, in_, packed + backward_panels_ + j * backward_size_);
  }
  k.pack(spread, out_, 1, kernel_ * in_stride_, out_, packed + forward_panels_);
  std::fill_n(packed + bias_row_, padded<T>(out_), T{0});
  std::copy_n(weights + bias_, out_, packed + bias_row_);
}

template <class T>
Ragged<T> Conv1d<T>::forward(const T* packed, Ragged<const T> x, Workspace& workspace) const {
  std::int64_t* offsets = workspace.take<std::int64_t>(x.sets + 1);
  offsets[0] = 0;
  for (std::int64_t set = 0; set < x.sets; ++set) offsets[set + 1] = offsets[set] + rows_out(x.size(set));
  const Ragged<T> y{workspace.matrix<T>(offsets[x.sets], out_), offsets, x.sets};
  for (std::int64_t set = 0; set < x.sets; ++set) {
    tile_kernels<T>().multiply({.a = x.x.row(x.offsets[set]),
                                .a_stride = stride_ * in_stride_,
                                .b = packed + forward_panels_,
                                .b_stride = 0,
                                .c = y.x.row(offsets[set]),
                                .c_stride = y.x.stride,
                                .rows = y.size(set),
                                .inner = kernel_ * in_stride_,
                                .columns = out_,
                                .bias = packed + bias_row_,
                                .activation = activation_});
  }
  return y;
}

template <class T>
void Conv1d<T>::backward(const T* packed, Ragged<const T> x, Ragged<const T> y, Matrix<T> dy, Matrix<T> d_x,
                         T* const* gradients) const {
  if (d_x.data != nullptr) std::fill_n(d_x.data, d_x.rows * d_x.stride, T{0});
  for (std::int64_t set = 0; set < x.sets; ++set) {
    T* gradient = gradients[set];
    const Matrix<T> d = dy.rows_from(y.offsets[set], y.size(set));
    tile_kernels<T>().activation_back(activation_, y.x.row(y.offsets[set]), y.x.stride, d.data, d.stride,
                                      d.rows, out_, gradient + bias_);
    for (std::int64_t j = 0; j < kernel_; ++j) {
      const std::int64_t row = x.offsets[set] + j;
      tile_kernels<T>().multiply_transposed({.a = x.x.row(row),
                                             .a_stride = stride_ * in_stride_,
                                             .b = d.data,
                                             .b_stride = d.stride,
                                             .c = gradient + weight_ + j * in_ * out_,
                                             .c_stride = out_,
                                             .rows = in_,
                                             .inner = d.rows,
                                             .columns = out_,
                                             .accumulate = true});
      if (d_x.data == nullptr) continue;
      tile_kernels<T>().multiply({.a = d.data,
                                  .a_stride = d.stride,
                                  .b = packed + backward_panels_ + j * backward_size_,
                                  .b_stride = 0,
                                  .c = d_x.row(row),
                                  .c_stride = stride_ * d_x.stride,
                                  .rows = d.rows,
                                  .inner = out_,
                                  .columns = in_,
                                  .accumulate = true});
    }
  }
}

template class Conv1d<float>;
template class Conv1d<double>;

}  // namespace occam
