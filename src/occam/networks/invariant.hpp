// What a set network makes of the rows of a data set whatever their order: layers for every row, pooling over
// rows with mean products of learned features, the Cholesky factors of these, and layers after it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "occam/networks/body.hpp"
#include "occam/nn/factor.hpp"
#include "occam/nn/pool.hpp"

namespace occam {

struct InvariantOptions {
  std::int64_t inv_width = 64;
  std::int64_t inv_layers = 2;
  std::int64_t after_width = 128;
  std::int64_t after_layers = 2;
  std::string pooling = "mean+sum";
  std::int64_t moments = 10;
  std::int64_t moment_blocks = 4;
  bool factor = true;
  bool gains = true;
};

// A part of one data set: rows first .. first + rows - 1 of the bundle.
struct Tile {
  std::int64_t set, first, rows;
};

template <class T>
class Invariant {
 public:
  // What it made of observations: of all of them, or of a tile.
  struct Rows {
    Matrix<T>* embed;
    Matrix<T>* score;
    Matrix<T> weights;      // of attention; scores until they are pooled
    std::int32_t* largest;  // rows that pooling took
    Matrix<T> factors;      // of the moments
  };
  // What it made of data sets.
  struct Sets {
    Matrix<T> pooled;
    Matrix<T>* after;
    Matrix<T> factors;  // of the moments; data null without
    Matrix<T> gains;    // of the factors; data null without
    Matrix<T> shares;   // (tiles, columns of `pooled`) of tiles in what was pooled; data null without tiles
  };

  Invariant(const InvariantOptions& o, BodyPlan<T>& plan, const std::string& name, std::int64_t in)
      : pooling_(pooling_named(o.pooling)),
        log_n_(plan.log_n),
        sum_scale_(plan.sum_scale),
        blocks_(o.moment_blocks),
        gains_(o.factor && o.gains && o.moments > 0 ? blocks_ * gain_columns(static_cast<int>(o.moments))
                                                    : 0) {
    const auto stack = [&](const char* part, std::int64_t from, std::int64_t width, std::int64_t layers) {
      return Stack<T>(plan.layout, plan.packed, name + part, from, width, layers, Activation::elu);
    };
    embed_ = stack(".embed", in, o.inv_width, o.inv_layers);
    if (pooling_ == Pooling::attention) {
      score_ = stack(".score", in, o.inv_width, o.inv_layers);
      score_out_.emplace(plan.layout, plan.packed, name + ".score_out", o.inv_width, o.inv_width,
                         Activation::identity);
    }
    if (o.moments > 0) {
      const std::int64_t width = o.moments * o.moment_blocks;
      factors_.emplace(plan.layout, plan.packed, name + ".moments", o.inv_width, width, Activation::identity);
      const std::int64_t weight =
          plan.layout.add(name + ".moments_of_input.weight", {in, width}, Init::glorot);
      input_factors_.emplace(plan.packed, weight, -1, in, width, Activation::identity);
    }
    after_ = stack(".after", columns(), o.after_width, o.after_layers);
  }

  void list(std::vector<const Dense<T>*>& all) const {
    embed_.list(all);
    score_.list(all);
    if (score_out_) all.push_back(&*score_out_);
    if (factors_) all.insert(all.end(), {&*factors_, &*input_factors_});
    after_.list(all);
  }

  std::int64_t out() const { return after_.out(); }
  Matrix<T> output(const Sets& sets) const { return last(after_, sets.after); }
  std::int64_t embed_width() const { return embed_.out(); }
  Matrix<T> embedded(const Rows& rows) const { return last(embed_, rows.embed); }

  // What concerns every observation by itself.
  Rows embed(const T* packed, Matrix<const T> x, Workspace& workspace) const {
    Rows rows{};
    rows.embed = embed_.forward(packed, x, workspace);
    const Matrix<T> e = last(embed_, rows.embed);
    if (score_out_) {
      rows.score = score_.forward(packed, x, workspace);
      rows.weights = workspace.matrix<T>(x.rows, e.columns);
      score_out_->forward(packed, last(score_, rows.score), rows.weights);
    }
    if (factors_) {
      // One row more, that vectors may reach into.
      rows.factors = workspace.matrix<T>(x.rows + 1, factors_->out()).rows_from(0, x.rows);
      factors_->forward(packed, e, rows.factors);
      input_factors_->forward_added(packed, x, rows.factors);
    }
    return rows;
  }

