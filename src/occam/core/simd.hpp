// Which instruction sets SIMD code is compiled for; include before <hwy/foreach_target.h>.
// Left out: vectors of scalable length, which cannot be kept in arrays (arm64 uses NEON), AVX3_DL, which
// Debian's Highway enables for the baseline but not for dispatch and which adds nothing that is used here,
// and SSSE3, which matters to processors of before 2008 alone and takes as long to compile as any other.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
