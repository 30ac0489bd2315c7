#include "occam/engine/cuda/plan.hpp"

#include <algorithm>
#include <string>

#include "occam/engine/cuda/plan_invariant.hpp"
#include "occam/networks/label_level.hpp"

namespace occam::gpu {
namespace {

class Builder final : InvariantBuilder {
 public:
  using InvariantBuilder::InvariantBuilder;

  Program build();

 private:
  struct Module {
    Invariant invariant;
    Layer from_x, from_set;
    std::vector<Layer> rest;
    Value set_part, d_set_part, first, d_first;
    std::vector<Value> outputs;
    const Value& output() const { return outputs.empty() ? first : outputs.back(); }
  };

  // Rows that belong together, by one column of labels.
  struct Labels {
    LabelView view;
    Value means, d_means;
    Invariant invariant;
    const Value& output() const { return invariant.afterwards.back(); }
  };

  std::int64_t option(const char* name) const { return config_.body.at(name).get<std::int64_t>(); }
  InvariantOptions options() const;
  Module make_module(const std::string& name, const Value& x);

  void make_labels();
  void forward_labels(std::vector<Launch>& launches);
  void backward_labels(std::vector<Launch>& launches);
  static void launch_labels(std::vector<Launch>& launches, LaunchKind kind, const LabelView& view);

  int forward_sets(std::vector<Launch>& launches, Invariant& part);

  void body(std::vector<Launch>& launches);

