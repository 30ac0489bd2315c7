#include "occam/engine/cuda/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "occam/nn/muon.hpp"

namespace occam::gpu {
namespace {

// A matrix on the device: rows are observations or data sets.
struct Value {
  float* data = nullptr;
  std::int32_t columns = 0;
  bool of_sets = false;
  Activation activation = Activation::identity;  // that it came out of
};

struct Layer {
  std::int64_t weight = 0, bias = -1;
  std::int32_t in = 0, out = 0;
  Activation activation = Activation::identity;
  std::int32_t beside = -1;  // what else it reads, or -1
};

// What a layer reads beside the output of the one before: the weights for it, and the gradient of x, which is
// `before`, that of layers above, and what this one adds.
struct Beside {
  Layer layer;
  Value x, d;
  const float* before = nullptr;
};

// The widest layer a block can hold.
constexpr std::int64_t kWidest = 1024;

class Builder {
 public:
  Builder(const Network<float>& network, const LearningPlan& plan, Capacity capacity, Arena& arena)
      : network_(network),
        config_(network.config()),
        plan_(plan),
        capacity_(capacity),
        arena_(arena),
        pooling_(pooling_named(config_.body.value("pooling", std::string()))) {}

  Program build();

 private:
  void make_factors();
  static Pooling pooling_named(const std::string& name) {
    const auto& names = pooling_names();
    return static_cast<Pooling>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  // What an invariant module holds.
  struct Invariant {
    std::vector<Layer> embed, score, after;
    std::optional<Layer> score_out, factors, input_factors;
    Value x;
    std::vector<Value> embedded, scored, afterwards;
    Value scores, factor_values, pooled, d_pooled;
    PoolView view;
  };
  struct Module {
    Invariant invariant;
    Layer from_x, from_set;
    std::vector<Layer> rest;
    Value set_part, d_set_part, first, d_first;
    std::vector<Value> outputs;
    const Value& output() const { return outputs.empty() ? first : outputs.back(); }
  };

  std::int64_t option(const char* name) const { return config_.body.at(name).get<std::int64_t>(); }
  Layer layer(const std::string& name, Activation activation) const;
  std::vector<Layer> stack(const std::string& name, std::int64_t count) const;
  Value value(std::int64_t columns, bool of_sets, Activation activation = Activation::identity);
  std::vector<Value> values(const std::vector<Layer>& layers, bool of_sets);

  InputPlan input();
  Invariant make_invariant(const std::string& name, const Value& x);
  Module make_module(const std::string& name, const Value& x);

  // Programs of rows.
  int take();
  void release(int buffer) { used_[static_cast<std::size_t>(buffer)] = false; }
  void begin(bool of_sets);
  void end(std::vector<Launch>& launches);
  void pool(std::vector<Launch>& launches, const PoolView& view);
  void factor(std::vector<Launch>& launches, LaunchKind kind);
  int load(const Value& from);
  Source source(int buffer, const Layer& layer, bool transposed);
  int product(std::vector<Source> sources, const Value& to, bool keep, Op op = {});
  int forward(int in, const std::vector<Layer>& layers, const std::vector<Value>& outputs, bool keep_input);
  int backward(std::vector<Source> sources, const Value& y, Value d, bool keep, Op op = {});
  void learn(const Layer& layer, const Value& x, const Value& d);
  int stack_back(int d, const std::vector<Layer>& layers, const std::vector<Value>& outputs, const Value& x,
                 const Value& d_top, std::int64_t down_to);

  Layer also_reads(Layer layer, const Value& x);
  void factors_back(int d, const Layer& layer, const Value& of);

  void forward_rows(Invariant& part, int x);
  int forward_sets(std::vector<Launch>& launches, Invariant& part);
  std::vector<Source> backward_rows(Invariant& part, bool further);
  void backward_sets(Invariant& part, std::vector<Source> sources);

  void body(std::vector<Launch>& launches);
  int grown(const Value& from, const Value& to);
  const Value& last() const;
  void outputs(int features);
  void loss();
  void back();
  std::vector<MuonMatrix> muon();

  const Network<float>& network_;
  const NetworkConfig& config_;
  const LearningPlan& plan_;
  Capacity capacity_;
  Arena& arena_;
  Pooling pooling_;
  Program program_;
  Launch launch_;
  std::vector<bool> used_;

  Value x_;
  std::vector<Module> modules_;
  Invariant invariant_;
  std::vector<Beside> besides_;  // layers that read the factors of the moments, from the last one down
  FactorView factor_;
  Value factors_;
  std::vector<Layer> post_;
  std::vector<Value> posts_;
  std::optional<Layer> summary_, parameters_;
  Layer models_;
  std::optional<Layer> models_grown_;  // the weights of what is taken times N
  Value grown_value_, d_grown_;
  Value summary_value_, models_value_, parameters_value_;
  int d_models_buffer_ = -1, d_parameters_buffer_ = -1;
  Value d_models_, d_parameters_;
};

Layer Builder::layer(const std::string& name, Activation activation) const {
  const Tensor* weight = network_.layout().find(name + ".weight");
  const Tensor* bias = network_.layout().find(name + ".bias");
  if (weight == nullptr) throw Error(ErrorKind::internal, "no layer '{}' in the network", name);
  if (std::max(weight->shape[0], weight->shape[1]) > kWidest) {
    throw Error(ErrorKind::usage, "the CUDA engine takes layers of up to {} units; '{}' has {} by {}",
                kWidest, name, weight->shape[0], weight->shape[1]);
  }
  return {weight->offset, bias == nullptr ? -1 : bias->offset, static_cast<std::int32_t>(weight->shape[0]),
          static_cast<std::int32_t>(weight->shape[1]), activation};
}

std::vector<Layer> Builder::stack(const std::string& name, std::int64_t count) const {
  std::vector<Layer> layers;
  for (std::int64_t i = 0; i < count; ++i) layers.push_back(layer(name + std::to_string(i), Activation::elu));
  return layers;
}

Value Builder::value(std::int64_t columns, bool of_sets, Activation activation) {
  const auto width = static_cast<std::int32_t>(columns);
  return {arena_.take<float>((of_sets ? capacity_.sets : capacity_.rows) * padded16(width)), width, of_sets,
          activation};
}

std::vector<Value> Builder::values(const std::vector<Layer>& layers, bool of_sets) {
  std::vector<Value> all;
  for (const Layer& each : layers) all.push_back(value(each.out, of_sets, each.activation));
  return all;
}

InputPlan Builder::input() {
  const std::vector<ColumnPlan> columns = column_plans(config_);
  std::int64_t width = config_.channels + static_cast<std::int64_t>(config_.missing.size());
  for (const ColumnInput& column : config_.inputs) width += column.channels() - 1;
  x_ = value(width, false);
  InputPlan input{};
  input.columns = arena_.take<ColumnPlan>(config_.channels);
  input.channels = static_cast<std::int32_t>(config_.channels);
  input.stride = padded16(x_.columns);
  input.x = x_.data;
  input.set_of_row = arena_.take<std::int32_t>(capacity_.rows);
  return input;
}

Builder::Invariant Builder::make_invariant(const std::string& name, const Value& x) {
  Invariant part;
  part.x = x;
  part.embed = stack(name + ".embed", option("inv_layers"));
  part.after = stack(name + ".after", option("after_layers"));
  part.embedded = values(part.embed, false);
  if (pooling_ == Pooling::attention) {
    part.score = stack(name + ".score", option("inv_layers"));
    part.score_out = layer(name + ".score_out", Activation::identity);
    part.scored = values(part.score, false);
    part.scores = value(part.score_out->out, false);
  }
  if (option("moments") > 0) {
    part.factors = layer(name + ".moments", Activation::identity);
    part.input_factors = layer(name + ".moments_of_input", Activation::identity);
    part.factor_values = value(part.factors->out, false);
  }
  part.pooled = value(part.after.front().in, true);
  part.d_pooled = value(part.after.front().in, true);
  part.afterwards = values(part.after, true);

  const Standardisation& s = config_.standardisation;
  PoolView& view = part.view;
  view.pooling = pooling_;
  view.width = part.embed.back().out;
  view.stride = padded16(view.width);
  view.e = part.embedded.back().data;
  view.score = part.scores.data;
  if (pooling_ == Pooling::attention) {
    view.top = arena_.take<float>(capacity_.sets * view.stride);
    view.inverse = arena_.take<float>(capacity_.sets * view.stride);
  }
  if (pooling_ == Pooling::max) view.largest = arena_.take<std::int32_t>(capacity_.sets * view.stride);
  view.sum_scale = static_cast<float>(1 / s.typical_n);
  view.log_n = config_.options.log_n;
  view.log_n_mean = s.log_n_mean;
  view.log_n_scale = s.log_n_scale;
  view.moments = static_cast<std::int32_t>(option("moments"));
  view.moment_blocks = static_cast<std::int32_t>(option("moment_blocks"));
  view.moments_stride = padded16(part.factor_values.columns);
  view.factors = part.factor_values.data;
  view.pooled = part.pooled.data;
  view.d_pooled = part.d_pooled.data;
  view.pooled_stride = padded16(part.pooled.columns);
  return part;
}

Builder::Module Builder::make_module(const std::string& name, const Value& x) {
  Module module;
  module.invariant = make_invariant(name, x);
  // One tensor for an observation and the summary of its data set, side by side.
  const Layer both = layer(name + ".dense0", Activation::elu);
  module.from_x = {both.weight, -1, x.columns, both.out, Activation::elu};
  module.from_set = {both.weight + static_cast<std::int64_t>(x.columns) * both.out, both.bias,
                     both.in - x.columns, both.out, Activation::identity};
  for (std::int64_t i = 1; i < option("equiv_layers"); ++i) {
    module.rest.push_back(layer(name + ".dense" + std::to_string(i), Activation::elu));
  }
  module.set_part = value(both.out, true);
  module.d_set_part = value(both.out, true);
  module.first = value(both.out, false, Activation::elu);
  module.d_first = value(both.out, false);
  module.outputs = values(module.rest, false);
  return module;
}

int Builder::take() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    used_[i] = true;
    return static_cast<int>(i);
  }
  used_.push_back(true);
  return static_cast<int>(used_.size()) - 1;
}

void Builder::begin(bool of_sets) {
  launch_ = {};
  launch_.first = static_cast<std::int32_t>(program_.ops.size());
  launch_.of_sets = of_sets;
  used_.clear();
}

void Builder::end(std::vector<Launch>& launches) {
  launch_.count = static_cast<std::int32_t>(program_.ops.size()) - launch_.first;
  launch_.buffers = static_cast<std::int32_t>(used_.size());
  for (std::int32_t i = launch_.first; i < launch_.first + launch_.count; ++i) {
    const Op& op = program_.ops[static_cast<std::size_t>(i)];
    launch_.width = std::max({launch_.width, padded16(op.columns), padded16(op.parameter_count)});
  }
  launches.push_back(launch_);
}

void Builder::pool(std::vector<Launch>& launches, const PoolView& view) {
  Launch launch;
  launch.kind = LaunchKind::pooling;
  launch.pool = view;
  launches.push_back(launch);
}

int Builder::load(const Value& from) {
  Op op;
  op.kind = OpKind::load;
  op.columns = from.columns;
  op.from = from.data;
  op.out = take();
  program_.ops.push_back(op);
  return op.out;
}

Source Builder::source(int buffer, const Layer& layer, bool transposed) {
  Source source;
  source.buffer = buffer;
  source.inner = transposed ? layer.out : layer.in;
  source.columns = transposed ? layer.in : layer.out;
  source.weight = layer.weight;
  source.weight_columns = layer.out;
  source.transposed = transposed;
  const auto same = std::find_if(program_.packs.begin(), program_.packs.end(), [&](const Source& other) {
    return other.weight == source.weight && other.transposed == transposed && other.inner == source.inner;
  });
  if (same != program_.packs.end()) {
    source.panels = same->panels;
    return source;
  }
  source.panels = program_.panels;
  program_.panels +=
      static_cast<std::int64_t>(padded16(source.inner) / kBlock) * (padded16(source.columns) / kBlock) * 64;
  program_.packs.push_back(source);
  return source;
}

// The buffer of the result, or -1 unless it is kept: a device needs it while it works in any case.
int Builder::product(std::vector<Source> sources, const Value& to, bool keep, Op op) {
  op.kind = OpKind::product;
  op.sources = static_cast<std::int32_t>(sources.size());
  std::copy(sources.begin(), sources.end(), op.source);
  op.columns = to.columns;
  op.store = to.data;
  op.out = take();
  program_.ops.push_back(op);
  if (keep) return op.out;
  release(op.out);
  return -1;
}

int Builder::forward(int in, const std::vector<Layer>& layers, const std::vector<Value>& outputs,
                     bool keep_input) {
  int at = in;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Op op;
    op.bias = layers[i].bias;
    op.activation = layers[i].activation;
    std::vector<Source> sources = {source(at, layers[i], false)};
    if (const int beside = layers[i].beside; beside >= 0) {
      const Beside& other = besides_[static_cast<std::size_t>(beside)];
      sources.push_back(source(load(other.x), other.layer, false));
    }
    const int next = product(sources, outputs[i], true, op);
    if (sources.size() > 1) release(sources.back().buffer);
    if (at != in || !keep_input) release(at);
    at = next;
  }
  return at;
}

