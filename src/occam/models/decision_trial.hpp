// A trial of the decision model from its seed to its response, for GPUs (and for the host, where tests hold
// it against the SIMD code). Mathematics, random words and order of operations are those of
// decision_making_simd.cpp, whose header says what the functions are; Lévy noise goes by the formula
// throughout, since a table for every data set would have to come from memory (not tried). Products and sums
// are fused where it says fmaf, as in the SIMD code; nvcc is told to fuse no others.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "occam/core/both.hpp"
#include "occam/models/decision_making.hpp"
#include "occam/models/scalar.hpp"

namespace occam {

// A trial that does not end is drawn again at most so many times.
inline constexpr int kMaxRedraws = 100;

namespace trial {

using namespace scalar;

// ---- elementary functions

// sin(t pi/2) for t in [0, 1].
OCCAM_BOTH inline float sinq(float t) {
  const float s = t * t;
  float p = fmaf(-0.004362469073385f, s, 0.07948765158653259f);
  p = fmaf(p, s, -0.645920991897583f);
  p = fmaf(p, s, 1.5707948207855225f);
  return p * t;
}

// x^kappa for a positive normal x and 0 <= kappa <= 1/2, to a few millionths.
OCCAM_BOTH inline float power(float x, float kappa) {
  const Parts x_is = parts_of(x);
  float p = fmaf(-0.20658989250659943f, x_is.m, 0.32215431332588196f);
  p = fmaf(p, x_is.m, -0.3674902617931366f);
  p = fmaf(p, x_is.m, 0.4793480634689331f);
  p = fmaf(p, x_is.m, -0.7211318612098694f);
  p = fmaf(p, x_is.m, 1.4427134990692139f);
  const float exponent = kappa * fmaf(p, x_is.m, x_is.exponent);
  constexpr float kRounding = 0x1.8p23f;
  const float n = exponent + kRounding;
  const float t = exponent - (n - kRounding);
  float q = fmaf(0.009570096619427204f, t, 0.05591785907745361f);
  q = fmaf(q, t, 0.240247443318367f);
  q = fmaf(q, t, 0.6931217908859253f);
  q = fmaf(q, t, 0.9999992847442627f);
  return float_of(bits_of(q) + (bits_of(n) << 23));
}

// ---- random numbers

// The midpoint of one of 2^kBits cells of (0, 1); rounded, so that it may be 1.
template <int kBits>
OCCAM_BOTH inline float midpoint(std::uint32_t cell) {
  constexpr float kCell = 1.0f / static_cast<float>(1u << kBits);
  return fmaf(static_cast<float>(static_cast<std::int32_t>(cell)), kCell, 0.5f * kCell);
}

// An exponential variate divided by log 2.
OCCAM_BOTH inline float exponential_over_log2(std::uint32_t bits) {
  return fmaxf(-log2_of(parts_of(midpoint<31>(bits >> 1))), 0x1p-32f);
}

// Bit kBit of `bits` decides the sign of x >= 0.
template <int kBit>
OCCAM_BOTH inline float with_sign(float x, std::uint32_t bits) {
  return float_of(bits_of(x) | (bits << (31 - kBit) & 0x80000000u));
}

OCCAM_BOTH inline Pair gaussian_pair(WalkRng& rng) {
  constexpr float kTwoLog2 = 1.3862943611198906f;
  const float radius = sqrtf(kTwoLog2 * exponential_over_log2(rng()));
  const std::uint32_t angle = rng();
  const float r = midpoint<30>(angle >> 2);
  return {with_sign<0>(radius * sinq(r), angle), with_sign<1>(radius * sinq(1.0f - r), angle)};
}

// To the last bit or two: what would treat tiny numbers apart keeps draws from being computed side by side.
OCCAM_BOTH inline float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  return __fdividef(1.0f, x);
#else
  return 1.0f / x;
#endif
}

// A draw without its sign; w is W / log 2.
OCCAM_BOTH inline float levy_formula(float r, float w, const LevyNoise& p) {
  const float cos_u = sinq(r);
  const float cos_rest = sinq(fmaf(p.minus_one, r, p.from_two));
  const float t = fmaf(p.alpha, r, p.from_two);
  const float sin_alpha_u = sinq(fmaxf(fminf(t, 2.0f - t), 0.0f));
  const float inverse = reciprocal(cos_u * cos_rest);
  const float rest = (sin_alpha_u * p.scale) * (cos_rest * inverse);
  const float base = (w * cos_u) * (cos_u * inverse);
  return rest * power(base, p.kappa);
}

// An exponential variate divided by log 2: of the smaller half of them -log2(1 - v / 2), else -log2(v / 2).
OCCAM_BOTH inline float wait_of(float v, bool small) {
  const float q = 0.5f * v;
  Parts parts = parts_of(small ? 1.0f - q : q);
  if (parts.exponent == 0.0f) parts.m = -q;
  return -log2_of(parts);
}

OCCAM_BOTH inline float levy_draw(std::uint32_t first, std::uint32_t second, const LevyNoise& p) {
  const float r = midpoint<31>(first & 0x7fffffffu);
  const float v = midpoint<31>(second & 0x7fffffffu);
  const float x = levy_formula(r, wait_of(v, (second & 0x80000000u) != 0), p);
  return float_of((bits_of(x) & 0x7fffffffu) | (first & 0x80000000u));
}

// ---- walks

OCCAM_BOTH inline bool ended(const Walk& walk, float last) {
  return walk.decided() || walk.steps >= last;
}

OCCAM_BOTH inline void gaussian_step(Walk& walk, float z, float last) {
  float m = fmaxf(floorf(walk.reach * (walk.half - fabsf(walk.y))), 1.0f);
  if (fmaf(m, m, walk.steps) > last) m = 1.0f;
  const float taken = m * m;
  walk.y = fmaf(walk.root_dt * m, z, fmaf(walk.drift, taken, walk.y));
  walk.steps += taken;
}

// The part of a walk between two looks at whether it has ended.
OCCAM_BOTH inline void gaussian_stretch(Walk& walk, float last) {
  const Pair z = gaussian_pair(walk.rng);
  gaussian_step(walk, z.first, last);
  if (!ended(walk, last)) gaussian_step(walk, z.second, last);
}

// Noise depends on no step before it: several draws at a time hide how long each takes. The generator goes
// back to where the walk ended.
OCCAM_BOTH inline void levy_stretch(Walk& walk, const LevyNoise& noise, float last) {
  constexpr int kAhead = 4;
  const WalkRng before = walk.rng;
  float draws[kAhead];
  for (int k = 0; k < kAhead; ++k) {
    const std::uint32_t first = walk.rng();
    const std::uint32_t second = walk.rng();
    draws[k] = levy_draw(first, second, noise);
  }
  int used = 0;
  bool over = false;
  for (int k = 0; k < kAhead; ++k) {
    if (over) continue;
    walk.y = (walk.y + walk.drift) + draws[k];
    walk.steps += 1.0f;
    used = k + 1;
    over = ended(walk, last);
  }
  if (used == kAhead) return;
  walk.rng = before;
  for (int word = 0; word < 2 * used; ++word) walk.rng();
}

}  // namespace trial

