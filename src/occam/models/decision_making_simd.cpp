// Noise and stepping of the decision model in portable SIMD: one trial in each lane, refilled when it ends.
//
// Gaussian: Box & Muller 1958, both numbers used. Symmetric stable, 1 <= alpha < 2 (Chambers, Mallows & Stuck
// 1976), U uniform on (-pi/2, pi/2), W exponential:
//   S = sin(alpha U) [ (W / cos((alpha - 1) U))^(alpha - 1) / cos U ]^(1/alpha)
//     = sin(alpha U) / cos U  [ W cos U / cos((alpha - 1) U) ]^kappa,   kappa = 1 - 1/alpha:
// one power instead of two.
// With |U| = (1 - r) pi/2 and sinq(t) = sin(t pi/2) the three circular functions are sinq of sums of positive
// terms, so no digits are lost where U approaches +-pi/2, from where the tails come:
//   cos U = sinq(r),  cos((alpha - 1) U) = sinq((2 - alpha) + (alpha - 1) r),
//   sin(alpha |U|) = sinq((2 - alpha) + alpha r).
// r has 31 bits, hence the power law holds down to tail probabilities of about 1e-9. Polynomials have the
// smallest largest error; relative errors: sinq 1e-6, log2 2e-7, a power 4e-6.
//
// S is a function of U times a function of W. In a data set of many trials, which share alpha, both are
// looked up: as lines over cells that shrink with their distance from where the functions are singular (r =
// 0, W = 0 and W infinite). A draw is then off by up to 1e-4 of itself, 1.5e-5 as a rule, and a
// millionth on average, because errors within a cell cancel. Where cells would have to be very small, in one
// draw of 2000, the formula is computed.
//
// decision_trial.hpp is the same for one trial, by the formula throughout: what changes here changes there.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "occam/core/simd.hpp"
#include "occam/models/decision_making.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "occam/models/decision_making_simd.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace occam {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using U = hn::RebindToUnsigned<F>;
using VF = hn::Vec<F>;
using VI = hn::Vec<I>;
using VU = hn::Vec<U>;
using Mask = hn::Mask<F>;
constexpr F f;
constexpr I i;
constexpr U u;
constexpr std::size_t kLanes = hn::MaxLanes(F());

HWY_INLINE VF set(float value) {
  return hn::Set(f, value);
}

// ---- elementary functions

// sin(t pi/2) for t in [0, 1].
HWY_INLINE VF sinq(VF t) {
  const VF s = hn::Mul(t, t);
  VF p = hn::MulAdd(set(-0.004362469073385f), s, set(0.07948765158653259f));
  p = hn::MulAdd(p, s, set(-0.645920991897583f));
  p = hn::MulAdd(p, s, set(1.5707948207855225f));
  return hn::Mul(p, t);
}

// A positive normal number as 2^exponent (1 + m), m in [sqrt(.5) - 1, sqrt(2) - 1).
struct Parts {
  VF exponent, m;
};

HWY_INLINE Parts parts_of(VF x) {
  const auto root_half = hn::Set(i, 0x3f3504f3);
  const auto bits = hn::Sub(hn::BitCast(i, x), root_half);
  const auto mantissa = hn::Add(hn::And(bits, hn::Set(i, 0x7fffff)), root_half);
  return {hn::ConvertTo(f, hn::ShiftRight<23>(bits)), hn::Sub(hn::BitCast(f, mantissa), set(1.0f))};
}

HWY_INLINE VF log2_of(const Parts& x) {
  const VF m = x.m;
  VF p = hn::MulAdd(set(-0.14275974035263062f), m, set(0.23265257477760315f));
  p = hn::MulAdd(p, m, set(-0.24927182495594025f));
  p = hn::MulAdd(p, m, set(0.2872888743877411f));
  p = hn::MulAdd(p, m, set(-0.3602251708507538f));
  p = hn::MulAdd(p, m, set(0.48091670870780945f));
  p = hn::MulAdd(p, m, set(-0.7213529348373413f));
  p = hn::MulAdd(p, m, set(1.4426950216293335f));
  return hn::MulAdd(p, m, x.exponent);
}

