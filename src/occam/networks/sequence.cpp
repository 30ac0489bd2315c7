// Sequence network for ordered observations: an LSTM (many to one) beside a stack of convolutions over time
// with mean or max over what they leave, beside an invariant module over all windows of a few rows, as if
// these were exchangeable: what follows on what, in products of learned features; each may be left out.
// Output: [last hidden state, pooled channels, log N, what windows gave]. Series shorter than windows are
// continued with zeros. Source: Radev et al. 2020, appendix A; the authors' code pools with max over time.
// Differences: log N as an input, and the windows.
// Where nothing has to be kept, long series go through convolutions and windows in tiles.
#include <algorithm>
#include <optional>

#include "occam/core/error.hpp"
#include "occam/networks/invariant.hpp"
#include "occam/nn/conv1d.hpp"
#include "occam/nn/lstm.hpp"

namespace occam {
namespace {

struct SequenceOptions {
  std::int64_t lstm = 16;
  std::vector<std::int64_t> filters = {32, 32};
  std::vector<std::int64_t> kernels = {5, 3};
  std::vector<std::int64_t> strides = {2, 2};
  std::string pooling = "max";
  std::int64_t window = 4;
  InvariantOptions windows;
};

Fields fields(SequenceOptions& o) {
  return {field("lstm", o.lstm, "hidden units of the LSTM (0: none)").at_least(0).at_most(8192),
          field("filters", o.filters, "channels of each convolution (empty: none)").at_least(1).at_most(8192),
          field("kernels", o.kernels, "window of each convolution").at_least(1).at_most(1024),
          field("strides", o.strides, "stride of each convolution").at_least(1).at_most(1024),
          field("pooling", o.pooling, "how time steps are combined").one_of({"mean", "max"}),
          field("window", o.window, "rows of the windows that are read as if exchangeable, too (0: none)")
              .at_least(0)
              .at_most(64),
          field("window_width", o.windows.inv_width, "units per layer for these windows")
              .at_least(1)
              .at_most(8192),
          field("window_layers", o.windows.inv_layers, "layers for these windows").at_least(1).at_most(16),
          field("moments", o.windows.moments, "features of a window whose mean products are pooled (0: none)")
              .at_least(0)
              .at_most(256),
          field("moment_blocks", o.windows.moment_blocks,
                "blocks of such features; those of different ones do not meet")
              .at_least(1)
              .at_most(256)};
}

constexpr std::int64_t kLongestSeries = 1'000'000'000;
constexpr std::int64_t kMostContinued = 1024;

void check(const SequenceOptions& o) {
  if (o.filters.size() != o.kernels.size() || o.filters.size() != o.strides.size()) {
    throw Error(
        ErrorKind::bad_config,
        "network: filters, kernels and strides must have one entry per convolution (they have {}, {}, {})",
        o.filters.size(), o.kernels.size(), o.strides.size());
  }
  if (o.filters.size() > 32) {
    throw Error(ErrorKind::bad_config, "network: at most 32 convolutions, not {}", o.filters.size());
  }
  if (o.lstm == 0 && o.filters.empty() && o.window == 0) {
    throw Error(ErrorKind::bad_config, "network: a sequence network needs an LSTM, convolutions or windows");
  }
}

template <class T>
class SequenceBody final : public Body<T> {
 public:
  SequenceBody(const SequenceOptions& o, BodyPlan<T>& plan)
      : pooling_(o.pooling == "max" ? Pooling::max : Pooling::mean),
        log_n_(plan.log_n),
        tile_rows_(plan.tile_rows),
        window_(o.window) {
    check(o);
    if (o.lstm > 0) lstm_.emplace(plan.layout, plan.packed, "lstm", plan.channels, o.lstm);
    std::int64_t in = plan.channels;
    std::int64_t in_stride = plan.channels;
    for (std::size_t i = 0; i < o.filters.size(); ++i) {
      convolutions_.emplace_back(plan.layout, plan.packed, "conv" + std::to_string(i), in, in_stride,
                                 o.filters[i], o.kernels[i], o.strides[i], Activation::elu);
      in = o.filters[i];
      in_stride = padded<T>(in);
    }
    channels_ = convolutions_.empty() ? 0 : in;
    features_ = o.lstm + channels_ + (log_n_ ? 1 : 0);
    if (o.window > 0) {
      windows_.emplace(o.windows, plan, "windows", o.window * plan.channels);
      windows_->list(window_layers_);
      factored_ = o.windows.moments > 0;
      features_ += windows_->out() + (factored_ ? windows_->gains() + windows_->moments() : 0);
    }
    // The rows a stack of windows needs, from the last one back.
    for (auto layer = convolutions_.rbegin(); layer != convolutions_.rend(); ++layer) {
      shortest_ = (shortest_ - 1) * layer->stride() + layer->kernel();
      stride_ *= layer->stride();
      if (shortest_ > kLongestSeries)
        throw Error(ErrorKind::bad_config, "network: its convolutions need more than {} rows",
                    kLongestSeries);
    }
  }

