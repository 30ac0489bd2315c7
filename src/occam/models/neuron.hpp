// What the family `neuron`, its SIMD code and its plain scalar version share: constants, one series to
// compute, and the noise. Units: mV, ms, uA/cm2, uF/cm2, mS/cm2.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "occam/core/both.hpp"

namespace occam {

struct NeuronConstants {
  double capacitance = 1.0;
  double e_Na = 53.0;
  double e_K = -107.0;
  double e_M = -107.0;
  double e_L = -70.0;
  double v_T = -60.0;      // moves the thresholds of the Na and K gates
  double tau_max = 600.0;  // of the M gate
  double sigma = 0.1;      // noise of the current
  double v_start = -70.0;  // the gates start at their steady state there
  double current = 3.0;    // while it is on
  double quiet_ms = 10.0;  // before the current and after it
  double dt_ms = 0.2;
};

// One series: row 0 is v_start; step i leads from row i to row i + 1, with the current if on <= i < off.
struct NeuronSeries {
  std::array<double, 4> g{};            // Na, K, M, L
  std::array<std::uint32_t, 4> seed{};  // of its noise
  std::int64_t rows = 0;
  std::int64_t on = 0;
  std::int64_t off = 0;
  float* out = nullptr;  // (rows)
};

// The generator behind the noise, xoshiro128++ (Blackman & Vigna 2019): cheap in SIMD lanes, its state drawn
// from the data set's own stream. Steps 2k and 2k + 1 use two words a, b (Box & Muller 1958):
//   radius = sqrt(-2 log u), u = (a / 2 + 1/2) / 2^31;  angle = b as a signed number, scaled to -pi/4..pi/4;
// the lowest bit of b swaps sine and cosine, the next turns both signs: together the whole circle.
struct NeuronNoise {
  std::uint32_t s[4] = {};

  NeuronNoise() = default;
  explicit NeuronNoise(const std::array<std::uint32_t, 4>& seed)
      : s{seed[0] | 1u, seed[1], seed[2], seed[3]} {}  // never all zero
  OCCAM_BOTH static std::uint32_t rotated(std::uint32_t x, int by) { return x << by | x >> (32 - by); }
  OCCAM_BOTH std::uint32_t next() {
    const std::uint32_t result = rotated(s[0] + s[3], 7) + s[0];
    const std::uint32_t t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 11);
    return result;
  }
};

// Steps all series, several at once in SIMD lanes, in single precision. What is written for one series does
// not depend on the others. `gates` are m, h, n, p at v_start.
void simulate_neurons(const NeuronConstants& constants, const std::array<double, 4>& gates,
                      std::span<const NeuronSeries> series);

// The instruction set in use, for benchmarks.
const char* neuron_target();

}  // namespace occam