// The gradient of what came before the activation that y is the output of.
int Builder::backward(std::vector<Source> sources, const Value& y, Value d, bool keep, Op op) {
  op.activation = y.activation;
  op.y = y.activation == Activation::identity ? nullptr : y.data;
  return product(std::move(sources), d, keep, op);
}

void Builder::learn(const Layer& layer, const Value& x, const Value& d) {
  program_.gradients.push_back({x.data, d.data, layer.in, layer.out, layer.weight, layer.bias, d.of_sets});
}

// From the gradient of the top of a stack, in a buffer and on the device, to that of layer `down_to`.
int Builder::stack_back(int d, const std::vector<Layer>& layers, const std::vector<Value>& outputs,
                        const Value& x, const Value& d_top, std::int64_t down_to) {
  Value of = d_top;
  for (auto i = static_cast<std::int64_t>(layers.size()) - 1; i >= down_to; --i) {
    const auto at = static_cast<std::size_t>(i);
    learn(layers[at], i == 0 ? x : outputs[at - 1], of);
    if (layers[at].beside >= 0) factors_back(d, layers[at], of);
    if (i == down_to) break;
    const Value below = value(layers[at].in, of.of_sets);
    const int next = backward({source(d, layers[at], true)}, outputs[at - 1], below, true);
    release(d);
    d = next;
    of = below;
  }
  return d;
}