// log2 of a positive normal number; relative accuracy is kept near 1.
HWY_INLINE VF log2_of(VF x) {
  return log2_of(parts_of(x));
}

// x^kappa for a positive normal x and 0 <= kappa <= 1/2, to a few millionths.
HWY_INLINE VF power(VF x, VF kappa) {
  const Parts x_is = parts_of(x);
  VF p = hn::MulAdd(set(-0.20658989250659943f), x_is.m, set(0.32215431332588196f));
  p = hn::MulAdd(p, x_is.m, set(-0.3674902617931366f));
  p = hn::MulAdd(p, x_is.m, set(0.4793480634689331f));
  p = hn::MulAdd(p, x_is.m, set(-0.7211318612098694f));
  p = hn::MulAdd(p, x_is.m, set(1.4427134990692139f));
  const VF exponent = hn::Mul(kappa, hn::MulAdd(p, x_is.m, x_is.exponent));
  // Added to this, a number loses its fraction; what is left stands in the lower bits.
  const VF rounding = set(0x1.8p23f);
  const VF n = hn::Add(exponent, rounding);
  const VF t = hn::Sub(exponent, hn::Sub(n, rounding));
  VF q = hn::MulAdd(set(0.009570096619427204f), t, set(0.05591785907745361f));
  q = hn::MulAdd(q, t, set(0.240247443318367f));
  q = hn::MulAdd(q, t, set(0.6931217908859253f));
  q = hn::MulAdd(q, t, set(0.9999992847442627f));
  return hn::BitCast(f, hn::Add(hn::BitCast(i, q), hn::ShiftLeft<23>(hn::BitCast(i, n))));
}

// ---- random numbers

// WalkRng in every lane.
struct LaneRng {
  VU a, b, c, counter;

  HWY_INLINE VU operator()() {
    const VU out = hn::Add(hn::Add(a, b), counter);
    counter = hn::Add(counter, hn::Set(u, 1));
    a = hn::Xor(b, hn::ShiftRight<9>(b));
    b = hn::Add(c, hn::ShiftLeft<3>(c));
    c = hn::Add(hn::RotateRight<11>(c), out);
    return out;
  }
};

// The midpoint of one of 2^kBits cells of (0, 1); rounded, so that it may be 1.
template <int kBits>
HWY_INLINE VF midpoint(VU cell) {
  const VF whole = hn::ConvertTo(f, hn::BitCast(i, cell));
  constexpr float kCell = 1.0f / static_cast<float>(1u << kBits);
  return hn::MulAdd(whole, set(kCell), set(0.5f * kCell));
}

// An exponential variate divided by log 2. Rounding must not make it 0 or negative.
HWY_INLINE VF exponential_over_log2(VU bits) {
  return hn::Max(hn::Neg(log2_of(midpoint<31>(hn::ShiftRight<1>(bits)))), set(0x1p-32f));
}

// Bit kBit of `bits` decides the sign of x >= 0.
template <int kBit>
HWY_INLINE VF with_sign(VF x, VU bits) {
  const VU sign = hn::And(hn::ShiftLeft<31 - kBit>(bits), hn::Set(u, 0x80000000u));
  return hn::Or(x, hn::BitCast(f, sign));
}

struct Pair {
  VF first, second;
};

HWY_INLINE Pair gaussian_pair(LaneRng& rng) {
  constexpr float kTwoLog2 = 1.3862943611198906f;
  const VF radius = hn::Sqrt(hn::Mul(set(kTwoLog2), exponential_over_log2(rng())));
  const VU angle = rng();  // two bits for the quadrant, the others within it
  const VF r = midpoint<30>(hn::ShiftRight<2>(angle));
  return {with_sign<0>(hn::Mul(radius, sinq(r)), angle),
          with_sign<1>(hn::Mul(radius, sinq(hn::Sub(set(1.0f), r))), angle)};
}

// ---- stable noise

struct LevyLanes {
  VF alpha, minus_one, from_two, kappa, scale;
  VI table;                // number of the first line of the lane's table
  const LevyLine* tables;  // lines of all tables
};

