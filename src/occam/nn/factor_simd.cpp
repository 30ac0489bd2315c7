// Factors of mean products on the host: as many data sets at a time as a vector has numbers, since a block of
// a data set by itself is too small for vectors. A data set comes out the same whichever others are with it.
#include <algorithm>
#include <cstdint>

#include "occam/core/simd.hpp"
#include "occam/nn/factor.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "occam/nn/factor_simd.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace occam {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_WASM  // has no doubles in this Highway
using Numbers = double;
constexpr std::int64_t kTogether = 1;
double from_memory(const double* at) {
  return *at;
}
void to_memory(double x, double* at) {
  *at = x;
}
#else
using D = hn::CappedTag<double, 8>;
constexpr std::int64_t kTogether = hn::MaxLanes(D());

struct Choice {
  hn::Mask<D> mask;
};
struct Numbers {
  hn::Vec<D> v;

  Numbers() = default;
  explicit Numbers(hn::Vec<D> vector) : v(vector) {}
  explicit Numbers(double x) : v(hn::Set(D(), x)) {}
  friend HWY_INLINE Numbers operator+(Numbers a, Numbers b) { return Numbers(hn::Add(a.v, b.v)); }
  friend HWY_INLINE Numbers operator-(Numbers a, Numbers b) { return Numbers(hn::Sub(a.v, b.v)); }
  friend HWY_INLINE Numbers operator*(Numbers a, Numbers b) { return Numbers(hn::Mul(a.v, b.v)); }
  friend HWY_INLINE Numbers operator/(Numbers a, Numbers b) { return Numbers(hn::Div(a.v, b.v)); }
  friend HWY_INLINE Choice operator<(Numbers a, Numbers b) { return {hn::Lt(a.v, b.v)}; }
};
HWY_INLINE Numbers choose(Choice first, Numbers a, Numbers b) {
  return Numbers(hn::IfThenElse(first.mask, a.v, b.v));
}
HWY_INLINE Numbers sqrt(Numbers x) {
  return Numbers(hn::Sqrt(x.v));
}
HWY_INLINE Numbers log(Numbers x) {
  return Numbers(hn::Log(D(), x.v));
}
HWY_INLINE Numbers exp(Numbers x) {
  return Numbers(hn::Exp(D(), x.v));
}
Numbers from_memory(const double* at) {
  return Numbers(hn::LoadU(D(), at));
}
void to_memory(Numbers x, double* at) {
  hn::StoreU(x.v, D(), at);
}
#endif

#include "occam/nn/factor_block.inc"

// The same columns of several data sets, one vector for each column. Where there are fewer data sets than
// that, the last one comes again.
template <class T>
class SeveralSets {
 public:
  SeveralSets(const std::int64_t* offsets, std::int64_t first, std::int64_t sets)
      : first_(first), count_(std::min(kTogether, sets - first)) {
    double n[kTogether];
    for (std::int64_t s = 0; s < kTogether; ++s) n[s] = static_cast<double>(size(offsets, s));
    n_ = from_memory(n);
  }
  Numbers n() const { return n_; }

  void read(Matrix<const T> from, std::int64_t column, std::int64_t columns, Numbers* to) const {
    for (std::int64_t c = 0; c < columns; ++c) {
      double x[kTogether];
      for (std::int64_t s = 0; s < kTogether; ++s) x[s] = static_cast<double>(from.row(set(s))[column + c]);
      to[c] = from_memory(x);
    }
  }
  void write(const Numbers* from, std::int64_t column, std::int64_t columns, Matrix<T> to) const {
    for (std::int64_t c = 0; c < columns; ++c) {
      double x[kTogether];
      to_memory(from[c], x);
      for (std::int64_t s = 0; s < count_; ++s) to.row(first_ + s)[column + c] = static_cast<T>(x[s]);
    }
  }

 private:
  std::int64_t set(std::int64_t s) const { return first_ + std::min(s, count_ - 1); }
  std::int64_t size(const std::int64_t* offsets, std::int64_t s) const {
    return offsets[set(s) + 1] - offsets[set(s)];
  }

  std::int64_t first_, count_;
  Numbers n_;
};

