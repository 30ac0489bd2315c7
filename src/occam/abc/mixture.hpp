// The density of a mixture of equal kernels around K centres, at M points:
//   out_i = sum_k weight_k exp(-|x_i - c_k|^2 / 2) prod_e [u_ie = v_ke ? stay_e : move_e]
// x and c are whitened coordinates (d), u and v discrete ones (e). The innermost loop of ABC-SMC: K M terms.
// Points lie in the lanes of a vector and centres follow each other, so that the sum does not depend on the
// length of a vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace occam {

struct MixtureCentres {
  std::int64_t K = 0;
  std::int64_t d = 0;              // continuous coordinates
  std::int64_t e = 0;              // discrete ones
  const double* where = nullptr;   // (K, d + e)
  const double* weight = nullptr;  // (K)
  const double* stay = nullptr;    // (e)
  const double* move = nullptr;    // (e)
};

// Points as columns (d + e, M): coordinate c of point i is at[c * M + i]. M must be a multiple of
// kMixtureLanes.
inline constexpr std::int64_t kMixtureLanes = 16;
void mixture_density(const MixtureCentres& centres, const double* at, std::int64_t M, double* out);

}  // namespace occam
