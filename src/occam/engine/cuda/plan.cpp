#include "occam/engine/cuda/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "occam/engine/cuda/plan_builder.hpp"
#include "occam/nn/factor.hpp"

namespace occam::gpu {
namespace {

class Builder final : ProgramBuilder {
 public:
  Builder(const Network<float>& network, const LearningPlan& plan, Capacity capacity, Arena& arena)
      : ProgramBuilder(network, plan, capacity, arena),
        pooling_(pooling_named(config_.body.value("pooling", std::string()))) {}

  Program build();

 private:
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
  Invariant make_invariant(const std::string& name, const Value& x);
  Module make_module(const std::string& name, const Value& x);
  void make_factors();
  void factor(std::vector<Launch>& launches, LaunchKind kind);

  void forward_rows(Invariant& part, int x);
  int forward_sets(std::vector<Launch>& launches, Invariant& part);
  std::vector<Source> backward_rows(Invariant& part, bool further);
  void backward_sets(Invariant& part, std::vector<Source> sources);

  void body(std::vector<Launch>& launches);

  Pooling pooling_;
  std::vector<Module> modules_;
  Invariant invariant_;
  FactorView factor_;
};

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

// A head that reads the factors of the moments and their gains, too.
void Builder::make_factors() {
  const PoolView& pool = invariant_.view;
  const Value factors = value(pool.pairs() * pool.moment_blocks, true);
  Value gains;
  if (config_.body.at("gains").get<bool>() && pool.moments > 1)
    gains = value(gain_columns(pool.moments) * pool.moment_blocks, true);
  make_head(invariant_.afterwards.back(), gains, factors, true);
  factor_.pool = pool;
  factor_.stride = padded16(factors.columns);
  factor_.out = factors.data;
  factor_.d_out = gradient_of(factors);
  factor_.d_pooled = invariant_.d_pooled.data;
  factor_.scratch = arena_.take<double>(capacity_.sets * factors.columns);
  if (gains.columns == 0) return;
  factor_.gain_stride = padded16(gains.columns);
  factor_.gains = gains.data;
  factor_.d_gains = gradient_of(gains);
  factor_.left = arena_.take<double>(capacity_.sets * factors.columns);
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
  if (config_.body.at("factor").get<bool>() && option("moments") > 0) {
    make_factors();
  } else {
    make_head(invariant_.afterwards.back());
  }

  body(program_.forward);
  program_.training = program_.forward;
  outputs(program_.forward, forward_sets(program_.forward, invariant_), false);
  end(program_.forward);

  std::vector<Launch>& launches = program_.training;
  outputs(launches, forward_sets(launches, invariant_), true);
  loss();
  back(launches, invariant_.after, invariant_.afterwards, invariant_.pooled, invariant_.d_pooled);
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
  return finish();
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
  const bool sequence = config.options.architecture == "sequence";
  refuse(config.options.architecture != "set" && !sequence,
         "networks of architecture '" + config.options.architecture + "'");
  const std::string& head = config.options.head;
  refuse(
      head != "evidential" && head != "softmax" && head != "mc-dropout" && head != "vae" && head != "mmd-vae",
      "the head '" + head + "'");
  if (sequence) return make_sequence_program(network, plan, capacity, arena);
  refuse(!config.statistics.mean.empty(), "set networks with the statistics of ordered data");
  return Builder(network, plan, capacity, arena).build();
}

std::vector<std::uint8_t> weight_kinds(const Program& program, std::int64_t weights) {
  std::vector<std::uint8_t> kinds(static_cast<std::size_t>(weights), 0);
  for (const Gradient& each : program.gradients) {
    const auto kind = static_cast<std::uint8_t>(each.of_sets ? kOfSets : each.level << kLevelShift);
    std::fill_n(kinds.begin() + each.weight, static_cast<std::int64_t>(each.inner) * each.columns, kind);
    if (each.bias >= 0) std::fill_n(kinds.begin() + each.bias, each.columns, kind);
  }
  for (const MuonMatrix& matrix : program.muon) {
    const std::int64_t size = static_cast<std::int64_t>(matrix.rows) * matrix.columns;
    for (std::int64_t i = 0; i < size; ++i) kinds[static_cast<std::size_t>(matrix.first + i)] |= kOfMuon;
  }
  return kinds;
}

}  // namespace occam::gpu
