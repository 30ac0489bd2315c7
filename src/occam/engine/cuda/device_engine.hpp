// The engine that learns and answers on a device. step() sends a batch, begins the work and lets the host's
// threads simulate the next batch meanwhile; what came of it is looked at when somebody asks.
#pragma once

#include <exception>
#include <memory>

#include "occam/engine/cuda/device.hpp"
#include "occam/engine/cuda/plan.hpp"
#include "occam/engine/engine.hpp"

namespace occam::gpu {

class DeviceEngine final : public Engine {
 public:
  // Error(usage) for a network that the device does not know.
  DeviceEngine(const NetworkConfig& config, ThreadPool& pool, std::unique_ptr<Device> device);

  void learn(LearningPlan plan, LearningState state, std::int64_t step) override;
  void step(BatchFeed& batches, const StepSettings& settings) override;
  const StepReport& take_report() override;
  const LearningState& state() override;
  void answer(const std::vector<float>& weights, Ragged<const float> data, std::int64_t most_samples,
              NetworkAnswers& out) override;

 private:
  // Where the parts of a batch lie in a slot.
  struct SlotLayout {
    std::int64_t offsets, models, present, targets, levels, statistics, noise, bundles, labels, raw, bytes;
  };

  void provide(std::int64_t rows, std::int64_t sets);
  void build();
  SlotLayout slot_layout() const;
  std::size_t fill(int slot, const StepHead& head, Ragged<const float> data, const Batch* batch);
  std::int32_t fill_noise(int slot, const PassNoise& noise, Ragged<const float> data);
  void fill_targets(std::byte* slot, const Batch& batch) const;
  void fill_levels(std::byte* slot, Ragged<const float> data) const;
  void fill_labels(std::byte* slot, Ragged<const float> data);
  void fill_statistics(std::byte* slot, Ragged<const float> data);
  std::int64_t rows_with_continued(Ragged<const float> data) const;
  StepHead step_head(const Batch& batch, const StepSettings& settings) const;
  void collect();
  void answer_part(std::int64_t first, Ragged<const float> data, NetworkAnswers& out);
  void read_rows(const float* from, std::int64_t sets, std::int64_t columns);
  void answer_samples(std::int64_t first, std::int64_t sets, std::int64_t most_samples, NetworkAnswers& out);

  Network<float> network_;
  ThreadPool& pool_;
  std::unique_ptr<Device> device_;
  Capacity capacity_;
  Windows windows_;
  std::vector<std::int64_t> labels_;  // columns, each a level behind those of windows
  SlotLayout layout_{};
  LearningPlan plan_;
  std::int64_t adam_step_ = 0;

  DeviceArray<std::byte> memory_, slots_[kSlots];
  HostArray staged_[kSlots];
  DeviceArray<float> learned_, parts_, answering_;
  DeviceArray<std::uint8_t> kinds_;
  DeviceArray<double> norms_;
  DeviceArray<std::uint32_t> done_;
  DeviceArray<Report> report_memory_;
  Program program_;
  Learning learning_;
  int slot_ = 0;

  // What was begun since the last look at the report: steps, and their draws without usable data, (J) each.
  std::vector<std::int64_t> begun_, begun_failed_;
  bool fresh_ = true;
  std::vector<Workspace> workspaces_;  // of the threads
  BundlePlan bundles_;
  std::exception_ptr failed_next_;  // in the making of the next batch
  StepReport report_;
  bool taken_ = false;
  LearningState exported_;
  std::vector<float> rows_;    // of the device, padded
  std::vector<float> packed_;  // weights as the network of the host reads them
};

}  // namespace occam::gpu
