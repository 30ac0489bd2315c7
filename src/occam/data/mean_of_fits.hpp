// How well a description fits that may be in many places: the mean of its likelihood over these, from what it
// leaves of the variance in each.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace occam {

// Ratios of likelihoods are ratios of what is left, to the power n / 2. No logarithm is taken of each, nor an
// exponential: there are many, and n is the same for all of them.
class MeanOfFits {
 public:
  static constexpr double kPerfect = 1e-9;  // below this share of the variance a fit is perfect

  explicit MeanOfFits(std::int64_t n) : n_(n) {}

  // A place, and the share of the variance that is left when it is there.
  void add(double left, double at) {
    left = std::max(left, 0.0) + kPerfect;
    if (left < least_) {
      least_ = left;
      at_ = at;
    }
    block_[filled_++] = left;
    if (filled_ == block_.size()) take();
  }
  // In log-likelihood over what leaves all; 0 if there are no places.
  double gain() {
    take();
    return count_ > 0 ? std::log(sum_ / count_) + best() : 0;
  }
  double best() const { return -0.5 * static_cast<double>(n_) * std::log(least_); }
  double at() const { return at_; }  // where it is

 private:
  // x^(n / 2) of each.
  void to_power(std::span<double> x) const {
    std::array<double, kBlock> power;
    for (std::size_t i = 0; i < x.size(); ++i) power[i] = n_ % 2 == 1 ? std::sqrt(x[i]) : 1;
    for (std::int64_t m = n_ / 2; m > 0; m /= 2) {
      for (std::size_t i = 0; m % 2 == 1 && i < x.size(); ++i) power[i] *= x[i];
      for (double& y : x) y *= y;
    }
    std::copy_n(power.begin(), x.size(), x.begin());
  }
  void take() {
    const std::span<double> lefts = std::span(block_).first(filled_);
    for (double& left : lefts) left = least_ / left;
    to_power(lefts);
    if (sum_ > 0 && least_ < before_) {
      double shrunk[] = {least_ / before_};
      to_power(shrunk);
      sum_ *= shrunk[0];
    }
    for (const double ratio : lefts) sum_ += ratio;
    count_ += static_cast<double>(filled_);
    before_ = least_;
    filled_ = 0;
  }

  static constexpr std::size_t kBlock = 64;

  std::int64_t n_;
  std::array<double, kBlock> block_;
  std::size_t filled_ = 0;
  double least_ = HUGE_VAL, before_ = HUGE_VAL;  // now, and when the last block was taken
  double sum_ = 0, count_ = 0, at_ = 0;
};

}  // namespace occam
