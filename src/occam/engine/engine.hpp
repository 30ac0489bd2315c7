// Engine: what makes the steps of a training and the answers of a network. It holds the weights, what the
// optimiser remembers and the memory of passes; it is told as data what a batch is, what the loss is and how
// to step. The cut lies at the step, not at the product of matrices, so that an engine keeps everything where
// it is fastest, and may still be at work when step() returns. Flat weights, golden outputs and network files
// are the same for all engines: what one learned, another goes on from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "occam/core/fields.hpp"
#include "occam/core/registry.hpp"
#include "occam/data/batch.hpp"
#include "occam/networks/batch_gradient.hpp"
#include "occam/networks/network.hpp"
#include "occam/nn/loss.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {

// What the output `parameters` is to say of a data set: (t(theta) - mean) / scale for every parameter that
// the true model has.
struct ParameterTargets {
  std::vector<ColumnInput> inputs;               // (P) t
  std::vector<double> mean, scale;               // (P)
  std::vector<std::vector<std::uint8_t>> masks;  // (J, P) which model has which

  // The target, or NaN where there is none. Those far out (heavy-tailed priors) are cut off.
  double operator()(std::int64_t model, std::size_t p, double theta) const;
};

enum class Optimiser { muon, adam };

// How a network learns, the same over a whole run.
struct LearningPlan {
  Link link = Link::exp;  // of heads with concentrations
  Optimiser optimiser = Optimiser::muon;
  double clip = 5;         // largest norm of a gradient; 0: no limit
  double average = 0.999;  // decay of the averaged weights
  ParameterTargets targets;
  std::uint64_t seed = 1;  // of the noise of heads that have any
};

// What changes from step to step.
struct StepSettings {
  std::int64_t step = 0;
  double rate = 0;              // of the optimiser
  double lambda = 0;            // weight of the KL term
  double parameter_weight = 0;  // of the parameters beside the model
};

// All that a network learned and its optimiser remembers, in the order of the network's layout.
struct LearningState {
  std::vector<float> weights, average;
  std::vector<float> first_moment, second_moment;  // of Adam
  std::vector<float> momentum;                     // of Muon; empty without it
};

// A state at the first step. The average starts as the weights.
LearningState fresh_state(std::vector<float> weights, Optimiser optimiser);

// Batches by the number of the step that uses them.
class BatchFeed {
 public:
  virtual ~BatchFeed() = default;
  // Made now unless it is there; stays until the batch after the next is begun.
  virtual const Batch& batch(std::int64_t step) = 0;
  // Work that makes the batch of the step after this one, to be run beside the step; no tasks where there is
  // nothing to do. After all of them: end_next().
  virtual SideTasks begin_next(std::int64_t step) = 0;
  virtual void end_next() = 0;
  // Whether the step is the first to use its batch; with replay there are others.
  virtual bool first_use(std::int64_t step) const = 0;
};

// What came of the steps since the last report.
struct StepReport {
  std::vector<double> losses;        // of each step, the mean over its batch
  std::vector<std::int64_t> failed;  // (J) draws without usable data, over the batches used first; or empty
  // The first step whose loss or gradient was not finite. Neither it nor any later one changed anything.
  std::optional<std::int64_t> fault;

  void add(double loss, std::span<const std::int64_t> failed_draws);
  void clear();  // but for the fault, which stays
};

// What a network makes of data sets.
struct NetworkAnswers {
  std::vector<float> models;          // (sets, J) outputs
  std::vector<float> parameters;      // (sets, P)
  std::vector<float> summary;         // (sets, S)
  std::vector<double> log_p, spread;  // (sets, J) as in HeadAnswer; empty where the head gives none
};

class Engine {
 public:
  virtual ~Engine() = default;

  // To begin, or go on, at `step`.
  virtual void learn(LearningPlan plan, LearningState state, std::int64_t step) = 0;
  // What fails in the making of a batch is thrown, with nothing learned from this step. Error(bad_data) as
  // Network::check.
  virtual void step(BatchFeed& batches, const StepSettings& settings) = 0;
  // Both wait for what is under way. A report is valid until the next step.
  virtual const StepReport& take_report() = 0;
  virtual const LearningState& state() = 0;

  // Independent of what is learned: with these weights. Error(bad_data) as Network::check.
  virtual void answer(const std::vector<float>& weights, Ragged<const float> data, std::int64_t most_samples,
                      NetworkAnswers& out) = 0;

  // What a reader should know of it when the work is done; empty: nothing.
  virtual std::string remark() const { return ""; }
};

// An entry of the list of engines.
struct EngineKind {
  std::string help;
  std::function<std::unique_ptr<Engine>(const NetworkConfig&, ThreadPool&)> make;
};

inline constexpr const char* kDefaultEngine = "cpu";

// The option --device.
Field device_field(std::string& device);

// Every engine listed in CMakeLists.txt.
const Registry<EngineKind>& engines();
void register_engines(Registry<EngineKind>& registry);  // generated

// Error(usage) where this build or this machine has no such engine.
std::unique_ptr<Engine> make_engine(const std::string& name, const NetworkConfig& config, ThreadPool& pool);

}  // namespace occam
