// Products of 16 by 16 blocks on tensor cores. A number is held as the sum of two of 16 bits (bfloat16), and
// of the four products of such sums the three that matter are taken: about 17 bits of every operand count, at
// a third of the speed of the cores, which is many times that of plain multiplications.
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace occam::gpu {

// Two neighbouring numbers, first halves and second halves.
struct Pair {
  std::uint32_t high, low;
};

__device__ inline std::uint32_t rounded_pair(float a, float b) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(a, b);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

__device__ inline Pair split(float a, float b) {
  const std::uint32_t high = rounded_pair(a, b);
  const float rest_a = a - __uint_as_float(high << 16);
  const float rest_b = b - __uint_as_float(high & 0xffff0000u);
  return {high, rounded_pair(rest_a, rest_b)};
}

// Four 8 by 8 matrices from shared memory: each lane names one row of one of them. kOffset: bytes to be
// added, which cost nothing here.
template <int kOffset>
__device__ inline void load_blocks(std::uint32_t address, std::uint32_t (&r)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4 + %5];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address), "n"(kOffset));
}

__device__ inline void load_blocks_transposed(const void* row, std::uint32_t (&r)[4]) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

// 16 bytes from the device to shared memory, while the thread goes on; wait_for_copies<k>() waits until at
// most the last k groups of them are under way.
__device__ inline void copy_ahead(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))), "l"(from)
               : "memory");
}
// One number, or zero.
__device__ inline void copy_number_ahead(std::uint32_t to, const float* from, bool really) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"(to), "l"(from), "r"(really ? 4 : 0)
               : "memory");
}
__device__ inline void end_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kGroups>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// c (16, 8) += a (16, 16) b (16, 8).
__device__ inline void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// c (16, 8) += a (16, 32) b (32, 8), all of them integers, those of a and b of 8 bits.
__device__ inline void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                      std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace occam::gpu
