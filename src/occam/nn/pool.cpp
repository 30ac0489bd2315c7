#include "occam/nn/pool.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "occam/nn/kernels.hpp"

namespace occam {
namespace {

template <class T>
void add_rows(Matrix<const T> x, T* sum) {
  std::fill_n(sum, x.columns, T{0});
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const T* row = x.row(r);
    for (std::int64_t c = 0; c < x.columns; ++c) sum[c] += row[c];
  }
}

template <class T>
void scale_row(const T* from, T factor, std::int64_t columns, T* to) {
  for (std::int64_t c = 0; c < columns; ++c) to[c] = factor * from[c];
}

template <class T>
void largest_rows(Matrix<const T> x, T* out, std::int32_t* largest) {
  std::copy_n(x.row(0), x.columns, out);
  std::fill_n(largest, x.columns, 0);
  for (std::int64_t r = 1; r < x.rows; ++r) {
    const T* row = x.row(r);
    for (std::int64_t c = 0; c < x.columns; ++c) {
      if (row[c] > out[c]) {
        out[c] = row[c];
        largest[c] = static_cast<std::int32_t>(r);
      }
    }
  }
}

// 1 for the first tile with the largest value, 0 for all others.
template <class T>
void largest_share(Matrix<const T> pooled, std::int64_t column, Matrix<T> shares) {
  std::int64_t best = 0;
  for (std::int64_t t = 0; t < pooled.rows; ++t) {
    if (pooled.row(t)[column] > pooled.row(best)[column]) best = t;
    shares.row(t)[column] = 0;
  }
  shares.row(best)[column] = 1;
}

template <class T>
void softmax_share(Matrix<const T> log_weights, std::int64_t column, Matrix<T> shares) {
  T top = log_weights.row(0)[column];
  for (std::int64_t t = 1; t < shares.rows; ++t) top = std::max(top, log_weights.row(t)[column]);
  double total = 0;
  for (std::int64_t t = 0; t < shares.rows; ++t) {
    shares.row(t)[column] = std::exp(log_weights.row(t)[column] - top);
    total += static_cast<double>(shares.row(t)[column]);
  }
  for (std::int64_t t = 0; t < shares.rows; ++t) shares.row(t)[column] /= static_cast<T>(total);
}

}  // namespace

template <class T>
void pool(Pooling pooling, T sum_scale, Ragged<const T> e, Matrix<T> scores, Matrix<T> out,
          std::int32_t* largest) {
  const std::int64_t h = e.x.columns;
  for (std::int64_t set = 0; set < e.sets; ++set) {
    const std::int64_t n = e.size(set);
    const Matrix<const T> x = e.x.rows_from(e.offsets[set], n);
    T* y = out.row(set);
    switch (pooling) {
      case Pooling::mean:
        add_rows(x, y);
        scale_row(y, T{1} / static_cast<T>(n), h, y);
        break;
      case Pooling::sum:
        add_rows(x, y);
        scale_row(y, sum_scale, h, y);
        break;
      case Pooling::mean_sum:
        add_rows(x, y);
        scale_row(y, sum_scale, h, y + h);
        scale_row(y, T{1} / static_cast<T>(n), h, y);
        break;
      case Pooling::max:
        largest_rows(x, y, largest + set * h);
        break;
      case Pooling::attention:
        kernels<T>().attend(scores.row(e.offsets[set]), scores.stride, x.data, x.stride, n, h, y);
        break;
    }
  }
}

template <class T>
void pool_back(Pooling pooling, T sum_scale, Ragged<const T> e, Matrix<T> weights, Matrix<const T> out,
               const std::int32_t* largest, Matrix<const T> d_out, Matrix<T> d_e) {
  const std::int64_t h = e.x.columns;
  for (std::int64_t set = 0; set < e.sets; ++set) {
    const std::int64_t first = e.offsets[set];
    const std::int64_t n = e.size(set);
    const T* dy = d_out.row(set);
    const T mean_scale = T{1} / static_cast<T>(n);
    if (pooling == Pooling::attention) {
      kernels<T>().attend_back(weights.row(first), weights.stride, e.x.row(first), e.x.stride, out.row(set),
                               dy, d_e.row(first), d_e.stride, n, h);
      continue;
    }
    for (std::int64_t r = first; r < first + n; ++r) {
      T* dx = d_e.row(r);
      switch (pooling) {
        case Pooling::mean:
          scale_row(dy, mean_scale, h, dx);
          break;
        case Pooling::sum:
          scale_row(dy, sum_scale, h, dx);
          break;
        case Pooling::mean_sum:
          for (std::int64_t c = 0; c < h; ++c) dx[c] = mean_scale * dy[c] + sum_scale * dy[h + c];
          break;
        case Pooling::max:
          for (std::int64_t c = 0; c < h; ++c) dx[c] = largest[set * h + c] == r - first ? dy[c] : T{0};
          break;
        case Pooling::attention:
          break;
      }
    }
  }
}

