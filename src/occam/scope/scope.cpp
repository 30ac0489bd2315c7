#include "occam/scope/scope.hpp"

#include <algorithm>
#include <functional>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

constexpr std::int64_t kChunk = 500;         // data sets simulated at a time
constexpr std::int64_t kSketchSample = 500;  // data sets that decide what the sketch looks at

// The problem with other sizes, drawn for every data set.
Problem with_sizes(const Problem& problem, const SizeDistribution& sizes) {
  ProblemSpec spec = problem.spec();
  spec.size = sizes;
  spec.one_n_per_batch = false;
  return Problem(std::move(spec));
}

// Half of the data sets have the problem's own sizes, half sizes spread evenly over their logarithms and a
// little beyond both ends: at the edge of what was simulated, everything would look foreign.
class Simulations {
 public:
  Simulations(const Problem& problem, std::uint64_t seed)
      : own_(with_sizes(problem, problem.size()), seed, Purpose::scope), even_(own_) {
    const auto [low, high] = problem.sizes();
    const bool own_sizes = problem.design() != nullptr && !problem.design()->needs_n();
    if (low == high || own_sizes) return;
    const SizeDistribution sizes =
        SizeDistribution::log_uniform(std::max<std::int64_t>(1, low * 4 / 5), high * 5 / 4);
    even_ = Simulator(with_sizes(problem, sizes), seed, Purpose::scope);
  }

  // Data sets first..first+count-1: chunks alternate between the two kinds of sizes.
  void simulate(std::int64_t first, std::int64_t count, ThreadPool& pool, Batch& out) {
    (first / kChunk % 2 == 0 ? own_ : even_).simulate_range(first, count, pool, out);
  }

 private:
  Simulator own_, even_;
};

std::vector<ScopePoint> points_of(const Sketch& sketch, const Comparator& comparator,
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

// Calls visit(first, points) for blocks of them, on all threads.
template <class Visit>
void in_blocks(ThreadPool& pool, const std::vector<ScopePoint>& points, const Visit& visit) {
  constexpr auto kBlock = static_cast<std::size_t>(NeighbourSpace::kBlock);
  const auto blocks = static_cast<std::int64_t>((points.size() + kBlock - 1) / kBlock);
  pool.for_each(blocks, [&](std::int64_t block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    visit(first, std::span(points).subspan(first, std::min(kBlock, points.size() - first)));
  });
}

// Where data sets come from: fills a batch with data sets first..first+count-1.
using Supply = std::function<void(std::int64_t first, std::int64_t count, Batch& out)>;

std::vector<ScopePoint> collect_points(const Supply& supply, Comparator& comparator, const Sketch& sketch,
                                       std::int64_t first, std::int64_t count, ProgressSink& progress) {
  std::vector<ScopePoint> points;
  Batch batch;
  for (std::int64_t done = 0; done < count; done += kChunk) {
    if (progress.stop_requested())
      throw Error(ErrorKind::interrupted, "stopped while the scope reference was made");
    supply(first + done, std::min(kChunk, count - done), batch);
    auto chunk = points_of(sketch, comparator, batch.view(), comparator.outputs(batch.view()));
    for (std::size_t b = 0; b < chunk.size(); ++b) chunk[b].model = batch.models()[b];
    std::move(chunk.begin(), chunk.end(), std::back_inserter(points));
    progress.update(first + std::min(done + kChunk, count), 0, "scope");
  }
  return points;
}

// The first `reference` data sets of the supply become the reference, the next ones calibrate it.
ScopeReference build(const Supply& supply, Comparator& comparator, std::int64_t reference,
                     std::int64_t calibration, bool ordered, bool time, ProgressSink& progress) {
  constexpr std::int64_t kFewest = 10 * NeighbourSpace::kNeighbours;
  if (reference < kFewest || calibration < kFewest) {
    throw Error(ErrorKind::usage,
                "a scope reference of {} data sets with {} for calibration is too small; at least {}",
                reference, calibration, kFewest);
  }
  Batch sample;
  supply(0, std::min(kSketchSample, reference), sample);
  const NetworkFile& file = comparator.file();
  const Sketch sketch = Sketch::learn(sample.view(), file.columns, ordered, time,
                                      file.design.is_design(static_cast<std::int64_t>(file.columns.size())));
  ScopeReference scope(sketch, comparator.file().config.models,
                       collect_points(supply, comparator, sketch, 0, reference, progress));
  comparator.pool().for_each(scope.blocks(), [&](std::int64_t block, int) { scope.measure_density(block); });
  const auto points = collect_points(supply, comparator, sketch, reference, calibration, progress);
  std::vector<ScopeReference::Scores> scores(points.size());
  in_blocks(comparator.pool(), points, [&](std::size_t first, std::span<const ScopePoint> block) {
    std::ranges::move(scope.scores(block), scores.begin() + static_cast<std::ptrdiff_t>(first));
  });
  scope.calibrate(points, scores);
  return scope;
}

}  // namespace

Fields fields(ScopeOptions& o) {
  return {field("scope_reference", o.reference,
                "simulated data sets kept in the file, to tell data that no model makes (0: none)")
              .at_least(0),
          field("scope_calibration", o.calibration, "further ones, which set the rate of false alarms")
              .at_least(100),
          field("scope_time", o.time,
                "the rows of your data are in order of time: also notice when they depend on it")};
}

ScopeReference build_scope(Comparator& comparator, const Problem& problem, const ScopeOptions& options,
                           std::uint64_t seed, ProgressSink& progress) {
  Simulations simulations(problem, seed);
  const Supply supply = [&](std::int64_t first, std::int64_t count, Batch& out) {
    simulations.simulate(first, count, comparator.pool(), out);
  };
  return build(supply, comparator, options.reference, options.calibration, problem.ordered(), options.time,
               progress);
}

ScopeReference build_scope(Comparator& comparator, const Batch& all, std::span<const std::int64_t> reference,
                           std::span<const std::int64_t> calibration, bool ordered, bool time,
                           ProgressSink& progress) {
  std::vector<std::int64_t> rows(reference.begin(), reference.end());
  rows.insert(rows.end(), calibration.begin(), calibration.end());
  const Supply supply = [&](std::int64_t first, std::int64_t count, Batch& out) {
    gather(all, std::span(rows).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
           comparator.file().config.models, out);
  };
  return build(supply, comparator, static_cast<std::int64_t>(reference.size()),
               static_cast<std::int64_t>(calibration.size()), ordered, time, progress);
}

void put_scope(const ScopeReference& scope, NetworkFile& file) {
  Safetensors contents;
  scope.add_to(contents, file.scope);
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
  const std::vector<ScopePoint> points = points_of(scope.sketch(), comparator, data, outputs);
  std::vector<ScopeAnswer> answers(points.size());
  in_blocks(comparator.pool(), points, [&](std::size_t first, std::span<const ScopePoint> block) {
    std::ranges::move(scope.judge(block), answers.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return answers;
}

}  // namespace occam
