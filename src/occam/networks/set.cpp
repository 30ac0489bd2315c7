// Set network for exchangeable observations ("deep invariant network"): equivariant modules, then an
// invariant module. Output does not depend on the order of the observations.
//   invariant(x):    e_i = embed layers(x_i); v = pool over i, joined with log N and with the mean over i of
//                    u_i u_i', u_i a linear map of x_i and e_i; after layers(v). The last module adds the
//                    Cholesky factor of these means and its gains (nn/factor) to its output
//   equivariant(x):  s = invariant(x); x_i <- dense layers(x_i, s)
// In the first dense layer of an equivariant module the product with s is taken once per set, not per
// observation. Source: Radev et al. 2020 (appendix A) and Bloem-Reddy & Teh 2020. Differences: log N as an
// input, the choice of pooling (the authors' code uses attention), and the mean products: evidence is often
// made of sums of products over observations, which layers alone come near only slowly.
#include <algorithm>
#include <optional>

#include "occam/networks/body.hpp"
#include "occam/nn/denormals.hpp"
#include "occam/nn/factor.hpp"
#include "occam/nn/pool.hpp"

namespace occam {
namespace {

struct SetOptions {
  std::int64_t modules = 0;
  std::int64_t inv_width = 64;
  std::int64_t inv_layers = 2;
  std::int64_t after_width = 128;
  std::int64_t after_layers = 2;
  std::int64_t equiv_width = 64;
  std::int64_t equiv_layers = 2;
  std::string pooling = "mean+sum";
  std::int64_t moments = 10;
  std::int64_t moment_blocks = 4;
  bool factor = true;
  bool gains = true;
};

Fields fields(SetOptions& o) {
  return {
      field("modules", o.modules, "equivariant modules before the invariant one").at_least(0).at_most(16),
      field("inv_width", o.inv_width, "units per layer of the invariant modules before pooling")
          .at_least(1)
          .at_most(8192),
      field("inv_layers", o.inv_layers, "layers of the invariant modules before pooling")
          .at_least(1)
          .at_most(16),
      field("after_width", o.after_width, "units per layer after pooling").at_least(1).at_most(8192),
      field("after_layers", o.after_layers, "layers after pooling").at_least(1).at_most(16),
      field("equiv_width", o.equiv_width, "units per layer of the equivariant modules")
          .at_least(1)
          .at_most(8192),
      field("equiv_layers", o.equiv_layers, "layers of each equivariant module").at_least(1).at_most(16),
      field("pooling", o.pooling, "how observations are combined").one_of(pooling_names()),
      field("moments", o.moments, "features of an observation whose mean products are pooled, too (0: none)")
          .at_least(0)
          .at_most(256),
      field("moment_blocks", o.moment_blocks, "blocks of such features; those of different ones do not meet")
          .at_least(1)
          .at_most(256),
      field("factor", o.factor, "whether the Cholesky factors of these mean products are features, too"),
      field("gains", o.gains, "whether what each column explains is a feature, too, in proportion to N")};
}

Pooling pooling_named(const std::string& name) {
  const auto& names = pooling_names();
  return static_cast<Pooling>(std::find(names.begin(), names.end(), name) - names.begin());
}

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

  Invariant(const SetOptions& o, BodyPlan<T>& plan, const std::string& name, std::int64_t in)
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

  Matrix<T> output(const Sets& sets) const { return last(after_, sets.after); }

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
    if (pooling_ == Pooling::max) rows.largest = workspace.take<std::int32_t>(count * embed_.out());
    pool<T>(pooling_, sum_scale_, {last(embed_, rows.embed), offsets, count}, rows.weights, sets.pooled,
            rows.largest);
    if (factors_)
      mean_products<T>({rows.factors, offsets, count}, blocks_, moments_of(sets.pooled), workspace);
    return sets;
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
    const Matrix<T> d_out = workspace.zeros<T>(d_all.rows, after_.out());
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

