// Walks: trials of the decision model on their way to a boundary, stepped many at a time in SIMD lanes. A
// walk carries its own generator, so what it does depends neither on the lane it runs in nor on its
// neighbours.
//   y = x - a/2;   y += drift + noise   until |y| >= a/2 or the steps are used up
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>

#include "occam/core/both.hpp"

namespace occam {

// sfc32 of C. Doty-Humphrey (PractRand): 128 bits of state in four words, every bit of the output usable,
// nine cheap operations. The words a, b, c of a fresh state must be random; the counter starts at 1.
struct WalkRng {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t counter = 1;

  OCCAM_BOTH std::uint32_t operator()() {
    const std::uint32_t out = a + b + counter++;
    a = b ^ (b >> 9);
    b = c + (c << 3);
    c = (c << 21 | c >> 11) + out;
    return out;
  }
  OCCAM_BOTH double uniform() { return (static_cast<double>((*this)()) + 0.5) * 0x1p-32; }  // in (0, 1)
  OCCAM_BOTH double normal() {
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
};

// Noise of one step: scale * S_alpha, S_alpha standard symmetric stable with 1 <= alpha < 2.
struct LevyNoise {
  LevyNoise() = default;
  LevyNoise(double alpha, double scale);

  float alpha = 1.5f;
  float minus_one = 0.5f;  // alpha - 1
  float from_two = 0.5f;   // 2 - alpha, exact where alpha is nearly 2
  float kappa = 0.0f;      // 1 - 1 / alpha
  float scale = 1.0f;      // and what of the formula does not depend on the draw
};

// The functions that make up a draw, for one noise, as straight lines over small cells
// (decision_making_simd.cpp). From one power of 2 to the next there are 2^kBits cells of equal width; the
// first begins at kLeast, the last ones lie beyond 1, because a number may be rounded to 1 and whole vectors
// of lines are written.
struct alignas(8) LevyLine {
  float at_zero, slope;
};

struct LevyTable {
  static constexpr int kOctaves = 12;
  static constexpr float kLeast = 1.0f / (1 << kOctaves);
  static constexpr int kAngleBits = 6;
  static constexpr int kWaitBits = 4;
  template <int kBits>
  static constexpr int kFirstCell = (127 - kOctaves) << kBits;  // the upper bits of kLeast
  template <int kBits>
  static constexpr std::size_t kCells = (kOctaves << kBits) + 16;
  static constexpr std::size_t kLines = kCells<kAngleBits> + 2 * kCells<kWaitBits>;

  void fill(const LevyNoise& noise);

  LevyLine angle[kCells<kAngleBits>];
  LevyLine large[kCells<kWaitBits>];
  LevyLine small[kCells<kWaitBits>];
};

struct Walk {
  WalkRng rng;
  float y = 0.0f;
  float half = 0.0f;          // a / 2
  float drift = 0.0f;         // v dt
  float steps = 0.0f;         // taken; whole numbers
  float root_dt = 0.0f;       // Gaussian noise: its standard deviation
  float reach = 0.0f;         // Gaussian noise: see reach_of
  LevyNoise levy;             // the other
  std::int32_t table = -1;    // and which of the queue's tables it has, if any
  std::int64_t request = -1;  // the queue's own: which data set and trial this is
  std::int64_t trial = 0;
  int redrawn = 0;
  double t0 = 0.0;  // non-decision time [s]

  OCCAM_BOTH bool decided() const { return std::fabs(y) >= half; }
};

// Where walks come from and go to.
class WalkQueue {
 public:
  virtual ~WalkQueue() = default;
  // Takes a walk that has come to its end (request < 0: none yet) and puts the next one in its place, with
  // |y| < half. False when there is none.
  virtual bool exchange(Walk& walk) = 0;
  // The tables that walks with Lévy noise refer to; none: they go by the formula. An exchange may move them.
  virtual const LevyLine* tables() const = 0;
};

// Gaussian noise may take m^2 steps at once, m = floor(reach * distance to the nearer boundary), because the
// sum of m^2 steps is Gaussian again. The reach is such that a boundary within those steps lies more than
// kSafeDeviations standard deviations away even with the drift towards it: one jump passes over a crossing
// with probability below 4 Phi(-5.5) = 8e-8.
inline constexpr double kSafeDeviations = 5.5;
OCCAM_BOTH inline float reach_of(double v, double half, double root_dt) {
  // The largest s = m root_dt with |v| s^2 + kSafeDeviations s <= distance is at least distance * slope for
  // every distance up to half.
  const double z = kSafeDeviations;
  const double slope = 2.0 / (z + std::sqrt(z * z + 4.0 * std::fabs(v) * half));
  return static_cast<float>(slope / root_dt);
}

// Runs all walks of a queue, at most max_steps steps each.
void run_gaussian_walks(WalkQueue& queue, float max_steps);
void run_levy_walks(WalkQueue& queue, float max_steps);

// The noise by itself, as the walks draw it.
void draw_gaussian(std::uint64_t seed, std::span<float> out);  // standard deviation 1
void draw_levy(const LevyNoise& noise, std::span<const std::uint32_t> words,
               std::span<float> out);  // two random words a draw

}  // namespace occam
