#include "occam/nn/muon.hpp"

#include <algorithm>
#include <cmath>

#include "occam/nn/kernels.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {
namespace {

constexpr double kMomentum = 0.95;
constexpr double kRootMeanSquare = 0.2;
// From so many inputs of a layer on, steps do not grow with their number. A step moves outputs by its length
// times that of the inputs, which grows, too: layers that read hundreds of statistics went astray.
constexpr std::int64_t kManyInputs = 128;
// Of fewer columns or rows there is little to make orthogonal.
constexpr std::int64_t kSmallest = 4;
// A gradient that has faded away is not blown up again.
constexpr double kLeastSquares = 1e-24;

// Output layers are Adam's: their columns are models and parameters, which are not to be mixed, and the
// gradient of the parameters fades away.
bool is_output(const Tensor& tensor) {
  return tensor.name == "head.weight" || tensor.name == "parameters.weight";
}

// Newton and Schulz: a polynomial of odd degree that drives all singular values towards 1 (coefficients of
// Jordan et al.). x (n, m), n >= m, of norm at most 1.
constexpr int kIterations = 5;
constexpr double kLinear = 3.4445;
constexpr double kCubic = -4.7750;
constexpr double kQuintic = 2.0315;

template <class T>
void orthogonalise(Matrix<T> x, Workspace& workspace) {
  const Kernels<T>& k = kernels<T>();
  const std::int64_t m = x.columns;
  const Matrix<T> gram = workspace.zeros<T>(m, m);
  const Matrix<T> mixed = workspace.zeros<T>(m, m);
  const Matrix<T> next = workspace.zeros<T>(x.rows, m);
  T* const panels = workspace.take<T>(packed_elements<T>(m, m));
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    k.multiply_transposed({.a = x.data,
                           .a_stride = x.stride,
                           .b = x.data,
                           .b_stride = x.stride,
                           .c = gram.data,
                           .c_stride = gram.stride,
                           .rows = m,
                           .inner = x.rows,
                           .columns = m});
    // mixed = linear + cubic gram + quintic gram^2
    k.multiply_transposed({.a = gram.data,
                           .a_stride = gram.stride,
                           .b = gram.data,
                           .b_stride = gram.stride,
                           .c = mixed.data,
                           .c_stride = mixed.stride,
                           .rows = m,
                           .inner = m,
                           .columns = m});
    for (std::int64_t r = 0; r < m; ++r) {
      for (std::int64_t c = 0; c < m; ++c) {
        mixed.row(r)[c] =
            static_cast<T>(kCubic) * gram.row(r)[c] + static_cast<T>(kQuintic) * mixed.row(r)[c];
      }
      mixed.row(r)[r] += static_cast<T>(kLinear);
    }
    k.pack(mixed.data, mixed.stride, 1, m, m, panels);
    k.multiply({.a = x.data,
                .a_stride = x.stride,
                .b = panels,
                .b_stride = 0,
                .c = next.data,
                .c_stride = next.stride,
                .rows = x.rows,
                .inner = m,
                .columns = m});
    for (std::int64_t r = 0; r < x.rows; ++r) std::copy_n(next.row(r), m, x.row(r));
  }
}

// Nesterov's momentum; the gradient is used up.
template <class T>
void take_momentum(T* __restrict gradient, T* __restrict momentum, T* __restrict ahead, std::int64_t count) {
  const T keep = static_cast<T>(kMomentum);
  for (std::int64_t i = 0; i < count; ++i) {
    momentum[i] = keep * momentum[i] + (1 - keep) * gradient[i];
    ahead[i] = keep * momentum[i] + (1 - keep) * gradient[i];
    gradient[i] = 0;
  }
}

// In several sums side by side, which a compiler may keep in one register.
template <class T>
double sum_of_squares(const T* x, std::int64_t count) {
  constexpr std::int64_t kSums = 16;
  T sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (std::int64_t k = 0; k < kSums; ++k) sums[k] += x[i + k] * x[i + k];
  }
  for (; i < count; ++i) sums[0] += x[i] * x[i];
  double total = 0;
  for (const T sum : sums) total += static_cast<double>(sum);
  return total;
}

// In blocks that stay in the cache.
template <class T>
void transpose(Matrix<const T> from, Matrix<T> to) {
  constexpr std::int64_t kBlock = 16;
  for (std::int64_t r0 = 0; r0 < from.rows; r0 += kBlock) {
    for (std::int64_t c0 = 0; c0 < from.columns; c0 += kBlock) {
      for (std::int64_t r = r0; r < std::min(r0 + kBlock, from.rows); ++r) {
        for (std::int64_t c = c0; c < std::min(c0 + kBlock, from.columns); ++c) to.row(c)[r] = from.row(r)[c];
      }
    }
  }
}

}  // namespace

std::vector<MuonPlace> muon_places(const ParameterLayout& layout) {
  std::vector<MuonPlace> places;
  for (const Tensor& tensor : layout.tensors()) {
    if (tensor.shape.size() < 2 || is_output(tensor)) continue;
    const std::int64_t columns = tensor.shape.back();
    const std::int64_t rows = tensor.size / std::max<std::int64_t>(columns, 1);
    if (std::min(rows, columns) < kSmallest) continue;
    places.push_back({tensor.offset, rows, columns});
  }
  return places;
}

double MuonPlace::length() const {
  return kRootMeanSquare * std::sqrt(static_cast<double>(std::max(columns, std::min(rows, kManyInputs))));
}

template <class T>
void Muon<T>::update(std::int64_t matrix, double learning_rate, T* gradient, T* momentum, T* weights,
                     Workspace& workspace) const {
  const MuonPlace& place = matrices_[static_cast<std::size_t>(matrix)];
  gradient += place.first;
  momentum += place.first;
  weights += place.first;
  workspace.reset();
  const bool wide = place.rows < place.columns;  // then its transpose is worked on
  const Matrix<T> ahead = workspace.zeros<T>(place.rows, place.columns);
  double squares = 0;
  for (std::int64_t r = 0; r < place.rows; ++r) {
    const std::int64_t first = r * place.columns;
    take_momentum(gradient + first, momentum + first, ahead.row(r), place.columns);
    squares += sum_of_squares(ahead.row(r), place.columns);
  }
  if (squares < kLeastSquares) return;
  const T factor = static_cast<T>(1 / std::sqrt(squares));
  for (std::int64_t i = 0; i < ahead.rows * ahead.stride; ++i) ahead.data[i] *= factor;
  const Matrix<T> x = wide ? workspace.zeros<T>(place.columns, place.rows) : ahead;
  if (wide) transpose<T>(ahead, x);
  orthogonalise(x, workspace);
  if (wide) transpose<T>(x, ahead);
  const T rate = static_cast<T>(learning_rate * place.length());
  for (std::int64_t r = 0; r < place.rows; ++r) {
    T* __restrict w = weights + r * place.columns;
    const T* __restrict direction = ahead.row(r);
    for (std::int64_t c = 0; c < place.columns; ++c) w[c] -= rate * direction[c];
  }
}

template class Muon<float>;
template class Muon<double>;

}  // namespace occam
