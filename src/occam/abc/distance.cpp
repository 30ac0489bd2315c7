#include "occam/abc/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"

namespace occam {

const std::vector<std::string>& Distance::names() {
  static const std::vector<std::string> all = {"mean-absolute", "euclidean", "maximum"};  // as Kind
  return all;
}

Distance::Distance(const std::string& name, std::vector<float> observed, std::vector<double> scales,
                   const std::vector<std::string>& statistic_names)
    : observed_(std::move(observed)), scales_(std::move(scales)) {
  const auto found = std::find(names().begin(), names().end(), name);
  if (found == names().end())
    throw Error(ErrorKind::usage, "unknown distance '{}'{}", name, did_you_mean(name, names()));
  kind_ = static_cast<Kind>(found - names().begin());
  for (std::size_t i = 0; i < observed_.size(); ++i) {
    if (std::isfinite(observed_[i])) continue;
    throw Error(ErrorKind::bad_data,
                "the statistic '{}' of the observed data is not finite; take another "
                "--summary",
                statistic_names[i]);
  }
}

double Distance::operator()(std::span<const float> statistics) const {
  double sum = 0;
  double largest = 0;
  for (std::size_t i = 0; i < observed_.size(); ++i) {
    const double off = std::fabs(static_cast<double>(statistics[i]) - observed_[i]) / scales_[i];
    sum += kind_ == Kind::euclidean ? off * off : off;
    largest = std::max(largest, off);
  }
  if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
  switch (kind_) {
    case Kind::mean_absolute:
      return sum / static_cast<double>(observed_.size());
    case Kind::euclidean:
      return std::sqrt(sum);
    case Kind::maximum:
      return largest;
  }
  return largest;
}

}  // namespace occam