// A draw without its sign; w is W / log 2.
HWY_INLINE VF levy_formula(VF r, VF w, const LevyLanes& p) {
  const VF cos_u = sinq(r);
  const VF cos_rest = sinq(hn::MulAdd(p.minus_one, r, p.from_two));
  const VF t = hn::MulAdd(p.alpha, r, p.from_two);  // up to 2: folded back at 1
  const VF sin_alpha_u = sinq(hn::Max(hn::Min(t, hn::Sub(set(2.0f), t)), hn::Zero(f)));
  // Both quotients from one division.
  const VF inverse = hn::Div(set(1.0f), hn::Mul(cos_u, cos_rest));
  const VF rest = hn::Mul(hn::Mul(sin_alpha_u, p.scale), hn::Mul(cos_rest, inverse));
  const VF base = hn::Mul(hn::Mul(w, cos_u), hn::Mul(cos_u, inverse));
  return hn::Mul(rest, power(base, p.kappa));
}

// An exponential variate divided by log 2: of the smaller half of them -log2(1 - v / 2), else -log2(v / 2).
HWY_INLINE VF wait_of(VF v, Mask small) {
  const VF q = hn::Mul(set(0.5f), v);
  Parts parts = parts_of(hn::IfThenElse(small, hn::Sub(set(1.0f), q), q));
  // Only 1 - q is near 1, and then q is as it was before rounding.
  parts.m = hn::IfThenElse(hn::Eq(parts.exponent, hn::Zero(f)), hn::Neg(q), parts.m);
  return hn::Neg(log2_of(parts));
}

// What a draw is made of: the upper bit of each random word is a choice, the others a number in (0, 1).
struct LevyWords {
  VF sign, r;
  Mask small;
  VF v;

  HWY_INLINE LevyWords(VU first, VU second)
      : sign(hn::BitCast(f, first)),
        r(midpoint<31>(hn::And(first, hn::Set(u, 0x7fffffffu)))),
        small(hn::RebindMask(f, hn::Lt(hn::BitCast(i, second), hn::Zero(i)))),
        v(midpoint<31>(hn::And(second, hn::Set(u, 0x7fffffffu)))) {}

  HWY_INLINE static LevyWords from(LaneRng& rng) {
    const VU first = rng();
    const VU second = rng();
    return {first, second};
  }

  HWY_INLINE VF formula(const LevyLanes& p) const { return levy_formula(r, wait_of(v, small), p); }
  HWY_INLINE VF with_sign(VF x) const { return hn::CopySignToAbs(x, sign); }
  HWY_INLINE VF r_in_table() const { return hn::Max(r, set(LevyTable::kLeast)); }
  HWY_INLINE VF v_in_table() const { return hn::Max(v, set(LevyTable::kLeast)); }
};

// The line that stands for a function in a cell is right on average: it meets the function at the points of
// Gauss.
template <int kBits, class Function>
void tabulate(LevyLine* lines, Function function) {
  VI cell = hn::Iota(i, LevyTable::kFirstCell<kBits>);
  for (std::size_t k = 0; k < LevyTable::kCells<kBits>; k += kLanes) {
    const VF begin = hn::BitCast(f, hn::ShiftLeft<23 - kBits>(cell));
    const VF next = hn::BitCast(f, hn::ShiftLeft<23 - kBits>(hn::Add(cell, hn::Set(i, 1))));
    const VF width = hn::Sub(next, begin);
    const VF x0 = hn::MulAdd(width, set(0.21132487f), begin);
    const VF x1 = hn::MulAdd(width, set(0.78867513f), begin);
    const VF y0 = function(x0);
    const VF slope = hn::Div(hn::Sub(function(x1), y0), hn::Sub(x1, x0));
    hn::StoreInterleaved2(hn::NegMulAdd(slope, x0, y0), slope, f, &lines[k].at_zero);
    cell = hn::Add(cell, hn::Set(i, static_cast<std::int32_t>(kLanes)));
  }
}

