// Pooling over the observations of each data set: (sum N, h) -> (sets, h), or (sets, 2h) for mean and sum.
// A sum is multiplied by a constant (one over a typical N), so that it has the size of a mean.
// Attention: softmax over the observations, separately for every feature, of scores (sum N, h); weighted sum.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "occam/data/matrix.hpp"
#include "occam/nn/workspace.hpp"

namespace occam {

enum class Pooling { mean, sum, mean_sum, max, attention };

inline const std::vector<std::string>& pooling_names() {
  static const std::vector<std::string> names = {"mean", "sum", "mean+sum", "max", "attention"};
  return names;
}

inline Pooling pooling_named(const std::string& name) {
  const auto& names = pooling_names();
  return static_cast<Pooling>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Columns of the result for h features.
constexpr std::int64_t pooled_columns(Pooling pooling, std::int64_t h) {
  return pooling == Pooling::mean_sum ? 2 * h : h;
}

// out (sets, at least pooled_columns). Attention turns the scores into weights; max notes in `largest`
// (sets, h) which row it took. Other poolings ignore both.
template <class T>
void pool(Pooling pooling, T sum_scale, Ragged<const T> e, Matrix<T> scores, Matrix<T> out,
          std::int32_t* largest);

// Gradients of e (set) and, for attention, of the scores (in place of the weights).
template <class T>
void pool_back(Pooling pooling, T sum_scale, Ragged<const T> e, Matrix<T> weights, Matrix<const T> out,
               const std::int32_t* largest, Matrix<const T> d_out, Matrix<T> d_e);

// A long data set is pooled tile by tile, and then put together: what each tile gave, times its share.

// As pool(), of the rows of one tile. For attention, log_weights (h) are set to the logarithms of the sums of
// the exponentials of its scores. `largest` (h) is set for max and attention.
template <class T>
void pool_tile(Pooling pooling, T sum_scale, Matrix<const T> e, Matrix<T> scores, T* out,
               std::int32_t* largest, T* log_weights);

// shares (tiles, pooled_columns), of the tiles of one data set, whose rows are `sizes`.
template <class T>
void tile_shares(Pooling pooling, const std::int64_t* sizes, Matrix<const T> pooled,
                 Matrix<const T> log_weights, Matrix<T> shares);

// pooled (columns) = sum over tiles of shares and parts (tiles, columns).
template <class T>
void join_tiles(Matrix<const T> shares, Matrix<const T> parts, T* pooled);

// Mean over the rows of each set of the products of all pairs of columns of a block, each with itself
// included. Blocks of equally many columns lie side by side, in x and in the result. Behind the last row of x
// a vector may be read.
constexpr std::int64_t product_columns(std::int64_t columns) {
  return columns * (columns + 1) / 2;
}
template <class T>
void mean_products(Ragged<const T> x, std::int64_t blocks, Matrix<T> out, Workspace& workspace);
// d_x is set.
template <class T>
void mean_products_back(Ragged<const T> x, std::int64_t blocks, Matrix<const T> d_out, Matrix<T> d_x,
                        Workspace& workspace);

}  // namespace occam
