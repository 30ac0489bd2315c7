#include "occam/engine/cuda/plan_builder.hpp"

#include <algorithm>

#include "occam/nn/muon.hpp"

namespace occam::gpu {
namespace {

// The widest layer a block can hold.
constexpr std::int64_t kWidest = 1024;

}  // namespace

void refuse(bool yes, const std::string& what) {
  if (yes) throw Error(ErrorKind::usage, "the CUDA engine does not know {}; use --device cpu", what);
}

const Tensor& ProgramBuilder::tensor(const std::string& name) const {
  const Tensor* found = network_.layout().find(name);
  if (found == nullptr) throw Error(ErrorKind::internal, "no tensor '{}' in the network", name);
  return *found;
}

Layer ProgramBuilder::layer_of(const std::string& name, std::int64_t weight, std::int64_t bias,
                               std::int64_t in, std::int64_t out, Activation activation,
                               std::int64_t beside) const {
  if (std::max(in - beside, out) > kWidest) {
    throw Error(ErrorKind::usage,
                "the CUDA engine takes layers of up to {} units; '{}' has {} by {}; use --device cpu",
                kWidest, name, in - beside, out);
  }
  return {weight, bias, static_cast<std::int32_t>(in), static_cast<std::int32_t>(out), activation};
}

Layer ProgramBuilder::layer(const std::string& name, Activation activation, std::int64_t beside) const {
  const Tensor& weight = tensor(name + ".weight");
  const Tensor* bias = network_.layout().find(name + ".bias");
  return layer_of(name, weight.offset, bias == nullptr ? -1 : bias->offset, weight.shape[0], weight.shape[1],
                  activation, beside);
}

std::vector<Layer> ProgramBuilder::stack(const std::string& name, std::int64_t count,
                                         std::int64_t beside) const {
  std::vector<Layer> layers;
  for (std::int64_t i = 0; i < count; ++i) {
    layers.push_back(layer(name + std::to_string(i), Activation::elu, i == 0 ? beside : 0));
  }
  return layers;
}

Value ProgramBuilder::value(std::int64_t columns, RowKind rows, Activation activation) {
  const auto width = static_cast<std::int32_t>(columns);
  return {arena_.take<float>(most_rows(rows) * padded16(width)), width, rows, activation};
}

std::vector<Value> ProgramBuilder::values(const std::vector<Layer>& layers, RowKind rows) {
  std::vector<Value> all;
  for (const Layer& each : layers) all.push_back(value(each.out, rows, each.activation));
  return all;
}

InputPlan ProgramBuilder::input() {
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

void ProgramBuilder::make_statistics() {
  const auto count = static_cast<std::int64_t>(config_.statistics.mean.size());
  refuse(count > kStatisticsPiece * kMostStatisticsPieces,
         "series of so many columns that more than 16,384 statistics are taken of them (--network "
         "statistics=false)");
  for (std::int64_t first = 0; first < count; first += kStatisticsPiece) {
    const Value piece = value(std::min<std::int64_t>(count - first, kStatisticsPiece), kSetRows);
    program_.input.statistics[statistics_.size()] = piece.data;
    statistics_.push_back(piece);
  }
  program_.input.statistics_count = static_cast<std::int32_t>(count);
}

int ProgramBuilder::take() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    used_[i] = true;
    return static_cast<int>(i);
  }
  used_.push_back(true);
  return static_cast<int>(used_.size()) - 1;
}

void ProgramBuilder::begin(RowKind rows) {
  launch_ = {};
  launch_.first = static_cast<std::int32_t>(program_.ops.size());
  launch_.of_sets = rows.of_sets;
  launch_.level = rows.level;
  used_.clear();
}

void ProgramBuilder::end(std::vector<Launch>& launches) {
  launch_.count = static_cast<std::int32_t>(program_.ops.size()) - launch_.first;
  launch_.buffers = static_cast<std::int32_t>(used_.size());
  for (std::int32_t i = launch_.first; i < launch_.first + launch_.count; ++i) {
    const Op& op = program_.ops[static_cast<std::size_t>(i)];
    launch_.width = std::max({launch_.width, padded16(op.columns), padded16(op.parameter_count)});
  }
  launches.push_back(launch_);
}

void ProgramBuilder::pool(std::vector<Launch>& launches, const PoolView& view) {
  Launch launch;
  launch.kind = LaunchKind::pooling;
  launch.pool = view;
  launches.push_back(launch);
}

int ProgramBuilder::load(const Value& from, Op op) {
  op.kind = OpKind::load;
  op.columns = from.columns;
  op.from = from.data;
  op.out = take();
  program_.ops.push_back(op);
  return op.out;
}

