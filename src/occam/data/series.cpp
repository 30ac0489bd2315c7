#include "occam/data/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace occam {

namespace {

// Goertzel's recurrence, one product for each value and wave; all waves side by side, as in a register.
template <std::size_t K>
void goertzel(std::span<const double> values, std::span<double, K> out) {
  std::array<double, K> turn, last{}, before{};
  for (std::size_t k = 0; k < K; ++k)
    turn[k] = 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / static_cast<double>(K));
  for (const double value : values) {
    const double x = std::isnan(value) ? 0 : value;
    for (std::size_t k = 0; k < K; ++k) {
      const double next = x + turn[k] * last[k] - before[k];
      before[k] = last[k];
      last[k] = next;
    }
  }
  for (std::size_t k = 0; k < K; ++k)
    out[k] = std::max(0.0, last[k] * last[k] + before[k] * before[k] - turn[k] * last[k] * before[k]);
}

// The logarithm of the mean of exp(x), without ever computing one that is too large.
class MeanOfExponentials {
 public:
  void add(double x) {
    if (x > top_) {
      sum_ *= std::exp(top_ - x);
      top_ = x;
    }
    sum_ += std::exp(x - top_);
    ++count_;
  }
  double log() const { return count_ > 0 ? top_ + std::log(sum_ / count_) : 0; }

 private:
  double top_ = -1e300, sum_ = 0, count_ = 0;
};

}  // namespace

void wave_strengths(std::span<const double> values, std::span<double, kWaveLengths> out) {
  goertzel<kWaveLengths>(values, out);
}

void fine_wave_strengths(std::span<const double> values, std::span<double, kFineWaves> out) {
  goertzel<kFineWaves>(values, out);
}

void partial_autocorrelations(std::span<const double> values, std::span<double, kPartialLags> out) {
  const auto at = [&](std::size_t i) { return std::isnan(values[i]) ? 0 : values[i]; };
  const auto product = [&](std::size_t lag) {
    double sum = 0;
    for (std::size_t i = lag; i < values.size(); ++i) sum += at(i) * at(i - lag);
    return sum;
  };
  std::fill(out.begin(), out.end(), 0.0);
  const double whole = product(0);
  std::array<double, kPartialLags + 1> products{}, coefficients{}, next{};
  double left = whole;
  for (std::size_t k = 1; k <= out.size() && k + 1 < values.size() && left > 1e-12 * whole; ++k) {
    products[k] = product(k);
    double unexplained = products[k];
    for (std::size_t j = 1; j < k; ++j) unexplained -= coefficients[j - 1] * products[k - j];
    const double partial = unexplained / left;
    next = coefficients;
    for (std::size_t j = 1; j < k; ++j) next[j - 1] -= partial * coefficients[k - j - 1];
    next[k - 1] = partial;
    coefficients = next;
    left *= 1 - partial * partial;
    out[k - 1] = partial;
  }
}

double change_evidence(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double squares = 0, total = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    squares += value * value;
    total += value;
  }
  const double spread = std::max(squares - total * total / n, 1e-300);
  if (values.size() < 3 || squares <= 0) return 0;
  MeanOfExponentials mean;
  double sum = 0, count = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    sum += std::isnan(values[i]) ? 0 : values[i];
    ++count;
    const double departure = sum - total * count / n;
    const double explained = departure * departure * n / (count * (n - count));
    mean.add(-n / 2 * std::log1p(-std::min(explained / spread, 1 - 1e-9)));
  }
  return mean.log();
}

double spread_change_evidence(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double total = 0;
  for (const double value : values) total += std::isnan(value) ? 0 : value * value;
  if (values.size() < 4 || total <= 0) return 0;
  const auto left = [&](double squares, double count) {
    return count / 2 * std::log(std::max(squares / count, 1e-9 * total / n));
  };
  MeanOfExponentials mean;
  double squares = 0, count = 0;
  for (std::size_t i = 0; i + 2 < values.size(); ++i) {
    squares += std::isnan(values[i]) ? 0 : values[i] * values[i];
    ++count;
    // Of a single value the spread could be anything.
    if (count >= 2) mean.add(left(total, n) - left(squares, count) - left(total - squares, n - count));
  }
  return mean.log();
}

double memory_evidence(std::span<const std::int64_t> codes, std::int64_t symbols, int back,
                       std::span<double> counts) {
  const auto L = static_cast<std::size_t>(symbols);
  std::fill(counts.begin(), counts.end(), 0.0);
  for (std::size_t i = 2; i < codes.size(); ++i) {
    if (codes[i] < 0 || codes[i - 1] < 0 || codes[i - 2] < 0) continue;
    const std::int64_t one = back > 0 ? codes[i - 1] : 0, two = back > 1 ? codes[i - 2] : 0;
    ++counts[static_cast<std::size_t>((two * symbols + one) * symbols + codes[i])];
  }
  const double none = std::lgamma(static_cast<double>(L));
  double sum = 0;
  for (std::size_t context = 0; context < L * L; ++context) {
    double total = 0;
    for (const double count : counts.subspan(context * L, L)) {
      total += count;
      if (count > 1) sum += std::lgamma(1 + count);  // of 1 and 2 it is 0
    }
    if (total > 0) sum += none - std::lgamma(static_cast<double>(L) + total);
  }
  return sum;
}

}  // namespace occam
