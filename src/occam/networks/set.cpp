// Set network for exchangeable observations ("deep invariant network"): equivariant modules, then an
// invariant module. Output does not depend on the order of the observations.
//   invariant(x):    e_i = embed layers(x_i); v = pool over i, joined with log N and with the mean over i of
//                    u_i u_i', u_i a linear map of x_i and e_i; after layers(v)
//   equivariant(x):  s = invariant(x); x_i <- dense layers(x_i, s)
// In the first dense layer of an equivariant module the product with s is taken once per set, not per
// observation. Source: Radev et al. 2020 (appendix A) and Bloem-Reddy & Teh 2020. Differences: log N as an
// input, the choice of pooling (the authors' code uses attention), and the mean products: evidence is often
// made of sums of products over observations, which layers alone come near only slowly.
#include <algorithm>
#include <optional>

#include "occam/networks/body.hpp"
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
  std::int64_t moments = 16;
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
          .at_most(256)};
}

Pooling pooling_named(const std::string& name) {
  const auto& names = pooling_names();
  return static_cast<Pooling>(std::find(names.begin(), names.end(), name) - names.begin());
}

template <class T>
class Invariant {
 public:
  struct Tape {
    Matrix<T>* embed;
    Matrix<T>* score;
    Matrix<T> weights;  // of attention
    std::int32_t* largest;
    Matrix<T> factors;  // of the moments
    Matrix<T> pooled;
    Matrix<T>* after;
  };

  Invariant(const SetOptions& o, BodyPlan<T>& plan, const std::string& name, std::int64_t in)
      : pooling_(pooling_named(o.pooling)), log_n_(plan.log_n), sum_scale_(plan.sum_scale) {
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
      factors_.emplace(plan.layout, plan.packed, name + ".moments", o.inv_width, o.moments,
                       Activation::identity);
      const std::int64_t weight =
          plan.layout.add(name + ".moments_of_input.weight", {in, o.moments}, Init::glorot);
      input_factors_.emplace(plan.packed, weight, -1, in, o.moments, Activation::identity);
    }
    after_ = stack(".after", pooled_columns(pooling_, o.inv_width) + (log_n_ ? 1 : 0) + moments(),
                   o.after_width, o.after_layers);
  }

  void list(std::vector<const Dense<T>*>& all) const {
    embed_.list(all);
    score_.list(all);
    if (score_out_) all.push_back(&*score_out_);
    if (factors_) all.insert(all.end(), {&*factors_, &*input_factors_});
    after_.list(all);
  }

  Matrix<T> output(const Tape& tape) const { return tape.after[after_.size() - 1]; }

  void forward(const T* packed, Ragged<const T> x, const T* f_n, Workspace& workspace, Tape& tape) const {
    const std::int64_t h = embed_.out();
    tape.embed = embed_.forward(packed, x.x, workspace);
    const Matrix<T> e = last(embed_, tape.embed);
    if (score_out_) {
      tape.score = score_.forward(packed, x.x, workspace);
      tape.weights = workspace.matrix<T>(x.x.rows, h);
      score_out_->forward(packed, last(score_, tape.score), tape.weights);
    }
    if (pooling_ == Pooling::max) tape.largest = workspace.take<std::int32_t>(x.sets * h);
    const std::int64_t columns = pooled_columns(pooling_, h);
    tape.pooled = workspace.matrix<T>(x.sets, columns + (log_n_ ? 1 : 0) + moments());
    pool<T>(pooling_, sum_scale_, {e, x.offsets, x.sets}, tape.weights, tape.pooled, tape.largest);
    for (std::int64_t set = 0; log_n_ && set < x.sets; ++set) tape.pooled.row(set)[columns] = f_n[set];
    if (factors_) {
      tape.factors = workspace.matrix<T>(x.x.rows, factors_->out());
      factors_->forward(packed, e, tape.factors);
      input_factors_->forward_added(packed, x.x, tape.factors);
      mean_products<T>({tape.factors, x.offsets, x.sets},
                       tape.pooled.columns_from(tape.pooled.columns - moments(), moments()), workspace);
    }
    tape.after = after_.forward(packed, tape.pooled, workspace);
  }

  // d_out (sets, width) is overwritten; d_x (data null: not wanted) is set, or added to.
  void backward(const T* packed, Ragged<const T> x, Tape& tape, Matrix<T> d_out, Matrix<T> d_x, bool add,
                T* gradient, Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    const Matrix<T> d_pooled = workspace.matrix<T>(x.sets, tape.pooled.columns);
    after_.backward(packed, tape.pooled, tape.after, d_out, d_pooled, false, gradient, workspace);
    const Matrix<T> e = last(embed_, tape.embed);
    const Matrix<T> d_e = workspace.matrix<T>(x.x.rows, embed_.out());
    pool_back<T>(pooling_, sum_scale_, {e, x.offsets, x.sets}, tape.weights, tape.pooled, tape.largest,
                 d_pooled, d_e);
    Matrix<T> d_factors{};
    if (factors_) {
      d_factors = workspace.matrix<T>(x.x.rows, factors_->out());
      mean_products_back<T>({tape.factors, x.offsets, x.sets},
                            d_pooled.columns_from(d_pooled.columns - moments(), moments()), d_factors,
                            workspace);
      factors_->backward(e, tape.factors, d_factors, gradient);
      factors_->backward_input(packed, d_factors, d_e, true);
      input_factors_->backward(x.x, tape.factors, d_factors, gradient);
    }
    embed_.backward(packed, x.x, tape.embed, d_e, d_x, add, gradient, workspace);
    if (factors_ && d_x.data != nullptr) input_factors_->backward_input(packed, d_factors, d_x, true);
    if (!score_out_) return;
    const Matrix<T> d_score = d_e;  // its gradient has been passed on; the memory is used again
    score_out_->backward(last(score_, tape.score), tape.weights, tape.weights, gradient);
    score_out_->backward_input(packed, tape.weights, d_score, false);
    score_.backward(packed, x.x, tape.score, d_score, d_x, true, gradient, workspace);
  }

 private:
  static Matrix<T> last(const Stack<T>& stack, const Matrix<T>* outputs) { return outputs[stack.size() - 1]; }
  std::int64_t moments() const { return factors_ ? product_columns(factors_->out()) : 0; }

  Pooling pooling_;
  bool log_n_;
  T sum_scale_;
  Stack<T> embed_, score_, after_;
  std::optional<Dense<T>> score_out_, factors_, input_factors_;
};