  // Of whole data sets, as embed() left their rows.
  Sets pool_sets(Rows& rows, const std::int64_t* offsets, std::int64_t count, Workspace& workspace) const {
    Sets sets{};
    sets.pooled = workspace.matrix<T>(count, columns());
    pool_into(rows, offsets, count, sets.pooled, workspace);
    return sets;
  }
  void pool_into(Rows& rows, const std::int64_t* offsets, std::int64_t count, Matrix<T> pooled,
                 Workspace& workspace) const {
    if (pooling_ == Pooling::max) rows.largest = workspace.take<std::int32_t>(count * embed_.out());
    pool<T>(pooling_, sum_scale_, {last(embed_, rows.embed), offsets, count}, rows.weights, pooled,
            rows.largest);
    if (factors_) mean_products<T>({rows.factors, offsets, count}, blocks_, moments_of(pooled), workspace);
  }

  // Of the rows of one tile: pooled (1, columns); log_weights (embed width) as pool_tile().
  void pool_rows(Rows& rows, Matrix<T> pooled, T* log_weights, Workspace& workspace) const {
    const Matrix<T> e = last(embed_, rows.embed);
    const std::int64_t offsets[] = {0, e.rows};
    rows.largest = workspace.take<std::int32_t>(e.columns);
    pool_tile<T>(pooling_, sum_scale_, e, rows.weights, pooled.data, rows.largest, log_weights);
    if (log_n_) pooled.data[pooled_columns(pooling_, e.columns)] = 0;
    if (factors_) mean_products<T>({rows.factors, offsets, 1}, blocks_, moments_of(pooled), workspace);
  }

  // Of data sets in tiles, one after the other, that were pooled each by itself.
  Sets join_sets(const Tile* tiles, Matrix<const T> pooled, Matrix<const T> log_weights, std::int64_t count,
                 Workspace& workspace) const {
    Sets sets{};
    sets.pooled = workspace.matrix<T>(count, columns());
    sets.shares = workspace.matrix<T>(pooled.rows, columns());
    for (std::int64_t first = 0, end = 0; first < pooled.rows; first = end) {
      while (end < pooled.rows && tiles[end].set == tiles[first].set) ++end;
      join_set(tiles + first, pooled.rows_from(first, end - first),
               log_weights.data == nullptr ? log_weights : log_weights.rows_from(first, end - first),
               sets.shares.rows_from(first, end - first), sets.pooled.row(tiles[first].set), workspace);
    }
    return sets;
  }

  // Of some of the data sets.
  Sets part(const Sets& all, std::int64_t first, std::int64_t count, Workspace& workspace) const {
    Sets sets = all;
    sets.pooled = all.pooled.rows_from(first, count);
    sets.after = workspace.take<Matrix<T>>(after_.size());
    for (std::int64_t i = 0; i < after_.size(); ++i) sets.after[i] = all.after[i].rows_from(first, count);
    if (all.factors.data != nullptr) sets.factors = all.factors.rows_from(first, count);
    if (all.gains.data != nullptr) sets.gains = all.gains.rows_from(first, count);
    return sets;
  }

  // What follows on pooling.
  void after(const T* packed, const T* f_n, Sets& sets, Workspace& workspace) const {
    const std::int64_t at = pooled_columns(pooling_, embed_.out());
    for (std::int64_t set = 0; log_n_ && set < sets.pooled.rows; ++set) sets.pooled.row(set)[at] = f_n[set];
    sets.after = after_.forward(packed, sets.pooled, workspace);
  }

  // The output, beside it the gains and the factors of the moments.
  Matrix<T> with_factors(Sets& sets, const std::int64_t* offsets, Workspace& workspace) const {
    const Matrix<T> out = output(sets);
    const Matrix<T> all = workspace.zeros<T>(out.rows, out.columns + gains_ + moments());
    for (std::int64_t set = 0; set < out.rows; ++set) std::copy_n(out.row(set), out.columns, all.row(set));
    sets.gains = gains_of(all);
    sets.factors = all.columns_from(out.columns + gains_, moments());
    factor<T>(block(), blocks_, moments_of(sets.pooled), offsets, sets.factors, sets.gains, workspace);
    return all;
  }
  // The gradient of what was pooled, from that of all these.
  Matrix<T> with_factors_back(const T* packed, const Sets& sets, const std::int64_t* offsets, Matrix<T> d_all,
                              T* gradient, Workspace& workspace) const {
    const Matrix<T> d_out = workspace.zeros<T>(d_all.rows, out());
    for (std::int64_t set = 0; set < d_out.rows; ++set)
      std::copy_n(d_all.row(set), d_out.columns, d_out.row(set));
    const Matrix<T> d_pooled = after_back(packed, sets, d_out, gradient, workspace);
    factor_back<T>(block(), blocks_, moments_of(sets.pooled), offsets, sets.factors,
                   d_all.columns_from(d_out.columns + gains_, moments()), gains_of(d_all),
                   moments_of(d_pooled), workspace);
    return d_pooled;
  }

