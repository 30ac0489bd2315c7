// The few loops in which nearly all time is spent, compiled once per instruction set with Highway and chosen
// at run time. Everything above this table is plain C++. T is float, or double for tests of the gradients.
#pragma once

#include <cstdint>
#include <string>

#include "occam/nn/activation.hpp"

namespace occam {

// c (rows, columns) = act( a b + bias ) or, with accumulate, act( c + a b + bias ).
template <class T>
struct Product {
  const T* a;  // element (r, k) at a[r * a_stride + k]; multiply_transposed: at a[k * a_stride + r]
  std::int64_t a_stride;
  const T* b;  // panels written by `pack`; multiply_transposed: element (k, c) at b[k * b_stride + c]
  std::int64_t b_stride;
  T* c;
  std::int64_t c_stride;
  std::int64_t rows, inner, columns;
  const T* bias = nullptr;  // (columns, padded), or none
  bool accumulate = false;
  Activation activation = Activation::identity;
};

// One time step of a long short-term memory for `rows` series, H units. What training keeps of a step and a
// series is one record: h before, c before and the gates i, f, g, o, side by side; the next step's lies
// `record` elements further on.
template <class T>
struct LstmRecords {
  T* const* at = nullptr;  // (rows) the record of this step, whose h comes first; null: nothing is kept
  std::int64_t record = 0, c = 0,
               gates = 0;  // elements to the next record; from its begin to c, to the gates
};

template <class T>
struct LstmStep {
  std::int64_t rows, units;
  const T* inputs;  // (rows, input_stride) of the gates
  std::int64_t input_stride;
  T* h;  // (rows, stride): of the step before on entry, of this one on return
  T* c;  // the same
  std::int64_t stride;
  LstmRecords<T> keep;
};

template <class T>
struct LstmStepBack {
  std::int64_t rows, units;
  LstmRecords<T> kept;  // gates on entry, gradients of their inputs on return
  const T* d_h;         // (rows, stride)
  T* d_c;               // (rows, stride): of this step on entry, of the step before on return
  std::int64_t stride;
  T* d_inputs;  // (rows, input_stride) gradients of the inputs of the gates, once more
  std::int64_t input_stride;
};

template <class T>
struct Kernels {
  std::string target;  // the instruction set, as Highway names it
  std::int64_t panel;  // columns in one panel of a packed matrix

  // Writes the panels of an (inner, columns) matrix whose element (k, c) is at w[k * k_stride + c *
  // c_stride].
  void (*pack)(const T* w, std::int64_t k_stride, std::int64_t c_stride, std::int64_t inner,
               std::int64_t columns, T* panels);
  void (*multiply)(const Product<T>&);
  void (*multiply_transposed)(const Product<T>&);  // c may be unpadded; neither bias nor activation

  // d *= act'(y) over a (rows, columns) block, and sums (columns, unless null) += column sums of the
  // result.
  void (*activation_back)(Activation, const T* y, std::int64_t y_stride, T* d, std::int64_t d_stride,
                          std::int64_t rows, std::int64_t columns, T* sums);

  // c = act(c) over a (rows, columns, padded) block.
  void (*activate)(Activation, T* c, std::int64_t c_stride, std::int64_t rows, std::int64_t columns);

  // Attention over the rows of one set: w = softmax of s over rows, per column; y = sum of w x. s becomes w.
  void (*attend)(T* s, std::int64_t s_stride, const T* x, std::int64_t x_stride, std::int64_t rows,
                 std::int64_t columns, T* y);
  // Given w, x, y and dy: dx = w dy, and w becomes ds = w dy (x - y).
  void (*attend_back)(T* w, std::int64_t w_stride, const T* x, std::int64_t x_stride, const T* y, const T* dy,
                      T* dx, std::int64_t dx_stride, std::int64_t rows, std::int64_t columns);

  void (*lstm_step)(const LstmStep<T>&);
  void (*lstm_step_back)(const LstmStepBack<T>&);
};

// Elements that `pack` writes.
template <class T>
constexpr std::int64_t packed_elements(std::int64_t inner, std::int64_t columns) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  return inner * ((columns + line - 1) / line * line);
}

// The kernels of the best instruction set this CPU has.
template <class T>
const Kernels<T>& kernels();

}  // namespace occam
