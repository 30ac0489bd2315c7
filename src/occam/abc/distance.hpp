// Distance: how far the statistics of a data set lie from the observed ones, each divided by its scale:
//   mean-absolute  mean_i |s_i - o_i|;   euclidean  sqrt(sum_i (s_i - o_i)^2);   maximum  max_i |s_i - o_i|.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace occam {

class Distance {
 public:
  static const std::vector<std::string>& names();

  // Statistics (S), scales (S) above 0. Throws Error(usage) on an unknown name, Error(bad_data) when an
  // observed statistic is not finite.
  Distance(const std::string& name, std::vector<float> observed, std::vector<double> scales,
           const std::vector<std::string>& statistic_names);

  // Infinite where a statistic is not a number.
  double operator()(std::span<const float> statistics) const;

  const std::vector<double>& scales() const { return scales_; }

 private:
  enum class Kind { mean_absolute, euclidean, maximum };
  Kind kind_;
  std::vector<float> observed_;
  std::vector<double> scales_;
};

}  // namespace occam
