#include "occam/networks/head.hpp"

#include <algorithm>

#include "occam/nn/loss.hpp"

namespace occam {

const Registry<HeadKind>& heads() {
  static const Registry<HeadKind> all = [] {
    Registry<HeadKind> registry("head");
    register_heads(registry);
    return registry;
  }();
  return all;
}

template <class T>
Head<T>::Head(HeadPlan<T>& plan, bool direct)
    : post_(plan.layout, plan.packed, "post", plan.features, plan.post_width, plan.post_layers,
            Activation::elu),
      direct_(direct && !post_.empty() ? plan.direct : 0),
      top_width_(post_.empty() ? plan.features : post_.out() + direct_) {
  post_.list(layers_);
  if (plan.summary == 0) return;
  summary_ = std::make_unique<Dense<T>>(plan.layout, plan.packed, "summary", top_width_, plan.summary,
                                        Activation::identity);
  layers_.push_back(summary_.get());
}

template <class T>
void Head<T>::add_outputs(HeadPlan<T>& plan, std::int64_t in) {
  models_ =
      std::make_unique<Dense<T>>(plan.layout, plan.packed, "head", in, plan.models, Activation::identity);
  layers_.push_back(models_.get());
  if (plan.parameters == 0) return;
  parameters_ = std::make_unique<Dense<T>>(plan.layout, plan.packed, "parameters", summary_width(),
                                           plan.parameters, Activation::identity);
  layers_.push_back(parameters_.get());
}

template <class T>
void Head<T>::forward(const T* packed, const PassNoise* noise, HeadTape<T>& tape,
                      Workspace& workspace) const {
  const std::int64_t sets = tape.features.rows;
  tape.top = with_direct(tape, lower(packed, noise, tape, workspace), workspace);
  tape.summary = tape.top;
  if (summary_) {
    tape.summary = workspace.matrix<T>(sets, summary_->out());
    summary_->forward(packed, tape.top, tape.summary);
  }
  tape.last = upper(packed, noise, tape, workspace);
  tape.models = workspace.matrix<T>(sets, models_->out());
  models_->forward(packed, tape.last, tape.models);
  if (parameters_) {
    tape.parameters = workspace.matrix<T>(sets, parameters_->out());
    parameters_->forward(packed, tape.summary, tape.parameters);
  }
}

template <class T>
Matrix<T> Head<T>::backward(const T* packed, HeadTape<T>& tape, Matrix<T> d_models, Matrix<T> d_parameters,
                            T* gradient, Workspace& workspace) const {
  const std::int64_t sets = tape.features.rows;
  Matrix<T> d = workspace.matrix<T>(sets, models_->in());
  models_->backward(tape.last, tape.models, d_models, gradient);
  models_->backward_input(packed, d_models, d, false);
  d = upper_back(packed, tape, d, gradient, workspace);
  if (parameters_ && d_parameters.data != nullptr) {
    parameters_->backward(tape.summary, tape.parameters, d_parameters, gradient);
    parameters_->backward_input(packed, d_parameters, d, true);
  }
  if (summary_) {
    const Matrix<T> below = workspace.matrix<T>(sets, summary_->in());
    summary_->backward(tape.top, tape.summary, d, gradient);
    summary_->backward_input(packed, d, below, false);
    d = below;
  }
  return with_direct_back(packed, tape, d, gradient, workspace);
}

template <class T>
Matrix<T> Head<T>::with_direct(const HeadTape<T>& tape, Matrix<T> top, Workspace& workspace) const {
  if (direct_ == 0) return top;
  const Matrix<T> both = workspace.zeros<T>(top.rows, top_width_);
  const Matrix<T> direct = tape.features.columns_from(tape.features.columns - direct_, direct_);
  for (std::int64_t set = 0; set < top.rows; ++set) {
    T* const behind = std::copy_n(top.row(set), top.columns, both.row(set));
    std::copy_n(direct.row(set), direct_, behind);
  }
  return both;
}

template <class T>
Matrix<T> Head<T>::with_direct_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_both, T* gradient,
                                    Workspace& workspace) const {
  if (direct_ == 0) return lower_back(packed, tape, d_both, gradient, workspace);
  const Matrix<T> d_top = workspace.zeros<T>(d_both.rows, top_width_ - direct_);
  for (std::int64_t set = 0; set < d_top.rows; ++set)
    std::copy_n(d_both.row(set), d_top.columns, d_top.row(set));
  const Matrix<T> d = lower_back(packed, tape, d_top, gradient, workspace);
  for (std::int64_t set = 0; set < d.rows; ++set) {
    const T* const from = d_both.row(set) + d_top.columns;
    T* const to = d.row(set) + d.columns - direct_;
    for (std::int64_t c = 0; c < direct_; ++c) to[c] += from[c];
  }
  return d;
}

