#include "occam/train/parameter_targets.hpp"

#include <cmath>
#include <numeric>

namespace occam {
namespace {

std::vector<double> finite_values(const Batch& sample, std::size_t p) {
  std::vector<double> values;
  for (std::int64_t b = 0; b < sample.size(); ++b) {
    if (const double theta = sample.parameters(b)[p]; std::isfinite(theta)) values.push_back(theta);
  }
  return values;
}

}  // namespace

ParameterTargets learn_targets(const Problem& problem, const Batch& sample, bool robust) {
  const auto P = static_cast<std::size_t>(problem.P());
  ParameterTargets targets{
      std::vector<ColumnInput>(P), std::vector<double>(P, 0.0), std::vector<double>(P, 1.0), {}};
  for (std::int64_t j = 0; j < problem.J(); ++j) {
    targets.masks.emplace_back(problem.mask(j).begin(), problem.mask(j).end());
  }
  for (std::size_t p = 0; p < P; ++p) {
    std::vector<double> values = finite_values(sample, p);
    if (values.empty()) continue;
    if (robust) {
      targets.inputs[p] = learn_transformation({values.begin(), values.end()});
      for (double& value : values) value = targets.inputs[p](value);
    }
    const double count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    targets.mean[p] = mean;
    if (squares > 0) targets.scale[p] = std::sqrt(squares / count);
  }
  return targets;
}

}  // namespace occam
