// Matrix products, activations, attention and LSTM steps in portable SIMD.
//
// One micro-kernel computes a block of c in registers: MR rows by NV vectors. Forward products read b from
// panels of NV vectors (contiguous along k); weight gradients c += a^T b read both operands as they lie.
#include <algorithm>
#include <cstdint>

#include <hwy/cache_control.h>

#include "occam/core/simd.hpp"
#include "occam/nn/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "occam/nn/kernels_simd.cpp"
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
using Index = std::int64_t;

template <class T>
using Lanes = hn::CappedTag<T, 64 / sizeof(T)>;  // at most a cache line, which rows are padded to
template <class T>
using Vec = hn::Vec<Lanes<T>>;

// Registers decide the block: accumulators + a row of b + one broadcast must fit.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSE2
constexpr int kMaxVectors = 2;
constexpr int rows_for(int vectors) {
  return vectors == 2 ? 6 : 8;
}
#else
constexpr int kMaxVectors = 4;
constexpr int rows_for(int vectors) {
  return vectors == 4 ? 6 : vectors == 3 ? 8 : 12;
}
#endif

// Some lanes from the first on, without touching what lies behind them. Before AVX2 Highway's own masked
// operations read and write the whole vector, and read it as if it were aligned.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, hn::Mask<D> mask, const T* from) {
  return hn::MaskedLoad(mask, d, from);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(D d, hn::Vec<D> value, hn::Mask<D> mask, T* to) {
  hn::BlendedStore(value, mask, d, to);
}
#else
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_first(D d, hn::Mask<D> mask, const T* from) {
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  std::copy_n(from, hn::CountTrue(d, mask), lanes);
  return hn::Load(d, lanes);
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_first(D d, hn::Vec<D> value, hn::Mask<D> mask, T* to) {
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  hn::Store(value, d, lanes);
  std::copy_n(lanes, hn::CountTrue(d, mask), to);
}
#endif

// ---- elementary functions
// ----------------------------------------------------------------------------------

// exp for float: 2^n 2^f with n the nearest integer to x log2(e); the polynomial is a minimax fit of 2^f on
// [-.5, .5] that is exact at 0. Absolute error below 2e-7 for x <= 0; relative error 2e-7 near 0, growing to
// 4e-6 at -87.
template <class D>
HWY_INLINE hn::Vec<D> exp_f32(D d, hn::Vec<D> x) {
  const auto t = hn::Min(hn::Mul(x, hn::Set(d, 1.44269504088896341f)), hn::Set(d, 127.0f));
#if HWY_TARGET == HWY_AVX3  // has instructions for both ends of it
  const hn::Vec<D> f{_mm512_reduce_ps(t.raw, 0)};
#else
  const hn::RebindToSigned<D> di;
  const auto within = hn::Max(t, hn::Set(d, -126.0f));
  const auto n = hn::NearestInt(within);
  const auto f = hn::Sub(within, hn::ConvertTo(d, n));
#endif
  auto p = hn::MulAdd(hn::Set(d, 0.001326470053754747f), f, hn::Set(d, 0.009671514853835106f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.05550733953714371f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.24022242426872253f));
  p = hn::MulAdd(p, f, hn::Set(d, 0.6931470036506653f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<D>{_mm512_scalef_ps(p.raw, hn::Sub(t, f).raw)};
#else
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(n)));
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> exp_fast(D d, hn::Vec<D> x) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return exp_f32(d, x);
  } else {
    return hn::Exp(d, hn::Min(hn::Max(x, hn::Set(d, -700.0)), hn::Set(d, 700.0)));
  }
}

// 1 / x. A division takes as long as all the rest of a gate; for float, Newton's step doubles the digits of
// the processor's guess: 14 bits with AVX-512, 11 to 12 on older x86-64, 8 on arm64.
template <class D>
HWY_INLINE hn::Vec<D> reciprocal(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1);
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    auto y = hn::ApproximateReciprocal(x);
    for (int step = 0; step < (HWY_ARCH_X86 ? 1 : 2); ++step) {
      y = hn::MulAdd(y, hn::NegMulAdd(x, y, one), y);
    }
    return y;
  } else {
    return hn::Div(one, x);
  }
}