// Of a layer whose last inputs are x: those before them, and x beside.
Layer Builder::also_reads(Layer layer, const Value& x) {
  Beside beside;
  beside.x = x;
  beside.layer = {layer.weight + static_cast<std::int64_t>(layer.in - x.columns) * layer.out, -1, x.columns,
                  layer.out, Activation::identity};
  beside.d = value(x.columns, true);
  if (!besides_.empty()) beside.before = besides_.back().d.data;
  layer.in -= x.columns;
  layer.beside = static_cast<std::int32_t>(besides_.size());
  besides_.push_back(beside);
  return layer;
}

void Builder::factors_back(int d, const Layer& layer, const Value& of) {
  const Beside& beside = besides_[static_cast<std::size_t>(layer.beside)];
  learn(beside.layer, beside.x, of);
  Op op;
  if (beside.before != nullptr) {
    op.add = Add::set_row;
    op.from = beside.before;
  }
  product({source(d, beside.layer, true)}, beside.d, false, op);
}

void Builder::forward_rows(Invariant& part, int x) {
  const int e = forward(x, part.embed, part.embedded, true);
  if (part.factors) {
    Op op;
    op.bias = part.factors->bias;
    product({source(e, *part.factors, false), source(x, *part.input_factors, false)}, part.factor_values,
            false, op);
  }
  release(e);
  if (!part.score_out) return;
  const int s = forward(x, part.score, part.scored, true);
  Op op;
  op.bias = part.score_out->bias;
  product({source(s, *part.score_out, false)}, part.scores, false, op);
  release(s);
}

