// Two vectors of points at a time keep the exponentials of one busy while the other waits.
#include <cstdint>

#include "occam/abc/mixture.hpp"
#include "occam/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "occam/abc/mixture_simd.cpp"
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
using Tag = hn::CappedTag<double, 8>;  // two of them divide kMixtureLanes
using Vec = hn::Vec<Tag>;
constexpr Tag tag;

HWY_INLINE Vec kernel(Vec squares, Vec factor) {
  // Below -700 the exponential leaves the range of a double; such terms do not matter.
  const Vec exponent = hn::Max(hn::Mul(squares, hn::Set(tag, -0.5)), hn::Set(tag, -700.0));
  return hn::Mul(hn::Exp(tag, exponent), factor);
}

}  // namespace

void mixture_block(const MixtureCentres& c, const double* at, std::int64_t M, double* out) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(tag));
  const std::int64_t stride = c.d + c.e;
  for (std::int64_t i = 0; i < M; i += 2 * lanes) {
    Vec sum0 = hn::Zero(tag);
    Vec sum1 = hn::Zero(tag);
    for (std::int64_t k = 0; k < c.K; ++k) {
      const double* where = c.where + k * stride;
      Vec squares0 = hn::Zero(tag);
      Vec squares1 = hn::Zero(tag);
      for (std::int64_t a = 0; a < c.d; ++a) {
        const Vec centre = hn::Set(tag, where[a]);
        const Vec off0 = hn::Sub(hn::LoadU(tag, at + a * M + i), centre);
        const Vec off1 = hn::Sub(hn::LoadU(tag, at + a * M + i + lanes), centre);
        squares0 = hn::MulAdd(off0, off0, squares0);
        squares1 = hn::MulAdd(off1, off1, squares1);
      }
      Vec factor0 = hn::Set(tag, c.weight[k]);
      Vec factor1 = factor0;
      for (std::int64_t a = 0; a < c.e; ++a) {
        const Vec value = hn::Set(tag, where[c.d + a]);
        const Vec stay = hn::Set(tag, c.stay[a]);
        const Vec move = hn::Set(tag, c.move[a]);
        const double* column = at + (c.d + a) * M + i;
        factor0 = hn::Mul(factor0, hn::IfThenElse(hn::Eq(hn::LoadU(tag, column), value), stay, move));
        factor1 = hn::Mul(factor1, hn::IfThenElse(hn::Eq(hn::LoadU(tag, column + lanes), value), stay, move));
      }
      sum0 = hn::Add(sum0, kernel(squares0, factor0));
      sum1 = hn::Add(sum1, kernel(squares1, factor1));
    }
    hn::StoreU(sum0, tag, out + i);
    hn::StoreU(sum1, tag, out + i + lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace occam
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace occam {

HWY_EXPORT(mixture_block);

void mixture_density(const MixtureCentres& centres, const double* at, std::int64_t M, double* out) {
  HWY_DYNAMIC_DISPATCH(mixture_block)(centres, at, M, out);
}

}  // namespace occam
#endif