template <class D>
HWY_INLINE hn::Vec<D> sigmoid(D d, hn::Vec<D> x) {
  return reciprocal(d, hn::Add(hn::Set(d, 1), exp_fast(d, hn::Neg(x))));
}

template <class D>
HWY_INLINE hn::Vec<D> tanh_fast(D d, hn::Vec<D> x) {
  // 2 sigmoid(2x) - 1: absolute error of a few ulp of 1, which is what a gate needs.
  return hn::MulSub(hn::Set(d, 2), sigmoid(d, hn::Add(x, x)), hn::Set(d, 1));
}

template <class D>
HWY_INLINE hn::Vec<D> softplus(D d, hn::Vec<D> x) {
  const auto e = exp_fast(d, hn::Neg(hn::Abs(x)));
  return hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, e));
}

template <class D>
HWY_INLINE hn::Vec<D> elu(D d, hn::Vec<D> x) {
  const auto negative = hn::Sub(exp_fast(d, x), hn::Set(d, 1));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, negative);
}

template <class D>
HWY_INLINE hn::Vec<D> activated(D d, Activation activation, hn::Vec<D> x) {
  switch (activation) {
    case Activation::identity:
      return x;
    case Activation::elu:
      return elu(d, x);
    case Activation::relu:
      return hn::Max(x, hn::Zero(d));
    case Activation::tanh:
      return tanh_fast(d, x);
    case Activation::softplus:
      return softplus(d, x);
  }
  return x;
}

template <class D>
HWY_INLINE hn::Vec<D> slope(D d, Activation activation, hn::Vec<D> y) {
  const auto one = hn::Set(d, 1);
  switch (activation) {
    case Activation::identity:
      return one;
    case Activation::elu:  // exp(x) = y + 1 below zero
      return hn::Add(one, hn::Min(y, hn::Zero(d)));
    case Activation::relu:
      return hn::IfThenElseZero(hn::Gt(y, hn::Zero(d)), one);
    case Activation::tanh:
      return hn::NegMulAdd(y, y, one);
    case Activation::softplus:  // sigmoid(x) = 1 - exp(-y)
      return hn::Sub(one, exp_fast(d, hn::Neg(y)));
  }
  return one;
}

// ---- matrix products
// ---------------------------------------------------------------------------------------

template <class T>
constexpr Index lanes() {
  return static_cast<Index>(hn::MaxLanes(Lanes<T>()));
}

template <class T>
constexpr Index panel_columns() {
  return kMaxVectors * lanes<T>();
}