// Leaves the features of data sets in the buffer that it returns, with the program still open.
int Builder::forward_sets(std::vector<Launch>& launches, Invariant& part) {
  pool(launches, part.view);
  if (&part == &invariant_ && factor_.out != nullptr) factor(launches, LaunchKind::factor);
  begin(true);
  return forward(load(part.pooled), part.after, part.afterwards, false);
}

void Builder::body(std::vector<Launch>& launches) {
  begin(false);
  int x = load(x_);
  for (Module& module : modules_) {
    forward_rows(module.invariant, x);
    end(launches);
    const int s = forward_sets(launches, module.invariant);
    Op set_op;
    set_op.bias = module.from_set.bias;
    product({source(s, module.from_set, false)}, module.set_part, false, set_op);
    end(launches);
    begin(false);
    x = load(module.invariant.x);
    Op op;
    op.add = Add::set_row;
    op.from = module.set_part.data;
    op.activation = Activation::elu;
    const int first = product({source(x, module.from_x, false)}, module.first, true, op);
    release(x);
    x = forward(first, module.rest, module.outputs, false);
  }
  forward_rows(invariant_, x);
  end(launches);
}

// Rows of `from`, each times the size of its data set.
int Builder::grown(const Value& from, const Value& to) {
  Op op;
  op.add = Add::grown;
  op.from = from.data;
  op.pool = invariant_.view;
  return product({}, to, true, op);
}