template <class T>
class Equivariant {
 public:
  struct Tape {
    typename Invariant<T>::Tape set;
    Matrix<T> set_part;  // (sets, width)
    Matrix<T> first;     // (rows, width)
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

  std::int64_t out() const { return from_x_.out(); }

  void list(std::vector<const Dense<T>*>& all) const {
    invariant_.list(all);
    all.push_back(&from_x_);
    all.push_back(&from_set_);
    rest_.list(all);
  }

  Matrix<T> output(const Tape& tape) const {
    return rest_.empty() ? tape.first : tape.rest[rest_.size() - 1];
  }

  void forward(const T* packed, Ragged<const T> x, const T* f_n, Workspace& workspace, Tape& tape) const {
    invariant_.forward(packed, x, f_n, workspace, tape.set);
    tape.set_part = workspace.matrix<T>(x.sets, out());
    from_set_.forward(packed, invariant_.output(tape.set), tape.set_part);
    tape.first = workspace.matrix<T>(x.x.rows, out());
    for (std::int64_t set = 0; set < x.sets; ++set) {
      for (std::int64_t r = x.offsets[set]; r < x.offsets[set + 1]; ++r) {
        std::copy_n(tape.set_part.row(set), tape.set_part.stride, tape.first.row(r));
      }
    }
    from_x_.forward_added(packed, x.x, tape.first);
    tape.rest = rest_.forward(packed, tape.first, workspace);
  }

  void backward(const T* packed, Ragged<const T> x, Tape& tape, Matrix<T> d_out, Matrix<T> d_x, T* gradient,
                Workspace& workspace) const {
    const Workspace::Scope scope(workspace);
    Matrix<T> d_first = d_out;
    if (!rest_.empty()) {
      d_first = workspace.matrix<T>(x.x.rows, out());
      rest_.backward(packed, tape.first, tape.rest, d_out, d_first, false, gradient, workspace);
    }
    from_x_.backward(x.x, tape.first, d_first, gradient);
    const Matrix<T> d_set_part = workspace.zeros<T>(x.sets, out());
    for (std::int64_t set = 0; set < x.sets; ++set) {
      T* sum = d_set_part.row(set);
      for (std::int64_t r = x.offsets[set]; r < x.offsets[set + 1]; ++r) {
        const T* row = d_first.row(r);
        for (std::int64_t c = 0; c < out(); ++c) sum[c] += row[c];
      }
    }
    const Matrix<T> s = invariant_.output(tape.set);
    const Matrix<T> d_s = workspace.matrix<T>(x.sets, s.columns);
    from_set_.backward(s, tape.set_part, d_set_part, gradient);
    from_set_.backward_input(packed, d_set_part, d_s, false);
    if (d_x.data != nullptr) from_x_.backward_input(packed, d_first, d_x, false);
    invariant_.backward(packed, x, tape.set, d_s, d_x, true, gradient, workspace);
  }