template <bool kTransposed, int MR, int NV, class T>
HWY_NOINLINE void block(const Product<T>& p, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, Index b_stride,
                        Index inner, T* HWY_RESTRICT c, const T* HWY_RESTRICT bias, Index columns) {
  const Lanes<T> d;
  constexpr Index L = lanes<T>();
  Vec<T> sum[MR][NV];
  HWY_UNROLL(12)
  for (int r = 0; r < MR; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < NV; ++v) sum[r][v] = hn::Zero(d);
  }
  const Index a_stride = p.a_stride;
  for (Index k = 0; k < inner; ++k) {
    Vec<T> row[NV];
    HWY_UNROLL(4)
    for (int v = 0; v < NV; ++v) row[v] = hn::LoadU(d, b + v * L);
    HWY_UNROLL(12)
    for (int r = 0; r < MR; ++r) {
      const auto x = hn::Set(d, kTransposed ? a[r] : a[r * a_stride]);
      HWY_UNROLL(4)
      for (int v = 0; v < NV; ++v) sum[r][v] = hn::MulAdd(x, row[v], sum[r][v]);
    }
    a += kTransposed ? a_stride : 1;
    b += b_stride;
  }
  if (bias != nullptr) {
    HWY_UNROLL(4)
    for (int v = 0; v < NV; ++v) {
      const auto add = hn::LoadU(d, bias + v * L);
      HWY_UNROLL(12)
      for (int r = 0; r < MR; ++r) sum[r][v] = hn::Add(sum[r][v], add);
    }
  }
  // Only weight gradients lie unpadded: their last vector is stored in part.
  const bool partial = kTransposed && columns < NV * L;
  HWY_UNROLL(12)
  for (int r = 0; r < MR; ++r) {
    T* HWY_RESTRICT out = c + r * p.c_stride;
    HWY_UNROLL(4)
    for (int v = 0; v < NV; ++v) {
      if (partial && v == NV - 1) {
        const auto mask = hn::FirstN(d, static_cast<std::size_t>(columns - v * L));
        auto value = sum[r][v];
        if (p.accumulate) value = hn::Add(value, load_first(d, mask, out + v * L));
        store_first(d, value, mask, out + v * L);
      } else {
        auto value = sum[r][v];
        if (p.accumulate) value = hn::Add(value, hn::LoadU(d, out + v * L));
        hn::StoreU(value, d, out + v * L);
      }
    }
  }
  // A second look at the block while it is in the first-level cache costs a few per cent and keeps this
  // short.
  if (p.activation == Activation::elu) {
    for (int r = 0; r < MR; ++r) {
      T* HWY_RESTRICT out = c + r * p.c_stride;
      HWY_UNROLL(4)
      for (int v = 0; v < NV; ++v) hn::StoreU(elu(d, hn::LoadU(d, out + v * L)), d, out + v * L);
    }
  } else if (p.activation != Activation::identity) {
    for (int r = 0; r < MR; ++r) {
      T* HWY_RESTRICT out = c + r * p.c_stride;
      for (int v = 0; v < NV; ++v) {
        hn::StoreU(activated(d, p.activation, hn::LoadU(d, out + v * L)), d, out + v * L);
      }
    }
  }
}

// All rows of one panel; `a` is advanced MR rows (or columns, transposed) at a time.
template <bool kTransposed, int NV, class T>
HWY_INLINE void panel_rows(const Product<T>& p, const T* a, const T* b, Index b_stride, Index inner, T* c,
                           const T* bias, Index columns) {
  constexpr int MR = rows_for(NV);
  const Index step = kTransposed ? 1 : p.a_stride;
  Index r = 0;
  for (; r + MR <= p.rows; r += MR) {
    block<kTransposed, MR, NV>(p, a + r * step, b, b_stride, inner, c + r * p.c_stride, bias, columns);
  }
  for (; r + 4 <= p.rows; r += 4) {
    block<kTransposed, 4, NV>(p, a + r * step, b, b_stride, inner, c + r * p.c_stride, bias, columns);
  }
  for (; r + 2 <= p.rows; r += 2) {
    block<kTransposed, 2, NV>(p, a + r * step, b, b_stride, inner, c + r * p.c_stride, bias, columns);
  }
  for (; r < p.rows; ++r) {
    block<kTransposed, 1, NV>(p, a + r * step, b, b_stride, inner, c + r * p.c_stride, bias, columns);
  }
}

template <bool kTransposed, class T>
HWY_INLINE void one_panel(const Product<T>& p, const T* a, const T* b, Index b_stride, Index inner, T* c,
                          const T* bias, Index columns) {
  switch ((columns + lanes<T>() - 1) / lanes<T>()) {
    case 1:
      return panel_rows<kTransposed, 1>(p, a, b, b_stride, inner, c, bias, columns);
    case 2:
      return panel_rows<kTransposed, 2>(p, a, b, b_stride, inner, c, bias, columns);
#if !(HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSE2)
    case 3:
      return panel_rows<kTransposed, 3>(p, a, b, b_stride, inner, c, bias, columns);
    case 4:
      return panel_rows<kTransposed, 4>(p, a, b, b_stride, inner, c, bias, columns);
#endif
    default:
      return;
  }
}

// Pieces of k of equal length, at most `most` long: what one pass over the rows reads again and again should
// stay in the first-level cache.
constexpr Index piece_length(Index inner, Index most) {
  const Index pieces = (inner + most - 1) / most;
  return pieces <= 1 ? inner : (inner + pieces - 1) / pieces;
}