// What the outputs are made of.
const Value& Builder::last() const {
  return summary_ ? summary_value_ : post_.empty() ? invariant_.afterwards.back() : posts_.back();
}

void Builder::outputs(int features) {
  int at = forward(features, post_, posts_, false);
  if (summary_) at = forward(at, {*summary_}, {summary_value_}, false);
  Op op;
  op.bias = models_.bias;
  std::vector<Source> sources = {source(at, models_, false)};
  if (models_grown_) sources.push_back(source(grown(last(), grown_value_), *models_grown_, false));
  product(sources, models_value_, false, op);
  if (models_grown_) release(sources.back().buffer);
  if (parameters_) {
    op.bias = parameters_->bias;
    product({source(at, *parameters_, false)}, parameters_value_, false, op);
  }
  release(at);
}

void Builder::loss() {
  Op op;
  op.kind = OpKind::loss;
  op.columns = models_value_.columns;
  op.evidential = config_.head_kind().concentrations;
  op.link = plan_.link;
  op.models = models_value_.data;
  op.store = d_models_.data;
  op.out = d_models_buffer_ = take();
  op.losses = program_.losses;
  if (parameters_) {
    op.parameters = parameters_value_.data;
    op.parameter_count = parameters_value_.columns;
    op.d_parameters = d_parameters_.data;
    op.out_parameters = d_parameters_buffer_ = take();
  }
  program_.ops.push_back(op);
}

