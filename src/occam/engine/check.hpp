// Two engines side by side on the same batches. The first learns and answers; after every step the second is
// held against it and then set to its state, so that differences do not add up over steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "occam/engine/engine.hpp"

namespace occam {

// The largest differences seen, relative to the size of what is compared.
struct EngineDifferences {
  double loss = 0;      // nats
  double gradient = 0;  // as the optimiser took it in
  double answers = 0;   // of outputs, beside the largest of them or 1
};

// Beyond these the two do not compute the same function: float rounds to about 1e-7, sums over thousands of
// observations and the way back through a network add a few digits to that.
inline constexpr EngineDifferences kTolerance = {.loss = 1e-3, .gradient = 2e-2, .answers = 1e-3};

class CheckEngine final : public Engine {
 public:
  CheckEngine(std::unique_ptr<Engine> one, std::unique_ptr<Engine> other,
              EngineDifferences tolerance = kTolerance);

  void learn(LearningPlan plan, LearningState state, std::int64_t step) override;
  // Error(internal) where the two differ by more than the tolerance; it says in what.
  void step(BatchFeed& batches, const StepSettings& settings) override;
  const StepReport& take_report() override;
  const LearningState& state() override { return one_->state(); }
  void answer(const std::vector<float>& weights, Ragged<const float> data, std::int64_t most_samples,
              NetworkAnswers& out) override;
  std::string remark() const override;

  const EngineDifferences& differences() const { return seen_; }

 private:
  void compare_steps(const StepSettings& settings);

  std::unique_ptr<Engine> one_, other_;
  EngineDifferences tolerance_, seen_;
  LearningPlan plan_;
  LearningState before_;
  StepReport report_;
  bool taken_ = false;
  std::int64_t steps_ = 0, answers_ = 0;
};

// An engine on a machine that nobody has tried it on: its first step and the first of its answers are held
// against the CPU's, everything after them is its own. A wrong driver, compiler or kernel costs a message
// then instead of a network.
class TrialEngine final : public Engine {
 public:
  TrialEngine(std::string name, std::unique_ptr<Engine> engine, const NetworkConfig& config,
              ThreadPool& pool);

  void learn(LearningPlan plan, LearningState state, std::int64_t step) override;
  // Error(internal) where the first differs by more than kTolerance.
  void step(BatchFeed& batches, const StepSettings& settings) override;
  const StepReport& take_report() override { return engine_->take_report(); }
  const LearningState& state() override { return engine_->state(); }
  void answer(const std::vector<float>& weights, Ragged<const float> data, std::int64_t most_samples,
              NetworkAnswers& out) override;
  std::string remark() const override { return engine_->remark(); }

 private:
  void first_step(BatchFeed& batches, const StepSettings& settings);
  [[noreturn]] void fail(const std::string& in_what, double difference) const;

  std::string name_;
  std::unique_ptr<Engine> engine_;
  NetworkConfig config_;
  ThreadPool& pool_;
  LearningPlan plan_;
  bool stepped_ = false, answered_ = false;
};

}  // namespace occam
