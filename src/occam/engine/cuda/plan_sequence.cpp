// Programs of sequence networks. Convolutions are products of rows: a row of windows is gathered from the
// level below when it is loaded, and kept for the gradients of weights; on the way back each row adds up what
// the windows over it pass on. The LSTM's inputs are a product of rows too, and its recurrence a launch of
// its own, which runs beside the convolutions. Windows that are read as if exchangeable are rows of a level
// of their own.
#include <algorithm>

#include "occam/engine/cuda/plan_invariant.hpp"

namespace occam::gpu {

Windows windows_of(const NetworkConfig& config) {
  Windows windows;
  if (config.options.architecture != "sequence") return windows;
  const auto kernels = config.body.at("kernels").get<std::vector<std::int64_t>>();
  const auto strides = config.body.at("strides").get<std::vector<std::int64_t>>();
  windows.convolutions = kernels.size();
  for (std::size_t i = 0; i < kernels.size(); ++i)
    windows.levels.push_back({kernels[i], strides[i], static_cast<std::int32_t>(i)});
  for (auto window = windows.levels.rbegin(); window != windows.levels.rend(); ++window) {
    windows.shortest = (windows.shortest - 1) * window->stride + window->kernel;
  }
  if (const auto window = config.body.at("window").get<std::int64_t>(); window > 0)
    windows.levels.push_back({window, 1, 0});
  return windows;
}

namespace {

class SequenceBuilder final : InvariantBuilder {
 public:
  SequenceBuilder(const Network<float>& network, const LearningPlan& plan, Capacity capacity, Arena& arena)
      : InvariantBuilder(network, plan, capacity, arena),
        units_(config_.body.at("lstm").get<std::int64_t>()),
        windows_(windows_of(config_)),
        pooling_(pooling_named(config_.body.at("pooling").get<std::string>())) {}

  Program build();

 private:
  struct Convolution {
    Layer layer;
    Value windows, d_windows, y, d;
    WindowView view;
  };

  std::int64_t most_rows(RowKind rows) const override;
  // Whether there is something for the LSTM to run beside.
  bool aside() const { return !windows_.levels.empty(); }
  void make_lstm();
  void make_convolutions();
  void make_windows();
  void make_features();
  void lstm_inputs(std::vector<Launch>& launches);
  void lstm(std::vector<Launch>& launches, LaunchKind kind);
  void convolve(std::vector<Launch>& launches, const Convolution& layer);
  void convolve_back(std::vector<Launch>& launches, std::size_t at);
  void look(std::vector<Launch>& launches);
  void look_back(std::vector<Launch>& launches);
  void body(std::vector<Launch>& launches);
  void begin_features();