// Everything between the pooling and the outputs.
void Builder::back() {
  std::vector<Layer> layers = invariant_.after;
  std::vector<Value> ys = invariant_.afterwards;
  layers.insert(layers.end(), post_.begin(), post_.end());
  ys.insert(ys.end(), posts_.begin(), posts_.end());
  if (summary_) {
    layers.push_back(*summary_);
    ys.push_back(summary_value_);
  }
  std::vector<Source> sources = {source(d_models_buffer_, models_, true)};
  learn(models_, ys.back(), d_models_);
  if (models_grown_) {
    sources.push_back(source(grown(d_models_, d_grown_), *models_grown_, true));
    learn(*models_grown_, grown_value_, d_models_);
  }
  if (parameters_) {
    sources.push_back(source(d_parameters_buffer_, *parameters_, true));
    learn(*parameters_, ys.back(), d_parameters_);
  }
  const Value d_top = value(ys.back().columns, true);
  int d = backward(sources, ys.back(), d_top, true);
  for (const Source& each : sources) release(each.buffer);
  d = stack_back(d, layers, ys, invariant_.pooled, d_top, 0);
  product({source(d, layers.front(), true)}, invariant_.d_pooled, false);
}

void Builder::backward_sets(Invariant& part, std::vector<Source> sources) {
  const Value d_top = value(part.afterwards.back().columns, true);
  int d = backward(std::move(sources), part.afterwards.back(), d_top, true);
  d = stack_back(d, part.after, part.afterwards, part.pooled, d_top, 0);
  product({source(d, part.after.front(), true)}, part.d_pooled, false);
}

// What the gradient of x is made of; nothing unless it goes `further`.
std::vector<Source> Builder::backward_rows(Invariant& part, bool further) {
  std::vector<Source> sources;
  Op op;
  op.pool = part.view;
  int factors = -1;
  if (part.factors) {
    op.add = Add::moments;
    const Value d = value(part.factor_values.columns, false);
    factors = product({}, d, true, op);
    learn(*part.factors, part.embedded.back(), d);
    learn(*part.input_factors, part.x, d);
    if (further) sources.push_back(source(factors, *part.input_factors, true));
  }
  if (part.score_out) {
    op.add = Add::score;
    const Value d_scores = value(part.scores.columns, false);
    const int s = product({}, d_scores, true, op);
    learn(*part.score_out, part.scored.back(), d_scores);
    const Value d_top = value(part.scored.back().columns, false);
    int d = backward({source(s, *part.score_out, true)}, part.scored.back(), d_top, true);
    release(s);
    d = stack_back(d, part.score, part.scored, part.x, d_top, 0);
    if (further) {
      sources.push_back(source(d, part.score.front(), true));
    } else {
      release(d);
    }
  }
  op.add = Add::pool;
  const Value d_top = value(part.embedded.back().columns, false);
  std::vector<Source> to_e;
  if (part.factors) to_e.push_back(source(factors, *part.factors, true));
  int d = backward(to_e, part.embedded.back(), d_top, true, op);
  d = stack_back(d, part.embed, part.embedded, part.x, d_top, 0);
  if (further) sources.push_back(source(d, part.embed.front(), true));
  return sources;
}

// The layers that read the factors of the moments, and where these lie.
void Builder::make_factors() {
  factors_ = value(invariant_.view.pairs() * invariant_.view.moment_blocks, true);
  if (summary_ && (config_.options.direct || post_.empty())) summary_ = also_reads(*summary_, factors_);
  if (!post_.empty()) post_.front() = also_reads(post_.front(), factors_);
  factor_.pool = invariant_.view;
  factor_.stride = padded16(factors_.columns);
  factor_.out = factors_.data;
  factor_.d_out = besides_.back().d.data;
  factor_.d_pooled = invariant_.d_pooled.data;
  factor_.scratch = arena_.take<double>(capacity_.sets * factors_.columns);
}

void Builder::factor(std::vector<Launch>& launches, LaunchKind kind) {
  Launch launch;
  launch.kind = kind;
  launch.factor = factor_;
  launches.push_back(launch);
}

