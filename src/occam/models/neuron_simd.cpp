// The neuron of neuron.cpp in portable SIMD: one lane is one series, in single precision. The noise of a lane
// comes from its own generator, and lanes never mix, so a series is the same whatever runs beside it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "occam/core/simd.hpp"
#include "occam/models/neuron.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "occam/models/neuron_simd.cpp"
// Highway needs this order.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace occam {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// exp(x) = scale + rest, with scale = 2^n, n the nearest integer to x log2(e), and rest = 2^n f q(f), q a
// minimax polynomial on [-.5, .5]. Relative error below 4e-7, of exp(x) and of exp(x) - 1; x is cut to
// -87..87.
template <class D>
struct Exponential {
  hn::Vec<D> scale;
  hn::Vec<D> rest;

  HWY_INLINE Exponential(D d, hn::Vec<D> x) {
    const hn::RebindToSigned<D> di;
    x = hn::Min(hn::Max(x, hn::Set(d, -87.0f)), hn::Set(d, 87.0f));
    const auto n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504f)));
    // log2(e) in two parts, so that f stays accurate for large x.
    auto f = hn::MulSub(x, hn::Set(d, 1.4423828125f), hn::ConvertTo(d, n));
    f = hn::MulAdd(x, hn::Set(d, 3.12228388963e-4f), f);
    auto q = hn::MulAdd(hn::Set(d, 0.001326470053754747f), f, hn::Set(d, 0.009671514853835106f));
    q = hn::MulAdd(q, f, hn::Set(d, 0.05550733953714371f));
    q = hn::MulAdd(q, f, hn::Set(d, 0.24022242426872253f));
    q = hn::MulAdd(q, f, hn::Set(d, 0.6931470036506653f));
    scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
    rest = hn::Mul(scale, hn::Mul(f, q));
  }
  HWY_INLINE hn::Vec<D> value() const { return hn::Add(scale, rest); }
  HWY_INLINE hn::Vec<D> minus_one(D d) const {  // without cancellation
    return hn::Add(hn::Sub(scale, hn::Set(d, 1.0f)), rest);
  }
};

template <class D>
HWY_INLINE hn::Vec<D> exp_fast(D d, hn::Vec<D> x) {
  return Exponential<D>(d, x).value();
}
template <class D>
HWY_INLINE hn::Vec<D> expm1_fast(D d, hn::Vec<D> x) {
  return Exponential<D>(d, x).minus_one(d);
}

// z / (exp(z) - 1), given its denominator; 1 at the removable singularity.
template <class D>
HWY_INLINE hn::Vec<D> linoid(D d, hn::Vec<D> z, hn::Vec<D> expm1_z) {
  const auto near_zero = hn::Lt(hn::Abs(z), hn::Set(d, 1e-6f));
  return hn::IfThenElse(near_zero, hn::Set(d, 1.0f), hn::Div(z, expm1_z));
}

// a + b x
template <class D>
HWY_INLINE hn::Vec<D> line(D d, float a, float b, hn::Vec<D> x) {
  return hn::MulAdd(hn::Set(d, b), x, hn::Set(d, a));
}

// One generator per lane; see NeuronNoise.
template <class D>
struct Noise {
  using DU = hn::RebindToUnsigned<D>;
  using U = hn::Vec<DU>;
  U s0, s1, s2, s3;

  template <int kBy>
  HWY_INLINE U rotated(U x) const {
    return hn::Or(hn::ShiftLeft<kBy>(x), hn::ShiftRight<32 - kBy>(x));
  }
  HWY_INLINE U next() {
    const U result = hn::Add(rotated<7>(hn::Add(s0, s3)), s0);
    const U t = hn::ShiftLeft<9>(s1);
    s2 = hn::Xor(s2, s0);
    s3 = hn::Xor(s3, s1);
    s1 = hn::Xor(s1, s2);
    s0 = hn::Xor(s0, s3);
    s2 = hn::Xor(s2, t);
    s3 = rotated<11>(s3);
    return result;
  }