  // From the gradient of what was pooled to that of the observations: d_x (data null: not wanted) is set, or
  // added to. `pooled` is that of whole data sets, also where x is of a tile. Weight gradients are added,
  // unless `gradient` is null.
  void back(const T* packed, Ragged<const T> x, Rows& rows, Matrix<const T> pooled, Matrix<const T> d_pooled,
            Matrix<T> d_x, bool add, T* gradient, Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const Matrix<T> e = last(embed_, rows.embed);
    const Matrix<T> d_e = workspace.matrix<T>(x.x.rows, embed_.out());
    pool_back<T>(pooling_, sum_scale_, {e, x.offsets, x.sets}, rows.weights, pooled, rows.largest, d_pooled,
                 d_e);
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
    return gains_ > 0 ? all.columns_from(after_.out(), gains_) : Matrix<T>{};
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

template <class T>
class Equivariant {
 public:
  struct Rows {
    Matrix<T> first;  // (rows, width)
    Matrix<T>* rest;
  };

  Equivariant(const SetOptions& o, BodyPlan<T>& plan, const std::string& name, std::int64_t in)
      : invariant_(o, plan, name, in),
        weight_(plan.layout.add(name + ".dense0.weight", {in + o.after_width, o.equiv_width}, Init::glorot)),
        bias_(plan.layout.add(name + ".dense0.bias", {o.equiv_width}, Init::zeros)),
        from_x_(plan.packed, weight_, -1, in, o.equiv_width, Activation::elu),
        from_set_(plan.packed, weight_ + in * o.equiv_width, bias_, o.after_width, o.equiv_width,
                  Activation::identity) {
    for (std::int64_t i = 1; i < o.equiv_layers; ++i) {
      rest_.add(Dense<T>(plan.layout, plan.packed, name + ".dense" + std::to_string(i), o.equiv_width,
                         o.equiv_width, Activation::elu));
    }
  }

  const Invariant<T>& invariant() const { return invariant_; }
  std::int64_t out() const { return from_x_.out(); }

  void list(std::vector<const Dense<T>*>& all) const {
    invariant_.list(all);
    all.push_back(&from_x_);
    all.push_back(&from_set_);
    rest_.list(all);
  }

  Matrix<T> output(const Rows& rows) const {
    return rest_.empty() ? rows.first : rows.rest[rest_.size() - 1];
  }

  // What the summary of each data set adds to all of its observations: (sets, width).
  Matrix<T> set_part(const T* packed, const typename Invariant<T>::Sets& sets, Workspace& workspace) const {
    const Matrix<T> s = invariant_.output(sets);
    const Matrix<T> part = workspace.matrix<T>(s.rows, out());
    from_set_.forward(packed, s, part);
    return part;
  }

  Rows forward(const T* packed, Ragged<const T> x, Matrix<T> set_part, Workspace& workspace) const {
    Rows rows{};
    rows.first = workspace.matrix<T>(x.x.rows, out());
    for (std::int64_t set = 0; set < x.sets; ++set) {
      for (std::int64_t r = x.offsets[set]; r < x.offsets[set + 1]; ++r) {
        std::copy_n(set_part.row(set), set_part.stride, rows.first.row(r));
      }
    }
    from_x_.forward_added(packed, x.x, rows.first);
    rows.rest = rest_.forward(packed, rows.first, workspace);
    return rows;
  }

  // The gradient of what enters the first layer, from that of the output, which is overwritten. Weight
  // gradients are added, unless `gradient` is null.
  Matrix<T> back(const T* packed, Matrix<const T> x, const Rows& rows, Matrix<T> d_out, T* gradient,
                 Workspace& workspace) const {
    Matrix<T> d_first = d_out;
    if (!rest_.empty()) {
      d_first = workspace.matrix<T>(x.rows, out());
      rest_.backward(packed, rows.first, rows.rest, d_out, d_first, false, gradient, workspace);
    }
    from_x_.backward(x, rows.first, d_first, gradient);
    return d_first;
  }
  void back_input(const T* packed, Matrix<const T> d_first, Matrix<T> d_x) const {
    from_x_.backward_input(packed, d_first, d_x, false);
  }

  // The gradient of what the invariant module pooled, from that of the parts of the data sets.
  Matrix<T> set_back(const T* packed, const typename Invariant<T>::Sets& sets, Matrix<T> part,
                     Matrix<T> d_part, T* gradient, Workspace& workspace) const {
    const Matrix<T> s = invariant_.output(sets);
    const Matrix<T> d_s = workspace.matrix<T>(s.rows, s.columns);
    from_set_.backward(s, part, d_part, gradient);
    from_set_.backward_input(packed, d_part, d_s, false);
    return invariant_.after_back(packed, sets, d_s, gradient, workspace);
  }

 private:
  Invariant<T> invariant_;
  std::int64_t weight_, bias_;  // one tensor for x_i and s side by side
  Dense<T> from_x_, from_set_;
  Stack<T> rest_;
};

// sums (sets, columns) += the rows of each data set.
template <class T>
void add_rows_of_sets(Ragged<const T> x, Matrix<T> sums) {
  for (std::int64_t set = 0; set < x.sets; ++set) {
    T* sum = sums.row(set);
    for (std::int64_t r = x.offsets[set]; r < x.offsets[set + 1]; ++r) {
      const T* row = x.x.row(r);
      for (std::int64_t c = 0; c < x.x.columns; ++c) sum[c] += row[c];
    }
  }
}

// Levels are the invariant modules: those inside the equivariant ones, from below, and the last. A bundle
// with a data set longer than a tile goes through in tiles, once for every level, since a level has to see
// all of a data set before the next can begin. Of such a bundle nothing is kept but what concerns whole data
// sets; the backward pass makes the rest again, tile by tile, once for every level.
template <class T>
class SetBody final : public Body<T> {
 public:
  SetBody(const SetOptions& o, BodyPlan<T>& plan) : tile_rows_(plan.tile_rows) {
    std::int64_t in = plan.channels;
    modules_.reserve(static_cast<std::size_t>(o.modules));
    for (std::int64_t i = 0; i < o.modules; ++i) {
      modules_.emplace_back(o, plan, "equivariant" + std::to_string(i), in);
      in = o.equiv_width;
    }
    invariant_.emplace(o, plan, "invariant", in);
    for (const auto& module : modules_) module.list(layers_);
    invariant_->list(layers_);
    factored_ = o.factor && o.moments > 0;
    features_ = o.after_width + direct() + (factored_ ? invariant_->gains() : 0);
  }

  std::int64_t features() const override { return features_; }
  // Not the gains: what the summary reads may be taken times N, which they have in them.
  std::int64_t direct() const override { return factored_ ? invariant_->moments() : 0; }
  // Without equivariant modules few products are of single rows, and those of whole data sets, with the
  // gradients of their weights, are worth more of them at a time.
  std::int64_t bundle_rows() const override { return modules_.empty() ? 1024 : 256; }
  std::int64_t bundle_sets(std::int64_t) const override { return 64; }
  std::int64_t shared_rows() const override { return kSharedTiles * tile_rows_; }
  std::int64_t pack_tasks() const override { return static_cast<std::int64_t>(layers_.size()); }
  void pack(std::int64_t task, const T* weights, T* packed) const override {
    layers_[task]->pack(weights, packed);
  }

  Matrix<T> forward(const T* packed, const InputRows<T>& input, const T* f_n, Workspace& workspace,
                    void*& tape, bool, const TileThreads* threads) const override {
    Tape& kept = *workspace.make<Tape>();
    tape = &kept;
    kept.sets = workspace.take<Sets>(top() + 1);
    kept.parts = workspace.take<Matrix<T>>(top());
    if (input.longest() > tile_rows_) {
      forward_tiles(packed, input, f_n, kept, threads, workspace);
    } else {
      forward_whole(packed, input, f_n, kept, workspace);
    }
    Sets& sets = kept.sets[top()];
    return factored_ ? invariant_->with_factors(sets, input.offsets(), workspace) : invariant_->output(sets);
  }

  void backward(const T* packed, const InputRows<T>& input, void* tape, Matrix<T> d_features, T* gradient,
                Workspace& workspace) const override {
    const Workspace::Scope scope(workspace);
    Tape& kept = *static_cast<Tape*>(tape);
    Matrix<T>* d_pooled = workspace.take<Matrix<T>>(top() + 1);
    const Sets& sets = kept.sets[top()];
    d_pooled[top()] = factored_ ? invariant_->with_factors_back(packed, sets, input.offsets(), d_features,
                                                                gradient, workspace)
                                : invariant_->after_back(packed, sets, d_features, gradient, workspace);
    if (kept.tiles != nullptr) {
      backward_tiles(packed, input, kept, d_pooled, gradient, workspace);
    } else {
      backward_whole(packed, kept, d_pooled, gradient, workspace);
    }
  }

 private:
  static constexpr std::int64_t kSharedTiles = 32;
  using Sets = typename Invariant<T>::Sets;

  // What observations became, of all or of a tile.
  struct Rows {
    Ragged<const T>* x;                      // (levels) what each level reads
    typename Invariant<T>::Rows* invariant;  // (levels)
    typename Equivariant<T>::Rows* equivariant;
  };
  struct Tape {
    Rows rows;  // of all observations; without tiles only
    Tile* tiles = nullptr;
    std::int64_t tile_count = 0;
    Sets* sets;        // (levels)
    Matrix<T>* parts;  // of the equivariant modules
  };

  std::int64_t top() const { return static_cast<std::int64_t>(modules_.size()); }
  const Invariant<T>& level(std::int64_t i) const {
    return i < top() ? modules_[i].invariant() : *invariant_;
  }

  Rows make_rows(Workspace& workspace) const {
    return {workspace.take<Ragged<const T>>(top() + 1),
            workspace.take<typename Invariant<T>::Rows>(top() + 1),
            workspace.take<typename Equivariant<T>::Rows>(top())};
  }

  // From what level i reads to what the next one reads.
  void step_up(const T* packed, std::int64_t i, Matrix<T> part, Rows& rows, Workspace& workspace) const {
    rows.equivariant[i] = modules_[i].forward(packed, rows.x[i], part, workspace);
    rows.x[i + 1] = {modules_[i].output(rows.equivariant[i]), rows.x[i].offsets, rows.x[i].sets};
  }

  // From the gradient of what level i pooled, and of what its own module made in its first layer (d_first;
  // not on top), to that of what the module below made there. Weight gradients are those of the level and of
  // the module below it.
  Matrix<T> step_down(const T* packed, std::int64_t i, Rows& rows, Matrix<const T> pooled,
                      Matrix<const T> d_pooled, Matrix<T> d_first, T* gradient, Workspace& workspace) const {
    const Ragged<const T>& x = rows.x[i];
    const Matrix<T> d_x = i == 0 ? Matrix<T>{} : workspace.matrix<T>(x.x.rows, x.x.columns);
    if (i > 0 && i < top()) modules_[i].back_input(packed, d_first, d_x);
    level(i).back(packed, x, rows.invariant[i], pooled, d_pooled, d_x, i < top(), gradient, workspace);
    if (i == 0) return {};
    return modules_[i - 1].back(packed, rows.x[i - 1].x, rows.equivariant[i - 1], d_x, gradient, workspace);
  }

  void forward_whole(const T* packed, const InputRows<T>& input, const T* f_n, Tape& kept,
                     Workspace& workspace) const {
    Rows& rows = kept.rows = make_rows(workspace);
    rows.x[0] = input.all(workspace);
    for (std::int64_t i = 0; i <= top(); ++i) {
      rows.invariant[i] = level(i).embed(packed, rows.x[i].x, workspace);
      kept.sets[i] = level(i).pool_sets(rows.invariant[i], input.offsets(), input.sets(), workspace);
      level(i).after(packed, f_n, kept.sets[i], workspace);
      if (i == top()) return;
      kept.parts[i] = modules_[i].set_part(packed, kept.sets[i], workspace);
      step_up(packed, i, kept.parts[i], rows, workspace);
    }
  }

  void backward_whole(const T* packed, Tape& kept, Matrix<T>* d_pooled, T* gradient,
                      Workspace& workspace) const {
    Matrix<T> d_first{};
    for (std::int64_t i = top();; --i) {
      d_first =
          step_down(packed, i, kept.rows, kept.sets[i].pooled, d_pooled[i], d_first, gradient, workspace);
      if (i == 0) return;
      const Ragged<const T>& x = kept.rows.x[0];
      const Matrix<T> d_part = workspace.zeros<T>(x.sets, d_first.columns);
      add_rows_of_sets<T>({d_first, x.offsets, x.sets}, d_part);
      d_pooled[i - 1] =
          modules_[i - 1].set_back(packed, kept.sets[i - 1], kept.parts[i - 1], d_part, gradient, workspace);
    }
  }

  void cut(const InputRows<T>& input, Tape& kept, Workspace& workspace) const {
    for (std::int64_t set = 0; set < input.sets(); ++set)
      kept.tile_count += (input.size(set) + tile_rows_ - 1) / tile_rows_;
    Tile* tile = kept.tiles = workspace.take<Tile>(kept.tile_count);
    for (std::int64_t set = 0; set < input.sets(); ++set) {
      const std::int64_t end = input.offsets()[set + 1];
      for (std::int64_t first = input.offsets()[set]; first < end; first += tile_rows_)
        *tile++ = {set, first, std::min(tile_rows_, end - first)};
    }
  }

  // The rows of a tile, as levels up to i read them.
  Rows climb(const T* packed, const InputRows<T>& input, const Tape& kept, const Tile& tile, std::int64_t i,
             Workspace& workspace) const {
    Rows rows = make_rows(workspace);
    auto* offsets = workspace.take<std::int64_t>(2);
    offsets[0] = 0;
    offsets[1] = tile.rows;
    rows.x[0] = {input.rows(tile.first, tile.rows, workspace), offsets, 1};
    for (std::int64_t k = 0; k < i; ++k)
      step_up(packed, k, kept.parts[k].rows_from(tile.set, 1), rows, workspace);
    return rows;
  }

  // Calls work(tile, workspace) for all tiles, on one thread or several, in any order.
  template <class Work>
  void each_tile(const Tape& kept, const TileThreads* threads, Workspace& own, const Work& work) const {
    if (threads != nullptr) {
      threads->pool.for_each(kept.tile_count, [&](std::int64_t tile, int worker) {
        const FlushDenormals flush;
        const Workspace::Scope scope(threads->workspaces[worker]);
        work(tile, threads->workspaces[worker]);
      });
      return;
    }
    for (std::int64_t tile = 0; tile < kept.tile_count; ++tile) {
      const Workspace::Scope scope(own);
      work(tile, own);
    }
  }

  void forward_tiles(const T* packed, const InputRows<T>& input, const T* f_n, Tape& kept,
                     const TileThreads* threads, Workspace& workspace) const {
    cut(input, kept, workspace);
    for (std::int64_t i = 0; i <= top(); ++i) {
      const Matrix<T> pooled = workspace.matrix<T>(kept.tile_count, level(i).columns());
      const Matrix<T> log_weights = workspace.matrix<T>(kept.tile_count, level(i).log_weights());
      each_tile(kept, threads, workspace, [&](std::int64_t tile, Workspace& own) {
        Rows rows = climb(packed, input, kept, kept.tiles[tile], i, own);
        rows.invariant[i] = level(i).embed(packed, rows.x[i].x, own);
        level(i).pool_rows(rows.invariant[i], pooled.rows_from(tile, 1), log_weights.row(tile), own);
      });
      kept.sets[i] = level(i).join_sets(kept.tiles, pooled, log_weights, input.sets(), workspace);
      level(i).after(packed, f_n, kept.sets[i], workspace);
      if (i < top()) kept.parts[i] = modules_[i].set_part(packed, kept.sets[i], workspace);
    }
  }

  // Down to `bottom`, the gradient of whose part of data sets is added to d_part; at -1 all the way. What
  // lies above the level over the bottom has had its weight gradients.
  void descend(const T* packed, const InputRows<T>& input, const Tape& kept, std::int64_t t,
               const Matrix<T>* d_pooled, std::int64_t bottom, Matrix<T> d_part, T* gradient,
               Workspace& workspace) const {
    const Tile& tile = kept.tiles[t];
    Rows rows = climb(packed, input, kept, tile, top(), workspace);
    Matrix<T> d_first{};
    for (std::int64_t i = top(); i > bottom; --i) {
      rows.invariant[i] = level(i).embed(packed, rows.x[i].x, workspace);
      const Matrix<T> own = workspace.matrix<T>(1, level(i).columns());
      level(i).pool_rows(rows.invariant[i], own, workspace.take<T>(level(i).log_weights()), workspace);
      // Of what was pooled, the tile has its share; so it has of the gradient.
      const T* share = kept.sets[i].shares.row(t);
      const T* d = d_pooled[i].row(tile.set);
      for (std::int64_t c = 0; c < own.columns; ++c) own.data[c] = share[c] * d[c];
      d_first = step_down(packed, i, rows, kept.sets[i].pooled.rows_from(tile.set, 1), own, d_first,
                          i == bottom + 1 ? gradient : nullptr, workspace);
    }
    if (bottom < 0) return;
    const Matrix<T> sum = workspace.zeros<T>(1, d_first.columns);
    add_rows_of_sets<T>({d_first, rows.x[0].offsets, 1}, sum);
    for (std::int64_t c = 0; c < sum.columns; ++c) d_part.row(tile.set)[c] += sum.data[c];
  }

  void backward_tiles(const T* packed, const InputRows<T>& input, const Tape& kept, Matrix<T>* d_pooled,
                      T* gradient, Workspace& workspace) const {
    for (std::int64_t bottom = top() - 1; bottom >= -1; --bottom) {
      const Matrix<T> d_part =
          bottom < 0 ? Matrix<T>{} : workspace.zeros<T>(input.sets(), modules_[bottom].out());
      each_tile(kept, nullptr, workspace, [&](std::int64_t tile, Workspace& own) {
        descend(packed, input, kept, tile, d_pooled, bottom, d_part, gradient, own);
      });
      if (bottom < 0) return;
      d_pooled[bottom] = modules_[bottom].set_back(packed, kept.sets[bottom], kept.parts[bottom], d_part,
                                                   gradient, workspace);
    }
  }

  std::int64_t tile_rows_;
  std::vector<Equivariant<T>> modules_;
  std::optional<Invariant<T>> invariant_;
  std::vector<const Dense<T>*> layers_;
  bool factored_;
  std::int64_t features_;
};

}  // namespace

void register_set(Registry<Architecture>& registry) {
  registry.add("set",
               make_architecture<SetBody, SetOptions>("for exchangeable observations (order is irrelevant)"));
}

}  // namespace occam