template void pool(Pooling, float, Ragged<const float>, Matrix<float>, Matrix<float>, std::int32_t*);
template void pool(Pooling, double, Ragged<const double>, Matrix<double>, Matrix<double>, std::int32_t*);
template void pool_back(Pooling, float, Ragged<const float>, Matrix<float>, Matrix<const float>,
                        const std::int32_t*, Matrix<const float>, Matrix<float>);
template void pool_back(Pooling, double, Ragged<const double>, Matrix<double>, Matrix<const double>,
                        const std::int32_t*, Matrix<const double>, Matrix<double>);

template <class T>
void pool_tile(Pooling pooling, T sum_scale, Matrix<const T> e, Matrix<T> scores, T* out,
               std::int32_t* largest, T* log_weights) {
  const std::int64_t h = e.columns;
  const std::int64_t offsets[] = {0, e.rows};
  const bool attention = pooling == Pooling::attention;
  if (attention) largest_rows<T>(scores, log_weights, largest);
  pool<T>(pooling, sum_scale, {e, offsets, 1}, scores, {out, 1, pooled_columns(pooling, h), 0}, largest);
  // What is now the weight of the largest score is one over the sum.
  for (std::int64_t c = 0; attention && c < h; ++c) log_weights[c] -= std::log(scores.row(largest[c])[c]);
}

template <class T>
void tile_shares(Pooling pooling, const std::int64_t* sizes, Matrix<const T> pooled,
                 Matrix<const T> log_weights, Matrix<T> shares) {
  const auto n = static_cast<double>(std::accumulate(sizes, sizes + shares.rows, std::int64_t{0}));
  for (std::int64_t c = 0; c < shares.columns; ++c) {
    if (pooling == Pooling::max) {
      largest_share<T>(pooled, c, shares);
    } else if (pooling == Pooling::attention) {
      softmax_share<T>(log_weights, c, shares);
    } else {
      const bool mean = pooling == Pooling::mean || (pooling == Pooling::mean_sum && c < shares.columns / 2);
      for (std::int64_t t = 0; t < shares.rows; ++t)
        shares.row(t)[c] = mean ? static_cast<T>(static_cast<double>(sizes[t]) / n) : T{1};
    }
  }
}

template <class T>
void join_tiles(Matrix<const T> shares, Matrix<const T> parts, T* pooled) {
  for (std::int64_t c = 0; c < parts.columns; ++c) {
    double sum = 0;
    for (std::int64_t t = 0; t < parts.rows; ++t)
      sum += static_cast<double>(shares.row(t)[c]) * static_cast<double>(parts.row(t)[c]);
    pooled[c] = static_cast<T>(sum);
  }
}

template void join_tiles(Matrix<const float>, Matrix<const float>, float*);
template void join_tiles(Matrix<const double>, Matrix<const double>, double*);
template void pool_tile(Pooling, float, Matrix<const float>, Matrix<float>, float*, std::int32_t*, float*);
template void pool_tile(Pooling, double, Matrix<const double>, Matrix<double>, double*, std::int32_t*,
                        double*);
template void tile_shares(Pooling, const std::int64_t*, Matrix<const float>, Matrix<const float>,
                          Matrix<float>);
template void tile_shares(Pooling, const std::int64_t*, Matrix<const double>, Matrix<const double>,
                          Matrix<double>);

