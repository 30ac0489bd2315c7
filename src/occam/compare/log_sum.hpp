// The sum of terms given by their logarithms, in two parts: the largest term, and what the others add to it.
// In one number the second part is lost where the first is huge, and shares then sum to more than one.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace occam {

struct LogSum {
  double top = -std::numeric_limits<double>::infinity();
  double rest = 0;

  explicit LogSum(std::span<const double> terms) {
    for (const double term : terms) top = std::max(top, term);
    double sum = 0;
    for (const double term : terms) sum += std::exp(term - top);
    rest = std::log(sum);
  }
  double share(double term) const { return (term - top) - rest; }  // in logarithms
  double whole() const { return top + rest; }
};

// Whether concentrations with these logarithms are numbers that say something: probabilities need digits that
// larger ones do not have.
inline bool usable_answer(std::span<const double> log_alpha) {
  constexpr double kLargest = 1e6;
  const auto is_nan = [](double x) { return std::isnan(x); };
  return std::none_of(log_alpha.begin(), log_alpha.end(), is_nan) &&
         std::abs(*std::max_element(log_alpha.begin(), log_alpha.end())) <= kLargest;
}

}  // namespace occam
