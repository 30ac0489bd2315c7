// The engine that runs on the threads of a pool, in float or, to judge others by, in double.
#pragma once

#include "occam/engine/engine.hpp"
#include "occam/engine/training_loss.hpp"
#include "occam/nn/adam.hpp"
#include "occam/nn/muon.hpp"

namespace occam {

template <class T>
class CpuEngine final : public Engine {
 public:
  CpuEngine(const NetworkConfig& config, ThreadPool& pool);

  void learn(LearningPlan plan, LearningState state, std::int64_t step) override;
  void step(BatchFeed& batches, const StepSettings& settings) override;
  const StepReport& take_report() override;
  const LearningState& state() override;
  void answer(const std::vector<float>& weights, Ragged<const float> data, std::int64_t most_samples,
              NetworkAnswers& out) override;

 private:
  void update(const StepSettings& settings);
  void update_matrices(double rate);
  void share_matrices();
  void answer_some(const std::vector<float>& weights, Ragged<const float> data, std::int64_t begin,
                   std::int64_t most_samples, NetworkAnswers& out);

  Network<T> network_;
  ThreadPool& pool_;
  BatchGradient<T> gradient_;

  LearningPlan plan_;
  std::optional<TrainingLoss<T>> loss_;
  std::optional<Adam<T>> adam_;
  std::optional<Muon<T>> muon_;
  std::vector<Workspace> muon_memory_;  // one per thread
  std::vector<T> weights_, average_, momentum_;
  // Ranks update a row of Muon's matrices each: where these end, by rank, and the weights they span. What
  // others have of the momentum of its matrices is old.
  std::vector<MuonPlace> matrices_;
  std::vector<std::int64_t> matrix_ends_, weight_ends_;
  LearningState exported_;
  StepReport report_;
  bool taken_ = false;  // the next step begins a new report
};

}  // namespace occam
