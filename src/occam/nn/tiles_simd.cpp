#include <algorithm>

#include "occam/nn/tiles.hpp"

#if defined(__x86_64__) && defined(__linux__)
#define OCCAM_TILES 1
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef __clang__  // GCC 12 takes the undefined lanes of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#endif

namespace occam {

#ifdef OCCAM_TILES
namespace {

// Functions that hold such instructions; lambdas would not inherit it.
#define OCCAM_TILE_CODE __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512bf16")))

using Index = std::int64_t;
using Byte = unsigned char;

// A tile: 16 rows of 64 bytes. Of a, 16 rows by 32 numbers; of b, 32 rows by 16 columns, two rows of b in
// turns in one of the tile; of c, 16 by 16 floats. a and b come as pairs of tiles, hi and lo.
constexpr Index kRows = 16;
constexpr Index kInner = 32;
constexpr Index kColumns = 16;
constexpr Index kTile = 1024;
constexpr Index kPair = 2 * kTile;
// Tiles of a that one pass keeps: two rows of them fill a good part of the first-level cache.
constexpr Index kMostInner = 8;
// Fewer rows of b than this are not worth a tile.
constexpr Index kFewestInner = 16;

constexpr Index tiles_of(Index count, Index size) {
  return (count + size - 1) / size;
}

// Packed weights begin at a cache line, wherever their vector does.
template <class Pointer>
Pointer* aligned(Pointer* p) {
  return reinterpret_cast<Pointer*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
}

// The tile instructions are opaque: what they read must be in memory, what they wrote must be read anew.
inline void memory_barrier() {
  asm volatile("" ::: "memory");
}

struct Split {
  __m512i hi, lo;
};

// 32 floats as bfloat16, first those of x.
OCCAM_TILE_CODE inline Split split(__m512 x, __m512 y) {
  const __m512i hi = (__m512i)_mm512_cvtne2ps_pbh(y, x);
  const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(hi));
  const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(hi, 1));
  const __m512 x_rest = _mm512_sub_ps(x, _mm512_castsi512_ps(_mm512_slli_epi32(low, 16)));
  const __m512 y_rest = _mm512_sub_ps(y, _mm512_castsi512_ps(_mm512_slli_epi32(high, 16)));
  return {hi, (__m512i)_mm512_cvtne2ps_pbh(y_rest, x_rest)};
}

// The first `count` of 16 numbers that lie `stride` apart; zeros behind them.
OCCAM_TILE_CODE inline __m512 load(const float* from, Index stride, Index count) {
  if (count <= 0) return _mm512_setzero_ps();
  const auto mask = static_cast<__mmask16>((1u << std::min<Index>(count, 16)) - 1);
  if (stride == 1) return _mm512_maskz_loadu_ps(mask, from);
  alignas(64) float row[16] = {};
  for (Index i = 0; i < std::min<Index>(count, 16); ++i) row[i] = from[i * stride];
  return _mm512_load_ps(row);
}

// The order that puts two rows of 16 in turns.
OCCAM_TILE_CODE inline __m512i in_turns() {
  alignas(64) std::uint16_t turns[32];
  for (std::uint16_t i = 0; i < 32; ++i) turns[i] = static_cast<std::uint16_t>(i / 2 + (i % 2) * 16);
  return _mm512_load_si512(turns);
}

OCCAM_TILE_CODE void pack_panels(const float* w, Index k_stride, Index c_stride, Index inner, Index columns,
                                 Byte* to) {
  const __m512i order = in_turns();
  for (Index c = 0; c < columns; c += kColumns) {
    for (Index k0 = 0; k0 < inner; k0 += kInner, to += kPair) {
      for (Index row = 0; row < kRows; ++row) {
        const Index k = k0 + 2 * row;
        const float* from = w + k * k_stride + c * c_stride;
        const __m512 x = load(from, c_stride, k < inner ? columns - c : 0);
        const __m512 y = load(from + k_stride, c_stride, k + 1 < inner ? columns - c : 0);
        const Split parts = split(x, y);
        _mm512_store_si512(to + row * 64, _mm512_permutexvar_epi16(order, parts.hi));
        _mm512_store_si512(to + kTile + row * 64, _mm512_permutexvar_epi16(order, parts.lo));
      }
    }
  }
}

OCCAM_TILE_CODE void pack_tiles(const float* w, Index k_stride, Index c_stride, Index inner, Index columns,
                                float* panels) {
  if (inner < kFewestInner) return kernels<float>().pack(w, k_stride, c_stride, inner, columns, panels);
  pack_panels(w, k_stride, c_stride, inner, columns, reinterpret_cast<Byte*>(aligned(panels)));
}