constexpr Index kPanelBytes = 32 << 10;

template <class T>
void multiply(const Product<T>& p) {
  constexpr Index width = panel_columns<T>();
  constexpr Index L = lanes<T>();
  for (Index first = 0; first < p.columns; first += width) {
    const Index columns = std::min(width, p.columns - first);
    const Index stride = (columns + L - 1) / L * L;
    const T* panel = p.b + first * p.inner;
    const Index piece = piece_length(p.inner, kPanelBytes / (stride * static_cast<Index>(sizeof(T))));
    for (Index k = 0; k < p.inner; k += piece) {
      Product<T> part = p;
      const bool last = k + piece >= p.inner;
      part.accumulate = p.accumulate || k > 0;
      if (!last) part.activation = Activation::identity;
      const T* bias = p.bias == nullptr || k > 0 ? nullptr : p.bias + first;
      one_panel<false>(part, p.a + k, panel + k * stride, stride, std::min(piece, p.inner - k), p.c + first,
                       bias, columns);
    }
  }
}

template <class T>
void multiply_transposed(const Product<T>& p) {
  constexpr Index width = panel_columns<T>();
  Product<T> part = p;
  const Index piece = piece_length(p.inner, kPanelBytes / (width * static_cast<Index>(sizeof(T))));
  for (Index k = 0; k < p.inner; k += piece) {
    for (Index first = 0; first < p.columns; first += width) {
      const Index columns = std::min(width, p.columns - first);
      one_panel<true>(part, p.a + k * p.a_stride, p.b + k * p.b_stride + first, p.b_stride,
                      std::min(piece, p.inner - k), p.c + first, static_cast<const T*>(nullptr), columns);
    }
    part.accumulate = true;
  }
}

template <class T>
void pack(const T* w, Index k_stride, Index c_stride, Index inner, Index columns, T* panels) {
  constexpr Index width = panel_columns<T>();
  constexpr Index L = lanes<T>();
  for (Index first = 0; first < columns; first += width) {
    const Index used = std::min(width, columns - first);
    const Index stride = (used + L - 1) / L * L;
    T* out = panels + first * inner;
    if (c_stride == 1) {
      for (Index k = 0; k < inner; ++k) {
        std::copy_n(w + k * k_stride + first, used, out + k * stride);
        std::fill(out + k * stride + used, out + (k + 1) * stride, T{0});
      }
      continue;
    }
    for (Index k0 = 0; k0 < inner; k0 += 16) {  // a transposition, in blocks of a cache line
      const Index k1 = std::min(inner, k0 + 16);
      for (Index c = 0; c < stride; ++c) {
        for (Index k = k0; k < k1; ++k) {
          out[k * stride + c] = c < used ? w[k * k_stride + (first + c) * c_stride] : T{0};
        }
      }
    }
  }
}

// ---- rows
// --------------------------------------------------------------------------------------------------

template <class T>
void activation_back(Activation activation, const T* y, Index y_stride, T* dy, Index d_stride, Index rows,
                     Index columns, T* sums) {
  const Lanes<T> d;
  constexpr Index L = lanes<T>();
  for (Index c = 0; c < columns; c += L) {
    auto sum = hn::Zero(d);
    for (Index r = 0; r < rows; ++r) {
      T* HWY_RESTRICT out = dy + r * d_stride + c;
      auto value = hn::LoadU(d, out);
      if (activation != Activation::identity) {
        value = hn::Mul(value, slope(d, activation, hn::LoadU(d, y + r * y_stride + c)));
        hn::StoreU(value, d, out);
      }
      sum = hn::Add(sum, value);
    }
    if (sums == nullptr) continue;
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(std::min(L, columns - c)));
    store_first(d, hn::Add(sum, load_first(d, mask, sums + c)), mask, sums + c);
  }
}

template <class T>
void activate(Activation activation, T* c, Index c_stride, Index rows, Index columns) {
  const Lanes<T> d;
  for (Index r = 0; r < rows; ++r) {
    T* HWY_RESTRICT row = c + r * c_stride;
    for (Index at = 0; at < columns; at += lanes<T>()) {
      hn::StoreU(activated(d, activation, hn::LoadU(d, row + at)), d, row + at);
    }
  }
}