  HWY_INLINE void normal_pair(D d, hn::Vec<D>& first, hn::Vec<D>& second) {
    const DU du;
    const hn::RebindToSigned<D> di;
    const U a = next();
    const U b = next();
    const auto half = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<1>(a)));
    const auto u = hn::Mul(hn::Add(half, hn::Set(d, 0.5f)), hn::Set(d, 0x1p-31f));
    auto radius = hn::Sqrt(hn::Max(hn::Zero(d), hn::Mul(hn::Set(d, -2.0f), hn::Log(d, u))));
    const auto sign = hn::ShiftLeft<31>(hn::ShiftRight<1>(b));
    radius = hn::BitCast(d, hn::Xor(hn::BitCast(du, radius), sign));
    const auto x = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, b)),
                           hn::Set(d, static_cast<float>(std::numbers::pi / 4 * 0x1p-31)));
    // Taylor's series: on -pi/4..pi/4 the first terms left out are below 3e-8.
    const auto y = hn::Mul(x, x);
    auto sine = hn::MulAdd(hn::Set(d, 1.0f / 362880), y, hn::Set(d, -1.0f / 5040));
    sine = hn::MulAdd(sine, y, hn::Set(d, 1.0f / 120));
    sine = hn::MulAdd(sine, y, hn::Set(d, -1.0f / 6));
    sine = hn::MulAdd(hn::Mul(sine, y), x, x);
    auto cosine = hn::MulAdd(hn::Set(d, 1.0f / 40320), y, hn::Set(d, -1.0f / 720));
    cosine = hn::MulAdd(cosine, y, hn::Set(d, 1.0f / 24));
    cosine = hn::MulAdd(cosine, y, hn::Set(d, -0.5f));
    cosine = hn::MulAdd(cosine, y, hn::Set(d, 1.0f));
    const auto swap =
        hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, hn::ShiftLeft<31>(b)))));
    first = hn::Mul(radius, hn::IfThenElse(swap, sine, cosine));
    second = hn::Mul(radius, hn::IfThenElse(swap, cosine, sine));
  }
};

template <class D>
struct Neurons {
  using V = hn::Vec<D>;
  V g_Na, g_K, g_M, g_L;  // largest conductances
  V v, m, h, n, p;
};

// Constants in single precision.
struct Steps {
  explicit Steps(const NeuronConstants& c)
      : e_Na(static_cast<float>(c.e_Na)),
        e_K(static_cast<float>(c.e_K)),
        e_M(static_cast<float>(c.e_M)),
        e_L(static_cast<float>(c.e_L)),
        v_T(static_cast<float>(c.v_T)),
        dt(static_cast<float>(c.dt_ms)),
        dt_C(static_cast<float>(c.dt_ms / c.capacitance)),
        dt_tau(static_cast<float>(c.dt_ms / c.tau_max)) {}
  float e_Na, e_K, e_M, e_L, v_T, dt, dt_C, dt_tau;
};

template <class D>
HWY_INLINE void advance(D d, const Steps& c, hn::Vec<D>& gate, hn::Vec<D> open, hn::Vec<D> close) {
  const auto speed = hn::Add(open, close);
  const auto towards = hn::Sub(hn::Div(open, speed), gate);
  gate = hn::NegMulAdd(towards, expm1_fast(d, hn::Mul(hn::Set(d, -c.dt), speed)), gate);
}

