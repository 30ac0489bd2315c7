#include "occam/nn/dense.hpp"

#include <algorithm>

#include "occam/nn/tiles.hpp"

namespace occam {

template <class T>
Dense<T>::Dense(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
                std::int64_t out, Activation activation)
    // Braces: evaluated from left to right, so that the weight comes before the bias.
    : Dense{packed,
            layout.add(name + ".weight", {in, out}, Init::glorot),
            layout.add(name + ".bias", {out}, Init::zeros),
            in,
            out,
            activation} {}

template <class T>
Dense<T>::Dense(PackedLayout<T>& packed, std::int64_t weight, std::int64_t bias, std::int64_t in,
                std::int64_t out, Activation activation)
    : in_(in),
      out_(out),
      activation_(activation),
      weight_(weight),
      bias_(bias),
      forward_panels_(packed.reserve(tile_elements<T>(in, out))),
      backward_panels_(packed.reserve(tile_elements<T>(out, in))),
      bias_row_(packed.reserve(out)) {}

template <class T>
void Dense<T>::pack(const T* weights, T* packed) const {
  const Kernels<T>& k = tile_kernels<T>();
  k.pack(weights + weight_, out_, 1, in_, out_, packed + forward_panels_);
  k.pack(weights + weight_, 1, out_, out_, in_, packed + backward_panels_);
  T* row = packed + bias_row_;
  std::fill_n(row, padded<T>(out_), T{0});
  if (bias_ >= 0) std::copy_n(weights + bias_, out_, row);
}

template <class T>
void Dense<T>::product(const T* packed, Matrix<const T> x, Matrix<T> y, bool add) const {
  tile_kernels<T>().multiply({.a = x.data,
                              .a_stride = x.stride,
                              .b = packed + forward_panels_,
                              .b_stride = 0,
                              .c = y.data,
                              .c_stride = y.stride,
                              .rows = x.rows,
                              .inner = in_,
                              .columns = out_,
                              .bias = bias_ >= 0 ? packed + bias_row_ : nullptr,
                              .accumulate = add,
                              .activation = activation_});
}

template <class T>
void Dense<T>::backward(Matrix<const T> x, Matrix<const T> y, Matrix<T> dy, T* gradient) const {
  tile_kernels<T>().activation_back(activation_, y.data, y.stride, dy.data, dy.stride, dy.rows, out_,
                                    bias_ >= 0 && gradient != nullptr ? gradient + bias_ : nullptr);
  if (gradient == nullptr) return;
  tile_kernels<T>().multiply_transposed({.a = x.data,
                                         .a_stride = x.stride,
                                         .b = dy.data,
                                         .b_stride = dy.stride,
                                         .c = gradient + weight_,
                                         .c_stride = out_,
                                         .rows = in_,
                                         .inner = x.rows,
                                         .columns = out_,
                                         .accumulate = true});
}

template <class T>
void Dense<T>::backward_input(const T* packed, Matrix<const T> dy, Matrix<T> dx, bool add) const {
  tile_kernels<T>().multiply({.a = dy.data,
                              .a_stride = dy.stride,
                              .b = packed + backward_panels_,
                              .b_stride = 0,
                              .c = dx.data,
                              .c_stride = dx.stride,
                              .rows = dy.rows,
                              .inner = out_,
                              .columns = in_,
                              .accumulate = add});
}

template <class T>
Stack<T>::Stack(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
                std::int64_t width, std::int64_t count, Activation activation) {
  for (std::int64_t i = 0; i < count; ++i) {
    layers_.emplace_back(layout, packed, name + std::to_string(i), i == 0 ? in : width, width, activation);
  }
}

template <class T>
void Stack<T>::list(std::vector<const Dense<T>*>& all) const {
  for (const Dense<T>& layer : layers_) all.push_back(&layer);
}

template <class T>
Matrix<T>* Stack<T>::forward(const T* packed, Matrix<const T> x, Workspace& workspace) const {
  if (layers_.empty()) return nullptr;
  Matrix<T>* outputs = workspace.take<Matrix<T>>(size());
  for (std::int64_t i = 0; i < size(); ++i) {
    outputs[i] = workspace.matrix<T>(x.rows, layers_[i].out());
    layers_[i].forward(packed, x, outputs[i]);
    x = outputs[i];
  }
  return outputs;
}

template <class T>
void Stack<T>::backward(const T* packed, Matrix<const T> x, const Matrix<T>* outputs, Matrix<T> dy,
                        Matrix<T> dx, bool add, T* gradient, Workspace& workspace) const {
  const Workspace::Scope scope(workspace);
  for (std::int64_t i = size() - 1; i >= 0; --i) {
    const Matrix<const T> input = i == 0 ? x : Matrix<const T>(outputs[i - 1]);
    layers_[i].backward(input, outputs[i], dy, gradient);
    if (i == 0) {
      if (dx.data != nullptr) layers_[i].backward_input(packed, dy, dx, add);
      return;
    }
    const Matrix<T> below = workspace.matrix<T>(x.rows, layers_[i].in());
    layers_[i].backward_input(packed, dy, below, false);
    dy = below;
  }
}

template class Dense<float>;
template class Dense<double>;
template class Stack<float>;
template class Stack<double>;

}  // namespace occam
