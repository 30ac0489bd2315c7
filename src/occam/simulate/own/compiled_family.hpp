// A model simulated by a C++ file of the user's own (simulator.h): compiled on first use into a program that
// runs beside this one (worker_main.cc) and shares memory with it. What the file does wrong, it does in a
// process of its own. The file may know the exact evidence of data beside simulating them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "occam/simulate/own/own_family.hpp"

namespace occam {

class Worker;

class CompiledFamily final : public OwnFamily {
 public:
  // Error(no_input) when the file is not in the model's folder. Files that it includes with quotes belong to
  // it. The first simulation compiles it: Error(bad_config) with what the compiler said.
  CompiledFamily(OwnModel model, std::string source, WorkerPools& pools);

  std::int64_t group() const override;
  bool may_be_slow() const override { return true; }
  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override;
  // Error(bad_data) names the parameters where the file throws, crashes, or does not return in time.
  void simulate_many(std::span<SimulationRequest> requests) const override;

  // What log_evidence() of the file says, where it has one. Error(bad_data) as above, and where that is NaN
  // or infinitely large.
  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override;
  bool log_evidences(std::span<const Prior> priors, std::span<const DataView> data,
                     std::span<double> out) const override;

 private:
  struct Handed;

  void add_source(const std::string& file);
  void simulate_together(std::span<SimulationRequest> requests) const;
  bool evidences_together(std::span<const Prior> priors, std::span<const DataView> data,
                          std::span<double> out) const;
  void refuse_other_evidence() const;
  std::unique_ptr<Worker> work(int task, std::span<const Handed> sets, bool designed,
                               const std::function<std::string(std::size_t)>& where) const;

  std::string source_;
  std::string column_names_;
  std::string names_;  // of the parameters, each ended by a zero
  std::shared_ptr<WorkerPool> pool_;
  mutable std::atomic<double> seconds_per_set_{1e-4};  // as last measured
};

}  // namespace occam
