// Disturbances: named ways in which data can differ from what the models of a problem make, from mild to
// strong. A family of models lists those that make sense for its data (Family::disturbances). Two kinds:
//   a transformation of simulated data (clocks that run late, contaminants, a flipped sign); strength 0
//     leaves every bit as it was;
//   a replacement of the model by another (parameters outside the priors, another reaction).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "occam/core/rng.hpp"

namespace occam {

class Batch;
class Model;
class Problem;
class ThreadPool;

// One data set that may be changed in place, row by row; the number of rows stays.
struct MutableData {
  float* data = nullptr;
  std::int64_t n = 0;  // rows
  std::int64_t D = 0;

  float& at(std::int64_t row, std::int64_t column) const { return data[row * D + column]; }
  std::span<float> values() const { return {data, static_cast<std::size_t>(n * D)}; }
};

struct Disturbance {
  using Transform = std::function<void(double strength, Rng& rng, MutableData data)>;
  using Replace = std::function<Model(const Model& model, double strength)>;

  std::string name;         // snake_case: "shift"
  std::string description;  // what is done to the data, a phrase
  std::string unit;         // of the strength: "s"; empty for a share or a factor
  double from = 0;          // the mildest strength worth looking at; 0 for transformations
  double to = 1;            // the strongest; may lie below `from`
  Transform transform;      // exactly one of the two
  Replace replace;
};

// "shift=2": which disturbance, and how strong.
struct DisturbanceRequest {
  std::string name;
  double strength = 0;

  // Throws Error(usage) unless `text` is NAME=STRENGTH with a finite number.
  static DisturbanceRequest parse(std::string_view text);
};

// The disturbances that the families of all models of a problem know, by name; in the order of the first.
std::vector<Disturbance> disturbances(const Problem& problem);

// Data sets first..first+count-1 of the stream (seed, purpose), disturbed. Which model, N and parameters each
// has does not depend on a transformation, and data set k is the same bits on any number of threads.
struct DisturbedRange {
  std::uint64_t seed = 1;
  Purpose purpose = Purpose::test;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::optional<std::int64_t> n = {};      // this size instead of the problem's own
  std::optional<std::int64_t> model = {};  // data from this model only
};

// Throws Error(usage) on a disturbance that the problem does not know (it suggests the nearest) or a strength
// that makes no sense for it, and what Simulator throws.
void disturb(const Problem& problem, const DisturbanceRequest& request, const DisturbedRange& range,
             ThreadPool& pool, Batch& out);
Batch disturb(const Problem& problem, const DisturbanceRequest& request, const DisturbedRange& range,
              ThreadPool& pool);

// The problem whose models a replacement put in place; for a transformation the problem itself.
Problem replaced_problem(const Problem& problem, const DisturbanceRequest& request);
// Changes data sets in place, data set b of the batch being item first + b; a replacement changes nothing.
void transform_batch(const Problem& problem, const DisturbanceRequest& request, std::uint64_t seed,
                     std::int64_t first, ThreadPool& pool, Batch& batch);

// Helpers of families: a share of the rows, each chosen by itself, goes through `change`.
template <class Change>
void change_share(double share, Rng& rng, MutableData data, Change&& change) {
  for (std::int64_t row = 0; row < data.n; ++row) {
    if (rng.uniform() < share) change(row);
  }
}
// The model with some parameters fixed or with other priors. Throws Error(usage) when one is not legal.
Model with_priors(const Model& model, const std::vector<std::pair<std::string, class Prior>>& priors);

}  // namespace occam