Program Builder::build() {
  program_.input = input();
  const Value* x = &x_;
  modules_.reserve(static_cast<std::size_t>(option("modules")));
  for (std::int64_t i = 0; i < option("modules"); ++i) {
    modules_.push_back(make_module("equivariant" + std::to_string(i), *x));
    x = &modules_.back().output();
  }
  invariant_ = make_invariant("invariant", *x);
  post_ = stack("post", config_.options.post_layers);
  posts_ = values(post_, true);
  if (config_.options.summary > 0) {
    summary_ = layer("summary", Activation::identity);
    summary_value_ = value(summary_->out, true);
  }
  if (config_.body.at("factor").get<bool>() && option("moments") > 0) make_factors();
  models_ = layer("head", Activation::identity);
  if (config_.options.growth) {
    const std::int32_t in = models_.in / 2;
    models_grown_ = {models_.weight + static_cast<std::int64_t>(in) * models_.out, -1, in, models_.out,
                     Activation::identity};
    models_.in = in;
    grown_value_ = value(in, true);
    d_grown_ = value(models_.out, true);
  }
  models_value_ = value(models_.out, true);
  d_models_ = value(models_.out, true);
  if (config_.parameters > 0) {
    parameters_ = layer("parameters", Activation::identity);
    parameters_value_ = value(parameters_->out, true);
    d_parameters_ = value(parameters_->out, true);
  }
  program_.losses = arena_.take<double>(capacity_.sets);

  body(program_.forward);
  program_.training = program_.forward;
  outputs(forward_sets(program_.forward, invariant_));
  end(program_.forward);

  std::vector<Launch>& launches = program_.training;
  outputs(forward_sets(launches, invariant_));
  loss();
  back();
  end(launches);
  if (factor_.out != nullptr) factor(launches, LaunchKind::factor_back);
  Invariant* part = &invariant_;
  for (std::int64_t i = static_cast<std::int64_t>(modules_.size()); i >= 0; --i) {
    begin(false);
    std::vector<Source> sources = backward_rows(*part, i > 0);
    if (i < static_cast<std::int64_t>(modules_.size()) && i > 0) {
      Module& own = modules_[static_cast<std::size_t>(i)];
      sources.push_back(source(load(own.d_first), own.from_x, true));
    }
    if (i == 0) {
      end(launches);
      break;
    }
    Module& below = modules_[static_cast<std::size_t>(i - 1)];
    // The gradient of the module's output, then down to that of its first layer.
    const Value d_top = below.rest.empty() ? below.d_first : value(below.output().columns, false);
    int d = backward(sources, below.output(), d_top, !below.rest.empty());
    if (!below.rest.empty()) {
      for (const Source& each : sources) release(each.buffer);
      d = stack_back(d, below.rest, below.outputs, below.first, d_top, 0);
      backward({source(d, below.rest.front(), true)}, below.first, below.d_first, false);
    }
    end(launches);
    learn(below.from_x, below.invariant.x, below.d_first);

    PoolView sum;
    sum.width = below.d_first.columns;
    sum.stride = sum.pooled_stride = padded16(sum.width);
    sum.e = below.d_first.data;
    sum.pooled = below.d_set_part.data;
    pool(launches, sum);
    begin(true);
    learn(below.from_set, below.invariant.afterwards.back(), below.d_set_part);
    backward_sets(below.invariant, {source(load(below.d_set_part), below.from_set, true)});
    end(launches);
    part = &below.invariant;
  }
  program_.models = models_value_.data;
  program_.parameters = parameters_value_.data;
  program_.summary = last().data;
  program_.summary_width = last().columns;
  if (plan_.optimiser == Optimiser::muon) program_.muon = muon();
  return std::move(program_);
}

