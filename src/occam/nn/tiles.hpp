// Matrix products in the tile registers of newer Intel processors (AMX), which multiply bfloat16 numbers and
// add up in float. Every float is split into two such numbers, x = hi + lo with 16 bits of x between them,
// and
//   a b = a_hi b_hi + a_hi b_lo + a_lo b_hi
// leaves out less than 2^-16 of each term: more than a gate or a channel needs, at several times the speed.
// An element of the result depends on its row of a and its column of b alone, not on how many rows there are.
#pragma once

#include "occam/nn/kernels.hpp"

namespace occam {

// kernels<T>(), with `pack`, `multiply` and `multiply_transposed` in tiles where processor and system have
// them and T is float. What one packs the other reads.
template <class T>
const Kernels<T>& tile_kernels();

// Elements that its `pack` may write.
template <class T>
constexpr std::int64_t tile_elements(std::int64_t inner, std::int64_t columns) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  return packed_elements<T>((inner + 31) / 32 * 32, columns) + line;
}

}  // namespace occam
