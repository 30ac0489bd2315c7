#include "occam/engine/cuda/plan_invariant.hpp"

#include "occam/nn/factor.hpp"

namespace occam::gpu {

Invariant InvariantBuilder::make_invariant(const std::string& name, const Value& x, const InvariantOptions& o,
                                           bool log_n) {
  const Pooling pooling = pooling_named(o.pooling);
  Invariant part;
  part.x = x;
  part.embed = stack(name + ".embed", o.inv_layers);
  part.after = stack(name + ".after", o.after_layers);
  part.embedded = values(part.embed, x.rows);
  if (pooling == Pooling::attention) {
    part.score = stack(name + ".score", o.inv_layers);
    part.score_out = layer(name + ".score_out", Activation::identity);
    part.scored = values(part.score, x.rows);
    part.scores = value(part.score_out->out, x.rows);
  }
  if (o.moments > 0) {
    part.factors = layer(name + ".moments", Activation::identity);
    part.input_factors = layer(name + ".moments_of_input", Activation::identity);
    part.factor_values = value(part.factors->out, x.rows);
  }

  const Standardisation& s = config_.standardisation;
  PoolView& view = part.view;
  view.pooling = pooling;
  view.width = part.embed.back().out;
  view.stride = padded16(view.width);
  view.e = part.embedded.back().data;
  view.score = part.scores.data;
  if (pooling == Pooling::attention) {
    view.top = arena_.take<float>(capacity_.sets * view.stride);
    view.inverse = arena_.take<float>(capacity_.sets * view.stride);
  }
  if (pooling == Pooling::max) view.largest = arena_.take<std::int32_t>(capacity_.sets * view.stride);
  view.sum_scale = static_cast<float>(1 / s.typical_n);
  view.log_n = log_n;
  view.log_n_mean = s.log_n_mean;
  view.log_n_scale = s.log_n_scale;
  view.moments = static_cast<std::int32_t>(o.moments);
  view.moment_blocks = static_cast<std::int32_t>(o.moment_blocks);
  view.moments_stride = padded16(part.factor_values.columns);
  view.factors = part.factor_values.data;
  view.level = x.rows.level;
  part.pooled = value(view.moments_at() + view.pairs() * view.moment_blocks, true);
  view.pooled = part.pooled.data;
  view.pooled_stride = padded16(part.pooled.columns);
  part.d_pooled = value(part.pooled.columns, true);
  view.d_pooled = part.d_pooled.data;
  part.afterwards = values(part.after, true);
  return part;
}

void InvariantBuilder::forward_rows(Invariant& part, int x) {
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

// Down to the gradient of what was pooled, from that of the last layer, in a buffer and on the device.
void InvariantBuilder::backward_sets(Invariant& part, int d, const Value& d_top) {
  d = stack_back(d, part.after, part.afterwards, part.pooled, d_top, 0);
  product({source(d, part.after.front(), true)}, part.d_pooled, false);
}

// What the gradient of x is made of; nothing unless it goes `further`.
std::vector<Source> InvariantBuilder::backward_rows(Invariant& part, bool further) {
  std::vector<Source> sources;
  Op op;
  op.pool = part.view;
  int factors = -1;
  if (part.factors) {
    op.add = Add::moments;
    const Value d = value(part.factor_values.columns, part.x.rows);
    factors = product({}, d, true, op);
    learn(*part.factors, part.embedded.back(), d);
    learn(*part.input_factors, part.x, d);
    if (further) sources.push_back(source(factors, *part.input_factors, true));
  }
  if (part.score_out) {
    op.add = Add::score;
    const Value d_scores = value(part.scores.columns, part.x.rows);
    const int s = product({}, d_scores, true, op);
    learn(*part.score_out, part.scored.back(), d_scores);
    const Value d_top = value(part.scored.back().columns, part.x.rows);
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
  const Value d_top = value(part.embedded.back().columns, part.x.rows);
  std::vector<Source> to_e;
  if (part.factors) to_e.push_back(source(factors, *part.factors, true));
  int d = backward(to_e, part.embedded.back(), d_top, true, op);
  d = stack_back(d, part.embed, part.embedded, part.x, d_top, 0);
  if (further) sources.push_back(source(d, part.embed.front(), true));
  return sources;
}

// Values for the factors of the moments and for their gains, where they are wanted.
void InvariantBuilder::make_factors(const Invariant& part, const InvariantOptions& o) {
  if (!o.factor || o.moments == 0) return;
  const PoolView& pool = part.view;
  factors_ = value(pool.pairs() * pool.moment_blocks, true);
  if (o.gains && o.moments > 1) gains_ = value(gain_columns(pool.moments) * pool.moment_blocks, true);
  factor_.pool = pool;
  factor_.stride = padded16(factors_.columns);
  factor_.out = factors_.data;
  factor_.scratch = arena_.take<double>(capacity_.sets * factors_.columns);
  if (gains_.columns == 0) return;
  factor_.gain_stride = padded16(gains_.columns);
  factor_.gains = gains_.data;
  factor_.left = arena_.take<double>(capacity_.sets * factors_.columns);
}

// Once the head is made: where its gradients are.
void InvariantBuilder::read_back(const Invariant& part) {
  factor_.d_out = gradient_of(factors_);
  factor_.d_gains = gradient_of(gains_);
  factor_.d_pooled = part.d_pooled.data;
}

void InvariantBuilder::factor(std::vector<Launch>& launches, LaunchKind kind) {
  if (factors_.columns == 0) return;
  Launch launch;
  launch.kind = kind;
  launch.factor = factor_;
  launches.push_back(launch);
}

}  // namespace occam::gpu
