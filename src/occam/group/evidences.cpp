#include "occam/group/evidences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"

namespace occam {

void Evidences::add(const std::string& id, std::span<const double> log_evidence) {
  if (static_cast<std::int64_t>(log_evidence.size()) != J_) {
    throw Error(ErrorKind::internal, "{} evidences for {} models", log_evidence.size(), J_);
  }
  double top = -std::numeric_limits<double>::infinity();
  for (const double value : log_evidence) {
    if (std::isnan(value) || value == std::numeric_limits<double>::infinity()) {
      throw Error(ErrorKind::bad_data,
                  "data set '{}': a log evidence is {}; a group needs finite ones (or -inf for a model that "
                  "cannot have made the data). Leave this data set out",
                  shown(id), value);
    }
    top = std::max(top, value);
  }
  if (std::isinf(top)) {
    throw Error(ErrorKind::bad_data,
                "data set '{}': no model can have made these data (all log evidences are -inf). Leave this "
                "data set out",
                shown(id));
  }
  for (const double value : log_evidence) {
    log_.push_back(value - top);
    weights_.push_back(std::exp(value - top));
  }
}

void Evidences::add(const Evidences& others) {
  log_.insert(log_.end(), others.log_.begin(), others.log_.end());
  weights_.insert(weights_.end(), others.weights_.begin(), others.weights_.end());
}

double log_evidence_if_equal(const Evidences& evidences) {
  double sum = 0;
  for (std::int64_t n = 0; n < evidences.N(); ++n) {
    const auto w = evidences.row(n);
    sum += std::log(std::accumulate(w.begin(), w.end(), 0.0) / static_cast<double>(w.size()));
  }
  return sum;
}

std::vector<double> fixed_effects(const Evidences& evidences) {
  std::vector<double> sums(static_cast<std::size_t>(evidences.J()), 0.0);
  for (std::int64_t n = 0; n < evidences.N(); ++n) {
    const auto l = evidences.log_row(n);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += l[k];
  }
  const double top = *std::max_element(sums.begin(), sums.end());
  for (double& sum : sums) sum = std::isinf(top) ? std::numeric_limits<double>::quiet_NaN() : sum - top;
  return sums;
}

}  // namespace occam
