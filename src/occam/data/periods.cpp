#include "occam/data/periods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "occam/data/log_mean.hpp"
#include "occam/data/sums.hpp"

namespace occam {
namespace {

// Frequencies are so many to a turn over the whole of the times, as long as they are not more in all.
constexpr double kToATurn = 3;
constexpr double kMostFrequencies = 512;
constexpr std::size_t kFewestTimed = 5;  // values that can tell a wave from chance
constexpr double kNoTurn = 1e-9;         // below this share of the variance

// Values with mean 0 and, for each, the angle that a wave has come to: as a unit vector that turns by the
// same step from one frequency to the next.
struct Turning {
  std::span<double> y, cosine, sine, step_cosine, step_sine;

  // What the present wave explains of the values, as a gain.
  double gain(double squares) const {
    double c = 0, s = 0, cc = 0, cs = 0, yc = 0, ys = 0;
    const auto add = [&](double& sum, auto f) { sum = sum_of(static_cast<std::int64_t>(y.size()), f); };
    const auto *cosines = cosine.data(), *sines = sine.data(), *values = y.data();
    add(c, [=](std::int64_t i) { return cosines[i]; });
    add(s, [=](std::int64_t i) { return sines[i]; });
    add(cc, [=](std::int64_t i) { return cosines[i] * cosines[i]; });
    add(cs, [=](std::int64_t i) { return cosines[i] * sines[i]; });
    add(yc, [=](std::int64_t i) { return values[i] * cosines[i]; });
    add(ys, [=](std::int64_t i) { return values[i] * sines[i]; });
    const auto n = static_cast<double>(y.size());
    const double ss = n - cc - s * s / n;
    cc -= c * c / n;
    cs -= c * s / n;
    const double determinant = cc * ss - cs * cs;
    if (!(determinant > kNoTurn * n * n)) return 0;
    const double explained = (yc * yc * ss - 2 * yc * ys * cs + ys * ys * cc) / (determinant * squares);
    return -0.5 * n * std::log1p(-std::clamp(explained, 0.0, 1 - kNoTurn));
  }

  void turn() const {
    double* const c = cosine.data();
    double* const s = sine.data();
    const double *const by_c = step_cosine.data(), *const by_s = step_sine.data();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double turned = c[i] * by_c[i] - s[i] * by_s[i];
      s[i] = s[i] * by_c[i] + c[i] * by_s[i];
      c[i] = turned;
    }
  }
};

}  // namespace

double Periods::any() const {
  return log_mean_exp(octaves);
}

Periods find_periods(std::span<const double> times, std::span<const double> values, double gap,
                     std::span<double> room) {
  Periods result;
  const std::size_t all = values.size();
  const auto part = [&](std::size_t k) { return room.subspan(k * all, all); };
  const std::span<double> y = part(0), t = part(5);
  std::size_t n = 0;
  double mean = 0;
  for (std::size_t i = 0; i < all; ++i) {
    if (std::isnan(values[i])) continue;
    y[n] = values[i];
    t[n++] = (times[i] - times[0]) / gap;
    mean += values[i];
  }
  if (n < kFewestTimed) return result;
  mean /= static_cast<double>(n);
  double squares = 0;
  for (double& x : y.first(n)) {
    x -= mean;
    squares += x * x;
  }
  const double span = t[n - 1] - t[0];
  if (!(squares > 0) || !std::isfinite(squares) || !(span > 1) || !std::isfinite(span)) return result;
  const double count = std::min(std::floor(kToATurn * span), kMostFrequencies),
               step = 1 / std::max(count, 1.0);
  const Turning wave{y.first(n), part(1).first(n), part(2).first(n), part(3).first(n), part(4).first(n)};
  for (std::size_t i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * step * t[i];
    wave.cosine[i] = wave.step_cosine[i] = std::cos(angle);
    wave.sine[i] = wave.step_sine[i] = std::sin(angle);
  }
  std::array<double, kOctaves> sums{}, counts{};
  for (double k = 1; k <= count; ++k, wave.turn()) {
    const double gain = wave.gain(squares), octave = -std::log2(k * step);
    const auto o = static_cast<std::size_t>(std::clamp(octave, 0.0, kOctaves - 1.0));
    // Gains of this many nats leave no doubt, and their exponentials are numbers still.
    sums[o] += std::exp(std::min(gain, 600.0));
    ++counts[o];
    if (gain <= result.best) continue;
    result.best = gain;
    result.best_octave = octave;
  }
  for (std::size_t o = 0; o < kOctaves; ++o) {
    if (counts[o] > 0) result.octaves[o] = std::log(sums[o] / counts[o]);
  }
  return result;
}

}  // namespace occam