// One step with the current `into`, as in neuron_reference.hpp.
template <class D>
HWY_INLINE void step(D d, const Steps& c, Neurons<D>& x, hn::Vec<D> into) {
  const auto one = hn::Set(d, 1.0f);
  const auto g_Na = hn::Mul(hn::Mul(hn::Mul(x.g_Na, x.h), x.m), hn::Mul(x.m, x.m));
  const auto nn = hn::Mul(x.n, x.n);
  const auto g_K = hn::Mul(x.g_K, hn::Mul(nn, nn));
  const auto g_M = hn::Mul(x.g_M, x.p);
  auto total = hn::MulAdd(x.g_L, hn::Sub(hn::Set(d, c.e_L), x.v), into);
  total = hn::MulAdd(g_M, hn::Sub(hn::Set(d, c.e_M), x.v), total);
  total = hn::MulAdd(g_K, hn::Sub(hn::Set(d, c.e_K), x.v), total);
  total = hn::MulAdd(g_Na, hn::Sub(hn::Set(d, c.e_Na), x.v), total);
  const auto g = hn::Max(hn::Add(hn::Add(g_Na, g_K), hn::Add(g_M, x.g_L)), hn::Set(d, 1e-6f));
  const auto fall = expm1_fast(d, hn::Mul(hn::Set(d, -c.dt_C), g));
  x.v = hn::NegMulAdd(hn::Div(total, g), fall, x.v);

  const auto w = hn::Sub(x.v, hn::Set(d, c.v_T));
  const auto z_m = line(d, 13.0f / 4, -1.0f / 4, w);
  const auto z_40 = line(d, -40.0f / 5, 1.0f / 5, w);
  const auto z_n = line(d, 15.0f / 5, -1.0f / 5, w);
  const Exponential<D> e_40(d, z_40);
  const auto open_m = hn::Mul(hn::Set(d, 1.28f), linoid(d, z_m, expm1_fast(d, z_m)));
  const auto close_m = hn::Mul(hn::Set(d, 1.4f), linoid(d, z_40, e_40.minus_one(d)));
  advance(d, c, x.m, open_m, close_m);

  const auto open_h = hn::Mul(hn::Set(d, 0.128f), exp_fast(d, line(d, 17.0f / 18, -1.0f / 18, w)));
  // 4 / (1 + exp(-z)) = 4 exp(z) / (1 + exp(z))
  const auto exp_40 = e_40.value();
  const auto close_h = hn::Div(hn::Mul(hn::Set(d, 4.0f), exp_40), hn::Add(exp_40, one));
  advance(d, c, x.h, open_h, close_h);

  const auto open_n = hn::Mul(hn::Set(d, 0.16f), linoid(d, z_n, expm1_fast(d, z_n)));
  const auto close_n = hn::Mul(hn::Set(d, 0.5f), exp_fast(d, line(d, 10.0f / 40, -1.0f / 40, w)));
  advance(d, c, x.n, open_n, close_n);

  // With q = exp((v + 35) / 20): steady state q^2 / (1 + q^2), speed (3.3 q + 1 / q) / tau_max.
  const auto q = exp_fast(d, line(d, 35.0f / 20, 1.0f / 20, x.v));
  const auto square = hn::Mul(q, q);
  const auto steady = hn::Div(square, hn::Add(square, one));
  const auto speed = hn::Div(hn::MulAdd(hn::Set(d, 3.3f), square, one), q);
  const auto fall_p = expm1_fast(d, hn::Mul(hn::Set(d, -c.dt_tau), speed));
  x.p = hn::NegMulAdd(hn::Sub(steady, x.p), fall_p, x.p);
}

