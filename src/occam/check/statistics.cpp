#include "occam/check/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <boost/math/special_functions/erf.hpp>

#include "occam/core/rng.hpp"

namespace occam {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kTwoSided95 = 1.959963984540054;

double quantile_of_sorted(std::span<const double> sorted, double part) {
  if (sorted.empty()) return kNaN;
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double normal_quantile(double probability) {
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * probability);
}

Interval wilson(double successes, double count) {
  if (!(count > 0)) return {kNaN, kNaN};
  const double z2 = kTwoSided95 * kTwoSided95;
  const double share = successes / count;
  const double middle = (share + z2 / (2 * count)) / (1 + z2 / count);
  const double half =
      kTwoSided95 / (1 + z2 / count) * std::sqrt(share * (1 - share) / count + z2 / (4 * count * count));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::vector<Interval> bootstrap_means(std::span<const double> values, std::int64_t columns,
                                      std::int64_t replicates, std::uint64_t seed) {
  const auto C = static_cast<std::size_t>(columns);
  const auto K = static_cast<std::int64_t>(values.size() / C);
  std::vector<std::vector<double>> means(C);
  std::vector<double> sums(C);
  for (std::int64_t r = 0; r < replicates && K > 0; ++r) {
    // Items beyond those of any prediction, so that streams do not meet.
    Rng rng(seed, Purpose::replicate, (std::uint64_t{1} << 48) + static_cast<std::uint64_t>(r));
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t i = 0; i < K; ++i) {
      // A uniform index by multiplication; its bias, K / 2^32, is far below what a bootstrap can show.
      const std::uint64_t row =
          static_cast<std::uint64_t>(rng.bits32()) * static_cast<std::uint64_t>(K) >> 32;
      for (std::size_t c = 0; c < C; ++c) sums[c] += values[row * C + c];
    }
    for (std::size_t c = 0; c < C; ++c) means[c].push_back(sums[c] / static_cast<double>(K));
  }
  std::vector<Interval> result;
  for (std::vector<double>& of_column : means) {
    std::sort(of_column.begin(), of_column.end());
    result.push_back({quantile_of_sorted(of_column, 0.025), quantile_of_sorted(of_column, 0.975)});
  }
  return result;
}

NullDistribution::NullDistribution(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
  const auto R = static_cast<double>(sorted_.size());
  for (const double value : sorted_) mean_ += value / R;
  double second = 0;
  double third = 0;
  for (const double value : sorted_) {
    const double off = value - mean_;
    second += off * off / R;
    third += off * off * off / R;
  }
  sd_ = std::sqrt(second);
  // Rounding alone is no spread.
  if (sd_ <= 1e-12 * std::fabs(mean_)) sd_ = 0;
  skewness_ = sd_ > 0 ? third / (second * sd_) : 0;
}

double NullDistribution::limit(double level) const {
  const double z = normal_quantile(1 - level);
  return mean_ + sd_ * (z + (z * z - 1) / 6 * std::max(0.0, skewness_));
}

Interval NullDistribution::central95() const {
  return {quantile_of_sorted(sorted_, 0.025), quantile_of_sorted(sorted_, 0.975)};
}

template <class Value>
Bands<Value>::Bands(std::span<const Value> values, std::size_t most) {
  std::vector<Value> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<Value> different = sorted;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.size() <= most) {
    lower_ = upper_ = different;
    return;
  }
  for (std::size_t band = 0; band < most; ++band) {
    const Value last = sorted[(band + 1) * sorted.size() / most - 1];
    if (!upper_.empty() && last <= upper_.back()) continue;  // one value fills more than a band
    const auto first = upper_.empty() ? different.begin()
                                      : std::upper_bound(different.begin(), different.end(), upper_.back());
    lower_.push_back(*first);
    upper_.push_back(last);
  }
}

template <class Value>
std::size_t Bands<Value>::operator()(Value value) const {
  const auto found = std::lower_bound(upper_.begin(), upper_.end(), value);
  return std::min(static_cast<std::size_t>(found - upper_.begin()), count() - 1);
}

template class Bands<std::int64_t>;
template class Bands<double>;

double quantile(std::vector<double>& values, double part) {
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, part);
}

void Mean::add(double value) {
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

double Mean::value() const {
  return count_ > 0 ? mean_ : kNaN;
}

double Mean::se() const {
  if (count_ < 2) return kNaN;
  const auto K = static_cast<double>(count_);
  return std::sqrt(squares_ / (K - 1) / K);
}

}  // namespace occam
