// Views of the arrays the engine works on. Rows are observations (or sets, or time steps), columns features;
// row-major, with rows padded to whole cache lines so that vector code needs no special case at the end of a
// row.
#pragma once

#include <cstdint>

namespace occam {

// Elements between the starts of two rows of `columns` features.
template <class T>
constexpr std::int64_t padded(std::int64_t columns) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  return (columns + line - 1) / line * line;
}

template <class T>
struct Matrix {
  T* data = nullptr;  // (rows, stride)
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;

  T* row(std::int64_t r) const { return data + r * stride; }
  Matrix rows_from(std::int64_t first, std::int64_t count) const {
    return {row(first), count, columns, stride};
  }
  Matrix columns_from(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
  operator Matrix<const T>() const { return {data, rows, columns, stride}; }
};

// Data sets of different sizes behind each other, without padding between them: set b holds rows
// offsets[b] .. offsets[b+1].
template <class T>
struct Ragged {
  Matrix<T> x;
  const std::int64_t* offsets = nullptr;  // (sets + 1), from 0
  std::int64_t sets = 0;

  std::int64_t size(std::int64_t set) const { return offsets[set + 1] - offsets[set]; }
};

}  // namespace occam