// Steps up to a vector of series side by side; lanes without one repeat the last.
template <class D>
void simulate_lanes(D d, const NeuronConstants& constants, const std::array<double, 4>& gates,
                    std::span<const NeuronSeries> series) {
  constexpr std::size_t kMaxLanes = 16;
  constexpr std::int64_t kBlock = 64;  // steps between two visits to the outputs, even
  const std::size_t lanes = hn::Lanes(d);
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  HWY_ALIGN float g[4][kMaxLanes];
  HWY_ALIGN std::uint32_t seed[4][kMaxLanes];
  HWY_ALIGN std::int32_t off_step[kMaxLanes];
  HWY_ALIGN float block[kBlock * kMaxLanes];
  std::int64_t rows = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const NeuronSeries& own = series[std::min(lane, series.size() - 1)];
    const NeuronNoise noise(own.seed);
    for (std::size_t k = 0; k < 4; ++k) {
      g[k][lane] = static_cast<float>(own.g[k]);
      seed[k][lane] = noise.s[k];
    }
    off_step[lane] = static_cast<std::int32_t>(own.off);
    rows = std::max(rows, own.rows);
    own.out[0] = static_cast<float>(constants.v_start);
  }
  const Steps c(constants);
  Neurons<D> x{hn::Load(d, g[0]),
               hn::Load(d, g[1]),
               hn::Load(d, g[2]),
               hn::Load(d, g[3]),
               hn::Set(d, static_cast<float>(constants.v_start)),
               hn::Set(d, static_cast<float>(gates[0])),
               hn::Set(d, static_cast<float>(gates[1])),
               hn::Set(d, static_cast<float>(gates[2])),
               hn::Set(d, static_cast<float>(gates[3]))};
  Noise<D> noise{hn::Load(du, seed[0]), hn::Load(du, seed[1]), hn::Load(du, seed[2]), hn::Load(du, seed[3])};
  const auto off = hn::Load(di, off_step);
  const auto level = hn::Set(d, static_cast<float>(constants.current));
  const auto amplitude = hn::Set(d, static_cast<float>(constants.sigma / std::sqrt(constants.dt_ms)));
  const std::int64_t on = series[0].on;
  const auto current = [&](std::int64_t i) HWY_ATTR {
    if (i < on) return hn::Zero(d);
    const auto flows = hn::Lt(hn::Set(di, static_cast<std::int32_t>(i)), off);
    return hn::IfThenElseZero(hn::RebindMask(d, flows), level);
  };
  for (std::int64_t begin = 0; begin + 1 < rows; begin += kBlock) {
    for (std::int64_t i = 0; i < kBlock; i += 2) {
      hn::Vec<D> first;
      hn::Vec<D> second;
      noise.normal_pair(d, first, second);
      step(d, c, x, hn::MulAdd(amplitude, first, current(begin + i)));
      hn::Store(x.v, d, block + static_cast<std::size_t>(i) * lanes);
      step(d, c, x, hn::MulAdd(amplitude, second, current(begin + i + 1)));
      hn::Store(x.v, d, block + static_cast<std::size_t>(i + 1) * lanes);
    }
    for (std::size_t lane = 0; lane < series.size(); ++lane) {
      const std::int64_t count = std::min(kBlock, series[lane].rows - 1 - begin);
      float* to = series[lane].out + begin + 1;
      for (std::int64_t i = 0; i < count; ++i) to[i] = block[static_cast<std::size_t>(i) * lanes + lane];
    }
  }
}

void simulate(const NeuronConstants& constants, const std::array<double, 4>& gates,
              std::span<const NeuronSeries> series) {
  const hn::CappedTag<float, 16> wide;
  const hn::CappedTag<float, 8> narrow;  // half of the widest, for what is left
  while (!series.empty()) {
    const std::size_t lanes = series.size() > hn::Lanes(narrow) ? hn::Lanes(wide) : hn::Lanes(narrow);
    const auto part = series.first(std::min(lanes, series.size()));
    if (lanes == hn::Lanes(wide)) {
      simulate_lanes(wide, constants, gates, part);
    } else {
      simulate_lanes(narrow, constants, gates, part);
    }
    series = series.subspan(part.size());
  }
}

const char* target() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace

void simulate_on_target(const NeuronConstants& constants, const std::array<double, 4>& gates,
                        std::span<const NeuronSeries> series) {
  simulate(constants, gates, series);
}
const char* name_of_target() {
  return target();
}

}  // namespace HWY_NAMESPACE
}  // namespace occam
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace occam {

HWY_EXPORT(simulate_on_target);
HWY_EXPORT(name_of_target);

void simulate_neurons(const NeuronConstants& constants, const std::array<double, 4>& gates,
                      std::span<const NeuronSeries> series) {
  HWY_DYNAMIC_DISPATCH(simulate_on_target)(constants, gates, series);
}

const char* neuron_target() {
  return HWY_DYNAMIC_DISPATCH(name_of_target)();
}

}  // namespace occam
#endif
