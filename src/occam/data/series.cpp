#include "occam/data/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "occam/core/vector_math.hpp"
#include "occam/data/log_mean.hpp"
#include "occam/data/mean_of_fits.hpp"
#include "occam/data/sums.hpp"

namespace occam {

namespace {

// Series of no more than this have no spread whose logarithm could be taken.
constexpr double kLeastSquares = 1e-280;

// Goertzel's recurrence, one product for each value and wave; all waves side by side, as in a register.
template <std::size_t K>
void goertzel(std::span<const double> values, std::span<double, K> out) {
  static const std::array<double, K> turn = [] {
    std::array<double, K> result;
    for (std::size_t k = 0; k < K; ++k)
      result[k] = 2 * std::cos(std::numbers::pi * static_cast<double>(k + 1) / static_cast<double>(K));
    return result;
  }();
  std::array<double, K> last{}, before{};
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

// The evidence of a change of spread, the mean of its likelihood over all places; of many places at a time.
class SpreadChange {
 public:
  SpreadChange(double total, double n) : total_(total), n_(n), together_(left(total, n, least_left())) {}

  // The first `count` values have these squares.
  void add(double squares, double count) {
    squares_[filled_] = squares;
    counts_[filled_++] = count;
    if (filled_ == kBlock) take();
  }
  double log() {
    take();
    return count_ > 0 ? top_ + std::log(sum_ / count_) : 0;
  }

 private:
  static constexpr std::size_t kBlock = 64;

  double least_left() const { return 1e-9 * total_ / n_; }
  static double left(double squares, double count, double least) {
    const double mean = squares / count;
    return 0.5 * count * plain_log(mean > least ? mean : least);
  }
  void take() {
    if (filled_ == 0) return;
    std::array<double, kBlock> gains;
    const double least = least_left();
    for (std::size_t i = 0; i < filled_; ++i)
      gains[i] = together_ - left(squares_[i], counts_[i], least) -
                 left(total_ - squares_[i], n_ - counts_[i], least);
    double top = top_;
    for (std::size_t i = 0; i < filled_; ++i) top = gains[i] > top ? gains[i] : top;
    sum_ *= std::exp(top_ - top);
    top_ = top;
    for (std::size_t i = 0; i < filled_; ++i) gains[i] = plain_exp(gains[i] - top);
    for (std::size_t i = 0; i < filled_; ++i) sum_ += gains[i];
    count_ += static_cast<double>(filled_);
    filled_ = 0;
  }

  double total_, n_, together_;
  std::array<double, kBlock> squares_, counts_;
  std::size_t filled_ = 0;
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
  const double* const x = values.data();
  const auto product = [&](std::size_t lag) {
    return sum_of(static_cast<std::int64_t>(values.size() - lag), [=](std::int64_t i) {
      const double two = x[i] * x[i + static_cast<std::int64_t>(lag)];
      return std::isnan(two) ? 0 : two;
    });
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

void innovations(std::span<const double> values, std::span<double> out) {
  double squares = 0, products = 0, before = 0;
  for (const double value : values) {
    const double x = std::isnan(value) ? 0 : value;
    products += x * before;
    squares += before * before;
    before = x;
  }
  const double kept = squares > 0 ? products / squares : 0;
  before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = std::isnan(values[i]) ? 0 : values[i];
    out[i] = x - kept * before;
    before = x;
  }
}

void delayed_correlations(std::span<const double> a, std::span<const double> b, std::span<double> out) {
  const auto n = static_cast<std::int64_t>(a.size());
  for (std::int64_t lag = 0; lag < static_cast<std::int64_t>(out.size()); ++lag) {
    const std::int64_t count = std::max<std::int64_t>(n - lag, 0);
    const double *const first = a.data(), *const second = b.data() + (n - count);
    const double both = product_of(first, first, count) * product_of(second, second, count);
    out[static_cast<std::size_t>(lag)] = both > 0 ? product_of(first, second, count) / std::sqrt(both) : 0;
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
  MeanOfFits fits(static_cast<std::int64_t>(values.size()));
  double sum = 0, count = 0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    sum += std::isnan(values[i]) ? 0 : values[i];
    ++count;
    const double departure = sum - total * count / n;
    const double explained = departure * departure * n / (count * (n - count));
    fits.add(1 - explained / spread - MeanOfFits::kPerfect, count);
  }
  return fits.gain();
}

double spread_change_evidence(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double total = 0;
  for (const double value : values) total += std::isnan(value) ? 0 : value * value;
  if (values.size() < 4 || !(total > kLeastSquares)) return 0;
  SpreadChange change(total, n);
  double squares = 0, count = 0;
  for (std::size_t i = 0; i + 2 < values.size(); ++i) {
    squares += std::isnan(values[i]) ? 0 : values[i] * values[i];
    ++count;
    // Of a single value the spread could be anything.
    if (count >= 2) change.add(squares, count);
  }
  return change.log();
}

namespace {

// Sums of a regression of y on a level and a line, for every memory side by side, as in a register; the first
// is that of none at all.
struct LevelAndLine {
  static constexpr std::size_t K = kMemories + 1;
  std::array<double, K> yy{}, y0{}, y1{}, x00{}, x01{}, x11{}, logs{}, shares;

  LevelAndLine() { shares.fill(1); }
  // kept: what is left of the value and the time before. What is new has the share 1 - kept^2 of the
  // variance.
  void add(const std::array<double, K>& kept, double x, double before_x, double t, double before_t) {
    for (std::size_t k = 0; k < K; ++k) {
      const double share = 1 - kept[k] * kept[k], weight = 1 / share;
      const double y = x - kept[k] * before_x, one = 1 - kept[k], time = t - kept[k] * before_t;
      yy[k] += weight * y * y;
      y0[k] += weight * y * one;
      y1[k] += weight * y * time;
      x00[k] += weight * one * one;
      x01[k] += weight * one * time;
      x11[k] += weight * time * time;
      shares[k] *= share;
    }
  }
  // Before the products of shares become too small to be numbers: after 16 of at least 1e-7 each.
  void take_logs() {
    for (std::size_t k = 0; k < K; ++k) logs[k] -= 0.5 * std::log(shares[k]);
    shares.fill(1);
  }
  double level(std::size_t k) const { return std::max(yy[k] - y0[k] * y0[k] / x00[k], 0.0); }
  double line(std::size_t k) const {
    const double left = x11[k] - x01[k] * x01[k] / x00[k];
    if (left <= 1e-12 * x11[k]) return level(k);
    const double along = y1[k] - y0[k] * x01[k] / x00[k];
    return std::max(level(k) - along * along / left, 0.0);
  }
};

}  // namespace

TimeColumn find_time(Ragged<const float> data) {
  for (std::int64_t c = 0; c < data.x.columns; ++c) {
    double whole = 0, steps = 0;
    bool increases = true;
    for (std::int64_t set = 0; set < data.sets && increases; ++set) {
      const Matrix<const float> rows = data.x.rows_from(data.offsets[set], data.size(set));
      for (std::int64_t i = 1; i < rows.rows && increases; ++i)
        increases = rows.row(i)[c] > rows.row(i - 1)[c];
      whole += static_cast<double>(rows.row(rows.rows - 1)[c]) - rows.row(0)[c];
      steps += static_cast<double>(rows.rows - 1);
    }
    if (increases && steps > 0 && std::isfinite(whole)) return {c, whole / steps};
  }
  return {};
}

double FadingMemory::any(const std::array<double, kMemories>& gains) {
  return log_mean_exp(gains);
}

FadingMemory fading_memory(std::span<const double> times, std::span<const double> values, double gap) {
  // Relative to the first time and the mean, in units of the gap and of the spread: fits of large numbers
  // that hardly differ would lose their digits.
  double mean = 0, squares = 0, n = 0;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    mean += x;
    ++n;
  }
  mean /= std::max(n, 1.0);
  for (const double x : values) squares += std::isnan(x) ? 0 : (x - mean) * (x - mean);
  FadingMemory result;
  if (n < 4 || !(squares > 0) || !std::isfinite(squares)) return result;
  const double spread = std::sqrt(squares / n);
  // Below this share of the variance a fit is perfect.
  const auto log_left = [&](double left) { return 0.5 * n * std::log(left / n + 1e-9); };
  LevelAndLine sums;
  double before_x = 0, before_t = 0;
  std::size_t count = 0;
  std::array<double, LevelAndLine::K> kept{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    const double x = (values[i] - mean) / spread, t = (times[i] - times.front()) / gap;
    if (count > 0) {
      // Every memory is twice the one before it, so one exponential tells them all.
      kept[kMemories] = std::exp(-std::max(t - before_t, 1e-6) / memory_of(kMemories - 1));
      for (std::size_t k = kMemories - 1; k > 0; --k) kept[k] = kept[k + 1] * kept[k + 1];
    }
    sums.add(kept, x, before_x, t, before_t);
    if (++count % 16 == 0) sums.take_logs();
    before_x = x;
    before_t = t;
  }
  sums.take_logs();
  const auto level = [&](std::size_t k) { return sums.logs[k] - log_left(sums.level(k)); };
  const auto line = [&](std::size_t k) { return sums.logs[k] - log_left(sums.line(k)); };
  result.line_alone = line(0) - level(0);
  for (std::size_t k = 0; k < kMemories; ++k) {
    result.level[k] = level(k + 1) - level(0);
    result.line[k] = line(k + 1) - level(0);
  }
  return result;
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
