// Set network for exchangeable observations ("deep invariant network"): equivariant modules, then an
// invariant module. Output does not depend on the order of the observations.
//   invariant(x):    e_i = embed layers(x_i); v = pool over i, joined with log N and with the mean over i of
//                    u_i u_i', u_i a linear map of x_i and e_i; after layers(v). The last module adds the
//                    Cholesky factor of these means and its gains (nn/factor) to its output
//   equivariant(x):  s = invariant(x); x_i <- dense layers(x_i, s)
// Where columns say which rows belong together, the means of e_i over the rows of each label go through such
// an invariant module of their own, whose output is joined to that of the last one (label_level). In the
// first dense layer of an equivariant module the product with s is taken once per set, not per observation.
// Source: Radev et al. 2020 (appendix A) and Bloem-Reddy & Teh 2020. Differences: log N as an input, the
// choice of pooling (the authors' code uses attention), and the mean products: evidence is often made of sums
// of products over observations, which layers alone come near only slowly.
#include <algorithm>
#include <optional>

#include "occam/networks/label_level.hpp"
#include "occam/nn/denormals.hpp"

namespace occam {
namespace {

struct SetOptions : InvariantOptions {
  std::int64_t modules = 0;
  std::int64_t labels = 64;
  std::int64_t equiv_width = 64;
  std::int64_t equiv_layers = 2;
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
      field("gains", o.gains, "whether what each column explains is a feature, too, in proportion to N"),
      field("labels", o.labels, "units per layer that reads the rows of each label together (0: none)")
          .at_least(0)
          .at_most(8192)};
}

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

template <class T>
void copy_columns(Matrix<const T> from, Matrix<T> to) {
  for (std::int64_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.columns, to.row(r));
}

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
    const std::vector<std::int64_t> levels = label_levels(plan.labels, o.labels);
    labels_.reserve(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i)
      labels_.emplace_back(label_options(o.labels), plan, label_level_name(i), levels[i], o.inv_width);
    for (const auto& module : modules_) module.list(layers_);
    invariant_->list(layers_);
    for (const auto& labels : labels_) labels.list(layers_);
    factored_ = o.factor && o.moments > 0;
    features_ = o.after_width + static_cast<std::int64_t>(levels.size()) * o.labels + direct() +
                (factored_ ? invariant_->gains() : 0);
  }

  std::int64_t features() const override { return features_; }
  // Not the gains: what the summary reads may be taken times N, which they have in them.
  std::int64_t direct() const override { return factored_ ? invariant_->moments() : 0; }
  // Without equivariant modules few products are of single rows, and those of whole data sets, with the
  // gradients of their weights, are worth more of them at a time.
  std::int64_t bundle_rows() const override { return modules_.empty() ? 2048 : 256; }
  std::int64_t bundle_sets(std::int64_t) const override { return 64; }
  std::int64_t shared_rows() const override { return kSharedTiles * tile_rows_; }
  std::int64_t pack_tasks() const override { return static_cast<std::int64_t>(layers_.size()); }
  void pack(std::int64_t task, const T* weights, T* packed) const override {
    layers_[task]->pack(weights, packed);
  }

  Matrix<T> forward(const T* packed, const InputRows<T>& input, const T* f_n, Workspace& workspace,
                    void*& tape, bool keep, const TileThreads* threads) const override {
    Tape& kept = *workspace.make<Tape>();
    tape = &kept;
    kept.sets = workspace.take<Sets>(top() + 1);
    kept.parts = workspace.take<Matrix<T>>(top());
    kept.labels = workspace.take<LabelTape>(static_cast<std::int64_t>(labels_.size()));
    for (std::size_t i = 0; i < labels_.size(); ++i) kept.labels[i] = labels_[i].begin(input, workspace);
    if (input.longest() > tile_rows_) {
      forward_tiles(packed, input, f_n, kept, threads, workspace);
    } else if (modules_.empty()) {
      forward_chunks(packed, input, f_n, kept, keep, workspace);
    } else {
      forward_whole(packed, input, f_n, kept, workspace);
    }
    Sets& sets = kept.sets[top()];
    const Matrix<T> features =
        factored_ ? invariant_->with_factors(sets, input.offsets(), workspace) : invariant_->output(sets);
    return labels_.empty() ? features : with_labels(packed, kept, features, workspace);
  }

  void backward(const T* packed, const InputRows<T>& input, void* tape, Matrix<T> d_features, T* gradient,
                Workspace& workspace) const override {
    const Workspace::Scope scope(workspace);
    Tape& kept = *static_cast<Tape*>(tape);
    Matrix<T>* d_pooled = workspace.take<Matrix<T>>(top() + 1);
    if (!labels_.empty()) d_features = labels_back(packed, kept, d_features, gradient, workspace);
    const Sets& sets = kept.sets[top()];
    d_pooled[top()] = factored_ ? invariant_->with_factors_back(packed, sets, input.offsets(), d_features,
                                                                gradient, workspace)
                                : invariant_->after_back(packed, sets, d_features, gradient, workspace);
    if (kept.tiles != nullptr) {
      backward_tiles(packed, input, kept, d_pooled, gradient, workspace);
    } else if (modules_.empty()) {
      backward_chunks(packed, input, kept, d_pooled[0], gradient, workspace);
    } else {
      backward_whole(packed, kept, d_pooled, gradient, workspace);
    }
  }

 private:
  static constexpr std::int64_t kSharedTiles = 32;
  // Rows that go through all layers, forward or back, before the next ones: all that is made of them fits
  // into the second-level cache.
  static constexpr std::int64_t kChunkRows = 256;
  using Sets = typename Invariant<T>::Sets;

  using LabelTape = typename LabelLevel<T>::Tape;

  // What observations became, of all or of a tile.
  struct Rows {
    Ragged<const T>* x;                      // (levels) what each level reads
    typename Invariant<T>::Rows* invariant;  // (levels)
    typename Equivariant<T>::Rows* equivariant;
  };
  // Whole data sets of a bundle, without equivariant modules.
  struct Chunk {
    std::int64_t first;
    Ragged<const T> x;
    typename Invariant<T>::Rows rows;
  };
  struct Tape {
    Rows rows;  // of all observations; with equivariant modules and without tiles only
    Chunk* chunks = nullptr;
    std::int64_t chunk_count = 0;
    Tile* tiles = nullptr;
    std::int64_t tile_count = 0;
    Sets* sets;         // (levels)
    Matrix<T>* parts;   // of the equivariant modules
    LabelTape* labels;  // (columns of labels)
  };

  std::int64_t top() const { return static_cast<std::int64_t>(modules_.size()); }
  const Invariant<T>& level(std::int64_t i) const {
    return i < top() ? modules_[i].invariant() : *invariant_;
  }

  // What labels read of rows `first` and so on.
  void add_to_labels(std::int64_t first, const typename Invariant<T>::Rows& rows, Tape& kept) const {
    for (std::size_t i = 0; i < labels_.size(); ++i)
      labels_[i].add(first, invariant_->embedded(rows), kept.labels[i]);
  }

  // The features, those of the labels behind the output of the invariant module.
  Matrix<T> with_labels(const T* packed, Tape& kept, Matrix<const T> features, Workspace& workspace) const {
    const Matrix<T> all = workspace.matrix<T>(features.rows, features_);
    std::int64_t at = invariant_->out();
    copy_columns<T>(features.columns_from(0, at), all.columns_from(0, at));
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      labels_[i].finish(packed, kept.labels[i], features.rows, workspace);
      copy_columns<T>(labels_[i].output(kept.labels[i]), all.columns_from(at, labels_[i].out()));
      at += labels_[i].out();
    }
    const std::int64_t rest = features_ - at;
    copy_columns<T>(features.columns_from(invariant_->out(), rest), all.columns_from(at, rest));
    return all;
  }
  // The gradient of all but the labels' features, from that of all.
  Matrix<T> labels_back(const T* packed, Tape& kept, Matrix<T> d_all, T* gradient,
                        Workspace& workspace) const {
    std::int64_t at = invariant_->out();
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const Matrix<T> d_out = workspace.matrix<T>(d_all.rows, labels_[i].out());
      copy_columns<T>(d_all.columns_from(at, d_out.columns), d_out);
      labels_[i].back(packed, kept.labels[i], d_out, gradient, workspace);
      at += d_out.columns;
    }
    const std::int64_t rest = features_ - at;
    const Matrix<T> d_features = workspace.matrix<T>(d_all.rows, invariant_->out() + rest);
    copy_columns<T>(d_all.columns_from(0, invariant_->out()), d_features.columns_from(0, invariant_->out()));
    copy_columns<T>(d_all.columns_from(at, rest), d_features.columns_from(invariant_->out(), rest));
    return d_features;
  }
  // What labels pass back to `count` rows from `first` on; data null without labels.
  Matrix<const T> from_labels(std::int64_t first, std::int64_t count, const Tape& kept,
                              Workspace& workspace) const {
    if (labels_.empty()) return {};
    const Matrix<T> d = workspace.zeros<T>(count, invariant_->embed_width());
    for (std::size_t i = 0; i < labels_.size(); ++i) labels_[i].add_back(first, kept.labels[i], d);
    return d;
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
  // not on top), to that of what the module below made there. `more`: what labels pass back, on top. Weight
  // gradients are those of the level and of the module below it.
  Matrix<T> step_down(const T* packed, std::int64_t i, Rows& rows, Matrix<const T> pooled,
                      Matrix<const T> d_pooled, Matrix<T> d_first, Matrix<const T> more, T* gradient,
                      Workspace& workspace) const {
    const Ragged<const T>& x = rows.x[i];
    const Matrix<T> d_x = i == 0 ? Matrix<T>{} : workspace.matrix<T>(x.x.rows, x.x.columns);
    if (i > 0 && i < top()) modules_[i].back_input(packed, d_first, d_x);
    level(i).back(packed, x, rows.invariant[i], pooled, d_pooled, d_x, more, i < top(), gradient, workspace);
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
      if (i == top()) return add_to_labels(0, rows.invariant[i], kept);
      kept.parts[i] = modules_[i].set_part(packed, kept.sets[i], workspace);
      step_up(packed, i, kept.parts[i], rows, workspace);
    }
  }

  void backward_whole(const T* packed, Tape& kept, Matrix<T>* d_pooled, T* gradient,
                      Workspace& workspace) const {
    Matrix<T> d_first{};
    for (std::int64_t i = top();; --i) {
      const Matrix<const T> more =
          i == top() ? from_labels(0, kept.rows.x[i].x.rows, kept, workspace) : Matrix<const T>{};
      d_first = step_down(packed, i, kept.rows, kept.sets[i].pooled, d_pooled[i], d_first, more, gradient,
                          workspace);
      if (i == 0) return;
      const Ragged<const T>& x = kept.rows.x[0];
      const Matrix<T> d_part = workspace.zeros<T>(x.sets, d_first.columns);
      add_rows_of_sets<T>({d_first, x.offsets, x.sets}, d_part);
      d_pooled[i - 1] =
          modules_[i - 1].set_back(packed, kept.sets[i - 1], kept.parts[i - 1], d_part, gradient, workspace);
    }
  }

  // The data sets from `first` on that make the next chunk.
  Chunk read_chunk(const InputRows<T>& input, std::int64_t first, Workspace& workspace) const {
    const std::int64_t* offsets = input.offsets() + first;
    std::int64_t sets = 1;
    while (first + sets < input.sets() && offsets[sets + 1] - offsets[0] <= kChunkRows) ++sets;
    auto* own = workspace.take<std::int64_t>(sets + 1);
    for (std::int64_t i = 0; i <= sets; ++i) own[i] = offsets[i] - offsets[0];
    return {first, {input.rows(offsets[0], own[sets], workspace), own, sets}, {}};
  }

  void forward_chunks(const T* packed, const InputRows<T>& input, const T* f_n, Tape& kept, bool keep,
                      Workspace& workspace) const {
    Sets& sets = kept.sets[0] = {};
    sets.pooled = workspace.matrix<T>(input.sets(), invariant_->columns());
    if (keep) kept.chunks = workspace.take<Chunk>(input.sets());
    for (std::int64_t first = 0; first < input.sets();) {
      std::optional<Workspace::Scope> scope;
      if (!keep) scope.emplace(workspace);
      Chunk chunk = read_chunk(input, first, workspace);
      chunk.rows = invariant_->embed(packed, chunk.x.x, workspace);
      invariant_->pool_into(chunk.rows, chunk.x.offsets, chunk.x.sets,
                            sets.pooled.rows_from(first, chunk.x.sets), workspace);
      add_to_labels(input.offsets()[first], chunk.rows, kept);
      if (keep) kept.chunks[kept.chunk_count++] = chunk;
      first += chunk.x.sets;
    }
    invariant_->after(packed, f_n, sets, workspace);
  }

  void backward_chunks(const T* packed, const InputRows<T>& input, Tape& kept, Matrix<const T> d_pooled,
                       T* gradient, Workspace& workspace) const {
    for (std::int64_t i = 0; i < kept.chunk_count; ++i) {
      const Workspace::Scope scope(workspace);
      Chunk& chunk = kept.chunks[i];
      invariant_->back(packed, chunk.x, chunk.rows, kept.sets[0].pooled.rows_from(chunk.first, chunk.x.sets),
                       d_pooled.rows_from(chunk.first, chunk.x.sets), {},
                       from_labels(input.offsets()[chunk.first], chunk.x.x.rows, kept, workspace), false,
                       gradient, workspace);
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
    if (labels_.empty()) return;
    // Once more and one after the other: their rows may be in any tile.
    each_tile(kept, nullptr, workspace, [&](std::int64_t t, Workspace& own) {
      const Rows rows = climb(packed, input, kept, kept.tiles[t], top(), own);
      add_to_labels(kept.tiles[t].first, level(top()).embed(packed, rows.x[top()].x, own), kept);
    });
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
      const Matrix<const T> more =
          i == top() ? from_labels(tile.first, tile.rows, kept, workspace) : Matrix<const T>{};
      d_first = step_down(packed, i, rows, kept.sets[i].pooled.rows_from(tile.set, 1), own, d_first, more,
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
  std::vector<LabelLevel<T>> labels_;
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
