// A space of features in which a data set is held against a reference of simulated ones:
//   score = log(mean distance to the k nearest of the reference) - adapt * mean(log of the same for those k).
// Large where nothing simulated is near, measured by how near simulated data are to each other around there
// (after the local outlier factor of Breunig et al. 2000; adapt = 0 is the plain distance to the nearest
// neighbours).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "occam/io/safetensors.hpp"
#include "occam/nn/dense.hpp"
#include "occam/scope/whitening.hpp"

namespace occam {

class NeighbourSpace {
 public:
  static constexpr std::int64_t kNeighbours = 10;
  // Places are scored a block at a time, which is much faster than one by one.
  static constexpr std::int64_t kBlock = 64;

  struct Options {
    std::int64_t components = 48;
    double power = 0.5;  // of the whitening
    double adapt = 0.5;
  };

  NeighbourSpace() = default;
  // From features (R, F) of the reference and the models (R) they come from, of `models` in all.
  NeighbourSpace(std::span<const float> features, std::int64_t F, std::vector<std::int32_t> model,
                 std::int64_t models, Options options);

  std::int64_t size() const { return static_cast<std::int64_t>(model_.size()); }  // R
  std::int64_t features() const { return whitening_.features(); }

  // Completes the scores by what is usual around each point: for every block, independent of each other.
  std::int64_t blocks() const { return (size() + kBlock - 1) / kBlock; }
  void measure_density(std::int64_t block);

  struct Score {
    double all = 0;
    std::vector<double> by_model;  // (models): beside the reference points of each model alone; or empty
  };
  // For features (count, F); with or without the scores by model.
  std::vector<Score> scores(std::span<const float> features, bool by_model) const;

  void add_to(Safetensors& contents, const std::string& prefix) const;
  // For `features` features; `model` holds numbers below `models`. Error(bad_config) where the tensors do not
  // fit, or hold what is not finite.
  static NeighbourSpace from(const Safetensors& contents, const std::string& prefix, std::int64_t features,
                             std::vector<std::int32_t> model, std::int64_t models, Options options);

 private:
  void prepare_distances();
  template <class Visit>
  void visit_distances(std::span<const float> places, const Visit& visit) const;

  Options options_;
  Whitening whitening_;
  std::int64_t J_ = 0;
  std::vector<std::int32_t> model_;  // (R)
  // (components, R): one component of all points after the other; whole multiples of unit_, as in the file.
  std::vector<float> points_;
  float unit_ = 1;
  std::vector<float> density_;  // (R) log mean distance to the nearest neighbours
  // |x - p|^2 - |x|^2 for all points p of the reference is a dense layer: -2 x p + |p|^2.
  std::shared_ptr<const Dense<float>> distance_;
  PackedWeights<float> packed_;
};

}  // namespace occam