// Number of the line for x if the table's first line is that of cell 0.
template <int kBits>
HWY_INLINE VI cell_of(VF x) {
  return hn::ShiftRight<23 - kBits>(hn::BitCast(i, x));
}

template <int kBits>
HWY_INLINE VI lines_from(VI table, std::size_t offset_bytes) {
  const std::size_t lines = offset_bytes / sizeof(LevyLine);
  return hn::Add(table, hn::Set(i, static_cast<std::int32_t>(lines) - LevyTable::kFirstCell<kBits>));
}

// The numbers of the lines of a draw. They lie in memory, since lines are fetched one by one: a processor's
// own gather takes twice as long on some of them.
struct LevyCells {
  HWY_ALIGN std::uint32_t angle[kLanes];
  HWY_ALIGN std::uint32_t wait[kLanes];

  HWY_INLINE void find(const LevyWords& words, const LevyLanes& p) {
    constexpr int kAngle = LevyTable::kAngleBits;
    constexpr int kWait = LevyTable::kWaitBits;
    const VI angles = lines_from<kAngle>(p.table, offsetof(LevyTable, angle));
    const VI waits =
        hn::IfThenElse(hn::RebindMask(i, words.small), lines_from<kWait>(p.table, offsetof(LevyTable, small)),
                       lines_from<kWait>(p.table, offsetof(LevyTable, large)));
    hn::Store(hn::BitCast(u, hn::Add(angles, cell_of<kAngle>(words.r_in_table()))), u, angle);
    hn::Store(hn::BitCast(u, hn::Add(waits, cell_of<kWait>(words.v_in_table()))), u, wait);
  }
};

struct Lines {
  VF at_zero, slope;
};

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Lines lines_at(const LevyLine* lines, const std::uint32_t* numbers) {
  return {set(lines[numbers[0]].at_zero), set(lines[numbers[0]].slope)};
}
#else
// N lines, eight bytes each, of every second number.
template <std::size_t N>
HWY_INLINE auto every_second(const std::uint64_t* lines, const volatile std::uint32_t* numbers) {
  const hn::CappedTag<std::uint64_t, N> d;
  if constexpr (N == 1) {
    return hn::LoadU(d, lines + *numbers);
  } else {
    const auto lower = every_second<N / 2>(lines, numbers);
    return hn::Combine(d, every_second<N / 2>(lines, numbers + N), lower);
  }
}

HWY_INLINE Lines lines_at(const LevyLine* lines, const std::uint32_t* numbers) {
  // Volatile: a compiler would take numbers out of a register, by the unit that also puts lines together.
  const auto* pairs = reinterpret_cast<const std::uint64_t*>(lines);
  const auto even = every_second<kLanes / 2>(pairs, numbers);
  const auto odd = every_second<kLanes / 2>(pairs, numbers + 1);
  return {hn::OddEven(hn::BitCast(f, hn::ShiftLeft<32>(odd)), hn::BitCast(f, even)),
          hn::OddEven(hn::BitCast(f, odd), hn::BitCast(f, hn::ShiftRight<32>(even)))};
}
#endif

// The product of two lines; by the formula where a number is too small for the tables.
HWY_INLINE VF from_tables(const LevyWords& words, const Lines& angle, const Lines& wait, const LevyLanes& p) {
  const VF x = hn::Mul(hn::MulAdd(angle.slope, words.r_in_table(), angle.at_zero),
                       hn::MulAdd(wait.slope, words.v_in_table(), wait.at_zero));
  const Mask outside = hn::Lt(hn::Min(words.r, words.v), set(LevyTable::kLeast));
  if (HWY_LIKELY(hn::AllFalse(f, outside))) return x;
  return hn::IfThenElse(outside, words.formula(p), x);
}

// Draws one after the other. The words of the next one and the numbers of its lines are found before the
// lines of this one are fetched: either takes long, and a processor looks ahead little further than one draw.
template <bool kTables>
struct LevyDraws {
  LaneRng ahead;
  LevyWords next;
  LevyCells cells[2];
  std::size_t now = 0;  // which of them are of the next draw

