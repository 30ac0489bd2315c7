// The loss of a training: that of the head, plus that of the parameter estimates.
#pragma once

#include <vector>

#include "occam/engine/engine.hpp"

namespace occam {

template <class T>
class TrainingLoss final : public BundleLoss<T> {
 public:
  TrainingLoss(const Network<T>& network, const LearningPlan& plan)
      : evidential_(network.config().head_kind().concentrations), plan_(plan) {}

  void begin(const Batch& batch, const StepSettings& settings);
  void bundle(std::int64_t first, const typename Network<T>::Tape& tape, Matrix<T> d_models,
              Matrix<T> d_parameters, Workspace& scratch) override;
  // Where ranks had a part of the data sets each: fetches the losses of the others. `ends` as in complete().
  void complete(Communicator& ranks, std::span<const std::int64_t> ends) {
    ranks.complete_values(losses_, ends);
  }
  // Over the batch, when all its bundles are done.
  double mean() const;

 private:
  double models(std::int64_t truth, std::span<const T> outputs, double penalty, T* gradient,
                Workspace& scratch) const;
  void parameters(std::int64_t b, std::int64_t truth, const T* predicted, T* d) const;

  bool evidential_;
  const LearningPlan& plan_;
  const Batch* batch_ = nullptr;
  StepSettings settings_;
  std::vector<double> losses_;  // of the data sets of the batch
};

}  // namespace occam
