// Scope: could any of the models have produced these data? A data set is described by the network's summary
// and a sketch of its raw values, and held against simulated ones:
//   score = log(mean distance to the k nearest of the reference) - adapt * mean(log of the same for those k),
// large where nothing simulated is near, measured by how near simulated data are to each other around there.
// Its rank among the scores of further simulations (of the same size, for which the network favours the same
// model) is a conformal p-value (Vovk, Gammerman & Shafer 2005): if the models are right, it falls below any
// level no more often than that level says, whatever the score is worth.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "occam/compare/data_set_verdict.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/nn/dense.hpp"
#include "occam/scope/sketch.hpp"
#include "occam/scope/whitening.hpp"

namespace occam {

class ScopeReference {
 public:
  static constexpr std::int64_t kNeighbours = 10;
  static constexpr std::int64_t kMostModels = 16;  // with more, models are not judged one by one

  // A data set as the score sees it.
  struct Point {
    std::vector<float> place;     // in the whitened space
    std::vector<float> features;  // summary, then sketch
    std::int64_t rows = 0;
    std::int32_t best = 0;   // the model that the network favours
    std::int32_t model = 0;  // the true one, where known
    bool usual = true;       // agrees with what is the same in all simulations
  };

  ScopeReference() = default;
  // From simulated points, whose features alone are filled in.
  ScopeReference(Sketch sketch, std::int64_t models, std::vector<Point> reference);

  const Sketch& sketch() const { return sketch_; }
  std::int64_t reference_size() const { return static_cast<std::int64_t>(model_.size()); }
  std::int64_t calibration_size() const { return static_cast<std::int64_t>(calibration_.size()); }
  // The smallest p-value that can come out.
  double smallest_p() const;

  // Fills in the place of a point.
  void place(Point& point) const;
  // Points are scored a block at a time, which is much faster than one by one.
  static constexpr std::int64_t kBlock = 64;
  // Adjusts scores to their surroundings: for every block of the reference, independent of each other.
  std::int64_t blocks() const { return (reference_size() + kBlock - 1) / kBlock; }
  void measure_density(std::int64_t block);
  struct Scores {
    double all = 0;
    std::vector<double> by_model;  // (J) or empty
  };
  std::vector<Scores> scores(std::span<const Point> points) const;
  // Adds the scores of calibration points, placed; to be ended by calibrated().
  void add_calibration(const Point& point, const Scores& scores);
  void calibrated();

  std::vector<ScopeAnswer> judge(std::span<const Point> points) const;

  void add_to(Safetensors& contents, nlohmann::json& description) const;
  static ScopeReference from(const Safetensors& contents, const nlohmann::json& description);

 private:
  struct Calibration {
    float rows, score, own_score;
    std::int32_t best, model;
  };
  ScopeAnswer judge(const Point& point, const Scores& scores) const;
  void prepare_distances();
  template <class Visit>
  void visit_distances(std::span<const float* const> places, const Visit& visit) const;
  double rank(const std::vector<std::int32_t>& cell, double rows, double score, bool own) const;
  void learn_ranges(const std::vector<Point>& points);
  std::string reason(const Point& point) const;
  std::size_t band(std::int64_t rows) const;

  Sketch sketch_;
  Whitening whitening_;
  std::int64_t J_ = 0;
  // (components, R): one component of all points after the other; whole multiples of unit_, as in the file.
  std::vector<float> points_;
  float unit_ = 1;
  // |x - p|^2 - |x|^2 for all points p of the reference is a dense layer: -2 x p + |p|^2.
  std::shared_ptr<const Dense<float>> distance_;
  std::vector<float> packed_;
  std::vector<float> density_;       // (R) log mean distance to the nearest neighbours
  std::vector<std::int32_t> model_;  // (R)
  std::vector<Calibration> calibration_;
  std::vector<float> band_rows_;  // upper ends of bands of sizes, for ranges_
  std::vector<float> ranges_;     // (bands, sketch, 2) where nearly all simulated data sets lie

  // Places in calibration_: by favoured model, by true model, and all together; sorted by rows.
  std::vector<std::vector<std::int32_t>> by_best_, by_model_;
  std::vector<std::int32_t> all_;
};

}  // namespace occam