  std::int64_t units_;
  Windows windows_;
  Pooling pooling_;
  Layer wh_, wx_;
  Value gates_, before_;
  LstmView lstm_;
  std::vector<Convolution> convolutions_;
  PoolView pool_;
  Invariant look_;  // at windows
  WindowView window_;
  Value features_, d_features_;
};

// A window more than its share for every data set, since shares are rounded.
std::int64_t SequenceBuilder::most_rows(RowKind rows) const {
  if (rows.level == 0) return ProgramBuilder::most_rows(rows);
  const Window& window = windows_.levels[static_cast<std::size_t>(rows.level) - 1];
  return most_rows(RowKind::of_level(window.from)) / window.stride + capacity_.sets;
}

void SequenceBuilder::make_lstm() {
  const std::int64_t bias = tensor("lstm.b").offset;
  wh_ = layer_of("lstm", tensor("lstm.wh").offset, -1, units_, 4 * units_, Activation::identity);
  wx_ = layer_of("lstm", tensor("lstm.wx").offset, bias, x_.columns, 4 * units_, Activation::identity);
  gates_ = value(4 * units_, false);
  before_ = value(units_, false);
  lstm_.units = static_cast<std::int32_t>(units_);
  lstm_.stride = padded16(lstm_.units);
  lstm_.gate_stride = padded16(4 * lstm_.units);
  lstm_.weight = wh_.weight;
  lstm_.gates = gates_.data;
  lstm_.before = before_.data;
  lstm_.c = value(units_, false).data;
}

void SequenceBuilder::make_convolutions() {
  Value x = x_;
  for (std::size_t i = 0; i < windows_.convolutions; ++i) {
    const std::string name = "conv" + std::to_string(i);
    const Window& window = windows_.levels[i];
    const auto rows = RowKind::of_level(static_cast<std::int32_t>(i) + 1);
    Convolution c;
    const Tensor& weight = tensor(name + ".weight");
    c.layer = layer_of(name, weight.offset, tensor(name + ".bias").offset, window.kernel * x.columns,
                       weight.shape.back(), Activation::elu);
    c.windows = value(c.layer.in, rows);
    if (i > 0) c.d_windows = value(c.layer.in, rows);
    c.y = value(c.layer.out, rows, Activation::elu);
    c.d = value(c.layer.out, rows);
    c.view = {static_cast<std::int32_t>(window.kernel),
              static_cast<std::int32_t>(window.stride),
              x.columns,
              rows.level,
              window.from,
              x.data,
              c.d_windows.data};
    x = c.y;
    convolutions_.push_back(c);
  }
}

// The same windows of rows, whatever their order.
void SequenceBuilder::make_windows() {
  const auto level = static_cast<std::int32_t>(windows_.levels.size());
  const Window& window = windows_.levels.back();
  const auto option = [&](const char* name) { return config_.body.at(name).get<std::int64_t>(); };
  InvariantOptions o;
  o.inv_layers = option("window_layers");
  o.moments = option("moments");
  o.moment_blocks = option("moment_blocks");
  const Value rows = value(window.kernel * x_.columns, RowKind::of_level(level));
  look_ = make_invariant("windows", rows, o, config_.options.log_n);
  make_factors(look_, o);
  window_ = {static_cast<std::int32_t>(window.kernel), 1, x_.columns, level, 0, x_.data, nullptr};
}

// [last h, pooled channels, log N].
void SequenceBuilder::make_features() {
  const Standardisation& s = config_.standardisation;
  const bool log_n = config_.options.log_n;
  const std::int64_t channels = convolutions_.empty() ? 0 : convolutions_.back().layer.out;
  features_ = value(units_ + channels + (log_n ? 1 : 0), kSetRows);
  d_features_ = value(features_.columns, kSetRows);

  lstm_.out = features_.data;
  lstm_.d_out = d_features_.data;
  lstm_.out_stride = padded16(features_.columns);
  lstm_.log_n = log_n && convolutions_.empty();
  lstm_.log_n_mean = s.log_n_mean;
  lstm_.log_n_scale = s.log_n_scale;
  if (convolutions_.empty()) return;
  const Convolution& last = convolutions_.back();
  pool_.pooling = pooling_;
  pool_.width = last.layer.out;
  pool_.stride = padded16(pool_.width);
  pool_.e = last.y.data;
  pool_.level = last.view.level;
  if (pooling_ == Pooling::max) pool_.largest = arena_.take<std::int32_t>(capacity_.sets * pool_.stride);
  pool_.log_n = log_n;
  pool_.log_n_mean = s.log_n_mean;
  pool_.log_n_scale = s.log_n_scale;
  pool_.pooled = features_.data + units_;
  pool_.pooled_stride = padded16(features_.columns);
  pool_.d_pooled = d_features_.data + units_;
}

void SequenceBuilder::lstm_inputs(std::vector<Launch>& launches) {
  begin(false);
  launch_.beside = aside();
  Op op;
  op.bias = wx_.bias;
  product({source(load(x_), wx_, false)}, gates_, false, op);
  end(launches);
}

void SequenceBuilder::lstm(std::vector<Launch>& launches, LaunchKind kind) {
  Launch launch;
  launch.kind = kind;
  launch.lstm = lstm_;
  launch.beside = aside();
  launches.push_back(launch);
}

void SequenceBuilder::convolve(std::vector<Launch>& launches, const Convolution& c) {
  begin(c.y.rows);
  Op gather;
  gather.add = Add::windows;
  gather.window = c.view;
  gather.store = c.windows.data;
  Value from = c.windows;
  from.data = const_cast<float*>(c.view.x);
  forward(load(from, gather), {c.layer}, {c.y}, false);
  end(launches);
}

// From the gradients of what looks at the outputs of a convolution to those of its weights and windows.
void SequenceBuilder::convolve_back(std::vector<Launch>& launches, std::size_t at) {
  const Convolution& c = convolutions_[at];
  begin(c.y.rows);
  Op op;
  if (at + 1 == convolutions_.size()) {
    op.add = Add::pool;
    op.pool = pool_;
  } else {
    op.add = Add::windows;
    op.window = convolutions_[at + 1].view;
  }
  const int d = backward({}, c.y, c.d, true, op);
  learn(c.layer, c.windows, c.d);
  if (at > 0) product({source(d, c.layer, true)}, c.d_windows, false);
  end(launches);
}

void SequenceBuilder::look(std::vector<Launch>& launches) {
  begin(look_.x.rows);
  Op gather;
  gather.add = Add::windows;
  gather.window = window_;
  gather.store = look_.x.data;
  Value from = look_.x;
  from.data = const_cast<float*>(window_.x);
  const int x = load(from, gather);
  forward_rows(look_, x);
  release(x);
  end(launches);
  pool(launches, look_.view);
  factor(launches, LaunchKind::factor);
  begin(true);
  release(forward(load(look_.pooled), look_.after, look_.afterwards, false));
  end(launches);
}

void SequenceBuilder::look_back(std::vector<Launch>& launches) {
  begin(true);
  Value d = look_.afterwards.back();
  d.data = gradient_of(d);
  backward_sets(look_, load(d), d);
  end(launches);
  factor(launches, LaunchKind::factor_back);
  begin(look_.x.rows);
  backward_rows(look_, false);
  end(launches);
}

void SequenceBuilder::body(std::vector<Launch>& launches) {
  if (units_ > 0) {
    lstm_inputs(launches);
    lstm(launches, LaunchKind::lstm);
  }
  for (const Convolution& c : convolutions_) convolve(launches, c);
  if (!convolutions_.empty()) pool(launches, pool_);
  if (windows_.apart()) look(launches);
}

void SequenceBuilder::begin_features() {
  begin(true);
  launch_.joins = true;
}

Program SequenceBuilder::build() {
  refuse(units_ == 0 && windows_.convolutions == 0, "sequence networks without LSTM and convolutions");
  program_.input = input();
  if (units_ > 0) make_lstm();
  make_convolutions();
  if (windows_.apart()) make_windows();
  make_features();
  make_statistics();
  std::vector<Feature> others;
  if (windows_.apart()) others.push_back({look_.afterwards.back(), true, false});
  if (gains_.columns > 0) others.push_back({gains_, true, false});
  if (factors_.columns > 0) others.push_back({factors_, true, true});
  for (const Value& piece : statistics_) others.push_back({piece, false, true});
  make_head(features_, others);
  read_back(look_);

  body(program_.forward);
  program_.training = program_.forward;
  begin_features();
  outputs(program_.forward, load(features_), false);
  end(program_.forward);

  std::vector<Launch>& launches = program_.training;
  begin_features();
  outputs(launches, load(features_), true);
  loss();
  back(launches, {}, {}, features_, d_features_);
  end(launches);
  if (units_ > 0) {
    lstm(launches, LaunchKind::lstm_back);
    learn(wx_, x_, gates_);
    learn(wh_, before_, gates_);
  }
  for (std::size_t i = convolutions_.size(); i > 0; --i) convolve_back(launches, i - 1);
  if (windows_.apart()) look_back(launches);
  return finish();
}

}  // namespace

Program make_sequence_program(const Network<float>& network, const LearningPlan& plan, Capacity capacity,
                              Arena& arena) {
  return SequenceBuilder(network, plan, capacity, arena).build();
}

}  // namespace occam::gpu