// Rows of a as pairs of tiles.
OCCAM_TILE_CODE void split_rows(const float* a, Index stride, Index rows, Index inner, Byte* to) {
  for (Index r = 0; r < rows; ++r) {
    Byte* out = to + r * 64;
    for (Index k = 0; k < inner; k += kInner, out += kPair) {
      const float* from = a + r * stride + k;
      const Split parts = split(load(from, 1, inner - k), load(from + 16, 1, inner - k - 16));
      _mm512_store_si512(out, parts.hi);
      _mm512_store_si512(out + kTile, parts.lo);
    }
  }
}

// 16 by 16 numbers of 32 bits, from rows to columns, written behind each other.
OCCAM_TILE_CODE inline void store_turned(const __m512i (&row)[16], Byte* to) {
  __m512i two[16], four[16];
  for (int i = 0; i < 16; i += 2) {
    two[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    two[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
  // Of four rows each: number i + j holds columns j, 4 + j, 8 + j and 12 + j.
  for (int i = 0; i < 16; i += 4) {
    four[i] = _mm512_unpacklo_epi64(two[i], two[i + 2]);
    four[i + 1] = _mm512_unpackhi_epi64(two[i], two[i + 2]);
    four[i + 2] = _mm512_unpacklo_epi64(two[i + 1], two[i + 3]);
    four[i + 3] = _mm512_unpackhi_epi64(two[i + 1], two[i + 3]);
  }
  for (int j = 0; j < 4; ++j) {
    const __m512i even = _mm512_shuffle_i32x4(four[j], four[4 + j], 0x88);
    const __m512i even_below = _mm512_shuffle_i32x4(four[8 + j], four[12 + j], 0x88);
    const __m512i odd = _mm512_shuffle_i32x4(four[j], four[4 + j], 0xdd);
    const __m512i odd_below = _mm512_shuffle_i32x4(four[8 + j], four[12 + j], 0xdd);
    _mm512_store_si512(to + j * 64, _mm512_shuffle_i32x4(even, even_below, 0x88));
    _mm512_store_si512(to + (4 + j) * 64, _mm512_shuffle_i32x4(odd, odd_below, 0x88));
    _mm512_store_si512(to + (8 + j) * 64, _mm512_shuffle_i32x4(even, even_below, 0xdd));
    _mm512_store_si512(to + (12 + j) * 64, _mm512_shuffle_i32x4(odd, odd_below, 0xdd));
  }
}

// Up to 16 columns of a, which has `inner` rows, as pairs of tiles with a row for each.
OCCAM_TILE_CODE void split_columns(const float* a, Index stride, Index columns, Index inner, Byte* to) {
  const __m512i order = in_turns();
  for (Index k0 = 0; k0 < inner; k0 += kInner, to += kPair) {
    __m512i hi[16], lo[16];
    for (Index row = 0; row < kRows; ++row) {
      const Index k = k0 + 2 * row;
      const float* from = a + k * stride;
      const Split parts =
          split(load(from, 1, k < inner ? columns : 0), load(from + stride, 1, k + 1 < inner ? columns : 0));
      hi[row] = _mm512_permutexvar_epi16(order, parts.hi);
      lo[row] = _mm512_permutexvar_epi16(order, parts.lo);
    }
    store_turned(hi, to);
    store_turned(lo, to + kTile);
  }
}

// How many rows each of the eight registers has.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

// For up to 32 rows of c: with more than 16, registers 2, 3 and 5 hold those below.
OCCAM_TILE_CODE void shape_registers(Index rows) {
  const bool tall = rows > kRows;
  Shapes shapes;
  for (int i = 0; i < 8; ++i) {
    const bool below = tall && (i == 2 || i == 3 || i == 5);
    const Index own = i >= 6 ? kRows : below ? rows - kRows : std::min(rows, kRows);
    shapes.row_bytes[i] = 64;
    shapes.rows[i] = static_cast<std::uint8_t>(own);
  }
  _tile_loadconfig(&shapes);
}

// What the sums begin with: rows of c, the bias in every row (stride 0), or nothing.
struct Begin {
  const float* from;
  Index stride;  // bytes
};

OCCAM_TILE_CODE inline void zero_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

// Two tiles of rows by one or two of columns: sums in registers 0 and 1, 2 and 3.
OCCAM_TILE_CODE void tall_block(const Byte* a, Index a_step, const Byte* b, Index b_step, Index inner,
                                bool two, Begin begin, float* c, Index c_stride) {
  if (begin.from == nullptr) {
    zero_sums();
  } else {
    const float* below = begin.from + kRows * begin.stride / 4;
    _tile_loadd(0, begin.from, begin.stride);
    _tile_loadd(2, below, begin.stride);
    if (two) _tile_loadd(1, begin.from + kColumns, begin.stride);
    if (two) _tile_loadd(3, below + kColumns, begin.stride);
  }
  for (Index k = 0; k < inner; ++k, a += kPair, b += kPair) {
    _tile_loadd(4, a, 64);
    _tile_loadd(5, a + a_step, 64);
    _tile_loadd(6, b + kTile, 64);
    if (two) _tile_loadd(7, b + b_step + kTile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    if (two) _tile_dpbf16ps(1, 4, 7);
    if (two) _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(6, b, 64);
    if (two) _tile_loadd(7, b + b_step, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    if (two) _tile_dpbf16ps(1, 4, 7);
    if (two) _tile_dpbf16ps(3, 5, 7);
    _tile_loadd(4, a + kTile, 64);
    _tile_loadd(5, a + a_step + kTile, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    if (two) _tile_dpbf16ps(1, 4, 7);
    if (two) _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, c_stride * 4);
  _tile_stored(2, c + kRows * c_stride, c_stride * 4);
  if (two) _tile_stored(1, c + kColumns, c_stride * 4);
  if (two) _tile_stored(3, c + kRows * c_stride + kColumns, c_stride * 4);
}

#define OCCAM_TILE_COLUMN(sum)   \
  _tile_loadd(6, b + kTile, 64); \
  _tile_dpbf16ps(sum, 4, 6);     \
  _tile_loadd(7, b, 64);         \
  _tile_dpbf16ps(sum, 4, 7);     \
  _tile_dpbf16ps(sum, 5, 7)

// One tile of rows by up to four of columns: sums in registers 0 to 3. The order in which an element is added
// up is that of tall_block.
OCCAM_TILE_CODE void wide_block(const Byte* a, const Byte* panel, Index b_step, Index inner, Index columns,
                                Begin begin, float* c, Index c_stride) {
  if (begin.from == nullptr) {
    zero_sums();
  } else {
    _tile_loadd(0, begin.from, begin.stride);
    if (columns > 1) _tile_loadd(1, begin.from + kColumns, begin.stride);
    if (columns > 2) _tile_loadd(2, begin.from + 2 * kColumns, begin.stride);
    if (columns > 3) _tile_loadd(3, begin.from + 3 * kColumns, begin.stride);
  }
  for (Index k = 0; k < inner; ++k, a += kPair, panel += kPair) {
    _tile_loadd(4, a, 64);
    _tile_loadd(5, a + kTile, 64);
    const Byte* b = panel;
    OCCAM_TILE_COLUMN(0);
    b += b_step;
    if (columns > 1) {
      OCCAM_TILE_COLUMN(1);
    }
    b += b_step;
    if (columns > 2) {
      OCCAM_TILE_COLUMN(2);
    }
    b += b_step;
    if (columns > 3) {
      OCCAM_TILE_COLUMN(3);
    }
  }
  _tile_stored(0, c, c_stride * 4);
  if (columns > 1) _tile_stored(1, c + kColumns, c_stride * 4);
  if (columns > 2) _tile_stored(2, c + 2 * kColumns, c_stride * 4);
  if (columns > 3) _tile_stored(3, c + 3 * kColumns, c_stride * 4);
}

// Up to 32 rows of a, as tiles with kMostInner pairs to a row of them, times all columns of b. The sums begin
// with what stands in c, or with the bias, if there is one.
OCCAM_TILE_CODE void row_block(const Byte* a, Index rows, const Byte* b, Index b_step, Index inner,
                               Index columns, bool add, const float* bias, float* c, Index c_stride) {
  const Index column_tiles = tiles_of(columns, kColumns);
  const bool tall = rows > kRows;
  const Index width = tall ? 2 : 4;
  memory_barrier();
  for (Index n = 0; n < column_tiles; n += width) {
    const Index count = std::min(width, column_tiles - n);
    float* out = c + n * kColumns;
    const Begin begin =
        add ? Begin{out, c_stride * 4} : Begin{bias == nullptr ? nullptr : bias + n * kColumns, 0};
    if (tall) {
      tall_block(a, kMostInner * kPair, b + n * b_step, b_step, inner, count > 1, begin, out, c_stride);
    } else {
      wide_block(a, b + n * b_step, b_step, inner, count, begin, out, c_stride);
    }
  }
  memory_barrier();
}

// Before sums that begin with what stands in c.
void add_bias(const Product<float>& p) {
  for (Index r = 0; r < p.rows; ++r) {
    for (Index c = 0; c < p.columns; ++c) p.c[r * p.c_stride + c] += p.bias[c];
  }
}

OCCAM_TILE_CODE void multiply_tiles(const Product<float>& p) {
  if (p.inner < kFewestInner) return kernels<float>().multiply(p);
  if (p.accumulate && p.bias != nullptr) add_bias(p);
  alignas(64) Byte a_tiles[2 * kMostInner * kPair];
  const Byte* panels = reinterpret_cast<const Byte*>(aligned(p.b));
  const Index inner_tiles = tiles_of(p.inner, kInner);
  const Index piece = tiles_of(inner_tiles, tiles_of(inner_tiles, kMostInner));
  Index shaped = 0;
  for (Index r = 0; r < p.rows; r += 2 * kRows) {
    const Index rows = std::min(2 * kRows, p.rows - r);
    if (rows != shaped) shape_registers(rows);
    shaped = rows;
    float* c = p.c + r * p.c_stride;
    for (Index k = 0; k < inner_tiles; k += piece) {
      const Index count = std::min(piece, inner_tiles - k);
      for (Index half = 0; half < rows; half += kRows) {
        split_rows(p.a + (r + half) * p.a_stride + k * kInner, p.a_stride, std::min(kRows, rows - half),
                   std::min(count * kInner, p.inner - k * kInner),
                   a_tiles + half / kRows * kMostInner * kPair);
      }
      row_block(a_tiles, rows, panels + k * kPair, inner_tiles * kPair, count, p.columns,
                p.accumulate || k > 0, p.bias, c, p.c_stride);
    }
    if (p.activation != Activation::identity) {
      kernels<float>().activate(p.activation, c, p.c_stride, rows, p.columns);
    }
  }
  _tile_release();
}

// Both operands are turned into tiles anew: that pays where there are many columns. Rows of c are not padded,
// so its last tile must be whole.
OCCAM_TILE_CODE void multiply_transposed_tiles(const Product<float>& p) {
  constexpr Index kSlab = 256;
  if (p.columns % kColumns != 0 || p.columns < kSlab / 2 || p.inner < kFewestInner) {
    return kernels<float>().multiply_transposed(p);
  }
  constexpr Index kSteps = 128;
  alignas(64) Byte a_tiles[2 * kMostInner * kPair];
  alignas(64) Byte b_tiles[kSteps / kInner * (kSlab / kColumns) * kPair];
  Index shaped = 0;
  for (Index k = 0; k < p.inner; k += kSteps) {
    const Index steps = std::min(kSteps, p.inner - k);
    const Index count = tiles_of(steps, kInner);
    for (Index first = 0; first < p.columns; first += kSlab) {
      const Index columns = std::min(kSlab, p.columns - first);
      pack_panels(p.b + k * p.b_stride + first, p.b_stride, 1, steps, columns, b_tiles);
      for (Index r = 0; r < p.rows; r += 2 * kRows) {
        const Index rows = std::min(2 * kRows, p.rows - r);
        if (rows != shaped) shape_registers(rows);
        shaped = rows;
        for (Index half = 0; half < rows; half += kRows) {
          split_columns(p.a + k * p.a_stride + r + half, p.a_stride, std::min(kRows, rows - half), steps,
                        a_tiles + half / kRows * kMostInner * kPair);
        }
        row_block(a_tiles, rows, b_tiles, count * kPair, count, columns, p.accumulate || k > 0, nullptr,
                  p.c + r * p.c_stride + first, p.c_stride);
      }
    }
  }
  _tile_release();
}

// Whether the processor has tiles of bfloat16, and the system lets this process use them.
bool tiles_available() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512bf16")) return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(7), "c"(0));
  constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24;
  if ((d & kBfloat16) == 0 || (d & kTiles) == 0) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

Kernels<float> with_tiles(Kernels<float> table) {
  // Where a lesser instruction set was asked for, the tiles are not asked either.
  if (table.target.rfind("AVX3", 0) != 0 || !tiles_available()) return table;
  table.pack = &pack_tiles;
  table.multiply = &multiply_tiles;
  table.multiply_transposed = &multiply_transposed_tiles;
  return table;
}

}  // namespace
#else
namespace {
Kernels<float> with_tiles(Kernels<float> table) {
  return table;
}
}  // namespace
#endif

template <>
const Kernels<float>& tile_kernels<float>() {
  static const Kernels<float> best = with_tiles(kernels<float>());
  return best;
}

template <>
const Kernels<double>& tile_kernels<double>() {
  return kernels<double>();
}

}  // namespace occam
