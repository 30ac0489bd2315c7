#include "occam/engine/check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "occam/engine/cpu.hpp"

namespace occam {
namespace {

// The same batch again, with nothing to do beside.
class SameBatch final : public BatchFeed {
 public:
  explicit SameBatch(const Batch& batch) : batch_(batch) {}
  const Batch& batch(std::int64_t) override { return batch_; }
  SideTasks begin_next(std::int64_t) override { return {}; }
  void end_next() override {}
  bool first_use(std::int64_t) const override { return false; }

 private:
  const Batch& batch_;
};

// Data sets whose answers a TrialEngine computes twice.
constexpr std::int64_t kTriedAnswers = 16;

double squares_of_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return sum;
}

// What moments took in at a step is the gradient: how the two took it in, beside how much they did.
double gradient_difference(const LearningState& before, const LearningState& a, const LearningState& b) {
  const double taken = squares_of_difference(a.first_moment, before.first_moment) +
                       squares_of_difference(a.momentum, before.momentum);
  const double apart =
      squares_of_difference(a.first_moment, b.first_moment) + squares_of_difference(a.momentum, b.momentum);
  return taken > 0 ? std::sqrt(apart / taken) : 0;
}

// One that is not a number counts as infinitely far.
void note(double difference, double& seen) {
  seen = std::max(seen, std::isnan(difference) ? INFINITY : difference);
}

// Of the outputs that both have: those of b may be for the first data sets only.
template <class T>
double outputs_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double largest = 1, apart = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    note(std::abs(static_cast<double>(a[i]) - b[i]), apart);
  }
  return apart / largest;
}

double answer_difference(const NetworkAnswers& a, const NetworkAnswers& b) {
  double seen = 0;
  note(outputs_difference(a.models, b.models), seen);
  note(outputs_difference(a.parameters, b.parameters), seen);
  note(outputs_difference(a.summary, b.summary), seen);
  note(outputs_difference(a.log_p, b.log_p), seen);
  note(outputs_difference(a.spread, b.spread), seen);
  return seen;
}

}  // namespace

CheckEngine::CheckEngine(std::unique_ptr<Engine> one, std::unique_ptr<Engine> other,
                         EngineDifferences tolerance)
    : one_(std::move(one)), other_(std::move(other)), tolerance_(tolerance) {}

void CheckEngine::learn(LearningPlan plan, LearningState state, std::int64_t step) {
  plan_ = std::move(plan);
  one_->learn(plan_, state, step);
  other_->learn(plan_, std::move(state), step);
  report_ = {};
}

void CheckEngine::step(BatchFeed& batches, const StepSettings& settings) {
  before_ = one_->state();
  SameBatch same(batches.batch(settings.step));
  other_->step(same, settings);
  one_->step(batches, settings);
  compare_steps(settings);
  other_->learn(plan_, one_->state(), settings.step + 1);
}

void CheckEngine::compare_steps(const StepSettings& settings) {
  const StepReport& ours = one_->take_report();
  const StepReport& theirs = other_->take_report();
  if (ours.fault.has_value() != theirs.fault.has_value())
    throw Error(ErrorKind::internal, "step {} is finite for one of the two engines only", settings.step);
  report_.fault = ours.fault;
  if (ours.fault) return;
  if (std::exchange(taken_, false)) report_.clear();
  const double loss = ours.losses.back();
  report_.add(loss, ours.failed);
  ++steps_;
  note(std::abs(loss - theirs.losses.back()) / std::max(1.0, std::abs(loss)), seen_.loss);
  note(gradient_difference(before_, one_->state(), other_->state()), seen_.gradient);
  if (seen_.loss > tolerance_.loss || seen_.gradient > tolerance_.gradient)
    throw Error(ErrorKind::internal, "the two engines differ at step {}: {}", settings.step, remark());
}

const StepReport& CheckEngine::take_report() {
  if (std::exchange(taken_, true)) report_.clear();
  return report_;
}

void CheckEngine::answer(const std::vector<float>& weights, Ragged<const float> data,
                         std::int64_t most_samples, NetworkAnswers& out) {
  NetworkAnswers theirs;
  one_->answer(weights, data, most_samples, out);
  other_->answer(weights, data, most_samples, theirs);
  answers_ += data.sets;
  note(answer_difference(out, theirs), seen_.answers);
  if (seen_.answers > tolerance_.answers)
    throw Error(ErrorKind::internal, "the two engines differ in their answers: {}", remark());
}

std::string CheckEngine::remark() const {
  return fmt::format(
      "two engines side by side, largest differences: loss {:.1e} nats and gradient {:.1e} (relative) over "
      "{} steps, outputs {:.1e} over {} data sets",
      seen_.loss, seen_.gradient, steps_, seen_.answers, answers_);
}

TrialEngine::TrialEngine(std::string name, std::unique_ptr<Engine> engine, const NetworkConfig& config,
                         ThreadPool& pool)
    : name_(std::move(name)), engine_(std::move(engine)), config_(config), pool_(pool) {}

void TrialEngine::learn(LearningPlan plan, LearningState state, std::int64_t step) {
  if (!stepped_) plan_ = plan;
  engine_->learn(std::move(plan), std::move(state), step);
}

void TrialEngine::step(BatchFeed& batches, const StepSettings& settings) {
  // Ranks take other parts of a batch on the CPU than here.
  if (std::exchange(stepped_, true) || !pool_.ranks().is_alone()) return engine_->step(batches, settings);
  first_step(batches, settings);
}

void TrialEngine::first_step(BatchFeed& batches, const StepSettings& settings) {
  const LearningState before = engine_->state();
  CpuEngine<float> cpu(config_, pool_);
  cpu.learn(plan_, before, settings.step);
  SameBatch same(batches.batch(settings.step));
  cpu.step(same, settings);
  engine_->step(batches, settings);
  const LearningState& expected = cpu.state();
  // Where the CPU's was not finite either, nothing was learned, and the training says so itself.
  if (expected.weights == before.weights) return;
  double difference = 0;
  note(gradient_difference(before, expected, engine_->state()), difference);
  if (difference > kTolerance.gradient) fail("the gradient of the first step", difference);
}

void TrialEngine::answer(const std::vector<float>& weights, Ragged<const float> data,
                         std::int64_t most_samples, NetworkAnswers& out) {
  engine_->answer(weights, data, most_samples, out);
  if (answered_ || data.sets == 0 || !pool_.ranks().is_alone()) return;
  answered_ = true;
  const std::int64_t sets = std::min(data.sets, kTriedAnswers);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(sets) + 1);
  NetworkAnswers expected;
  CpuEngine<float>(config_, pool_)
      .answer(weights, sub_batch(data, 0, sets, offsets.data()), most_samples, expected);
  const double difference = answer_difference(out, expected);
  if (difference > kTolerance.answers) fail("the first answer", difference);
}

void TrialEngine::fail(const std::string& in_what, double difference) const {
  throw Error(ErrorKind::internal,
              "{} on --device {} differs from the CPU's by {:.1e} of its size: do not use this device "
              "with this network, but --device cpu, and please report it",
              in_what, name_, difference);
}

void register_check(Registry<EngineKind>& registry) {
  registry.add("check", {"the CPU in float beside the CPU in double; stops where they differ (slow)",
                         [](const NetworkConfig& config, ThreadPool& pool) -> std::unique_ptr<Engine> {
                           return std::make_unique<CheckEngine>(
                               std::make_unique<CpuEngine<float>>(config, pool),
                               std::make_unique<CpuEngine<double>>(config, pool));
                         }});
}

}  // namespace occam