  std::vector<Module> modules_;
  Invariant invariant_;
  std::vector<Labels> labels_;
};

InvariantOptions Builder::options() const {
  InvariantOptions o;
  o.inv_layers = option("inv_layers");
  o.after_layers = option("after_layers");
  o.pooling = config_.body.at("pooling").get<std::string>();
  o.moments = option("moments");
  o.moment_blocks = option("moment_blocks");
  o.factor = config_.body.at("factor").get<bool>();
  o.gains = config_.body.at("gains").get<bool>();
  return o;
}

Builder::Module Builder::make_module(const std::string& name, const Value& x) {
  Module module;
  module.invariant = make_invariant(name, x, options(), config_.options.log_n);
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

void Builder::make_labels() {
  const std::size_t levels = label_levels_of(config_).size();
  labels_.resize(levels);
  const PoolView& rows = invariant_.view;
  float* const back = levels > 0 ? arena_.take<float>(capacity_.rows * rows.stride) : nullptr;
  invariant_.view.more = back;
  for (std::size_t i = 0; i < levels; ++i) {
    Labels& labels = labels_[i];
    LabelView& view = labels.view;
    view.column = static_cast<std::int32_t>(i);
    view.level = view.column + 1;
    view.width = rows.width;
    view.stride = rows.stride;
    view.e = rows.e;
    view.back = back;
    view.adds = i > 0;
    labels.means = value(view.width + 1, RowKind::of_level(view.level));
    labels.d_means = value(view.width + 1, RowKind::of_level(view.level));
    view.mean_stride = padded16(labels.means.columns);
    view.means = labels.means.data;
    view.d_means = labels.d_means.data;
    labels.invariant = make_invariant(label_level_name(i), labels.means, label_options(option("labels")),
                                      config_.options.log_n);
    PoolView& pool = labels.invariant.view;
    pool.size_level = view.level;
    pool.log_n_mean = kUsualLogCount;
    pool.log_n_scale = 1;
  }
}

void Builder::launch_labels(std::vector<Launch>& launches, LaunchKind kind, const LabelView& view) {
  Launch launch;
  launch.kind = kind;
  launch.labels = view;
  launches.push_back(launch);
}

void Builder::forward_labels(std::vector<Launch>& launches) {
  for (Labels& labels : labels_) {
    launch_labels(launches, LaunchKind::labels, labels.view);
    begin(labels.means.rows);
    forward_rows(labels.invariant, load(labels.means));
    end(launches);
    forward_sets(launches, labels.invariant);
    end(launches);
  }
}

// Once the head's way back has left the gradients of what the labels gave it.
void Builder::backward_labels(std::vector<Launch>& launches) {
  for (Labels& labels : labels_) {
    Value d_top = labels.output();
    d_top.data = gradient_of(labels.output());
    begin(true);
    backward_sets(labels.invariant, load(d_top), d_top);
    end(launches);
    begin(labels.means.rows);
    product(backward_rows(labels.invariant, true), labels.d_means, false);
    end(launches);
    launch_labels(launches, LaunchKind::labels_back, labels.view);
  }
}

// Leaves the features of data sets in the buffer that it returns, with the program still open.
int Builder::forward_sets(std::vector<Launch>& launches, Invariant& part) {
  pool(launches, part.view);
  if (&part == &invariant_) factor(launches, LaunchKind::factor);
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
  forward_labels(launches);
}

Program Builder::build() {
  program_.input = input();
  const Value* x = &x_;
  modules_.reserve(static_cast<std::size_t>(option("modules")));
  for (std::int64_t i = 0; i < option("modules"); ++i) {
    modules_.push_back(make_module("equivariant" + std::to_string(i), *x));
    x = &modules_.back().output();
  }
  const InvariantOptions o = options();
  invariant_ = make_invariant("invariant", *x, o, config_.options.log_n);
  make_factors(invariant_, o);
  make_labels();
  make_statistics();
  std::vector<Feature> features;
  for (const Labels& labels : labels_) features.push_back({labels.output(), true, false});
  if (gains_.columns > 0) features.push_back({gains_, true, false});
  if (factors_.columns > 0) features.push_back({factors_, true, true});
  for (const Value& piece : statistics_) features.push_back({piece, false, true});
  make_head(invariant_.afterwards.back(), features);
  read_back(invariant_);

  body(program_.forward);
  program_.training = program_.forward;
  outputs(program_.forward, forward_sets(program_.forward, invariant_), false);
  end(program_.forward);

  std::vector<Launch>& launches = program_.training;
  outputs(launches, forward_sets(launches, invariant_), true);
  loss();
  back(launches, invariant_.after, invariant_.afterwards, invariant_.pooled, invariant_.d_pooled);
  end(launches);
  factor(launches, LaunchKind::factor_back);
  backward_labels(launches);
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
    const Value d_after = value(below.invariant.afterwards.back().columns, true);
    backward_sets(below.invariant,
                  backward({source(load(below.d_set_part), below.from_set, true)},
                           below.invariant.afterwards.back(), d_after, true),
                  d_after);
    end(launches);
    part = &below.invariant;
  }
  return finish();
}

}  // namespace

std::vector<std::int64_t> label_levels_of(const NetworkConfig& config) {
  if (config.options.architecture != "set") return {};
  return label_levels(config.statistics.structure.labels.columns,
                      config.body.at("labels").get<std::int64_t>());
}

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
    plan.plain_within = s.plain_within;
    plan.mask_at = plan.local_at = plan.waves_at = plan.levels_at = plan.stays_at = plan.atoms_at = -1;
    plan.ends_at = -1;
    plan.waves = static_cast<std::int32_t>(input.waves);
    plan.levels = static_cast<std::int32_t>(input.levels.size());
    plan.atoms = static_cast<std::int32_t>(input.atoms.size());
    std::copy(input.levels.begin(), input.levels.end(), plan.level);
    std::copy(input.atoms.begin(), input.atoms.end(), plan.atom);
    plans.push_back(plan);
  }
  for (const std::int64_t c : config.missing) plans[static_cast<std::size_t>(c)].mask_at = at++;
  for (std::size_t c = 0; c < config.inputs.size(); ++c) {
    if (config.inputs[c].local) plans[c].local_at = at++;
    plans[c].waves_at = at;
    at += 2 * plans[c].waves;
    plans[c].levels_at = at;
    at += plans[c].levels;
    plans[c].atoms_at = at;
    at += plans[c].atoms;
    if (config.inputs[c].stays) plans[c].stays_at = at++;
    if (config.inputs[c].ends) plans[c].ends_at = at;
    at += config.inputs[c].ends ? static_cast<std::int32_t>(kEndChannels) : 0;
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