template <class T>
void attend(T* s, Index s_stride, const T* x, Index x_stride, Index rows, Index columns, T* y) {
  const Lanes<T> d;
  constexpr Index L = lanes<T>();
  for (Index c = 0; c < columns; c += L) {
    auto top = hn::LoadU(d, s + c);
    for (Index r = 1; r < rows; ++r) top = hn::Max(top, hn::LoadU(d, s + r * s_stride + c));
    auto total = hn::Zero(d);
    auto sum = hn::Zero(d);
    for (Index r = 0; r < rows; ++r) {
      const auto w = exp_fast(d, hn::Sub(hn::LoadU(d, s + r * s_stride + c), top));
      total = hn::Add(total, w);
      sum = hn::MulAdd(w, hn::LoadU(d, x + r * x_stride + c), sum);
      hn::StoreU(w, d, s + r * s_stride + c);
    }
    const auto scale = hn::Div(hn::Set(d, 1), total);
    for (Index r = 0; r < rows; ++r) {
      T* at = s + r * s_stride + c;
      hn::StoreU(hn::Mul(hn::LoadU(d, at), scale), d, at);
    }
    hn::StoreU(hn::Mul(sum, scale), d, y + c);
  }
}

template <class T>
void attend_back(T* w, Index w_stride, const T* x, Index x_stride, const T* y, const T* dy, T* dx,
                 Index dx_stride, Index rows, Index columns) {
  const Lanes<T> d;
  for (Index c = 0; c < columns; c += lanes<T>()) {
    const auto mean = hn::LoadU(d, y + c);
    const auto up = hn::LoadU(d, dy + c);
    for (Index r = 0; r < rows; ++r) {
      T* at = w + r * w_stride + c;
      const auto share = hn::Mul(hn::LoadU(d, at), up);
      hn::StoreU(share, d, dx + r * dx_stride + c);
      hn::StoreU(hn::Mul(share, hn::Sub(hn::LoadU(d, x + r * x_stride + c), mean)), d, at);
    }
  }
}

// ---- LSTM
// --------------------------------------------------------------------------------------------------

template <class D, class T>
HWY_INLINE hn::Vec<D> load_part(D d, const T* from, bool whole, hn::Mask<D> mask) {
  return whole ? hn::LoadU(d, from) : load_first(d, mask, from);
}

template <class D, class T>
HWY_INLINE void store_part(D d, hn::Vec<D> value, T* to, bool whole, hn::Mask<D> mask) {
  if (whole) {
    hn::StoreU(value, d, to);
  } else {
    store_first(d, value, mask, to);
  }
}

template <class T>
void lstm_step(const LstmStep<T>& p) {
  const Lanes<T> d;
  constexpr Index L = lanes<T>();
  const Index H = p.units;
  for (Index r = 0; r < p.rows; ++r) {
    const T* inputs = p.inputs + r * p.input_stride;
    T* h_row = p.h + r * p.stride;
    T* c_row = p.c + r * p.stride;
    T* kept = p.keep.at == nullptr ? nullptr : p.keep.at[r];
    for (Index u = 0; u < H; u += L) {
      const bool whole = u + L <= H;
      const auto mask = hn::FirstN(d, static_cast<std::size_t>(std::min(L, H - u)));
      const auto i = sigmoid(d, load_part(d, inputs + u, whole, mask));
      const auto f = sigmoid(d, load_part(d, inputs + H + u, whole, mask));
      const auto g = tanh_fast(d, load_part(d, inputs + 2 * H + u, whole, mask));
      const auto o = sigmoid(d, load_part(d, inputs + 3 * H + u, whole, mask));
      const auto c = hn::MulAdd(f, hn::LoadU(d, c_row + u), hn::Mul(i, g));
      const auto h = hn::Mul(o, tanh_fast(d, c));
      hn::StoreU(c, d, c_row + u);
      hn::StoreU(h, d, h_row + u);
      if (kept == nullptr) continue;
      T* gates = kept + p.keep.gates + u;
      T* next = kept + p.keep.record + u;
      store_part(d, i, gates, whole, mask);
      store_part(d, f, gates + H, whole, mask);
      store_part(d, g, gates + 2 * H, whole, mask);
      store_part(d, o, gates + 3 * H, whole, mask);
      store_part(d, h, next, whole, mask);
      hn::StoreU(c, d, next + p.keep.c);
    }
  }
}