  HWY_INLINE LevyDraws(const LaneRng& rng, const LevyLanes& p) : ahead(rng), next(LevyWords::from(ahead)) {
    if (kTables) cells[now].find(next, p);
  }

  // Sets `rng` to where it is after this draw.
  HWY_INLINE VF operator()(LaneRng& rng, const LevyLanes& p) {
    rng = ahead;
    const LevyWords words = next;
    next = LevyWords::from(ahead);
    if constexpr (!kTables) return words.with_sign(words.formula(p));
    const LevyCells& found = cells[now];
    now ^= 1;
    cells[now].find(next, p);
    const Lines angle = lines_at(p.tables, found.angle);
    const Lines wait = lines_at(p.tables, found.wait);
    return words.with_sign(from_tables(words, angle, wait, p));
  }
};

LevyLanes lanes_of(const LevyNoise& noise, const LevyTable& table) {
  return {set(noise.alpha), set(noise.minus_one), set(noise.from_two), set(noise.kappa),
          set(noise.scale), hn::Zero(i),          table.angle};
}

// ---- lanes

// The walks in progress, one a lane, as arrays that vectors are loaded from.
struct Lanes {
  Walk walks[kLanes];
  HWY_ALIGN std::uint32_t a[kLanes], b[kLanes], c[kLanes], counter[kLanes];
  HWY_ALIGN float y[kLanes], half[kLanes], drift[kLanes], steps[kLanes], root_dt[kLanes], reach[kLanes];
  HWY_ALIGN float alpha[kLanes], minus_one[kLanes], from_two[kLanes], kappa[kLanes], scale[kLanes];
  HWY_ALIGN std::int32_t table[kLanes];
  std::size_t active = 0;

  explicit Lanes(WalkQueue& queue) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      active += queue.exchange(walks[lane]) ? 1 : 0;
      put(lane);
    }
  }

  // A lane without a walk idles: it never comes to a boundary or to the last step.
  void put(std::size_t lane) {
    const Walk& walk = walks[lane];
    const bool idle = walk.request < 0;
    a[lane] = walk.rng.a;
    b[lane] = walk.rng.b;
    c[lane] = walk.rng.c;
    counter[lane] = walk.rng.counter;
    y[lane] = idle ? 0.0f : walk.y;
    half[lane] = idle ? 1e30f : walk.half;
    drift[lane] = idle ? 0.0f : walk.drift;
    steps[lane] = idle ? -1e30f : walk.steps;
    root_dt[lane] = idle ? 0.0f : walk.root_dt;
    reach[lane] = idle ? 0.0f : walk.reach;
    alpha[lane] = walk.levy.alpha;
    minus_one[lane] = walk.levy.minus_one;
    from_two[lane] = walk.levy.from_two;
    kappa[lane] = walk.levy.kappa;
    scale[lane] = walk.levy.scale;
    table[lane] = std::max(walk.table, 0) * static_cast<std::int32_t>(LevyTable::kLines);
  }

  void exchange(WalkQueue& queue, std::size_t lane) {
    Walk& walk = walks[lane];
    walk.rng = {a[lane], b[lane], c[lane], counter[lane]};
    walk.y = y[lane];
    walk.steps = steps[lane];
    if (!queue.exchange(walk)) {
      walk.request = -1;
      --active;
    }
    put(lane);
  }

  LaneRng rng() const { return {hn::Load(u, a), hn::Load(u, b), hn::Load(u, c), hn::Load(u, counter)}; }
  LevyLanes levy(const LevyLine* tables) const {
    return {hn::Load(f, alpha),
            hn::Load(f, minus_one),
            hn::Load(f, from_two),
            hn::Load(f, kappa),
            hn::Load(f, scale),
            hn::Load(i, table),
            tables};
  }
  void store(const LaneRng& rng, VF y_now, VF steps_now) {
    hn::Store(rng.a, u, a);
    hn::Store(rng.b, u, b);
    hn::Store(rng.c, u, c);
    hn::Store(rng.counter, u, counter);
    hn::Store(y_now, f, y);
    hn::Store(steps_now, f, steps);
  }
};

