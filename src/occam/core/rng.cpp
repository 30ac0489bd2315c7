// Draws. Normal: ziggurat of 256 layers with an exact tail (Marsaglia & Tsang 2000, in the form of Doornik
// 2005). Gamma: Marsaglia & Tsang 2001. Beta: Johnk 1964 in log space for a, b <= 1, else a ratio of gammas.
// Poisson: sequential inversion below mean 10, transformed rejection PTRS (Hormann 1993) above.
#include "occam/core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

// Random123 stops where it does not know the processor. WebAssembly needs none of what it knows of any.
#ifdef __wasm__
#define __riscv 1
#endif
#include <Random123/philox.h>
#ifdef __wasm__
#undef __riscv
#endif

#include "occam/core/error.hpp"

namespace occam {
namespace {

constexpr int kLayers = 256;
constexpr double kTailStart = 3.6541528853610088;   // right edge of the base layer's rectangle
constexpr double kLayerArea = 0.00492867323399141;  // of each of the 256 layers

// edge[0] is the width the base layer would have as a rectangle (its tail included); edge[i] falls to 0.
struct Ziggurat {
  std::array<double, kLayers + 1> edge;
  std::array<double, kLayers> ratio;  // edge[i + 1] / edge[i]: below it a point lies under the curve for sure

  Ziggurat() {
    const auto density = [](double x) { return std::exp(-0.5 * x * x); };
    edge[0] = kLayerArea / density(kTailStart);
    edge[1] = kTailStart;
    for (int i = 2; i < kLayers; ++i) {
      edge[i] = std::sqrt(-2.0 * std::log(kLayerArea / edge[i - 1] + density(edge[i - 1])));
    }
    edge[kLayers] = 0.0;
    for (int i = 0; i < kLayers; ++i) ratio[i] = edge[i + 1] / edge[i];
  }
};

const Ziggurat& ziggurat() {
  static const Ziggurat tables;
  return tables;
}

// log(k!): a table for the small, Stirling's series (error below 1e-16 relative) for the others.
double log_factorial(double k) {
  static constexpr std::array<double, 10> kSmall = {0.0,
                                                    0.0,
                                                    0.69314718055994531,
                                                    1.79175946922805500,
                                                    3.17805383034794562,
                                                    4.78749174278204599,
                                                    6.57925121201010100,
                                                    8.52516136106541430,
                                                    10.6046029027452502,
                                                    12.8018274800814696};
  if (k < 10.0) return kSmall[static_cast<std::size_t>(k)];
  const double x = k + 1.0;
  const double r = 1.0 / (x * x);
  const double series = (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r / 1188)))) / x;
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2.0 * std::numbers::pi) + series;
}

std::int64_t poisson_by_inversion(Rng& rng, double mean) {
  const double u = rng.uniform();
  double mass = std::exp(-mean);
  double below = mass;
  std::int64_t k = 0;
  while (u > below && mass > 0.0) {
    ++k;
    mass *= mean / static_cast<double>(k);
    below += mass;
  }
  return k;
}

std::int64_t poisson_by_rejection(Rng& rng, double mean) {
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2.0);
  for (;;) {
    const double u = rng.uniform() - 0.5;
    const double v = rng.uniform();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::int64_t>(k);
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        k * log_mean - mean - log_factorial(k)) {
      return static_cast<std::int64_t>(k);
    }
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox_block(std::array<std::uint32_t, 4> counter,
                                          std::array<std::uint32_t, 2> key) {
  const philox4x32_ctr_t out =
      philox4x32_R(10, {{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {out.v[0], out.v[1], out.v[2], out.v[3]};
}

Rng::Rng(std::uint64_t seed, Purpose purpose, std::uint64_t item)
    : counter_{0, static_cast<std::uint32_t>(purpose), static_cast<std::uint32_t>(item),
               static_cast<std::uint32_t>(item >> 32)},
      key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}

// The rounds of Philox over kBlocks counters side by side, in arrays the compiler turns into SIMD lanes:
// about twice as fast as block after block. The tests hold it against philox_block, Random123's own.
void Rng::refill() {
  std::uint32_t x[4][kBlocks];
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    x[0][i] = counter_[0] + i;
    x[1][i] = counter_[1];
    x[2][i] = counter_[2];
    x[3][i] = counter_[3];
  }
  std::uint32_t key0 = key_[0];
  std::uint32_t key1 = key_[1];
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kBlocks; ++i) {
      const std::uint64_t p0 = std::uint64_t{PHILOX_M4x32_0} * x[0][i];
      const std::uint64_t p1 = std::uint64_t{PHILOX_M4x32_1} * x[2][i];
      x[0][i] = static_cast<std::uint32_t>(p1 >> 32) ^ x[1][i] ^ key0;
      x[2][i] = static_cast<std::uint32_t>(p0 >> 32) ^ x[3][i] ^ key1;
      x[1][i] = static_cast<std::uint32_t>(p1);
      x[3][i] = static_cast<std::uint32_t>(p0);
    }
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
  }
  for (int i = 0; i < kBlocks; ++i) {
    for (int word = 0; word < 4; ++word) words_[4 * i + word] = x[word][i];
  }
  counter_[0] += kBlocks;
  if (counter_[0] == 0) counter_[1] += 0x100;  // past 2^32 blocks: never the counters of another purpose
  used_ = 0;
}