template <class T>
void factor_sets(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets,
                 Matrix<T> out, Matrix<T> gains, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t pairs = k * (k + 1) / 2, own_gains = gain_columns(static_cast<int>(k));
  auto* const mean = workspace.take<Numbers>(pairs);
  auto* const l = workspace.take<Numbers>(pairs);
  auto* const result = workspace.take<Numbers>(pairs);
  for (std::int64_t first = 0; first < moments.rows; first += kTogether) {
    const SeveralSets<T> sets(offsets, first, moments.rows);
    for (std::int64_t h = 0; h < blocks; ++h) {
      sets.read(moments, h * pairs, pairs, mean);
      HWY_NAMESPACE::factor_block(OneCaller{}, static_cast<int>(k), mean, sets.n(), l, result);
      sets.write(result, h * pairs, pairs, out);
      if (gains.data == nullptr) continue;
      HWY_NAMESPACE::gain_block(OneCaller{}, static_cast<int>(k), result, sets.n(), mean);
      sets.write(mean, h * own_gains, own_gains, gains);
    }
  }
}

template <class T>
void factor_sets_back(std::int64_t k, std::int64_t blocks, Matrix<const T> moments,
                      const std::int64_t* offsets, Matrix<const T> out, Matrix<const T> d_out,
                      Matrix<const T> d_gains, Matrix<T> d_moments, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t pairs = k * (k + 1) / 2, own_gains = gain_columns(static_cast<int>(k));
  Numbers* columns[7];
  for (Numbers*& each : columns) each = workspace.take<Numbers>(pairs);
  const auto [mean, result, d_result, d_gain, d, left, d_mean] = columns;
  for (std::int64_t first = 0; first < moments.rows; first += kTogether) {
    const SeveralSets<T> sets(offsets, first, moments.rows);
    for (std::int64_t h = 0; h < blocks; ++h) {
      sets.read(moments, h * pairs, pairs, mean);
      sets.read(out, h * pairs, pairs, result);
      sets.read(d_out, h * pairs, pairs, d_result);
      sets.read(d_moments, h * pairs, pairs, d_mean);
      const bool gained = d_gains.data != nullptr;
      if (gained) sets.read(d_gains, h * own_gains, own_gains, d_gain);
      HWY_NAMESPACE::factor_block_back(OneCaller{}, static_cast<int>(k), mean, sets.n(), result, d_result,
                                       gained ? d_gain : nullptr, d, left, d_mean);
      sets.write(d_mean, h * pairs, pairs, d_moments);
    }
  }
}

}  // namespace

#define OCCAM_FACTOR(name, T)                                                                          \
  void name(std::int64_t k, std::int64_t blocks, Matrix<const T> moments, const std::int64_t* offsets, \
            Matrix<T> out, Matrix<T> gains, Workspace& workspace) {                                    \
    factor_sets<T>(k, blocks, moments, offsets, out, gains, workspace);                                \
  }                                                                                                    \
  void name##_back(std::int64_t k, std::int64_t blocks, Matrix<const T> moments,                       \
                   const std::int64_t* offsets, Matrix<const T> out, Matrix<const T> d_out,            \
                   Matrix<const T> d_gains, Matrix<T> d_moments, Workspace& workspace) {               \
    factor_sets_back<T>(k, blocks, moments, offsets, out, d_out, d_gains, d_moments, workspace);       \
  }
OCCAM_FACTOR(factor_f32, float)
OCCAM_FACTOR(factor_f64, double)
#undef OCCAM_FACTOR

}  // namespace HWY_NAMESPACE
}  // namespace occam
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace occam {

HWY_EXPORT(factor_f32);
HWY_EXPORT(factor_f64);
HWY_EXPORT(factor_f32_back);
HWY_EXPORT(factor_f64_back);

template <>
void factor(std::int64_t k, std::int64_t blocks, Matrix<const float> moments, const std::int64_t* offsets,
            Matrix<float> out, Matrix<float> gains, Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(factor_f32)(k, blocks, moments, offsets, out, gains, workspace);
}
template <>
void factor(std::int64_t k, std::int64_t blocks, Matrix<const double> moments, const std::int64_t* offsets,
            Matrix<double> out, Matrix<double> gains, Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(factor_f64)(k, blocks, moments, offsets, out, gains, workspace);
}
template <>
void factor_back(std::int64_t k, std::int64_t blocks, Matrix<const float> moments,
                 const std::int64_t* offsets, Matrix<const float> out, Matrix<const float> d_out,
                 Matrix<const float> d_gains, Matrix<float> d_moments, Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(factor_f32_back)
  (k, blocks, moments, offsets, out, d_out, d_gains, d_moments, workspace);
}
template <>
void factor_back(std::int64_t k, std::int64_t blocks, Matrix<const double> moments,
                 const std::int64_t* offsets, Matrix<const double> out, Matrix<const double> d_out,
                 Matrix<const double> d_gains, Matrix<double> d_moments, Workspace& workspace) {
  HWY_DYNAMIC_DISPATCH(factor_f64_back)
  (k, blocks, moments, offsets, out, d_out, d_gains, d_moments, workspace);
}

}  // namespace occam
#endif
