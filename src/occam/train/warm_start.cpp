#include "occam/train/warm_start.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"

namespace occam {
namespace {

// For each name its place among `known`, or -1.
std::vector<std::int64_t> places(const std::vector<std::string>& names,
                                 const std::vector<std::string>& known) {
  std::vector<std::int64_t> result;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    result.push_back(found == known.end() ? -1 : found - known.begin());
  }
  return result;
}

// The columns of a (rows, columns) tensor: those with a place are copied from the old one. The others become
// the mean of the copied columns plus a tenth of what they were initialised with, or stay as they are.
void copy_columns(const float* from, std::int64_t from_columns, const std::vector<std::int64_t>& place,
                  bool mean_for_new, std::int64_t rows, float* to) {
  const auto columns = static_cast<std::int64_t>(place.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* old = from + r * from_columns;
    float* now = to + r * columns;
    const float mean = std::accumulate(old, old + from_columns, 0.0f) / static_cast<float>(from_columns);
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t k = place[static_cast<std::size_t>(c)];
      if (k >= 0) {
        now[c] = old[k];
      } else if (mean_for_new) {
        now[c] = mean + 0.1f * now[c];
      }
    }
  }
}

}  // namespace

void check_warm_start(const NetworkFile& from, const Problem& problem) {
  std::vector<std::string> columns;
  for (const Column& column : problem.columns()) columns.push_back(column.name);
  if (columns != from.columns) {
    throw Error(ErrorKind::usage, "the network reads columns {}, but '{}' has {}",
                fmt::join(from.columns, ", "), problem.name(), fmt::join(columns, ", "));
  }
  if (places_of(problem.missing()) != from.config.missing) {
    throw Error(ErrorKind::usage,
                "the network and '{}' do not have missing values in the same columns; train from scratch",
                problem.name());
  }
  if (problem.ordered() != from.ordered) {
    throw Error(ErrorKind::usage, "observations of the network are {}, those of '{}' are {}",
                from.ordered ? "ordered" : "exchangeable", problem.name(),
                problem.ordered() ? "ordered" : "exchangeable");
  }
  const auto place = places(problem.model_names(), from.model_names);
  if (std::all_of(place.begin(), place.end(), [](std::int64_t k) { return k < 0; })) {
    throw Error(
        ErrorKind::usage,
        "none of the models of '{}' ({}) is known to the network ({}): keep the names of the old ones",
        problem.name(), fmt::join(problem.model_names(), ", "), fmt::join(from.model_names, ", "));
  }
}

void grow_weights(const NetworkFile& from, std::size_t member, const Problem& problem,
                  const Network<float>& to, std::vector<float>& weights) {
  const Network<float> old(from.config);
  const auto models = places(problem.model_names(), from.model_names);
  const auto parameters = places(problem.parameter_names(), from.parameter_names);
  for (const Tensor& tensor : to.layout().tensors()) {
    const Tensor* source = old.layout().find(tensor.name);
    if (source == nullptr) continue;
    const bool head = tensor.name.starts_with("head.");
    const bool estimates = tensor.name.starts_with("parameters.");
    const float* old_values = from.members[member].data() + source->offset;
    float* values = weights.data() + tensor.offset;
    if (head || estimates) {
      copy_columns(old_values, source->shape.back(), head ? models : parameters, head,
                   tensor.size / tensor.shape.back(), values);
    } else {
      std::copy_n(old_values, source->size, values);
    }
  }
}

void keep_scales(const NetworkFile& from, const Problem& problem, ParameterTargets& targets) {
  const auto place = places(problem.parameter_names(), from.parameter_names);
  for (std::size_t p = 0; p < place.size(); ++p) {
    if (place[p] < 0) continue;
    const auto old = static_cast<std::size_t>(place[p]);
    targets.mean[p] = from.parameter_mean[old];
    targets.scale[p] = from.parameter_scale[old];
    targets.inputs[p] = from.parameter_inputs.empty() ? ColumnInput{} : from.parameter_inputs[old];
  }
}

std::string weight_checksum(const std::vector<float>& weights) {
  return hexadecimal_hash({reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)});
}

}  // namespace occam