  std::int64_t features() const override { return features_; }
  std::int64_t direct() const override { return factored_ ? windows_->moments() : 0; }
  // Shorter series are continued, unless that would take more memory than they are worth.
  std::int64_t shortest() const override { return shortest_ > kMostContinued ? shortest_ : 1; }
  // The LSTM multiplies one row per series at each step, so it wants many series, however long; but a batch
  // of few series has to be shared out among many cores, down to one series each.
  std::int64_t bundle_rows() const override { return lstm_ ? std::int64_t{1} << 20 : 4096; }
  std::int64_t bundle_sets(std::int64_t batch) const override {
    return std::clamp<std::int64_t>(batch / 16, 1, 16);
  }
  std::int64_t sets_together() const override { return lstm_ ? 16 : 1; }

  std::int64_t pack_tasks() const override {
    return layers() + static_cast<std::int64_t>(window_layers_.size()) + (lstm_ ? 1 : 0);
  }
  void pack(std::int64_t task, const T* weights, T* packed) const override {
    const std::int64_t of_windows = task - layers();
    if (of_windows < 0) {
      convolutions_[task].pack(weights, packed);
    } else if (of_windows < static_cast<std::int64_t>(window_layers_.size())) {
      window_layers_[of_windows]->pack(weights, packed);
    } else {
      lstm_->pack(weights, packed);
    }
  }

  Matrix<T> forward(const T* packed, const InputRows<T>& rows, const T* f_n, Workspace& workspace,
                    void*& tape, bool keep, const TileThreads*) const override {
    Tape& kept = *workspace.make<Tape>();
    tape = &kept;
    const Ragged<const T> x = kept.x = rows.all(workspace);
    const Matrix<T> features = workspace.matrix<T>(x.sets, features_);
    std::int64_t at = 0;
    if (lstm_) {
      kept.lstm = lstm_->forward(packed, x, workspace, keep);
      copy_columns<T>(kept.lstm->out, features.columns_from(0, lstm_->units()));
      at = lstm_->units();
    }
    if (!convolutions_.empty()) {
      kept.pooled = workspace.matrix<T>(x.sets, channels_);
      if (!keep && rows.longest() > tile_rows_) {
        convolve_tiles(packed, long_enough(x, shortest_, workspace), kept.pooled, workspace);
      } else {
        convolve(packed, long_enough(x, shortest_, workspace), kept, workspace);
      }
      copy_columns<T>(kept.pooled, features.columns_from(at, channels_));
      at += channels_;
    }
    for (std::int64_t set = 0; log_n_ && set < x.sets; ++set) features.row(set)[at] = f_n[set];
    if (log_n_) ++at;
    if (windows_) {
      const Ragged<const T> enough = long_enough(x, window_, workspace);
      const bool tiles = !keep && rows.longest() > tile_rows_;
      if (tiles) {
        look_at_tiles(packed, enough, kept, workspace);
      } else {
        look(packed, enough, kept, keep, workspace);
      }
      windows_->after(packed, f_n, kept.looked, workspace);
      const Matrix<T> seen = factored_ ? windows_->with_factors(kept.looked, kept.windows, workspace)
                                       : windows_->output(kept.looked);
      copy_columns<T>(seen, features.columns_from(at, features_ - at));
    }
    return features;
  }

  void backward(const T* packed, const InputRows<T>& input, void* tape, Matrix<T> d_features, T* gradient,
                Workspace& workspace) const override {
    const Workspace::Scope scope(workspace);
    T** gradients = workspace.take<T*>(input.sets());
    std::fill_n(gradients, input.sets(), gradient);
    backward_together(packed, input, tape, d_features, gradients, workspace);
  }