std::int64_t Rng::uniform_int(std::int64_t low, std::int64_t high) {
  if (low > high) throw Error(ErrorKind::usage, "uniform_int: low {} is above high {}", low, high);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  std::uint64_t offset = bits64();
  if (span != 0) {  // 0: all 2^64 values
    // Lemire 2019: the high half of bits * span, redrawn in the few cells that would make it uneven.
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(offset) * span;
    const std::uint64_t uneven = (0 - span) % span;
    while (static_cast<std::uint64_t>(product) < uneven) product = static_cast<Wide>(bits64()) * span;
    offset = static_cast<std::uint64_t>(product >> 64);
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

double Rng::normal() {
  const Ziggurat& z = ziggurat();
  for (;;) {
    const std::uint64_t bits = bits64();
    const auto layer = static_cast<std::size_t>(bits & (kLayers - 1));
    // The other 56 bits, signed, as a number in [-1, 1].
    const double u = static_cast<double>(static_cast<std::int64_t>(bits) >> 8) * 0x1p-55;
    const double x = u * z.edge[layer];
    if (std::fabs(u) < z.ratio[layer]) return x;
    if (layer == 0) {  // Marsaglia's exact tail beyond kTailStart
      for (;;) {
        const double beyond = exponential() / kTailStart;
        if (2.0 * exponential() > beyond * beyond) return std::copysign(kTailStart + beyond, u);
      }
    }
    const double outer = std::exp(-0.5 * (z.edge[layer] * z.edge[layer] - x * x));
    const double inner = std::exp(-0.5 * (z.edge[layer + 1] * z.edge[layer + 1] - x * x));
    if (outer + uniform() * (inner - outer) < 1.0) return x;
  }
}

double Rng::exponential() {
  return -std::log(uniform());
}

double Rng::gamma(double shape) {
  if (!(shape > 0.0)) throw Error(ErrorKind::usage, "gamma: shape {} is not above 0", shape);
  if (shape < 1.0) {
    const double boosted = gamma(shape + 1.0);
    return boosted * std::exp(-exponential() / shape);  // times u^(1/shape)
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    const double u = uniform();
    const double x2 = x * x;
    if (u < 1.0 - 0.0331 * x2 * x2 || std::log(u) < 0.5 * x2 + d * (1.0 - v + std::log(v))) return d * v;
  }
}

double Rng::beta(double a, double b) {
  if (!(a > 0.0 && b > 0.0)) throw Error(ErrorKind::usage, "beta: a {} and b {} must be above 0", a, b);
  if (a > 1.0 || b > 1.0) {
    const double x = gamma(a);
    return x / (x + gamma(b));
  }
  // x = u^(1/a), y = v^(1/b), taken if x + y <= 1. Both may be far below the smallest double: their logs
  // are not, and the ratio needs nothing else.
  for (;;) {
    const double log_x = -exponential() / a;
    const double log_y = -exponential() / b;
    if (std::exp(log_x) + std::exp(log_y) <= 1.0) return 1.0 / (1.0 + std::exp(log_y - log_x));
  }
}

std::int64_t Rng::poisson(double mean) {
  if (!(mean >= 0.0 && mean <= 1e15)) {
    throw Error(ErrorKind::usage, "poisson: mean {} is outside 0..1e15", mean);
  }
  return mean < 10.0 ? poisson_by_inversion(*this, mean) : poisson_by_rejection(*this, mean);
}

std::int64_t Rng::categorical(std::span<const double> weights) {
  double total = 0.0;
  for (const double weight : weights) {
    if (!(weight >= 0.0)) throw Error(ErrorKind::usage, "categorical: weight {} is negative or NaN", weight);
    total += weight;
  }
  if (!(total > 0.0 && std::isfinite(total))) {
    throw Error(ErrorKind::usage, "categorical: the {} weights sum to {}", weights.size(), total);
  }
  const double target = uniform() * total;
  double below = 0.0;
  std::int64_t last = 0;  // the last index with weight, should rounding leave the target above every sum
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0.0) continue;
    last = static_cast<std::int64_t>(i);
    below += weights[i];
    if (target < below) break;
  }
  return last;
}

}  // namespace occam