// Replaces every walk whose bit is set in `ended`.
void refill(Lanes& lanes, WalkQueue& queue, Mask ended) {
  alignas(8) std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(f, ended, bytes);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((bytes[lane / 8] >> (lane % 8) & 1) != 0) lanes.exchange(queue, lane);
  }
}

// Steps until at least one walk has ended.
template <bool kTables>
void levy_until_end(Lanes& lanes, WalkQueue& queue, float max_steps) {
  LaneRng rng = lanes.rng();
  const LevyLanes noise = lanes.levy(queue.tables());
  const VF half = hn::Load(f, lanes.half);
  const VF drift = hn::Load(f, lanes.drift);
  const VF last = set(max_steps);
  VF y = hn::Load(f, lanes.y);
  VF steps = hn::Load(f, lanes.steps);
  LevyDraws<kTables> draws(rng, noise);
  Mask ended;
  do {
    y = hn::Add(hn::Add(y, drift), draws(rng, noise));
    steps = hn::Add(steps, set(1.0f));
    ended = hn::Or(hn::Ge(hn::Abs(y), half), hn::Ge(steps, last));
  } while (hn::AllFalse(f, ended));
  lanes.store(rng, y, steps);
  refill(lanes, queue, ended);
}

struct GaussianLanes {
  VF half, drift, root_dt, reach, last;
};

// Takes m^2 steps at once, by one Gaussian z.
HWY_INLINE void gaussian_step(const GaussianLanes& p, VF z, VF& y, VF& steps) {
  const VF distance = hn::Sub(p.half, hn::Abs(y));
  const VF one = set(1.0f);
  VF m = hn::Max(hn::Floor(hn::Mul(p.reach, distance)), one);
  m = hn::IfThenElse(hn::Gt(hn::MulAdd(m, m, steps), p.last), one, m);
  const VF taken = hn::Mul(m, m);
  y = hn::MulAdd(hn::Mul(p.root_dt, m), z, hn::MulAdd(p.drift, taken, y));
  steps = hn::Add(steps, taken);
}

HWY_INLINE Mask gaussian_ended(const GaussianLanes& p, VF y, VF steps) {
  return hn::Or(hn::Ge(hn::Abs(y), p.half), hn::Ge(steps, p.last));
}

void gaussian_until_end(Lanes& lanes, WalkQueue& queue, float max_steps) {
  LaneRng rng = lanes.rng();
  const GaussianLanes p{hn::Load(f, lanes.half), hn::Load(f, lanes.drift), hn::Load(f, lanes.root_dt),
                        hn::Load(f, lanes.reach), set(max_steps)};
  VF y = hn::Load(f, lanes.y);
  VF steps = hn::Load(f, lanes.steps);
  Mask ended;
  do {
    const Pair z = gaussian_pair(rng);
    gaussian_step(p, z.first, y, steps);
    const Mask at_first = gaussian_ended(p, y, steps);
    VF y_next = y;
    VF steps_next = steps;
    gaussian_step(p, z.second, y_next, steps_next);
    y = hn::IfThenElse(at_first, y, y_next);
    steps = hn::IfThenElse(at_first, steps, steps_next);
    ended = gaussian_ended(p, y, steps);
  } while (hn::AllFalse(f, ended));
  lanes.store(rng, y, steps);
  refill(lanes, queue, ended);
}

// A generator for each lane of draw_*, from one seed (splitmix64).
LaneRng seeded(std::uint64_t seed) {
  HWY_ALIGN std::uint32_t words[3][kLanes];
  for (auto& word : words) {
    for (std::uint32_t& w : word) {
      std::uint64_t x = (seed += 0x9e3779b97f4a7c15u);
      x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
      x = (x ^ x >> 27) * 0x94d049bb133111ebu;
      w = static_cast<std::uint32_t>((x ^ x >> 31) >> 16);
    }
  }
  return {hn::Load(u, words[0]), hn::Load(u, words[1]), hn::Load(u, words[2]), hn::Set(u, 1)};
}

void put(std::span<float> out, std::size_t at, VF draws) {
  HWY_ALIGN float values[kLanes];
  hn::Store(draws, f, values);
  for (std::size_t lane = 0; lane < kLanes && at + lane < out.size(); ++lane) out[at + lane] = values[lane];
}

}  // namespace