std::vector<MuonMatrix> Builder::muon() {
  std::vector<MuonMatrix> matrices;
  for (const auto& place : muon_places(network_.layout())) {
    MuonMatrix matrix;
    matrix.first = place.first;
    matrix.rows = static_cast<std::int32_t>(place.rows);
    matrix.columns = static_cast<std::int32_t>(place.columns);
    const std::int64_t n = matrix.tall(), m = matrix.narrow();
    for (int turn = 0; turn < 2; ++turn) {
      matrix.x[turn] = arena_.take<float>(n * padded16(static_cast<int>(m)));
      matrix.transposed[turn] = arena_.take<float>(m * padded16(static_cast<int>(n)));
    }
    matrix.gram = arena_.take<float>(m * padded16(static_cast<int>(m)));
    matrix.mixed = arena_.take<float>(m * padded16(static_cast<int>(m)));
    matrices.push_back(matrix);
  }
  return matrices;
}

void refuse(bool yes, const std::string& what) {
  if (yes) throw Error(ErrorKind::usage, "the CUDA engine does not know {}; use --device cpu", what);
}

}  // namespace

std::vector<ColumnPlan> column_plans(const NetworkConfig& config) {
  std::vector<ColumnPlan> plans;
  const Standardisation& s = config.standardisation;
  std::int32_t at = static_cast<std::int32_t>(config.channels);
  for (std::size_t c = 0; c < static_cast<std::size_t>(config.channels); ++c) {
    ColumnPlan plan{};
    const ColumnInput input = config.inputs.empty() ? ColumnInput{} : config.inputs[c];
    plan.transformation = input.transformation;
    plan.centre = input.centre;
    plan.width = input.width;
    plan.mean = s.mean[c];
    plan.factor = 1 / s.scale[c];
    plan.mask_at = plan.local_at = plan.waves_at = plan.levels_at = -1;
    plan.waves = static_cast<std::int32_t>(input.waves);
    plan.levels = static_cast<std::int32_t>(input.levels.size());
    std::copy(input.levels.begin(), input.levels.end(), plan.level);
    plans.push_back(plan);
  }
  for (const std::int64_t c : config.missing) plans[static_cast<std::size_t>(c)].mask_at = at++;
  for (std::size_t c = 0; c < config.inputs.size(); ++c) {
    if (config.inputs[c].local) plans[c].local_at = at++;
    plans[c].waves_at = at;
    at += 2 * plans[c].waves;
    plans[c].levels_at = at;
    at += plans[c].levels;
  }
  return plans;
}

Program make_program(const Network<float>& network, const LearningPlan& plan, Capacity capacity,
                     Arena& arena) {
  const NetworkConfig& config = network.config();
  refuse(config.options.architecture != "set",
         "networks of architecture '" + config.options.architecture + "'");
  refuse(config.options.head != "evidential" && config.options.head != "softmax",
         "the head '" + config.options.head + "'");
  refuse(!config.statistics.mean.empty(), "the statistics of ordered data");
  refuse(config.options.summary == 0 && config.body.at("factor").get<bool>() &&
             config.body.at("moments").get<std::int64_t>() > 0 &&
             (config.options.direct || config.options.post_layers == 0),
         "outputs that read factors of moments without a summary");
  return Builder(network, plan, capacity, arena).build();
}

std::vector<std::uint8_t> weight_kinds(const Program& program, std::int64_t weights) {
  std::vector<std::uint8_t> kinds(static_cast<std::size_t>(weights), 0);
  for (const Gradient& each : program.gradients) {
    if (!each.of_sets) continue;
    std::fill_n(kinds.begin() + each.weight, static_cast<std::int64_t>(each.inner) * each.columns, kOfSets);
    if (each.bias >= 0) std::fill_n(kinds.begin() + each.bias, each.columns, kOfSets);
  }
  for (const MuonMatrix& matrix : program.muon) {
    const std::int64_t size = static_cast<std::int64_t>(matrix.rows) * matrix.columns;
    for (std::int64_t i = 0; i < size; ++i) kinds[static_cast<std::size_t>(matrix.first + i)] |= kOfMuon;
  }
  return kinds;
}

}  // namespace occam::gpu
