// Predictions: model probabilities p (B, J) for simulated data sets whose true model is known, with what else
// is known of them. All that a diagnostic needs, whichever program made them. They come in blocks, so that
// memory does not grow with their number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace occam {

class Batch;
class Comparator;
class ModelPosterior;
class Problem;
class ProgressSink;
class ScopeReference;
class ThreadPool;

// What is the same for all blocks.
struct PredictionLayout {
  std::vector<std::string> model_names;  // (J)
  std::vector<double> model_prior;       // (J); empty: not known
  bool has_n = false;
  bool has_u = false;
  bool has_exact = false;
  bool has_scope = false;
  std::vector<std::string> conditions = {};  // (C) what else describes a data set: "share of condition = 1"

  std::int64_t J() const { return static_cast<std::int64_t>(model_names.size()); }
};

// A block of B predictions.
struct Predictions {
  std::vector<double> p;                // (B, J)
  std::vector<std::int32_t> truth;      // (B) index of the true model
  std::vector<std::int64_t> n;          // (B) observations in the data set, or empty
  std::vector<double> u;                // (B), or empty
  std::vector<double> exact;            // (B, J) exact posterior probabilities, or empty
  std::vector<double> scope_p;          // (B) how often simulated data look at least this foreign, or empty
  std::vector<double> conditions = {};  // (B, C)

  std::int64_t size() const { return static_cast<std::int64_t>(truth.size()); }
  void clear();
};

using PredictionSink = std::function<void(const Predictions&)>;

// Probabilities below this count as this in logarithms: a true model that was given probability zero costs
// 690 nats, not infinitely many.
inline constexpr double kSmallestProbability = 1e-300;

// KL(q || p) [nats], of an exact posterior q from predicted p.
double divergence(std::span<const double> q, std::span<const double> p);

struct PredictRequest {
  std::uint64_t seed = 1;
  std::int64_t data_sets = 1;
  std::optional<std::int64_t> n = {};  // all of this size, or of the problem's own sizes
};

// Error(bad_data) where an answer holds what is not a number, as a network of huge weights can give: nothing
// could be measured of it.
void require_numbers(const ModelPosterior& answers);

PredictionLayout prediction_layout(const Comparator& comparator, const Problem& problem);

// What is asked about data sets: the network and, where it has one, its scope reference.
struct Predictor {
  Comparator& comparator;
  const ScopeReference* scope = nullptr;
};

// Simulates data sets of the test stream and asks the network about them, block by block. `done` is called
// with the number of data sets behind; it may throw to stop.
void predict(const Predictor& predictor, const Problem& problem, const PredictRequest& request,
             ThreadPool& pool, const PredictionSink& sink, const std::function<void(std::int64_t)>& done);

// The same for data sets at hand: `rows` of a batch.
void predict(const Predictor& predictor, const Problem& problem, const Batch& batch,
             std::span<const std::int64_t> rows, ThreadPool& pool, const PredictionSink& sink,
             const std::function<void(std::int64_t)>& done);

}  // namespace occam