// What the trials of a data set share.
struct TrialSet {
  double v[2];  // mean drift in either condition
  double sv, a, zr, szr, t0, st0;
  double dt, root_dt;
  float max_steps;
  bool gaussian, continuous_time;
  LevyNoise levy;
};

// About how long trials take, beside others. Those that take longest are begun first: then none is left alone
// in the end.
inline double expected_length(const TrialSet& set) {
  const double v = 0.5 * (std::fabs(set.v[0]) + std::fabs(set.v[1]));
  const double length = set.a * set.a / (1.0 + set.a * v);
  return set.gaussian ? 0.1 * length : length;  // many steps at a time, or one
}

// Draws what varies from trial to trial. The noise of a walk that starts again stays as it is.
OCCAM_BOTH inline void set_up_walk(const TrialSet& set, bool first_condition, Walk& walk) {
  double v = set.v[first_condition ? 0 : 1];
  if (set.sv > 0.0) v += set.sv * walk.rng.normal();
  double z = set.zr;
  if (set.szr > 0.0) z += set.szr * (walk.rng.uniform() - 0.5);
  double t = set.t0;
  if (set.st0 > 0.0) t += set.st0 * (walk.rng.uniform() - 0.5);
  walk.t0 = t;
  walk.y = static_cast<float>(set.a * (z - 0.5));
  walk.half = static_cast<float>(0.5 * set.a);
  walk.drift = static_cast<float>(v * set.dt);
  walk.steps = 0.0f;
  if (!set.gaussian) return;
  walk.root_dt = static_cast<float>(set.root_dt);
  walk.reach = reach_of(v, 0.5 * set.a, set.root_dt);
}