void run_gaussian(WalkQueue& queue, float max_steps) {
  Lanes lanes(queue);
  while (lanes.active > 0) gaussian_until_end(lanes, queue, max_steps);
}

void run_levy(WalkQueue& queue, float max_steps) {
  Lanes lanes(queue);
  while (lanes.active > 0) {
    queue.tables() != nullptr ? levy_until_end<true>(lanes, queue, max_steps)
                              : levy_until_end<false>(lanes, queue, max_steps);
  }
}

void gaussian_numbers(std::uint64_t seed, std::span<float> out) {
  LaneRng rng = seeded(seed);
  for (std::size_t at = 0; at < out.size(); at += 2 * kLanes) {
    const Pair z = gaussian_pair(rng);
    put(out, at, z.first);
    put(out, at + kLanes, z.second);
  }
}

void fill_levy_table(const LevyNoise& noise, LevyTable& table) {
  const LevyLanes p = lanes_of(noise, table);
  const Mask never = hn::Lt(p.alpha, hn::Zero(f));
  tabulate<LevyTable::kAngleBits>(table.angle, [&](VF r) { return levy_formula(r, set(1.0f), p); });
  tabulate<LevyTable::kWaitBits>(table.large, [&](VF v) { return power(wait_of(v, never), p.kappa); });
  tabulate<LevyTable::kWaitBits>(table.small,
                                 [&](VF v) { return power(wait_of(v, hn::Not(never)), p.kappa); });
}

void levy_numbers(const LevyNoise& noise, std::span<const std::uint32_t> words, std::span<float> out) {
  LevyTable table;
  fill_levy_table(noise, table);
  const LevyLanes p = lanes_of(noise, table);
  for (std::size_t at = 0; at < out.size(); at += kLanes) {
    const std::size_t count = std::min(kLanes, out.size() - at);
    HWY_ALIGN std::uint32_t first[kLanes] = {};
    HWY_ALIGN std::uint32_t second[kLanes] = {};
    for (std::size_t k = 0; k < count; ++k) {
      first[k] = words[2 * (at + k)];
      second[k] = words[2 * (at + k) + 1];
    }
    const LevyWords pair(hn::Load(u, first), hn::Load(u, second));
    LevyCells cells;
    cells.find(pair, p);
    put(out, at,
        pair.with_sign(
            from_tables(pair, lines_at(p.tables, cells.angle), lines_at(p.tables, cells.wait), p)));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace occam
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace occam {

HWY_EXPORT(run_gaussian);
HWY_EXPORT(run_levy);
HWY_EXPORT(gaussian_numbers);
HWY_EXPORT(fill_levy_table);
HWY_EXPORT(levy_numbers);

void run_gaussian_walks(WalkQueue& queue, float max_steps) {
  HWY_DYNAMIC_DISPATCH(run_gaussian)(queue, max_steps);
}

void run_levy_walks(WalkQueue& queue, float max_steps) {
  HWY_DYNAMIC_DISPATCH(run_levy)(queue, max_steps);
}

void LevyTable::fill(const LevyNoise& noise) {
  HWY_DYNAMIC_DISPATCH(fill_levy_table)(noise, *this);
}

void draw_gaussian(std::uint64_t seed, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(gaussian_numbers)(seed, out);
}

void draw_levy(const LevyNoise& noise, std::span<const std::uint32_t> words, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(levy_numbers)(noise, words, out);
}

LevyNoise::LevyNoise(double alpha_, double scale_)
    : alpha(static_cast<float>(alpha_)),
      minus_one(static_cast<float>(alpha_ - 1.0)),
      from_two(static_cast<float>(2.0 - alpha_)),
      kappa(static_cast<float>(1.0 - 1.0 / alpha_)),
      // The exponential variate comes divided by log 2.
      scale(static_cast<float>(scale_ * std::pow(std::numbers::ln2, 1.0 - 1.0 / alpha_))) {}

}  // namespace occam
#endif
