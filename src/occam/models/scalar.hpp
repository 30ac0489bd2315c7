// Functions of single numbers that models compute on GPUs and on the host alike, as their SIMD code does.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "occam/core/both.hpp"

namespace occam::scalar {

OCCAM_BOTH inline float float_of(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

OCCAM_BOTH inline std::uint32_t bits_of(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  return std::bit_cast<std::uint32_t>(x);
#endif
}

// A positive normal number as 2^exponent (1 + m), m in [sqrt(.5) - 1, sqrt(2) - 1).
struct Parts {
  float exponent, m;
};

OCCAM_BOTH inline Parts parts_of(float x) {
  constexpr std::int32_t kRootHalf = 0x3f3504f3;
  const std::int32_t bits = static_cast<std::int32_t>(bits_of(x)) - kRootHalf;
  const std::int32_t mantissa = (bits & 0x7fffff) + kRootHalf;
  return {static_cast<float>(bits >> 23), float_of(static_cast<std::uint32_t>(mantissa)) - 1.0f};
}

OCCAM_BOTH inline float log2_of(Parts x) {
  const float m = x.m;
  float p = fmaf(-0.14275974035263062f, m, 0.23265257477760315f);
  p = fmaf(p, m, -0.24927182495594025f);
  p = fmaf(p, m, 0.2872888743877411f);
  p = fmaf(p, m, -0.3602251708507538f);
  p = fmaf(p, m, 0.48091670870780945f);
  p = fmaf(p, m, -0.7213529348373413f);
  p = fmaf(p, m, 1.4426950216293335f);
  return fmaf(p, m, x.exponent);
}

struct Pair {
  float first, second;
};

}  // namespace occam::scalar
