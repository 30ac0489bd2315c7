#include "occam/data/stays.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace occam {
namespace {

// Of the chance of so many leavings among all, its prior uniform.
double log_evidence_of(double left, double stayed) {
  return std::lgamma(left + 1) + std::lgamma(stayed + 1) - std::lgamma(left + stayed + 2);
}

double x_log_x(double x, double over) {
  return x > 0 ? x * std::log(x / over) : 0;
}

int age_class(std::int64_t rows) {
  return std::min(kAges - 1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows - 1))));
}

}  // namespace

double Stays::all_left() const {
  return std::accumulate(left.begin(), left.end(), 0.0);
}

double Stays::all_stayed() const {
  return std::accumulate(stayed.begin(), stayed.end(), 0.0);
}

double Stays::ageing() const {
  double sum = -log_evidence_of(all_left(), all_stayed());
  for (std::size_t age = 0; age < kAges; ++age) {
    if (left[age] + stayed[age] > 0) sum += log_evidence_of(left[age], stayed[age]);
  }
  return all_left() + all_stayed() > 0 ? sum : 0;
}

double Stays::own_chance(int age) const {
  const auto at = static_cast<std::size_t>(age);
  const double n = left[at] + stayed[at], all = all_left() + all_stayed();
  if (n == 0) return 0;
  const double expected = n * all_left() / all;
  const double gain = x_log_x(left[at], expected) + x_log_x(stayed[at], n - expected);
  return left[at] < expected ? -gain : gain;
}

void find_stays(std::span<const std::int64_t> codes, std::span<Stays> stays) {
  std::fill(stays.begin(), stays.end(), Stays{});
  std::int64_t age = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < 0) continue;
    age = i > 0 && codes[i] == codes[i - 1] ? age + 1 : 1;
    if (i + 1 == codes.size() || codes[i + 1] < 0) continue;
    Stays& own = stays[static_cast<std::size_t>(codes[i])];
    const auto at = static_cast<std::size_t>(age_class(age));
    if (codes[i + 1] == codes[i]) {
      ++own.stayed[at];
      continue;
    }
    ++own.left[at];
    ++own.count;
    own.rows += static_cast<double>(age);
    own.logs += std::log(static_cast<double>(age));
  }
}

}  // namespace occam