  void backward_together(const T* packed, const InputRows<T>&, void* tape, Matrix<T> d_features,
                         T* const* gradients, Workspace& workspace) const override {
    Tape& kept = *static_cast<Tape*>(tape);
    const Ragged<const T> x = kept.x;
    std::int64_t at = 0;
    if (lstm_) {
      const Workspace::Scope scope(workspace);
      const Matrix<T> d_h = workspace.matrix<T>(x.sets, lstm_->units());
      copy_columns<T>(d_features.columns_from(0, lstm_->units()), d_h);
      lstm_->backward(packed, x, *kept.lstm, d_h, {}, gradients, workspace);
      at = lstm_->units();
    }
    if (!convolutions_.empty()) {
      convolve_back(packed, kept, d_features.columns_from(at, channels_), gradients, workspace);
      at += channels_;
    }
    if (log_n_) ++at;
    if (windows_) look_back(packed, kept, d_features.columns_from(at, features_ - at), gradients, workspace);
  }

 private:
  // The windows of one series, which go through all layers, forward or back, before those of the next one:
  // what is made of them stays in the second-level cache.
  struct Look {
    Ragged<const T> windows;
    typename Invariant<T>::Rows rows;
  };
  struct Tape {
    Ragged<const T> x;
    typename Lstm<T>::Tape* lstm;
    Ragged<const T> input;  // of the first convolution
    Ragged<T>* layers;
    std::int32_t* largest;
    Matrix<T> pooled;
    const std::int64_t* windows;  // (sets + 1) offsets of theirs
    Look* looks;                  // (sets); null where nothing is kept
    typename Invariant<T>::Sets looked;
  };

  void convolve_back(const T* packed, const Tape& kept, Matrix<const T> d_channels, T* const* gradients,
                     Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const std::int64_t sets = kept.x.sets;
    const Matrix<T> d_pooled = workspace.matrix<T>(sets, channels_);
    copy_columns<T>(d_channels, d_pooled);
    const Ragged<const T> last = as_const(kept.layers[layers() - 1]);
    Matrix<T> d = workspace.matrix<T>(last.x.rows, channels_);
    pool_back<T>(pooling_, T{1}, last, {}, kept.pooled, kept.largest, d_pooled, d);
    for (std::int64_t i = layers() - 1; i >= 0; --i) {
      const Ragged<const T> input = i == 0 ? kept.input : as_const(kept.layers[i - 1]);
      const Matrix<T> below = i == 0 ? Matrix<T>{} : workspace.matrix<T>(input.x.rows, input.x.columns);
      convolutions_[i].backward(packed, input, as_const(kept.layers[i]), d, below, gradients);
      d = below;
    }
  }

  // Series that are too short for the windows get rows of zeros (what is typical) behind their last one.
  Ragged<const T> long_enough(Ragged<const T> x, std::int64_t shortest, Workspace& workspace) const {
    std::int64_t rows = 0;
    for (std::int64_t set = 0; set < x.sets; ++set) rows += std::max(x.size(set), shortest);
    if (rows == x.x.rows) return x;
    std::int64_t* offsets = workspace.take<std::int64_t>(x.sets + 1);
    T* to = workspace.take<T>(rows * x.x.stride);
    const Matrix<const T> padded{to, rows, x.x.columns, x.x.stride};
    offsets[0] = 0;
    for (std::int64_t set = 0; set < x.sets; ++set) {
      offsets[set + 1] = offsets[set] + std::max(x.size(set), shortest);
      to = std::copy_n(x.x.row(x.offsets[set]), x.size(set) * x.x.stride, to);
      to = std::fill_n(to, (offsets[set + 1] - offsets[set] - x.size(set)) * x.x.stride, T{0});
    }
    return {padded, offsets, x.sets};
  }