template <class T>
void lstm_step_back(const LstmStepBack<T>& p) {
  const Lanes<T> d;
  constexpr Index L = lanes<T>();
  const auto one = hn::Set(d, 1);
  const Index H = p.units;
  for (Index r = 0; r < p.rows; ++r) {
    T* kept = p.kept.at[r];
    for (Index u = 0; u < H; u += L) {
      const bool whole = u + L <= H;
      const auto mask = hn::FirstN(d, static_cast<std::size_t>(std::min(L, H - u)));
      T* gates = kept + p.kept.gates + u;
      const auto i = load_part(d, gates, whole, mask);
      const auto f = load_part(d, gates + H, whole, mask);
      const auto g = load_part(d, gates + 2 * H, whole, mask);
      const auto o = load_part(d, gates + 3 * H, whole, mask);
      // Series keep their records far apart, and go back in time: the processor does not guess what is next.
      const T* soon = kept - 2 * p.kept.record + u;
      hwy::Prefetch(soon + p.kept.c);
      for (int gate = 0; gate < 4; ++gate) hwy::Prefetch(soon + p.kept.gates + gate * H);
      const auto before = hn::LoadU(d, kept + p.kept.c + u);
      const auto t = tanh_fast(d, hn::LoadU(d, kept + p.kept.record + p.kept.c + u));
      const auto d_h = hn::LoadU(d, p.d_h + r * p.stride + u);
      T* carried = p.d_c + r * p.stride + u;
      const auto d_c = hn::MulAdd(hn::Mul(d_h, o), hn::NegMulAdd(t, t, one), hn::LoadU(d, carried));
      const auto d_i = hn::Mul(hn::Mul(d_c, g), hn::Mul(i, hn::Sub(one, i)));
      const auto d_f = hn::Mul(hn::Mul(d_c, before), hn::Mul(f, hn::Sub(one, f)));
      const auto d_g = hn::Mul(hn::Mul(d_c, i), hn::NegMulAdd(g, g, one));
      const auto d_o = hn::Mul(hn::Mul(d_h, t), hn::Mul(o, hn::Sub(one, o)));
      hn::StoreU(hn::Mul(d_c, f), d, carried);
      for (T* out : {gates, p.d_inputs + r * p.input_stride + u}) {
        store_part(d, d_i, out, whole, mask);
        store_part(d, d_f, out + H, whole, mask);
        store_part(d, d_g, out + 2 * H, whole, mask);
        store_part(d, d_o, out + 3 * H, whole, mask);
      }
    }
  }
}

template <class T>
Kernels<T> table() {
  return {
      hwy::TargetName(HWY_TARGET), panel_columns<T>(), &pack<T>,   &multiply<T>,    &multiply_transposed<T>,
      &activation_back<T>,         &activate<T>,       &attend<T>, &attend_back<T>, &lstm_step<T>,
      &lstm_step_back<T>};
}

}  // namespace

Kernels<float> table_f32() {
  return table<float>();
}
Kernels<double> table_f64() {
#if HWY_TARGET == HWY_WASM  // has no doubles in this Highway; answers are computed in float
  return {};
#else
  return table<double>();
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace occam
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace occam {

HWY_EXPORT(table_f32);
HWY_EXPORT(table_f64);

template <>
const Kernels<float>& kernels<float>() {
  static const Kernels<float> best = HWY_DYNAMIC_DISPATCH(table_f32)();
  return best;
}

template <>
const Kernels<double>& kernels<double>() {
  static const Kernels<double> best = HWY_DYNAMIC_DISPATCH(table_f64)();
  return best;
}

}  // namespace occam
#endif
