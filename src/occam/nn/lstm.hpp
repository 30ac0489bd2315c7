// Long short-term memory, many to one: series of different lengths in, the last hidden state of each out.
//   [i f g o] = [h_{t-1} x_t] [Wh; Wx] + b;  c_t = s(f) c_{t-1} + s(i) tanh(g);  h_t = s(o) tanh(c_t)
// Series are sorted by length, so that at every step the ones still running are the first rows: no padding.
// Rows are ordered by time, then series; [h_{t-1} x_t] lie side by side, so that one product per step and one
// for all weight gradients suffice.
#pragma once

#include <cstdint>
#include <string>

#include "occam/nn/dense.hpp"

namespace occam {

template <class T>
class Lstm {
 public:
  // Adds name.wh (units, 4 units), name.wx (in, 4 units) and name.b (4 units).
  Lstm(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
       std::int64_t units);

  std::int64_t units() const { return units_; }
  void pack(const T* weights, T* packed) const;

  struct Tape {
    std::int64_t steps;   // length of the longest series
    std::int64_t* order;  // (sets) series by falling length
    std::int64_t* first;  // (steps + 1) row at which each step begins
    Matrix<T> state;      // (sum N, units + in): [h_{t-1} x_t]
    Matrix<T> gates;      // (sum N, 4 units) activations; after backward, gradients of their inputs
    Matrix<T> c;          // (sum N, units)
    Matrix<T> out;        // (sets, units) last hidden states, in the caller's order
  };

  // Without `keep` only the result is there afterwards, not what backward needs: two time steps of memory
  // suffice.
  Tape* forward(const T* packed, Ragged<const T> x, Workspace& workspace, bool keep = true) const;
  // d_out (sets, units). Adds weight gradients; sets d_x (sum N, in) unless its data is null.
  void backward(const T* packed, Ragged<const T> x, Tape& tape, Matrix<const T> d_out, Matrix<T> d_x,
                T* gradient, Workspace& workspace) const;

 private:
  void order_series(Ragged<const T> x, Tape& tape, Workspace& workspace) const;
  void weight_gradients(const Tape& tape, std::int64_t first, std::int64_t rows, T* gradient) const;

  std::int64_t in_, units_;
  std::int64_t weight_, bias_;
  std::int64_t forward_panels_, state_panels_, input_panels_, bias_row_;
};

}  // namespace occam
