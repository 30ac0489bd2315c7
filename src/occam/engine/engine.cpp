#include "occam/engine/engine.hpp"

#include <algorithm>
#include <cmath>

namespace occam {
namespace {

// Standard deviations.
constexpr double kLargestTarget = 5;

}  // namespace

double ParameterTargets::operator()(std::int64_t model, std::size_t p, double theta) const {
  if (masks[static_cast<std::size_t>(model)][p] == 0 || std::isnan(theta)) return NAN;
  return std::clamp((inputs[p](theta) - mean[p]) / scale[p], -kLargestTarget, kLargestTarget);
}

LearningState fresh_state(std::vector<float> weights, Optimiser optimiser) {
  LearningState state;
  const std::size_t size = weights.size();
  state.average = weights;
  state.weights = std::move(weights);
  state.first_moment.assign(size, 0.0f);
  state.second_moment.assign(size, 0.0f);
  if (optimiser == Optimiser::muon) state.momentum.assign(size, 0.0f);
  return state;
}

void StepReport::add(double loss, std::span<const std::int64_t> failed_draws) {
  losses.push_back(loss);
  failed.resize(std::max(failed.size(), failed_draws.size()));
  for (std::size_t j = 0; j < failed_draws.size(); ++j) failed[j] += failed_draws[j];
}

void StepReport::clear() {
  losses.clear();
  std::fill(failed.begin(), failed.end(), 0);
}

const Registry<EngineKind>& engines() {
  static const Registry<EngineKind> registry = [] {
    Registry<EngineKind> all("device");
    register_engines(all);
    return all;
  }();
  return registry;
}

Field device_field(std::string& device) {
  return field("device", device, "what computes").one_of(engines().names());
}

std::unique_ptr<Engine> make_engine(const std::string& name, const NetworkConfig& config, ThreadPool& pool) {
  return engines().at(name).make(config, pool);
}

}  // namespace occam
