#include "occam/engine/training_loss.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace occam {

template <class T>
void TrainingLoss<T>::begin(const Batch& batch, const StepSettings& settings) {
  batch_ = &batch;
  settings_ = settings;
  losses_.resize(static_cast<std::size_t>(batch.size()));
}

template <class T>
void TrainingLoss<T>::bundle(std::int64_t first, const typename Network<T>::Tape& tape, Matrix<T> d_models,
                             Matrix<T> d_parameters, Workspace& scratch) {
  for (std::int64_t b = 0; b < tape.models.rows; ++b) {
    const std::int64_t truth = batch_->models()[static_cast<std::size_t>(first + b)];
    const double penalty = tape.penalty != nullptr ? tape.penalty[b] : 0;
    const std::span<const T> outputs(tape.models.row(b), static_cast<std::size_t>(tape.models.columns));
    losses_[static_cast<std::size_t>(first + b)] = models(truth, outputs, penalty, d_models.row(b), scratch);
    if (d_parameters.data != nullptr)
      parameters(first + b, truth, tape.parameters.row(b), d_parameters.row(b));
  }
}

// In double, whatever the network computes in.
template <class T>
double TrainingLoss<T>::models(std::int64_t truth, std::span<const T> outputs, double penalty, T* gradient,
                               Workspace& scratch) const {
  const std::size_t J = outputs.size();
  const Workspace::Scope scope(scratch);
  double* const memory = scratch.take<double>(static_cast<std::int64_t>(5 * J));
  const std::span<double> f(memory, J), d(memory + J, J), rest(memory + 2 * J, 3 * J);
  std::copy(outputs.begin(), outputs.end(), f.begin());
  double loss = 0;
  if (evidential_) {
    const EvidentialTerms terms = evidential_loss(plan_.link, settings_.lambda, f, truth, d, rest);
    loss = terms.log_loss + settings_.lambda * terms.kl;
    keep_moving(f, d);
  } else {
    loss = softmax_loss(f, truth, d) + penalty;
  }
  std::transform(d.begin(), d.end(), gradient, [](double x) { return static_cast<T>(x); });
  return loss;
}

// Mean squared error over the parameters that the true model has.
template <class T>
void TrainingLoss<T>::parameters(std::int64_t b, std::int64_t truth, const T* predicted, T* d) const {
  const auto theta = batch_->parameters(b);
  const auto& mask = plan_.targets.masks[static_cast<std::size_t>(truth)];
  const double present = std::accumulate(mask.begin(), mask.end(), 0.0);
  for (std::size_t p = 0; p < theta.size(); ++p) {
    const double target = plan_.targets(truth, p, theta[p]);
    d[p] = std::isnan(target)
               ? T{0}
               : static_cast<T>(2 * settings_.parameter_weight * (predicted[p] - target) / present);
  }
}

template <class T>
double TrainingLoss<T>::mean() const {
  return std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
}

template class TrainingLoss<float>;
template class TrainingLoss<double>;

}  // namespace occam