 private:
  Invariant<T> invariant_;
  std::int64_t weight_, bias_;  // one tensor for x_i and s side by side
  Dense<T> from_x_, from_set_;
  Stack<T> rest_;
};

template <class T>
class SetBody final : public Body<T> {
 public:
  SetBody(const SetOptions& o, BodyPlan<T>& plan) {
    std::int64_t in = plan.channels;
    modules_.reserve(static_cast<std::size_t>(o.modules));
    for (std::int64_t i = 0; i < o.modules; ++i) {
      modules_.emplace_back(o, plan, "equivariant" + std::to_string(i), in);
      in = o.equiv_width;
    }
    invariant_.emplace(o, plan, "invariant", in);
    for (const auto& module : modules_) module.list(layers_);
    invariant_->list(layers_);
    features_ = o.after_width;
  }

  std::int64_t features() const override { return features_; }
  // Without equivariant modules few products are of single rows, and those of whole data sets, with the
  // gradients of their weights, are worth more of them at a time.
  std::int64_t bundle_rows() const override { return modules_.empty() ? 1024 : 256; }
  std::int64_t bundle_sets(std::int64_t) const override { return 64; }
  std::int64_t pack_tasks() const override { return static_cast<std::int64_t>(layers_.size()); }
  void pack(std::int64_t task, const T* weights, T* packed) const override {
    layers_[task]->pack(weights, packed);
  }

  Matrix<T> forward(const T* packed, Ragged<const T> x, const T* f_n, Workspace& workspace, void*& tape,
                    bool) const override {
    Tape& kept = *workspace.make<Tape>();
    tape = &kept;
    kept.modules = workspace.take<typename Equivariant<T>::Tape>(size());
    for (std::int64_t i = 0; i < size(); ++i) {
      kept.modules[i] = {};
      modules_[i].forward(packed, x, f_n, workspace, kept.modules[i]);
      x.x = modules_[i].output(kept.modules[i]);
    }
    invariant_->forward(packed, x, f_n, workspace, kept.invariant);
    return invariant_->output(kept.invariant);
  }

  void backward(const T* packed, Ragged<const T> x, void* tape, Matrix<T> d_features, T* gradient,
                Workspace& workspace) const override {
    const Workspace::Scope scope(workspace);
    Tape& kept = *static_cast<Tape*>(tape);
    const auto input = [&](std::int64_t i) {
      return i == 0 ? x : Ragged<const T>{modules_[i - 1].output(kept.modules[i - 1]), x.offsets, x.sets};
    };
    const auto gradient_of = [&](const Ragged<const T>& y, std::int64_t i) {
      return i == 0 ? Matrix<T>{} : workspace.matrix<T>(y.x.rows, y.x.columns);
    };
    Matrix<T> d = gradient_of(input(size()), size());
    invariant_->backward(packed, input(size()), kept.invariant, d_features, d, false, gradient, workspace);
    for (std::int64_t i = size() - 1; i >= 0; --i) {
      const Matrix<T> below = gradient_of(input(i), i);
      modules_[i].backward(packed, input(i), kept.modules[i], d, below, gradient, workspace);
      d = below;
    }
  }

 private:
  struct Tape {
    typename Equivariant<T>::Tape* modules;
    typename Invariant<T>::Tape invariant;
  };

  std::int64_t size() const { return static_cast<std::int64_t>(modules_.size()); }

  std::vector<Equivariant<T>> modules_;
  std::optional<Invariant<T>> invariant_;
  std::vector<const Dense<T>*> layers_;
  std::int64_t features_;
};

}  // namespace

void register_set(Registry<Architecture>& registry) {
  registry.add("set",
               make_architecture<SetBody, SetOptions>("for exchangeable observations (order is irrelevant)"));
}

}  // namespace occam