Source ProgramBuilder::source(int buffer, const Layer& layer, bool transposed) {
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
int ProgramBuilder::product(std::vector<Source> sources, const Value& to, bool keep, Op op) {
  if (op.y != nullptr && op.from != nullptr)
    throw Error(ErrorKind::internal, "an op cannot both add a row and read the slope of an activation");
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

int ProgramBuilder::forward(int in, const std::vector<Layer>& layers, const std::vector<Value>& outputs,
                            bool keep_input, bool training) {
  int at = in;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Op op;
    op.bias = layers[i].bias;
    op.activation = layers[i].activation;
    std::vector<Source> sources = {source(at, layers[i], false)};
    for (std::size_t b = layers[i].besides.size(); b-- > 0;) {
      const Beside& other = besides_[static_cast<std::size_t>(layers[i].besides[b])];
      const Source its = source(load(other.x), other.layer, false);
      if (b == 0) {
        sources.push_back(its);
        continue;
      }
      // By itself: a block need not hold more than two wide matrices at a time.
      Op before = op;
      before.bias = -1;
      before.activation = Activation::identity;
      product({its}, other.product, false, before);
      release(its.buffer);
      op.add = Add::set_row;
      op.from = other.product.data;
    }
    const int next = product(sources, outputs[i], true, op);
    if (sources.size() > 1) release(sources.back().buffer);
    if (training && outputs[i].thinned != nullptr)
      thin(next, outputs[i].data, outputs[i].thinned, outputs[i]);
    if (at != in || !keep_input) release(at);
    at = next;
  }
  return at;
}

// Rows of `from` times the masks of a layer's output; in the buffer, too, which may have held them without.
void ProgramBuilder::thin(int buffer, const float* from, float* to, const Value& of) {
  Op op;
  op.kind = OpKind::load;
  op.add = Add::thinned;
  op.columns = of.columns;
  op.from = from;
  op.store = to;
  op.noise = of.noise;
  op.out = buffer;
  program_.ops.push_back(op);
}

// The gradient of what came before the activation that y is the output of. A mask behind it is a factor of
// the result as the slope is.
int ProgramBuilder::backward(std::vector<Source> sources, const Value& y, Value d, bool keep, Op op) {
  op.activation = y.activation;
  op.y = y.activation == Activation::identity ? nullptr : y.data;
  const int out = product(std::move(sources), d, keep || y.thinned != nullptr, op);
  if (y.thinned == nullptr) return out;
  thin(out, d.data, d.data, y);
  if (keep) return out;
  release(out);
  return -1;
}

void ProgramBuilder::learn(const Layer& layer, const Value& x, const Value& d) {
  program_.gradients.push_back({x.thinned != nullptr ? x.thinned : x.data, d.data, layer.in, layer.out,
                                layer.weight, layer.bias, d.rows.of_sets, d.rows.level});
}

// From the gradient of the top of a stack, in a buffer and on the device, to that of layer `down_to`.
int ProgramBuilder::stack_back(int d, const std::vector<Layer>& layers, const std::vector<Value>& outputs,
                               const Value& x, const Value& d_top, std::int64_t down_to) {
  Value of = d_top;
  for (auto i = static_cast<std::int64_t>(layers.size()) - 1; i >= down_to; --i) {
    const auto at = static_cast<std::size_t>(i);
    learn(layers[at], i == 0 ? x : outputs[at - 1], of);
    beside_back(d, layers[at], of);
    if (i == down_to) break;
    const Value below = value(layers[at].in, of.rows);
    const int next = backward({source(d, layers[at], true)}, outputs[at - 1], below, true);
    release(d);
    d = next;
    of = below;
  }
  return d;
}

// Of a layer whose last inputs are x: those before them, and x beside.
Layer ProgramBuilder::also_reads(Layer layer, const Value& x, bool learned) {
  Beside beside;
  beside.x = x;
  beside.layer = {layer.weight + static_cast<std::int64_t>(layer.in - x.columns) * layer.out, -1, x.columns,
                  layer.out, Activation::identity};
  if (learned) beside.d = value(x.columns, x.rows);
  if (!layer.besides.empty()) beside.product = value(layer.out, x.rows);
  beside.before = gradient_of(x);
  layer.in -= x.columns;
  layer.besides.push_back(static_cast<std::int32_t>(besides_.size()));
  besides_.push_back(beside);
  return layer;
}

float* ProgramBuilder::gradient_of(const Value& x) const {
  const auto last = std::find_if(besides_.rbegin(), besides_.rend(),
                                 [&](const Beside& beside) { return beside.x.data == x.data; });
  return last == besides_.rend() ? nullptr : last->d.data;
}

void ProgramBuilder::beside_back(int d, const Layer& layer, const Value& of) {
  for (const std::int32_t at : layer.besides) {
    const Beside& beside = besides_[static_cast<std::size_t>(at)];
    learn(beside.layer, beside.x, of);
    if (beside.d.columns == 0) continue;
    Op op;
    if (beside.before != nullptr) {
      op.add = Add::set_row;
      op.from = beside.before;
    }
    backward({source(d, beside.layer, true)}, beside.x, beside.d, false, op);
  }
}

// Rows of `from`, each times the size of its data set.
int ProgramBuilder::grown(const Value& from, const Value& to) {
  Op op;
  op.add = Add::grown;
  op.from = from.data;
  op.pool.sum_scale = static_cast<float>(1 / config_.standardisation.typical_n);
  return product({}, to, true, op);
}

// The summary, which outputs or latent variables are made of.
const Value& ProgramBuilder::last() const {
  return summary_ ? summary_value_ : post_.empty() ? top_ : posts_.back();
}

void ProgramBuilder::outputs(std::vector<Launch>& launches, int features, bool training) {
  int at = forward(features, post_, posts_, false, training);
  if (summary_) at = forward(at, {*summary_}, {summary_value_}, false);
  Op op;
  if (parameters_) {
    op.bias = parameters_->bias;
    product({source(at, *parameters_, false)}, parameters_value_, false, op);
  }
  if (latent_layer_) {
    at = forward(at, encoder_, encoded_, false);
    forward(at, {*latent_layer_}, {latent_value_}, false);
    latent(launches, LaunchKind::latent, training);
    at = load(z_);
  }
  op.bias = models_.bias;
  std::vector<Source> sources = {source(at, models_, false)};
  if (models_grown_) sources.push_back(source(grown(last(), grown_value_), *models_grown_, false));
  product(sources, models_value_, false, op);
  if (models_grown_) release(sources.back().buffer);
  release(at);
}

// Data sets look at each other here: between two programs.
void ProgramBuilder::latent(std::vector<Launch>& launches, LaunchKind kind, bool training) {
  end(launches);
  Launch launch;
  launch.kind = kind;
  launch.latent = latent_;
  launch.latent.noisy = training;
  launches.push_back(launch);
  begin(kSetRows);
}

void ProgramBuilder::loss() {
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

void ProgramBuilder::make_latent() {
  const auto L = config_.head.at("latents").get<std::int64_t>();
  encoder_ = stack("encoder", config_.head.at("encoder_layers").get<std::int64_t>());
  encoded_ = values(encoder_, kSetRows);
  latent_layer_ = layer("latent", Activation::identity);
  latent_value_ = value(2 * L, kSetRows);
  d_latent_ = value(2 * L, kSetRows);
  z_ = value(L, kSetRows);
  d_z_ = value(L, kSetRows);
  latent_.latents = z_.columns;
  latent_.stride = padded16(latent_value_.columns);
  latent_.z_stride = padded16(z_.columns);
  latent_.mmd = config_.options.head == "mmd-vae";
  latent_.weight = config_.head.at("latent_weight").get<double>();
  latent_.latent = latent_value_.data;
  latent_.z = z_.data;
  latent_.d_z = d_z_.data;
  latent_.d_latent = d_latent_.data;
  latent_.losses = program_.losses;
  latent_.scratch = arena_.take<double>(capacity_.sets * L);
}

void ProgramBuilder::make_head(const Value& top, const std::vector<Feature>& others) {
  const std::string& head = config_.options.head;
  const bool ours = head == "evidential" || head == "softmax";  // rivals do without direct and growth
  program_.losses = arena_.take<double>(capacity_.sets);
  top_ = top;
  const bool directly = ours && config_.options.direct && config_.options.post_layers > 0;
  const auto goes_direct = [&](const Feature& feature) {
    return config_.options.post_layers == 0 || (directly && feature.direct);
  };
  std::int64_t beside = 0, beside_summary = 0;
  for (const Feature& other : others) {
    beside += other.x.columns;
    if (goes_direct(other)) beside_summary += other.x.columns;
  }
  post_ = stack("post", config_.options.post_layers, beside);
  posts_ = values(post_, kSetRows);
  for (std::size_t i = 0; i < posts_.size() && head == "mc-dropout"; ++i) {
    posts_[i].thinned = value(posts_[i].columns, kSetRows).data;
    posts_[i].noise = static_cast<std::int32_t>(i) * posts_[i].columns;
  }
  if (config_.options.summary > 0) {
    summary_ = layer("summary", Activation::identity, beside_summary);
    summary_value_ = value(summary_->out, kSetRows);
  }
  refuse((directly || post_.empty()) && !others.empty() && !summary_,
         "outputs that read factors of moments, or statistics, without a summary");
  // From the last columns of a layer down.
  for (auto other = others.rbegin(); other != others.rend(); ++other) {
    if (goes_direct(*other)) summary_ = also_reads(*summary_, other->x, other->learned);
  }
  for (auto other = others.rbegin(); other != others.rend() && !post_.empty(); ++other) {
    post_.front() = also_reads(post_.front(), other->x, other->learned);
  }
  if (head == "vae" || head == "mmd-vae") make_latent();
  models_ = layer("head", Activation::identity);
  if (ours && config_.options.growth) {
    const std::int32_t in = models_.in / 2;
    models_grown_ = {models_.weight + static_cast<std::int64_t>(in) * models_.out, -1, in, models_.out,
                     Activation::identity};
    models_.in = in;
    grown_value_ = value(in, kSetRows);
    d_grown_ = value(models_.out, kSetRows);
  }
  models_value_ = value(models_.out, kSetRows);
  d_models_ = value(models_.out, kSetRows);
  if (config_.parameters > 0) {
    parameters_ = layer("parameters", Activation::identity);
    parameters_value_ = value(parameters_->out, kSetRows);
    d_parameters_ = value(parameters_->out, kSetRows);
  }
}

// What the gradient of the summary is made of.
std::vector<Source> ProgramBuilder::outputs_back(std::vector<Launch>& launches) {
  std::vector<Source> sources = {source(d_models_buffer_, models_, true)};
  learn(models_, latent_layer_ ? z_ : last(), d_models_);
  if (models_grown_) {
    sources.push_back(source(grown(d_models_, d_grown_), *models_grown_, true));
    learn(*models_grown_, grown_value_, d_models_);
  }
  if (latent_layer_) {
    product(sources, d_z_, false);
    latent(launches, LaunchKind::latent_back, true);
    if (parameters_) d_parameters_buffer_ = load(d_parameters_);
    const int d_latent = load(d_latent_);
    learn(*latent_layer_, encoded_.back(), d_latent_);
    const Value d_top = value(encoded_.back().columns, kSetRows);
    int d = backward({source(d_latent, *latent_layer_, true)}, encoded_.back(), d_top, true);
    release(d_latent);
    d = stack_back(d, encoder_, encoded_, last(), d_top, 0);
    sources = {source(d, encoder_.front(), true)};
  }
  if (parameters_) {
    sources.push_back(source(d_parameters_buffer_, *parameters_, true));
    learn(*parameters_, last(), d_parameters_);
  }
  return sources;
}

void ProgramBuilder::back(std::vector<Launch>& launches, std::vector<Layer> layers, std::vector<Value> ys,
                          const Value& x, const Value& d_x) {
  layers.insert(layers.end(), post_.begin(), post_.end());
  ys.insert(ys.end(), posts_.begin(), posts_.end());
  if (summary_) {
    layers.push_back(*summary_);
    ys.push_back(summary_value_);
  }
  const std::vector<Source> sources = outputs_back(launches);
  if (layers.empty()) {
    backward(sources, x, d_x, false);
    return;
  }
  const Value d_top = value(ys.back().columns, kSetRows);
  int d = backward(sources, ys.back(), d_top, true);
  for (const Source& each : sources) release(each.buffer);
  d = stack_back(d, layers, ys, x, d_top, 0);
  product({source(d, layers.front(), true)}, d_x, false);
}

Program ProgramBuilder::finish() {
  program_.models = models_value_.data;
  program_.parameters = parameters_value_.data;
  program_.summary = last().data;
  program_.summary_width = last().columns;
  if (!posts_.empty()) {
    program_.first_post = posts_.front().data;
    program_.first_post_width = posts_.front().columns;
  }
  if (plan_.optimiser == Optimiser::muon) program_.muon = muon();
  return std::move(program_);
}

std::vector<MuonMatrix> ProgramBuilder::muon() {
  std::vector<MuonMatrix> matrices;
  for (const auto& place : muon_places(network_.layout())) {
    MuonMatrix matrix;
    matrix.first = place.first;
    matrix.rows = static_cast<std::int32_t>(place.rows);
    matrix.columns = static_cast<std::int32_t>(place.columns);
    matrix.length = static_cast<float>(place.length());
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

}  // namespace occam::gpu
