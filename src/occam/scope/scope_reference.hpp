// Scope: could any of the models have produced these data? A data set is described twice, by the network's
// summary and by a sketch of its raw values, and in both spaces held against simulated ones
// (neighbour_space.hpp). Each score is brought to a common scale for data sets of its size; the larger one
// counts. Its rank among further simulations, of about the same size and design and with the same model
// favoured by the network, is a conformal p-value (Vovk, Gammerman & Shafer 2005): if the models are right,
// it falls below any level no more often than that level says, whatever the score is worth.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "occam/compare/data_set_verdict.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/scope/design_effect.hpp"
#include "occam/scope/neighbour_space.hpp"
#include "occam/scope/sketch.hpp"

namespace occam {

// A data set as the scope test sees it.
struct ScopePoint {
  std::vector<float> summary, sketch;
  // Coordinates of its design and what it may explain (design_profile.hpp); empty where there is none.
  std::vector<float> design, given;
  std::int64_t rows = 0;
  std::int32_t best = 0;   // the model that the network favours
  std::int32_t model = 0;  // the true one, where known
};

// The network that a reference belongs to, as far as the two have to agree.
struct ScopeOwner {
  std::vector<std::string> columns;
  bool ordered = false;
  std::int64_t models = 0;         // J
  std::int64_t summary_width = 0;  // of the network's summary
  std::vector<bool> design = {};   // which columns are of the design
  std::int64_t dimensions = 0;     // of designs
  std::int64_t given = 0;          // what they may explain
};

class ScopeReference {
 public:
  static constexpr std::int64_t kMostModels = 16;  // with more, models are not judged one by one

  ScopeReference() = default;
  ScopeReference(Sketch sketch, std::int64_t models, const std::vector<ScopePoint>& reference);

  const Sketch& sketch() const { return sketch_; }
  std::int64_t reference_size() const { return static_cast<std::int64_t>(model_.size()); }
  std::int64_t calibration_size() const { return static_cast<std::int64_t>(calibration_.size()); }
  // The smallest p-value that can come out.
  double smallest_p() const;

  // To be called for every block once, before any scores; independent of each other.
  std::int64_t blocks() const { return summary_.blocks(); }
  void measure_density(std::int64_t block);

  struct Scores {
    double summary = 0, sketch = 0;
    std::vector<double> summary_by_model, sketch_by_model;  // (J) or empty
  };
  std::vector<Scores> scores(std::span<const ScopePoint> points) const;
  // Learns from the scores of further simulated points what is usual.
  void calibrate(std::span<const ScopePoint> points, std::span<const Scores> scores);

  std::vector<ScopeAnswer> judge(std::span<const ScopePoint> points) const;

  void add_to(Safetensors& contents, nlohmann::json& description) const;
  // Everything is checked, against each other and against the owner: Error or nlohmann::json::exception where
  // something is amiss.
  static ScopeReference from(const Safetensors& contents, const nlohmann::json& description,
                             const ScopeOwner& owner);

 private:
  struct Calibration {
    float rows, score, own_score;
    std::int32_t best, model;
  };
  // Mean and spread of one score over sizes: piecewise linear in log rows.
  struct Scale {
    std::vector<float> log_rows, mean, spread;
    double standardised(double score, double rows) const;
    static Scale from(const nlohmann::json& json);
  };
  void read_calibration(const Safetensors& contents);
  void read_ranges(const Safetensors& contents);
  static Scale learn_scale(std::span<const ScopePoint> points, const std::vector<double>& scores);
  void learn_design_scale(std::span<const ScopePoint> points, std::span<const Scores> scores);
  double standardised(std::size_t which, double score, const ScopePoint& point) const;
  double joined(double summary, double sketch, const ScopePoint& point) const;
  ScopeAnswer judge(const ScopePoint& point, const Scores& scores) const;
  // Places of calibration points to be ranked among, and how far from the data set they reach.
  struct Window {
    std::vector<std::int32_t> places;
    double reach = 0;
    double near = 0;  // the same of the first few in design
  };
  Window window(const std::vector<std::int32_t>& cell, const ScopePoint& point) const;
  Window nearest_in_size(const std::vector<std::int32_t>& cell, double rows) const;
  Window nearest_in_design(const std::vector<std::int32_t>& cell, const ScopePoint& point) const;
  double rank(const Window& window, const ScopePoint& point, double score, bool own) const;
  void move_to(const ScopePoint& point, std::span<const std::int32_t> places,
               std::vector<double>& scores) const;
  void learn_near();
  void sort_cells();
  void learn_ranges(const std::vector<ScopePoint>& points);
  std::string reason(const ScopePoint& point) const;
  std::size_t band(std::int64_t rows) const;

  Sketch sketch_;
  std::int64_t J_ = 0;
  std::vector<std::int32_t> model_;  // (R)
  DesignEffect summary_effect_, raw_effect_;
  NeighbourSpace summary_, raw_;
  Scale summary_scale_, raw_scale_;
  // What the design does to both scores beyond that: to their mean, and to their spread around it.
  DesignEffect score_effect_, spread_effect_;
  std::vector<float> spread_ = {1, 1};  // mean absolute deviation
  std::vector<Calibration> calibration_;
  std::int64_t K_ = 0;                     // dimensions of designs
  std::vector<float> calibration_design_;  // (calibration, K)
  double near_ = HUGE_VAL;                 // how far the first few are from any that was simulated
  std::vector<float> band_rows_;           // upper ends of bands of sizes, for ranges_
  std::vector<float> ranges_;              // (bands, sketch, 2) where nearly all simulated data sets lie

  // Places in calibration_: by favoured model, by true model, and all together; sorted by rows.
  std::vector<std::vector<std::int32_t>> by_best_, by_model_;
  std::vector<std::int32_t> all_;
};

}  // namespace occam
