#include "occam/scope/build_scope.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "occam/core/error.hpp"
#include "occam/scope/scope.hpp"
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
  void simulate(std::int64_t first, std::int64_t count, ThreadPool& pool, Batch& out,
                ProgressSink& progress) {
    (first / kChunk % 2 == 0 ? own_ : even_).simulate_range(first, count, pool, out, [&](std::int64_t done) {
      progress.update(first + done, 0, "scope");
    });
  }

 private:
  Simulator own_, even_;
};

// A network of huge weights may answer what is not a number, next to which nothing lies.
void require_numbers(const ScopePoint& point) {
  const auto finite = [](float x) { return std::isfinite(x); };
  if (std::all_of(point.summary.begin(), point.summary.end(), finite) &&
      std::all_of(point.sketch.begin(), point.sketch.end(), finite))
    return;
  throw Error(
      ErrorKind::bad_data,
      "the network's summary of a data set of {} observations, or a statistic of it, is not a number; "
      "no scope reference can be made",
      point.rows);
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
    auto chunk = scope_points(sketch, comparator, batch.view(), comparator.outputs(batch.view()));
    for (std::size_t b = 0; b < chunk.size(); ++b) {
      require_numbers(chunk[b]);
      chunk[b].model = batch.models()[b];
    }
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
  for_blocks(comparator.pool(), points, [&](std::size_t first, std::span<const ScopePoint> block) {
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
    simulations.simulate(first, count, comparator.pool(), out, progress);
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

}  // namespace occam
