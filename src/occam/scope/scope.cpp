#include "occam/scope/scope.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"

namespace occam {

std::vector<ScopePoint> scope_points(const Sketch& sketch, const Comparator& comparator,
                                     Ragged<const float> data, const NetworkOutputs& outputs) {
  const auto S = static_cast<std::size_t>(comparator.summary_width());
  const auto J = static_cast<std::size_t>(comparator.file().config.models);
  std::vector<ScopePoint> points(static_cast<std::size_t>(data.sets));
  comparator.pool().for_each(data.sets, [&](std::int64_t b, int) {
    const auto at = static_cast<std::size_t>(b);
    ScopePoint& point = points[at];
    const float* summary = outputs.summary.data() + at * S;
    point.summary.assign(summary, summary + S);
    point.sketch.resize(static_cast<std::size_t>(sketch.size()));
    sketch.of(data.x.rows_from(data.offsets[b], data.size(b)), point.sketch);
    point.rows = data.size(b);
    const DesignProfile& design = comparator.file().design;
    if (!design.empty()) {
      const Matrix<const float> rows = data.x.rows_from(data.offsets[b], data.size(b));
      point.design = design.coordinates(rows);
      point.given = design.explanatory(rows);
    }
    const double* log_alpha = outputs.log_alpha.data() + at * J;
    point.best = static_cast<std::int32_t>(std::max_element(log_alpha, log_alpha + J) - log_alpha);
  });
  return points;
}

namespace {

// What no verb would read must not be written.
void require_finite(const Safetensors& contents) {
  for (const auto& [name, array] : contents.tensors) {
    if (array.dtype != DType::float32) continue;
    const auto values = array.view<float>();
    if (std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); })) continue;
    throw Error(ErrorKind::bad_data, "the scope reference is not usable: '{}' holds what is not a number",
                name);
  }
}

}  // namespace

void put_scope(const ScopeReference& scope, NetworkFile& file) {
  Safetensors contents;
  nlohmann::json description;
  scope.add_to(contents, description);
  require_finite(contents);
  file.scope = std::move(description);
  file.scope_tensors = std::move(contents.tensors);
}

std::optional<ScopeReference> scope_of(const NetworkFile& file) {
  if (file.scope.is_null()) return std::nullopt;
  Safetensors contents;
  contents.tensors = file.scope_tensors;
  try {
    return ScopeReference::from(
        contents, file.scope,
        {file.columns, file.ordered, file.config.models, Network<float>(file.config).summary_width(),
         file.design.is_design(static_cast<std::int64_t>(file.columns.size())), file.design.dimensions(),
         file.design.explanatory_size()});
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::bad_config, "{}: its scope reference is not usable ({})", file.path,
                shown(error.what(), 200));
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_config, "{}: {}", file.path, error.what());
  }
}

std::vector<ScopeAnswer> judge_scope(const ScopeReference& scope, const Comparator& comparator,
                                     Ragged<const float> data, const NetworkOutputs& outputs) {
  const std::vector<ScopePoint> points = scope_points(scope.sketch(), comparator, data, outputs);
  std::vector<ScopeAnswer> answers(points.size());
  for_blocks(comparator.pool(), points, [&](std::size_t first, std::span<const ScopePoint> block) {
    std::vector<ScopeAnswer> judged = scope.judge(block);
    std::move(judged.begin(), judged.end(), answers.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return answers;
}

}  // namespace occam
