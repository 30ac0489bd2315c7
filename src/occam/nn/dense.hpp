// Dense layers: y = act(x W + b), W (in, out). Weights are packed once per update for the products of the
// forward pass and, transposed, for those of the backward pass.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "occam/data/matrix.hpp"
#include "occam/nn/kernels.hpp"
#include "occam/nn/parameters.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

// Where packed weights go: a second flat vector, rewritten from the first before each pass.
template <class T>
class PackedLayout {
 public:
  std::int64_t reserve(std::int64_t count) {
    const std::int64_t offset = size_;
    size_ += padded<T>(count);
    return offset;
  }
  std::int64_t size() const { return size_; }

 private:
  std::int64_t size_ = 0;
};

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, std::size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};

// Packed weights begin with a cache line: a vector of a panel that lay in two of them would have to be read
// twice, and products would wait for it.
template <class T>
using PackedWeights = std::vector<T, LineAllocator<T>>;

template <class T>
class Dense {
 public:
  // Adds `name.weight` and `name.bias` to the layout.
  Dense(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
        std::int64_t out, Activation activation);
  // The weights already stand in the layout, at these offsets (bias -1: none): a part of a larger tensor.
  Dense(PackedLayout<T>& packed, std::int64_t weight, std::int64_t bias, std::int64_t in, std::int64_t out,
        Activation activation);

  std::int64_t in() const { return in_; }
  std::int64_t out() const { return out_; }

  void pack(const T* weights, T* packed) const;

  // y = act(x W + b).
  void forward(const T* packed, Matrix<const T> x, Matrix<T> y) const { product(packed, x, y, false); }
  // y = act(y + x W + b): what stands in y is added before the activation.
  void forward_added(const T* packed, Matrix<const T> x, Matrix<T> y) const { product(packed, x, y, true); }

  // dy, the gradient of y, becomes that of x W + b. Adds the weight gradients to `gradient`
  // (null: not wanted).
  void backward(Matrix<const T> x, Matrix<const T> y, Matrix<T> dy, T* gradient) const;
  // dx = dy W^T, or += with `add`; dy as backward() leaves it.
  void backward_input(const T* packed, Matrix<const T> dy, Matrix<T> dx, bool add) const;

 private:
  void product(const T* packed, Matrix<const T> x, Matrix<T> y, bool add) const;

  std::int64_t in_, out_;
  Activation activation_;
  std::int64_t weight_, bias_;                                // in the flat vectors
  std::int64_t forward_panels_, backward_panels_, bias_row_;  // in the packed vector
};

// Dense layers on top of each other, for all rows of a bundle.
template <class T>
class Stack {
 public:
  Stack() = default;
  // `count` layers named name0, name1, ... of `width` units.
  Stack(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
        std::int64_t width, std::int64_t count, Activation activation);

  void add(Dense<T> layer) { layers_.push_back(std::move(layer)); }
  bool empty() const { return layers_.empty(); }
  std::int64_t out() const { return layers_.back().out(); }
  std::int64_t size() const { return static_cast<std::int64_t>(layers_.size()); }
  const Dense<T>& layer(std::int64_t i) const { return layers_[static_cast<std::size_t>(i)]; }
  void list(std::vector<const Dense<T>*>& all) const;

  // The outputs of all layers, in the workspace: what backward needs. With no layers the result is null and
  // the output is x itself.
  Matrix<T>* forward(const T* packed, Matrix<const T> x, Workspace& workspace) const;
  // dy: gradient of the last output, overwritten. dx (data null: not wanted) is set, or added to.
  void backward(const T* packed, Matrix<const T> x, const Matrix<T>* outputs, Matrix<T> dy, Matrix<T> dx,
                bool add, T* gradient, Workspace& workspace) const;

 private:
  std::vector<Dense<T>> layers_;
};

}  // namespace occam