  // The gradient of what was pooled; d_out (sets, width) is overwritten.
  Matrix<T> after_back(const T* packed, const Sets& sets, Matrix<T> d_out, T* gradient,
                       Workspace& workspace) const {
    const Matrix<T> d_pooled = workspace.matrix<T>(sets.pooled.rows, columns());
    after_.backward(packed, sets.pooled, sets.after, d_out, d_pooled, false, gradient, workspace);
    return d_pooled;
  }

  // From the gradient of what was pooled, and of what else was made of the last layer (`more`, data null:
  // nothing), to that of the observations: d_x (data null: not wanted) is set, or added to. `pooled` is that
  // of whole data sets, also where x is of a tile. Weight gradients are added, unless `gradient` is null.
  void back(const T* packed, Ragged<const T> x, Rows& rows, Matrix<const T> pooled, Matrix<const T> d_pooled,
            Matrix<T> d_x, Matrix<const T> more, bool add, T* gradient, Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const Matrix<T> e = last(embed_, rows.embed);
    const Matrix<T> d_e = workspace.matrix<T>(x.x.rows, embed_.out());
    pool_back<T>(pooling_, sum_scale_, {e, x.offsets, x.sets}, rows.weights, pooled, rows.largest, d_pooled,
                 d_e);
    for (std::int64_t r = 0; r < more.rows; ++r) {
      for (std::int64_t c = 0; c < d_e.columns; ++c) d_e.row(r)[c] += more.row(r)[c];
    }
    Matrix<T> d_factors{};
    if (factors_) {
      d_factors = workspace.matrix<T>(x.x.rows, factors_->out());
      mean_products_back<T>({rows.factors, x.offsets, x.sets}, blocks_, moments_of(d_pooled), d_factors,
                            workspace);
      factors_->backward(e, rows.factors, d_factors, gradient);
      factors_->backward_input(packed, d_factors, d_e, true);
      input_factors_->backward(x.x, rows.factors, d_factors, gradient);
    }
    embed_.backward(packed, x.x, rows.embed, d_e, d_x, add, gradient, workspace);
    if (factors_ && d_x.data != nullptr) input_factors_->backward_input(packed, d_factors, d_x, true);
    if (!score_out_) return;
    const Matrix<T> d_score = d_e;  // its gradient has been passed on; the memory is used again
    score_out_->backward(last(score_, rows.score), rows.weights, rows.weights, gradient);
    score_out_->backward_input(packed, rows.weights, d_score, false);
    score_.backward(packed, x.x, rows.score, d_score, d_x, true, gradient, workspace);
  }

  std::int64_t columns() const {
    return pooled_columns(pooling_, embed_.out()) + (log_n_ ? 1 : 0) + moments();
  }
  std::int64_t gains() const { return gains_; }
  std::int64_t moments() const { return factors_ ? blocks_ * product_columns(block()) : 0; }
  // Per tile, what join_sets() needs beside what was pooled.
  std::int64_t log_weights() const { return pooling_ == Pooling::attention ? embed_.out() : 0; }

 private:
  static Matrix<T> last(const Stack<T>& stack, const Matrix<T>* outputs) { return outputs[stack.size() - 1]; }
  std::int64_t block() const { return factors_->out() / blocks_; }
  Matrix<T> gains_of(Matrix<T> all) const {
    return gains_ > 0 ? all.columns_from(out(), gains_) : Matrix<T>{};
  }
  template <class U>
  Matrix<U> moments_of(Matrix<U> pooled) const {
    return pooled.columns_from(columns() - moments(), moments());
  }

  void join_set(const Tile* tiles, Matrix<const T> parts, Matrix<const T> log_weights, Matrix<T> shares,
                T* pooled, Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    std::int64_t* sizes = workspace.take<std::int64_t>(parts.rows);
    for (std::int64_t t = 0; t < parts.rows; ++t) sizes[t] = tiles[t].rows;
    tile_shares<T>(Pooling::mean, sizes, parts, {}, shares);  // of the moments; those of the rest follow
    tile_shares<T>(pooling_, sizes, parts, log_weights,
                   shares.columns_from(0, pooled_columns(pooling_, embed_.out())));
    join_tiles<T>(shares, parts, pooled);
  }

  Pooling pooling_;
  bool log_n_;
  T sum_scale_;
  std::int64_t blocks_, gains_;
  Stack<T> embed_, score_, after_;
  std::optional<Dense<T>> score_out_, factors_, input_factors_;
};

}  // namespace occam