  // The first windows of x, one behind the other; its rows have no padding, so that a window is one piece.
  void copy_windows(Matrix<const T> x, std::int64_t count, T* to) const {
    for (std::int64_t t = 0; t < count; ++t) to = std::copy_n(x.row(t), window_ * x.columns, to);
  }
  // Room for so many windows, and one more, that vectors may reach into.
  Matrix<T> room_for(std::int64_t count, Matrix<const T> x, Workspace& workspace) const {
    const std::int64_t width = window_ * x.columns;
    return {workspace.take<T>((count + 1) * width), count, width, width};
  }
  std::int64_t* window_offsets(Ragged<const T> x, Workspace& workspace) const {
    auto* offsets = workspace.take<std::int64_t>(x.sets + 1);
    offsets[0] = 0;
    for (std::int64_t set = 0; set < x.sets; ++set)
      offsets[set + 1] = offsets[set] + x.size(set) - window_ + 1;
    return offsets;
  }

  void look(const T* packed, Ragged<const T> x, Tape& kept, bool keep, Workspace& workspace) const {
    kept.windows = window_offsets(x, workspace);
    kept.looked = {};
    kept.looked.pooled = workspace.matrix<T>(x.sets, windows_->columns());
    kept.looks = keep ? workspace.take<Look>(x.sets) : nullptr;
    for (std::int64_t set = 0; set < x.sets; ++set) {
      std::optional<Workspace::Scope> scope;
      if (!keep) scope.emplace(workspace);
      auto* own = workspace.take<std::int64_t>(2);
      own[0] = 0;
      own[1] = kept.windows[set + 1] - kept.windows[set];
      const Matrix<T> windows = room_for(own[1], x.x, workspace);
      copy_windows(x.x.rows_from(x.offsets[set], x.size(set)), own[1], windows.data);
      Look look{{windows, own, 1}, windows_->embed(packed, windows, workspace)};
      windows_->pool_into(look.rows, own, 1, kept.looked.pooled.rows_from(set, 1), workspace);
      if (keep) kept.looks[set] = look;
    }
  }

  // The same without keeping anything of rows.
  void look_at_tiles(const T* packed, Ragged<const T> x, Tape& kept, Workspace& workspace) const {
    const std::int64_t* offsets = window_offsets(x, workspace);
    kept.windows = offsets;
    std::int64_t count = 0;
    for (std::int64_t set = 0; set < x.sets; ++set) count += tiles_of(offsets[set + 1] - offsets[set]);
    auto* tiles = workspace.take<Tile>(count);
    const Matrix<T> pooled = workspace.matrix<T>(count, windows_->columns());
    std::int64_t at = 0;
    for (std::int64_t set = 0; set < x.sets; ++set) {
      const std::int64_t all = offsets[set + 1] - offsets[set];
      for (std::int64_t first = 0; first < all; first += tile_rows_, ++at) {
        const Workspace::Scope scope(workspace);
        tiles[at] = {set, first, std::min(tile_rows_, all - first)};
        const Matrix<T> windows = room_for(tiles[at].rows, x.x, workspace);
        copy_windows(x.x.rows_from(x.offsets[set] + first, tiles[at].rows), tiles[at].rows, windows.data);
        typename Invariant<T>::Rows rows = windows_->embed(packed, windows, workspace);
        windows_->pool_rows(rows, pooled.rows_from(at, 1), nullptr, workspace);
      }
    }
    kept.looked = windows_->join_sets(tiles, pooled, {}, x.sets, workspace);
  }
  std::int64_t tiles_of(std::int64_t rows) const { return (rows + tile_rows_ - 1) / tile_rows_; }

  void look_back(const T* packed, Tape& kept, Matrix<const T> d_seen, T* const* gradients,
                 Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const Matrix<T> d = workspace.zeros<T>(d_seen.rows, d_seen.columns);
    copy_columns<T>(d_seen, d);
    // Data sets that share a gradient, one group after the other.
    for (std::int64_t first = 0, end = 0; first < d.rows; first = end) {
      while (end < d.rows && gradients[end] == gradients[first]) ++end;
      const Workspace::Scope of_group(workspace);
      const std::int64_t sets = end - first, row = kept.windows[first];
      auto* own = workspace.take<std::int64_t>(sets + 1);
      for (std::int64_t i = 0; i <= sets; ++i) own[i] = kept.windows[first + i] - row;
      const typename Invariant<T>::Sets looked = windows_->part(kept.looked, first, sets, workspace);
      const Matrix<T> d_own = d.rows_from(first, sets);
      const Matrix<T> d_pooled =
          factored_ ? windows_->with_factors_back(packed, looked, own, d_own, gradients[first], workspace)
                    : windows_->after_back(packed, looked, d_own, gradients[first], workspace);
      for (std::int64_t set = first; set < end; ++set) {
        windows_->back(packed, kept.looks[set].windows, kept.looks[set].rows,
                       looked.pooled.rows_from(set - first, 1), d_pooled.rows_from(set - first, 1), {}, {},
                       false, gradients[first], workspace);
      }
    }
  }

