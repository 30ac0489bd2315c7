#include "occam/nn/lstm.hpp"

#include <algorithm>
#include <numeric>

namespace occam {

template <class T>
Lstm<T>::Lstm(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
              std::int64_t units)
    : in_(in),
      units_(units),
      weight_(layout.add(name + ".wh", {units, 4 * units}, Init::glorot)),
      bias_(0),
      forward_panels_(packed.reserve(packed_elements<T>(units + in, 4 * units))),
      state_panels_(packed.reserve(packed_elements<T>(4 * units, units))),
      input_panels_(packed.reserve(packed_elements<T>(4 * units, in))),
      bias_row_(packed.reserve(4 * units)) {
  layout.add(name + ".wx", {in, 4 * units},
             Init::glorot);  // directly behind wh: together (units + in, 4 units)
  bias_ = layout.add(name + ".b", {4 * units}, Init::forget);
}

template <class T>
void Lstm<T>::pack(const T* weights, T* packed) const {
  const Kernels<T>& k = kernels<T>();
  const T* w = weights + weight_;
  const std::int64_t gates = 4 * units_;
  k.pack(w, gates, 1, units_ + in_, gates, packed + forward_panels_);
  k.pack(w, 1, gates, gates, units_, packed + state_panels_);
  k.pack(w + units_ * gates, 1, gates, gates, in_, packed + input_panels_);
  std::fill_n(packed + bias_row_, padded<T>(gates), T{0});
  std::copy_n(weights + bias_, gates, packed + bias_row_);
}

template <class T>
void Lstm<T>::order_series(Ragged<const T> x, Tape& tape, Workspace& workspace) const {
  tape.order = workspace.take<std::int64_t>(x.sets);
  std::iota(tape.order, tape.order + x.sets, std::int64_t{0});
  // Ties by index: a total order, so the plain sort is deterministic (and, unlike stable_sort, never
  // allocates).
  std::sort(tape.order, tape.order + x.sets, [&](std::int64_t a, std::int64_t b) {
    return x.size(a) != x.size(b) ? x.size(a) > x.size(b) : a < b;
  });
  tape.steps = x.size(tape.order[0]);
  tape.first = workspace.take<std::int64_t>(tape.steps + 1);
  tape.first[0] = 0;
  std::int64_t running = x.sets;
  for (std::int64_t t = 0; t < tape.steps; ++t) {
    while (x.size(tape.order[running - 1]) <= t) --running;
    tape.first[t + 1] = tape.first[t] + running;
  }
}

template <class T>
typename Lstm<T>::Tape* Lstm<T>::forward(const T* packed, Ragged<const T> x, Workspace& workspace,
                                         bool keep) const {
  Tape& tape = *workspace.make<Tape>();
  order_series(x, tape, workspace);
  const std::int64_t rows = keep ? tape.first[tape.steps] : 2 * x.sets;
  const auto row_of = [&](std::int64_t t) { return keep ? tape.first[t] : t % 2 * x.sets; };
  tape.state = workspace.matrix<T>(rows, units_ + in_);
  tape.gates = workspace.matrix<T>(rows, 4 * units_);
  tape.c = workspace.matrix<T>(rows, units_);
  tape.out = workspace.matrix<T>(x.sets, units_);
  const Workspace::Scope scope(workspace);
  const Matrix<T> last = workspace.matrix<T>(x.sets, units_);  // in sorted order

  for (std::int64_t r = 0; r < x.sets; ++r) std::fill_n(tape.state.row(r), units_, T{0});
  for (std::int64_t t = 0; t < tape.steps; ++t) {
    const std::int64_t first = row_of(t);
    const std::int64_t running = tape.first[t + 1] - tape.first[t];
    const std::int64_t after = t + 1 < tape.steps ? tape.first[t + 2] - tape.first[t + 1] : 0;
    for (std::int64_t r = 0; r < running; ++r) {
      std::copy_n(x.x.row(x.offsets[tape.order[r]] + t), in_, tape.state.row(first + r) + units_);
    }
    kernels<T>().multiply({.a = tape.state.row(first),
                           .a_stride = tape.state.stride,
                           .b = packed + forward_panels_,
                           .b_stride = 0,
                           .c = tape.gates.row(first),
                           .c_stride = tape.gates.stride,
                           .rows = running,
                           .inner = units_ + in_,
                           .columns = 4 * units_,
                           .bias = packed + bias_row_});
    // Series that go on leave h where the next step reads it; those that end here leave it in `last`.
    const auto step = [&](std::int64_t from, std::int64_t count, T* h, std::int64_t h_stride) {
      if (count == 0) return;
      kernels<T>().lstm_step({.rows = count,
                              .units = units_,
                              .gates = tape.gates.row(first + from),
                              .gate_stride = tape.gates.stride,
                              .c_before = t == 0 ? nullptr : tape.c.row(row_of(t - 1) + from),
                              .c = tape.c.row(first + from),
                              .c_stride = tape.c.stride,
                              .h = h,
                              .h_stride = h_stride});
    };
    step(0, after, after > 0 ? tape.state.row(row_of(t + 1)) : nullptr, tape.state.stride);
    step(after, running - after, last.row(after), last.stride);
  }
  for (std::int64_t r = 0; r < x.sets; ++r) std::copy_n(last.row(r), units_, tape.out.row(tape.order[r]));
  return &tape;
}

template <class T>
void Lstm<T>::backward(const T* packed, Ragged<const T> x, Tape& tape, Matrix<const T> d_out, Matrix<T> d_x,
                       T* gradient, Workspace& workspace) const {
  // Weight gradients are summed over blocks of rows that are still in cache from the steps that made them.
  constexpr std::int64_t kBlock = 256;
  const Workspace::Scope scope(workspace);
  const Matrix<T> d_h = workspace.zeros<T>(x.sets, units_);
  const Matrix<T> d_c = workspace.zeros<T>(x.sets, units_);
  std::int64_t pending = tape.first[tape.steps];  // rows from here on are accounted for
  std::int64_t started = 0;                       // series met so far, going back in time
  for (std::int64_t t = tape.steps - 1; t >= 0; --t) {
    const std::int64_t first = tape.first[t];
    const std::int64_t running = tape.first[t + 1] - first;
    for (; started < running; ++started)
      std::copy_n(d_out.row(tape.order[started]), units_, d_h.row(started));
    kernels<T>().lstm_step_back({.rows = running,
                                 .units = units_,
                                 .gates = tape.gates.row(first),
                                 .gate_stride = tape.gates.stride,
                                 .c_before = t == 0 ? nullptr : tape.c.row(tape.first[t - 1]),
                                 .c = tape.c.row(first),
                                 .c_stride = tape.c.stride,
                                 .d_h = d_h.data,
                                 .d_c = d_c.data,
                                 .d_stride = d_h.stride});
    if (t > 0) {
      kernels<T>().multiply({.a = tape.gates.row(first),
                             .a_stride = tape.gates.stride,
                             .b = packed + state_panels_,
                             .b_stride = 0,
                             .c = d_h.data,
                             .c_stride = d_h.stride,
                             .rows = running,
                             .inner = 4 * units_,
                             .columns = units_});
    }
    if (pending - first >= kBlock || t == 0) {
      weight_gradients(tape, first, pending - first, gradient);
      pending = first;
    }
  }
  if (d_x.data == nullptr) return;
  const Matrix<T> d_in = workspace.matrix<T>(tape.first[tape.steps], in_);
  kernels<T>().multiply({.a = tape.gates.data,
                         .a_stride = tape.gates.stride,
                         .b = packed + input_panels_,
                         .b_stride = 0,
                         .c = d_in.data,
                         .c_stride = d_in.stride,
                         .rows = tape.gates.rows,
                         .inner = 4 * units_,
                         .columns = in_});
  for (std::int64_t t = 0; t < tape.steps; ++t) {
    for (std::int64_t row = tape.first[t]; row < tape.first[t + 1]; ++row) {
      std::copy_n(d_in.row(row), in_, d_x.row(x.offsets[tape.order[row - tape.first[t]]] + t));
    }
  }
}

template <class T>
void Lstm<T>::weight_gradients(const Tape& tape, std::int64_t first, std::int64_t rows, T* gradient) const {
  const Matrix<T> gates = tape.gates.rows_from(first, rows);
  kernels<T>().activation_back(Activation::identity, nullptr, 0, gates.data, gates.stride, rows, 4 * units_,
                               gradient + bias_);
  kernels<T>().multiply_transposed({.a = tape.state.row(first),
                                    .a_stride = tape.state.stride,
                                    .b = gates.data,
                                    .b_stride = gates.stride,
                                    .c = gradient + weight_,
                                    .c_stride = 4 * units_,
                                    .rows = units_ + in_,
                                    .inner = rows,
                                    .columns = 4 * units_,
                                    .accumulate = true});
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace occam