namespace {

// One block: a product of matrices for every data set.
template <class T>
void mean_products_of_one(Ragged<const T> x, Matrix<T> out, Workspace& workspace) {
  const std::int64_t k = x.x.columns;
  const Matrix<T> products = workspace.zeros<T>(k, k);
  for (std::int64_t set = 0; set < x.sets; ++set) {
    const Matrix<const T> rows = x.x.rows_from(x.offsets[set], x.size(set));
    kernels<T>().multiply_transposed({.a = rows.data,
                                      .a_stride = rows.stride,
                                      .b = rows.data,
                                      .b_stride = rows.stride,
                                      .c = products.data,
                                      .c_stride = products.stride,
                                      .rows = k,
                                      .inner = rows.rows,
                                      .columns = k});
    const T factor = T{1} / static_cast<T>(rows.rows);
    T* to = out.row(set);
    for (std::int64_t a = 0; a < k; ++a) {
      for (std::int64_t b = 0; b <= a; ++b) *to++ = factor * products.row(a)[b];
    }
  }
}

template <class T>
void mean_products_of_one_back(Ragged<const T> x, Matrix<const T> d_out, Matrix<T> d_x,
                               Workspace& workspace) {
  const std::int64_t k = x.x.columns;
  const Matrix<T> both = workspace.zeros<T>(k, k);  // the gradient of a full matrix, counted twice
  T* const panels = workspace.take<T>(packed_elements<T>(k, k));
  for (std::int64_t set = 0; set < x.sets; ++set) {
    const Matrix<const T> rows = x.x.rows_from(x.offsets[set], x.size(set));
    const T factor = T{1} / static_cast<T>(rows.rows);
    const T* from = d_out.row(set);
    for (std::int64_t a = 0; a < k; ++a) {
      for (std::int64_t b = 0; b < a; ++b, ++from) both.row(a)[b] = both.row(b)[a] = factor * *from;
      both.row(a)[a] = 2 * factor * *from++;
    }
    kernels<T>().pack(both.data, both.stride, 1, k, k, panels);
    const Matrix<T> d_rows = d_x.rows_from(x.offsets[set], x.size(set));
    kernels<T>().multiply({.a = rows.data,
                           .a_stride = rows.stride,
                           .b = panels,
                           .b_stride = 0,
                           .c = d_rows.data,
                           .c_stride = d_rows.stride,
                           .rows = rows.rows,
                           .inner = k,
                           .columns = k});
  }
}

// Across blocks, where memory is contiguous.
template <class T>
void add_products(std::int64_t blocks, const T* a, const T* b, T* sum) {
  for (std::int64_t h = 0; h < blocks; ++h) sum[h] += a[h] * b[h];
}

}  // namespace

template <class T>
void mean_products(Ragged<const T> x, std::int64_t blocks, Matrix<T> out, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  if (blocks == 1) return mean_products_of_one(x, out, workspace);
  const std::int64_t k = x.x.columns / blocks;
  for (std::int64_t set = 0; set < x.sets; ++set) {
    T* const sums = out.row(set);
    std::fill_n(sums, out.columns, T{0});
    for (std::int64_t r = x.offsets[set]; r < x.offsets[set + 1]; ++r) {
      const T* const u = x.x.row(r);
      T* sum = sums;
      for (std::int64_t a = 0; a < k; ++a) {
        for (std::int64_t b = 0; b <= a; ++b, sum += blocks)
          add_products(blocks, u + a * blocks, u + b * blocks, sum);
      }
    }
    scale_row(sums, T{1} / static_cast<T>(x.size(set)), out.columns, sums);
  }
}

template <class T>
void mean_products_back(Ragged<const T> x, std::int64_t blocks, Matrix<const T> d_out, Matrix<T> d_x,
                        Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  if (blocks == 1) return mean_products_of_one_back(x, d_out, d_x, workspace);
  const std::int64_t k = x.x.columns / blocks;
  T* const scaled = workspace.take<T>(d_out.columns);
  for (std::int64_t set = 0; set < x.sets; ++set) {
    scale_row(d_out.row(set), T{1} / static_cast<T>(x.size(set)), d_out.columns, scaled);
    for (std::int64_t r = x.offsets[set]; r < x.offsets[set + 1]; ++r) {
      const T* const u = x.x.row(r);
      T* const d = d_x.row(r);
      std::fill_n(d, x.x.columns, T{0});
      const T* of_pair = scaled;
      // That of a square is met twice, as its slope asks for.
      for (std::int64_t a = 0; a < k; ++a) {
        for (std::int64_t b = 0; b <= a; ++b, of_pair += blocks) {
          add_products(blocks, of_pair, u + b * blocks, d + a * blocks);
          add_products(blocks, of_pair, u + a * blocks, d + b * blocks);
        }
      }
    }
  }
}

template void mean_products(Ragged<const float>, std::int64_t, Matrix<float>, Workspace&);
template void mean_products(Ragged<const double>, std::int64_t, Matrix<double>, Workspace&);
template void mean_products_back(Ragged<const float>, std::int64_t, Matrix<const float>, Matrix<float>,
                                 Workspace&);
template void mean_products_back(Ragged<const double>, std::int64_t, Matrix<const double>, Matrix<double>,
                                 Workspace&);

}  // namespace occam