// Of a decided walk [s].
OCCAM_BOTH inline float response_time(const TrialSet& set, Walk& walk) {
  double steps = walk.steps;
  if (set.continuous_time && steps > 0) steps -= walk.rng.uniform();
  return static_cast<float>(steps * set.dt + walk.t0);
}

// One trial as it travels to a device: its generator, and 2 * number of its data set + 1 in condition 1.
struct TrialInput {
  std::uint32_t seed[3];
  std::uint32_t set_and_condition;

  OCCAM_BOTH std::uint32_t set() const { return set_and_condition >> 1; }
  OCCAM_BOTH bool first_condition() const { return (set_and_condition & 1u) != 0; }
};

struct TrialOutput {
  float response;  // below 0: no decision, however often it was drawn
  float rt;
};

// A trial in the making: start, stretches until the walk has ended, and from the start again until it is
// over. A caller may have other trials between the stretches of one.
struct TrialRun {
  Walk walk;
  int starts = 0;

  TrialRun() = default;
  OCCAM_BOTH explicit TrialRun(const TrialInput& input) {
    walk.rng = {input.seed[0], input.seed[1], input.seed[2], 1};
  }
  // The walk may have ended when it starts, on a boundary.
  OCCAM_BOTH void start(const TrialSet& set, bool first_condition) {
    ++starts;
    set_up_walk(set, first_condition, walk);
  }
  OCCAM_BOTH bool ended(float last) const { return trial::ended(walk, last); }
  OCCAM_BOTH bool over() const { return walk.decided() || starts > kMaxRedraws; }
  // Of a trial that is over.
  OCCAM_BOTH TrialOutput output(const TrialSet& set) {
    if (!walk.decided()) return {-1.0f, 0.0f};
    return {walk.y > 0.0f ? 1.0f : 0.0f, response_time(set, walk)};
  }
};

OCCAM_BOTH inline TrialOutput run_trial(const TrialSet& set, const TrialInput& input) {
  TrialRun run(input);
  do {
    run.start(set, input.first_condition());
    while (!run.ended(set.max_steps)) {
      set.gaussian ? trial::gaussian_stretch(run.walk, set.max_steps)
                   : trial::levy_stretch(run.walk, set.levy, set.max_steps);
    }
  } while (!run.over());
  return run.output(set);
}

// The input of a loop of trials: a head, the data sets, the trials. The output is one TrialOutput each.
struct TrialsHead {
  std::int64_t sets, trials;
  unsigned long long taken = 0;  // of the trials, by those that run them

  static std::size_t bytes(std::int64_t sets, std::int64_t trials) {
    return sizeof(TrialsHead) + static_cast<std::size_t>(sets) * sizeof(TrialSet) +
           static_cast<std::size_t>(trials) * sizeof(TrialInput);
  }
  OCCAM_BOTH TrialSet* set_array() { return reinterpret_cast<TrialSet*>(this + 1); }
  OCCAM_BOTH const TrialSet* set_array() const { return reinterpret_cast<const TrialSet*>(this + 1); }
  OCCAM_BOTH TrialInput* trial_array() { return reinterpret_cast<TrialInput*>(set_array() + sets); }
  OCCAM_BOTH const TrialInput* trial_array() const {
    return reinterpret_cast<const TrialInput*>(set_array() + sets);
  }
  OCCAM_BOTH TrialOutput run(std::int64_t item) const {
    const TrialInput input = trial_array()[item];
    return run_trial(set_array()[input.set()], input);
  }
};

// On a GPU (cuda/trials.cu).
void launch_trials(const std::byte* in, std::byte* out, std::int64_t items, void* stream);

}  // namespace occam
