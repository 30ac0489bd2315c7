// Long short-term memory, many to one: series of different lengths in, the last hidden state of each out.
//   [i f g o] = h_{t-1} Wh + x_t Wx + b;  c_t = s(f) c_{t-1} + s(i) tanh(g);  h_t = s(o) tanh(c_t)
// Series are sorted by length, so that at every step the ones still running are the first rows: no padding.
// Each series keeps its own records, one step behind the other, so that its weight gradients are sums over
// its own rows, whatever other series ran beside it.
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
    std::int64_t steps;     // length of the longest series
    std::int64_t* order;    // (sets) series by falling length
    std::int64_t* running;  // (steps + 1) how many of them are that long; 0 behind the last
    // (sum N + sets, record) [h_{t-1} x_t 1 | c_{t-1} | gates]; one more of each series, for the last h.
    // After backward, gates are gradients of their inputs.
    Matrix<T> records;
    Matrix<T> out;  // (sets, units) last hidden states, in the caller's order
  };

  // Without `keep` only the result is there afterwards, not what backward needs: one time step of memory
  // suffices.
  Tape* forward(const T* packed, Ragged<const T> x, Workspace& workspace, bool keep = true) const;
  // d_out (sets, units). Adds the weight gradients of each series to its own of `gradients` (sets); sets d_x
  // (sum N, in; rows padded) unless its data is null.
  void backward(const T* packed, Ragged<const T> x, Tape& tape, Matrix<const T> d_out, Matrix<T> d_x,
                T* const* gradients, Workspace& workspace) const;

 private:
  void order_series(Ragged<const T> x, Tape& tape, Workspace& workspace) const;
  T* record(const Tape& tape, Ragged<const T> x, std::int64_t set, std::int64_t t) const {
    return tape.records.row(x.offsets[set] + set + t);
  }
  LstmRecords<T> records(T* const* at) const { return {at, record_, c_at_, gates_at_}; }
  void weight_gradients(T* first, std::int64_t rows, T* gradient) const;

  std::int64_t in_, units_;
  std::int64_t weight_, bias_;
  std::int64_t c_at_, gates_at_, record_;
  std::int64_t h_panels_, x_panels_, d_h_panels_, d_x_panels_, bias_row_;
};

}  // namespace occam
