#include <algorithm>

#include "occam/nn/tiles.hpp"

#if defined(__x86_64__) && defined(__linux__)
#define OCCAM_TILES 1
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
// GCC 12 takes the undefined lanes of its own intrinsics for a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
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

OCCAM_TILE_CODE void pack_tiles(const float* w, Index k_stride, Index c_stride, Index inner, Index columns,
                                float* panels) {
  if (inner < kFewestInner) return kernels<float>().pack(w, k_stride, c_stride, inner, columns, panels);
  Byte* to = reinterpret_cast<Byte*>(aligned(panels));
  alignas(64) std::uint16_t turns[32];
  for (std::uint16_t i = 0; i < 32; ++i) turns[i] = static_cast<std::uint16_t>(i / 2 + (i % 2) * 16);
  const __m512i order = _mm512_load_si512(turns);
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

// How many rows each of the eight registers has.
struct alignas(64) Shapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

OCCAM_TILE_CODE void shape_registers(Index first_rows, Index second_rows, bool tall) {
  Shapes shapes;
  for (int i = 0; i < 8; ++i) {
    const bool second = tall && (i == 2 || i == 3 || i == 5);
    shapes.row_bytes[i] = 64;
    shapes.rows[i] = static_cast<std::uint8_t>(i >= 6 ? kRows : second ? second_rows : first_rows);
  }
  _tile_loadconfig(&shapes);
}

// What the sums begin with: rows of c, the bias in every row (stride 0), or nothing.
struct Begin {
  const float* from;
  Index stride;  // bytes
};

// Two tiles of rows by one or two of columns: sums in registers 0 and 1, 2 and 3.
OCCAM_TILE_CODE void tall_block(const Byte* a, Index a_step, const Byte* b, Index b_step, Index inner,
                                bool two, Begin begin, float* c, Index c_stride) {
  if (begin.from == nullptr) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
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
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
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

// Up to 32 rows of the product.
OCCAM_TILE_CODE void row_block(const Product<float>& p, const float* a, Index rows, float* c, Byte* scratch) {
  const Index inner_tiles = tiles_of(p.inner, kInner);
  const Index column_tiles = tiles_of(p.columns, kColumns);
  const Index piece = tiles_of(inner_tiles, tiles_of(inner_tiles, kMostInner));
  const Byte* panels = reinterpret_cast<const Byte*>(aligned(p.b));
  const Index b_step = inner_tiles * kPair;
  const Index a_step = kMostInner * kPair;
  const bool tall = rows > kRows;
  for (Index k = 0; k < inner_tiles; k += piece) {
    const Index count = std::min(piece, inner_tiles - k);
    const Index inner = std::min(count * kInner, p.inner - k * kInner);
    split_rows(a + k * kInner, p.a_stride, std::min(rows, kRows), inner, scratch);
    if (tall)
      split_rows(a + kRows * p.a_stride + k * kInner, p.a_stride, rows - kRows, inner, scratch + a_step);
    memory_barrier();
    const Index width = tall ? 2 : 4;
    for (Index n = 0; n < column_tiles; n += width) {
      const Index columns = std::min(width, column_tiles - n);
      float* out = c + n * kColumns;
      const Begin begin = p.accumulate || k > 0
                              ? Begin{out, p.c_stride * 4}
                              : Begin{p.bias == nullptr ? nullptr : p.bias + n * kColumns, 0};
      const Byte* b = panels + n * b_step + k * kPair;
      if (tall) {
        tall_block(scratch, a_step, b, b_step, count, columns > 1, begin, out, p.c_stride);
      } else {
        wide_block(scratch, b, b_step, count, columns, begin, out, p.c_stride);
      }
    }
    memory_barrier();
  }
}

OCCAM_TILE_CODE void multiply_tiles(const Product<float>& p) {
  if (p.inner < kFewestInner) return kernels<float>().multiply(p);
  alignas(64) Byte scratch[2 * kMostInner * kPair];
  Index shaped = 0;
  for (Index r = 0; r < p.rows; r += 2 * kRows) {
    const Index rows = std::min(2 * kRows, p.rows - r);
    if (rows != shaped) shape_registers(std::min(rows, kRows), rows - kRows, rows > kRows);
    shaped = rows;
    row_block(p, p.a + r * p.a_stride, rows, p.c + r * p.c_stride, scratch);
    if (p.activation != Activation::identity) {
      kernels<float>().activate(p.activation, p.c + r * p.c_stride, p.c_stride, rows, p.columns);
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
