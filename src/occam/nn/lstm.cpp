#include "occam/nn/lstm.hpp"

#include <algorithm>
#include <numeric>

#include "occam/nn/tiles.hpp"

namespace occam {
namespace {

// Weight gradients are summed over so many steps of a series at a time, still in cache from when they were
// made.
constexpr std::int64_t kStepsPerSum = 64;

}  // namespace

template <class T>
Lstm<T>::Lstm(ParameterLayout& layout, PackedLayout<T>& packed, const std::string& name, std::int64_t in,
              std::int64_t units)
    : in_(in),
      units_(units),
      weight_(layout.add(name + ".wh", {units, 4 * units}, Init::glorot)),
      bias_(0),
      c_at_(padded<T>(units + in + 1)),
      gates_at_(c_at_ + padded<T>(units)),
      record_(gates_at_ + padded<T>(4 * units)),
      h_panels_(packed.reserve(tile_elements<T>(units, 4 * units))),
      x_panels_(packed.reserve(tile_elements<T>(in, 4 * units))),
      d_h_panels_(packed.reserve(tile_elements<T>(4 * units, units))),
      d_x_panels_(packed.reserve(tile_elements<T>(4 * units, in))),
      bias_row_(packed.reserve(4 * units)) {
  // Behind each other: together (units + in + 1, 4 units).
  layout.add(name + ".wx", {in, 4 * units}, Init::glorot);
  bias_ = layout.add(name + ".b", {4 * units}, Init::forget);
}

template <class T>
void Lstm<T>::pack(const T* weights, T* packed) const {
  const Kernels<T>& k = tile_kernels<T>();
  const std::int64_t gates = 4 * units_;
  const T* wh = weights + weight_;
  const T* wx = wh + units_ * gates;
  k.pack(wh, gates, 1, units_, gates, packed + h_panels_);
  k.pack(wx, gates, 1, in_, gates, packed + x_panels_);
  k.pack(wh, 1, gates, gates, units_, packed + d_h_panels_);
  k.pack(wx, 1, gates, gates, in_, packed + d_x_panels_);
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
  tape.running = workspace.take<std::int64_t>(tape.steps + 1);
  std::int64_t running = x.sets;
  for (std::int64_t t = 0; t <= tape.steps; ++t) {
    while (running > 0 && x.size(tape.order[running - 1]) <= t) --running;
    tape.running[t] = running;
  }
}

template <class T>
typename Lstm<T>::Tape* Lstm<T>::forward(const T* packed, Ragged<const T> x, Workspace& workspace,
                                         bool keep) const {
  const Kernels<T>& k = tile_kernels<T>();
  Tape& tape = *workspace.make<Tape>();
  order_series(x, tape, workspace);
  tape.out = workspace.matrix<T>(x.sets, units_);
  if (keep) tape.records = workspace.matrix<T>(x.x.rows + x.sets, record_);
  const Workspace::Scope scope(workspace);
  const Matrix<T> h = workspace.zeros<T>(x.sets, units_);
  const Matrix<T> c = workspace.zeros<T>(x.sets, units_);
  const Matrix<T> now = workspace.zeros<T>(x.sets, in_);  // x_t
  const Matrix<T> inputs = workspace.matrix<T>(x.sets, 4 * units_);
  T** at = keep ? workspace.take<T*>(x.sets) : nullptr;
  for (std::int64_t r = 0; keep && r < x.sets; ++r) {
    at[r] = record(tape, x, tape.order[r], 0);
    std::fill_n(at[r], gates_at_, T{0});
  }
  for (std::int64_t t = 0; t < tape.steps; ++t) {
    const std::int64_t running = tape.running[t];
    for (std::int64_t r = 0; r < running; ++r) {
      const T* x_t = x.x.row(x.offsets[tape.order[r]] + t);
      std::copy_n(x_t, in_, now.row(r));
      if (keep) *std::copy_n(x_t, in_, at[r] + units_) = 1;
    }
    k.multiply({.a = now.data,
                .a_stride = now.stride,
                .b = packed + x_panels_,
                .b_stride = 0,
                .c = inputs.data,
                .c_stride = inputs.stride,
                .rows = running,
                .inner = in_,
                .columns = 4 * units_,
                .bias = packed + bias_row_});
    k.multiply({.a = h.data,
                .a_stride = h.stride,
                .b = packed + h_panels_,
                .b_stride = 0,
                .c = inputs.data,
                .c_stride = inputs.stride,
                .rows = running,
                .inner = units_,
                .columns = 4 * units_,
                .accumulate = true});
    k.lstm_step({.rows = running,
                 .units = units_,
                 .inputs = inputs.data,
                 .input_stride = inputs.stride,
                 .h = h.data,
                 .c = c.data,
                 .stride = h.stride,
                 .keep = records(at)});
    for (std::int64_t r = 0; keep && r < running; ++r) at[r] += record_;
    for (std::int64_t r = tape.running[t + 1]; r < running; ++r) {
      std::copy_n(h.row(r), units_, tape.out.row(tape.order[r]));
    }
  }
  return &tape;
}

template <class T>
void Lstm<T>::backward(const T* packed, Ragged<const T> x, Tape& tape, Matrix<const T> d_out, Matrix<T> d_x,
                       T* const* gradients, Workspace& workspace) const {
  const Kernels<T>& k = tile_kernels<T>();
  const Workspace::Scope scope(workspace);
  const Matrix<T> d_h = workspace.zeros<T>(x.sets, units_);
  const Matrix<T> d_c = workspace.zeros<T>(x.sets, units_);
  const Matrix<T> d_inputs = workspace.matrix<T>(x.sets, 4 * units_);
  T** at = workspace.take<T*>(x.sets);
  std::int64_t started = 0;  // series met so far, going back in time
  for (std::int64_t t = tape.steps - 1; t >= 0; --t) {
    const std::int64_t running = tape.running[t];
    for (std::int64_t r = 0; r < started; ++r) at[r] -= record_;
    for (; started < running; ++started) {
      std::copy_n(d_out.row(tape.order[started]), units_, d_h.row(started));
      at[started] = record(tape, x, tape.order[started], t);
    }
    k.lstm_step_back({.rows = running,
                      .units = units_,
                      .kept = records(at),
                      .d_h = d_h.data,
                      .d_c = d_c.data,
                      .stride = d_h.stride,
                      .d_inputs = d_inputs.data,
                      .input_stride = d_inputs.stride});
    if (t > 0) {
      k.multiply({.a = d_inputs.data,
                  .a_stride = d_inputs.stride,
                  .b = packed + d_h_panels_,
                  .b_stride = 0,
                  .c = d_h.data,
                  .c_stride = d_h.stride,
                  .rows = running,
                  .inner = 4 * units_,
                  .columns = units_});
    }
    if (t % kStepsPerSum != 0) continue;
    for (std::int64_t set = 0; set < x.sets; ++set) {
      const std::int64_t rows = std::min(x.size(set) - t, kStepsPerSum);
      if (rows > 0) weight_gradients(record(tape, x, set, t), rows, gradients[set]);
    }
  }
  if (d_x.data == nullptr) return;
  for (std::int64_t set = 0; set < x.sets; ++set) {
    k.multiply({.a = record(tape, x, set, 0) + gates_at_,
                .a_stride = record_,
                .b = packed + d_x_panels_,
                .b_stride = 0,
                .c = d_x.row(x.offsets[set]),
                .c_stride = d_x.stride,
                .rows = x.size(set),
                .inner = 4 * units_,
                .columns = in_});
  }
}

template <class T>
void Lstm<T>::weight_gradients(T* first, std::int64_t rows, T* gradient) const {
  const Kernels<T>& k = tile_kernels<T>();
  k.multiply_transposed({.a = first,
                         .a_stride = record_,
                         .b = first + gates_at_,
                         .b_stride = record_,
                         .c = gradient + weight_,
                         .c_stride = 4 * units_,
                         .rows = units_ + in_ + 1,
                         .inner = rows,
                         .columns = 4 * units_,
                         .accumulate = true});
}

template class Lstm<float>;
template class Lstm<double>;

}  // namespace occam
