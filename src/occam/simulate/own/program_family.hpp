// A model simulated by a program in any language, kept running and spoken to through pipes (protocol.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {

class ProgramFamily final : public OwnFamily {
 public:
  // Error(no_input) when a script that the command names is not in the model's folder.
  ProgramFamily(OwnModel model, std::vector<std::string> command, WorkerPools& pools);

  std::int64_t group() const override { return model().sets; }
  bool dear() const override { return true; }
  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override;
  // One request to one worker. A program that simulates many data sets with one generator of its own gives
  // other numbers when they are grouped otherwise; groups do not depend on the number of threads.
  void simulate_many(std::span<SimulationRequest> requests) const override;
  // Ends its programs, which are no longer needed: Error(bad_data) where one wrote more than it was asked
  // for, so that rows of its last data sets may be those of others.
  void end_programs() const;

 private:
  std::vector<std::string> names_;  // of the parameters
  std::shared_ptr<WorkerPool> pool_;
};

// The same for all models of a problem.
void end_programs(const Problem& problem);

}  // namespace occam