  void convolve(const T* packed, Ragged<const T> x, Tape& kept, Workspace& workspace) const {
    kept.input = x;
    kept.layers = convolved(packed, x, workspace);
    kept.largest = workspace.take<std::int32_t>(x.sets * channels_);
    pool<T>(pooling_, T{1}, as_const(kept.layers[layers() - 1]), {}, kept.pooled, kept.largest);
  }

  // The outputs of all convolutions.
  Ragged<T>* convolved(const T* packed, Ragged<const T> x, Workspace& workspace) const {
    auto* outputs = workspace.take<Ragged<T>>(layers());
    for (std::int64_t i = 0; i < layers(); ++i) {
      outputs[i] = convolutions_[i].forward(packed, x, workspace);
      x = as_const(outputs[i]);
    }
    return outputs;
  }

  void convolve_tiles(const T* packed, Ragged<const T> x, Matrix<T> pooled, Workspace& workspace) const {
    for (std::int64_t set = 0; set < x.sets; ++set) {
      const Workspace::Scope scope(workspace);
      convolve_series(packed, x.x.rows_from(x.offsets[set], x.size(set)), pooled.row(set), workspace);
    }
  }

  // Tiles are of what the last convolution gives; they read rows that overlap.
  void convolve_series(const T* packed, Matrix<const T> x, T* pooled, Workspace& workspace) const {
    const std::int64_t all = (x.rows - shortest_) / stride_ + 1;
    const std::int64_t most = std::max<std::int64_t>(1, tile_rows_ / stride_);
    const std::int64_t tiles = (all + most - 1) / most;
    const Matrix<T> parts = workspace.matrix<T>(tiles, channels_);
    const Matrix<T> shares = workspace.matrix<T>(tiles, channels_);
    auto* sizes = workspace.take<std::int64_t>(tiles);
    auto* largest = workspace.take<std::int32_t>(channels_);
    for (std::int64_t t = 0; t < tiles; ++t) {
      const Workspace::Scope scope(workspace);
      sizes[t] = std::min(most, all - t * most);
      const std::int64_t offsets[] = {0, (sizes[t] - 1) * stride_ + shortest_};
      const Ragged<const T> read{x.rows_from(t * most * stride_, offsets[1]), offsets, 1};
      const Ragged<T>* outputs = convolved(packed, read, workspace);
      pool<T>(pooling_, T{1}, as_const(outputs[layers() - 1]), {}, parts.rows_from(t, 1), largest);
    }
    tile_shares<T>(pooling_, sizes, parts, {}, shares);
    join_tiles<T>(shares, parts, pooled);
  }

  static Ragged<const T> as_const(const Ragged<T>& r) { return {r.x, r.offsets, r.sets}; }

  template <class U>
  static void copy_columns(Matrix<const U> from, Matrix<U> to) {
    for (std::int64_t r = 0; r < to.rows; ++r) std::copy_n(from.row(r), to.columns, to.row(r));
  }

  std::int64_t layers() const { return static_cast<std::int64_t>(convolutions_.size()); }

  Pooling pooling_;
  bool log_n_;
  std::optional<Lstm<T>> lstm_;
  std::vector<Conv1d<T>> convolutions_;
  std::optional<Invariant<T>> windows_;
  std::vector<const Dense<T>*> window_layers_;
  bool factored_ = false;
  std::int64_t channels_ = 0, features_ = 0;
  std::int64_t shortest_ = 1, stride_ = 1;  // rows behind one output of the convolutions, and between two
  std::int64_t tile_rows_, window_;
};

}  // namespace

void register_sequence(Registry<Architecture>& registry) {
  registry.add("sequence",
               make_architecture<SequenceBody, SequenceOptions>("for ordered observations (time series)"));
}

}  // namespace occam