template <class T>
Matrix<T> Head<T>::lower(const T* packed, const PassNoise*, HeadTape<T>& tape, Workspace& workspace) const {
  tape.post = post_.forward(packed, tape.features, workspace);
  return post_.empty() ? tape.features : tape.post[post_.size() - 1];
}

template <class T>
Matrix<T> Head<T>::lower_back(const T* packed, HeadTape<T>& tape, Matrix<T> d_top, T* gradient,
                              Workspace& workspace) const {
  if (post_.empty()) return d_top;
  const Matrix<T> below = workspace.matrix<T>(tape.features.rows, tape.features.columns);
  post_.backward(packed, tape.features, tape.post, d_top, below, false, gradient, workspace);
  return below;
}

template <class T>
Matrix<T> Head<T>::upper(const T*, const PassNoise*, HeadTape<T>& tape, Workspace&) const {
  return tape.summary;
}

template <class T>
Matrix<T> Head<T>::upper_back(const T*, HeadTape<T>&, Matrix<T> d_last, T*, Workspace&) const {
  return d_last;
}

template <class T>
Matrix<T> PlainHead<T>::upper(const T*, const PassNoise*, HeadTape<T>& tape, Workspace& workspace) const {
  const Matrix<T> s = tape.summary;
  if (!growth_) return s;
  const Matrix<T> both = workspace.zeros<T>(s.rows, 2 * s.columns);
  for (std::int64_t set = 0; set < s.rows; ++set) {
    T* const grown = std::copy_n(s.row(set), s.columns, both.row(set));
    for (std::int64_t c = 0; c < s.columns; ++c) grown[c] = tape.growth[set] * s.row(set)[c];
  }
  return both;
}

template <class T>
Matrix<T> PlainHead<T>::upper_back(const T*, HeadTape<T>& tape, Matrix<T> d_last, T*,
                                   Workspace& workspace) const {
  if (!growth_) return d_last;
  const Matrix<T> d = workspace.zeros<T>(d_last.rows, tape.summary.columns);
  for (std::int64_t set = 0; set < d.rows; ++set) {
    const T* const grown = d_last.row(set) + d.columns;
    for (std::int64_t c = 0; c < d.columns; ++c)
      d.row(set)[c] = d_last.row(set)[c] + tape.growth[set] * grown[c];
  }
  return d;
}

template <class T>
HeadAnswer Head<T>::answer(const T*, const HeadTape<T>& tape, std::int64_t, Workspace& workspace) const {
  return softmax_answer<T>(tape.models, workspace);
}

template <class T>
HeadAnswer softmax_answer(Matrix<const T> models, Workspace& workspace) {
  HeadAnswer answer;
  answer.log_p = workspace.matrix<double>(models.rows, models.columns);
  const auto J = static_cast<std::size_t>(models.columns);
  for (std::int64_t b = 0; b < models.rows; ++b) {
    const std::span<double> row(answer.log_p.row(b), J);
    std::copy_n(models.row(b), J, row.begin());
    log_softmax(row, row);
  }
  return answer;
}

template HeadAnswer softmax_answer(Matrix<const float>, Workspace&);
template HeadAnswer softmax_answer(Matrix<const double>, Workspace&);
template class Head<float>;
template class Head<double>;
template class PlainHead<float>;
template class PlainHead<double>;

}  // namespace occam
