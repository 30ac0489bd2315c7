// What the members of a group say about the models: log evidences l_nk of data set n under model k, (N, J),
// known up to a constant per data set, as log Bayes factors are. Kept relative to the largest of each row,
// also as weights w_nk = exp(l_nk) in [0, 1]. -inf says that a model cannot have made the data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace occam {

class Evidences {
 public:
  explicit Evidences(std::int64_t J) : J_(J) {}

  // Error(bad_data), naming `id`, for NaN, +inf, and data that no model can have made; Error(internal) unless
  // there are J entries.
  void add(const std::string& id, std::span<const double> log_evidence);
  void add(const Evidences& others);

  std::int64_t N() const { return static_cast<std::int64_t>(log_.size()) / J_; }
  std::int64_t J() const { return J_; }
  std::span<const double> log_row(std::int64_t n) const { return row_of(log_, n); }  // largest: 0
  std::span<const double> row(std::int64_t n) const { return row_of(weights_, n); }  // largest: 1

 private:
  std::span<const double> row_of(const std::vector<double>& values, std::int64_t n) const {
    return {values.data() + n * J_, static_cast<std::size_t>(J_)};
  }

  std::int64_t J_;
  std::vector<double> log_, weights_;  // (N, J)
};

// log p(data | every model is equally frequent), on the scale of the rows: sum over n of log mean_k w_nk.
double log_evidence_if_equal(const Evidences& evidences);

// Fixed effects: all members have the same model. Sum of the log evidences of each model less the largest
// sum; NaN throughout where every model is excluded by some member.
std::vector<double> fixed_effects(const Evidences& evidences);  // (J)

}  // namespace occam
