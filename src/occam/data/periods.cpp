#include "occam/data/periods.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "occam/data/log_mean.hpp"
#include "occam/data/mean_of_fits.hpp"
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

namespace {

// Frequencies are at least so many to a turn over all values; of long series at least one.
constexpr std::size_t kEvenToATurn = 3;
constexpr std::size_t kLongSeries = 65536;

std::size_t transform_size(std::size_t values) {
  const std::size_t least = values < kLongSeries ? kEvenToATurn * values : values;
  std::size_t size = 16;
  while (size < least) size *= 2;
  return size;
}

// The discrete Fourier transform in place: sums of (real, imaginary)_t exp(-2 pi i t k / n), n a power of 2.
void fourier(std::span<double> real, std::span<double> imaginary) {
  const std::size_t n = real.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) {
      std::swap(real[i], real[j]);
      std::swap(imaginary[i], imaginary[j]);
    }
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const double angle = -std::numbers::pi / static_cast<double>(half);
    const double step_c = std::cos(angle), step_s = std::sin(angle);
    double c = 1, s = 0;
    for (std::size_t k = 0; k < half; ++k) {
      for (std::size_t at = k; at < n; at += 2 * half) {
        const double a = real[at + half] * c - imaginary[at + half] * s,
                     b = real[at + half] * s + imaginary[at + half] * c;
        real[at + half] = real[at] - a;
        imaginary[at + half] = imaginary[at] - b;
        real[at] += a;
        imaginary[at] += b;
      }
      const double turned = c * step_c - s * step_s;
      s = c * step_s + s * step_c;
      c = turned;
    }
  }
}

// An angle that grows by the same step, as a unit vector.
struct Angle {
  double cosine = 1, sine = 0, step_cosine, step_sine;

  explicit Angle(double step) : step_cosine(std::cos(step)), step_sine(std::sin(step)) {}
  void turn() {
    const double turned = cosine * step_cosine - sine * step_sine;
    sine = cosine * step_sine + sine * step_cosine;
    cosine = turned;
  }
};

// What a wave explains of the variance, from the transform of n values with mean 0, half the angle between
// two of them and n times that. Times are counted from the middle, around which cosines are even and sines
// are odd.
double explained_by_wave(double real, double imaginary, const Angle& half, const Angle& whole, double n) {
  const double cosine = whole.cosine * half.cosine + whole.sine * half.sine,
               sine = whole.sine * half.cosine - whole.cosine * half.sine;  // of the middle
  const double yc = real * cosine - imaginary * sine, ys = real * sine + imaginary * cosine;
  const double c = whole.sine / half.sine;
  const double cc = 0.5 * (n + c * whole.cosine / half.cosine), ss = n - cc, beside = cc - c * c / n;
  const auto part = [&](double product, double squares) {
    return squares > kNoTurn * n ? product * product / squares : 0;
  };
  return part(yc, beside) + part(ys, ss);
}

}  // namespace

std::size_t even_room(std::size_t values) {
  return 2 * transform_size(values);
}

Periods find_even_periods(std::span<const double> values, std::span<double> room) {
  Periods result;
  double mean = 0, there = 0, squares = 0;
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isnan(values[i])) use(i, values[i]);
    }
  };
  each([&](std::size_t, double x) { mean += x, ++there; });
  if (there < kFewestTimed) return result;
  mean /= there;
  const std::size_t size = transform_size(values.size());
  const std::span<double> real = room.first(size), imaginary = room.subspan(size, size);
  std::fill_n(room.begin(), 2 * size, 0.0);
  each([&](std::size_t i, double x) {
    real[i] = x - mean;
    squares += (x - mean) * (x - mean);
  });
  if (!(squares > 0) || !std::isfinite(squares)) return result;
  fourier(real, imaginary);
  const auto n = static_cast<double>(values.size());
  const double turn = std::numbers::pi / static_cast<double>(size);
  // From waves of half a turn on; from the longest octave to the shortest.
  const std::size_t first = std::max<std::size_t>(1, size / (2 * values.size()));
  Angle half(turn), whole(turn * n);
  for (std::size_t i = 0; i < first; ++i) {
    half.turn();
    whole.turn();
  }
  std::size_t k = first;
  while (k < size / 2) {
    const auto octave = [size](double at) { return std::log2(static_cast<double>(size) / at); };
    const auto o =
        static_cast<std::size_t>(std::clamp(octave(static_cast<double>(k)) - 1, 0.0, kOctaves - 1.0));
    MeanOfFits fits(static_cast<std::int64_t>(there));
    const std::size_t last = std::min(size >> (o + 1), size / 2 - 1);
    for (; k <= last; ++k) {
      const double explained = explained_by_wave(real[k], imaginary[k], half, whole, n);
      fits.add(1 - explained / squares, static_cast<double>(k));
      half.turn();
      whole.turn();
    }
    result.octaves[o] = fits.gain();
    if (fits.best() <= result.best) continue;
    result.best = fits.best();
    result.best_octave = octave(fits.at());
  }
  return result;
}

}  // namespace occam
