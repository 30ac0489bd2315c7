// A series of the neuron for GPUs (and for the host, where tests hold it against the SIMD code): one caller,
// one series, in single precision. Equations and order of operations are those of neuron_simd.cpp; what
// differs is the logarithm of the noise. Products and sums are fused where it says fmaf, as in the SIMD
// code; nvcc is told to fuse no others.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "occam/core/both.hpp"
#include "occam/models/neuron.hpp"
#include "occam/models/scalar.hpp"

namespace occam {

// Constants of all series, in single precision.
struct NeuronSteps {
  float e_Na, e_K, e_M, e_L, v_T, dt, dt_C, dt_tau;
  float v_start, current, amplitude;
  float gates[4];  // m, h, n, p at the start
};

inline NeuronSteps neuron_steps(const NeuronConstants& c, const std::array<double, 4>& gates) {
  const auto f = [](double x) { return static_cast<float>(x); };
  return {f(c.e_Na),
          f(c.e_K),
          f(c.e_M),
          f(c.e_L),
          f(c.v_T),
          f(c.dt_ms),
          f(c.dt_ms / c.capacitance),
          f(c.dt_ms / c.tau_max),
          f(c.v_start),
          f(c.current),
          f(c.sigma / std::sqrt(c.dt_ms)),
          {f(gates[0]), f(gates[1]), f(gates[2]), f(gates[3])}};
}

// One series as it travels to a device; its rows stand from `first` on in the output.
struct NeuronInput {
  float g[4];             // Na, K, M, L
  std::uint32_t seed[4];  // state of the noise
  std::int32_t rows, on, off;
  std::int64_t first;
};

namespace series {

// exp(x) = scale + rest; see neuron_simd.cpp.
struct Exponential {
  float scale, rest;

  OCCAM_BOTH explicit Exponential(float x) {
    x = fminf(fmaxf(x, -87.0f), 87.0f);
    const float n = rintf(x * 1.44269504f);
    float f = fmaf(x, 1.4423828125f, -n);
    f = fmaf(x, 3.12228388963e-4f, f);
    float q = fmaf(0.001326470053754747f, f, 0.009671514853835106f);
    q = fmaf(q, f, 0.05550733953714371f);
    q = fmaf(q, f, 0.24022242426872253f);
    q = fmaf(q, f, 0.6931470036506653f);
    scale = scalar::float_of(static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23);
    rest = scale * (f * q);
  }
  OCCAM_BOTH float value() const { return scale + rest; }
  OCCAM_BOTH float minus_one() const { return (scale - 1.0f) + rest; }  // without cancellation
};

// z / (exp(z) - 1), given its denominator; 1 at the removable singularity.
OCCAM_BOTH inline float linoid(float z, float expm1_z) {
  return fabsf(z) < 1e-6f ? 1.0f : z / expm1_z;
}

struct State {
  float v, m, h, n, p;
};

OCCAM_BOTH inline void advance(float dt, float open, float close, float& gate) {
  const float speed = open + close;
  const float towards = open / speed - gate;
  gate = fmaf(-towards, Exponential(-dt * speed).minus_one(), gate);
}

// One step with the current `into`.
OCCAM_BOTH inline void step(const NeuronSteps& c, const float* g_most, float into, State& x) {
  const float g_Na = ((g_most[0] * x.h) * x.m) * (x.m * x.m);
  const float nn = x.n * x.n;
  const float g_K = g_most[1] * (nn * nn);
  const float g_M = g_most[2] * x.p;
  const float g_L = g_most[3];
  float total = fmaf(g_L, c.e_L - x.v, into);
  total = fmaf(g_M, c.e_M - x.v, total);
  total = fmaf(g_K, c.e_K - x.v, total);
  total = fmaf(g_Na, c.e_Na - x.v, total);
  const float g = fmaxf((g_Na + g_K) + (g_M + g_L), 1e-6f);
  x.v = fmaf(-(total / g), Exponential(-c.dt_C * g).minus_one(), x.v);

  const float w = x.v - c.v_T;
  const float z_m = fmaf(-1.0f / 4, w, 13.0f / 4);
  const float z_40 = fmaf(1.0f / 5, w, -40.0f / 5);
  const float z_n = fmaf(-1.0f / 5, w, 15.0f / 5);
  const Exponential e_40(z_40);
  advance(c.dt, 1.28f * linoid(z_m, Exponential(z_m).minus_one()), 1.4f * linoid(z_40, e_40.minus_one()),
          x.m);
  const float exp_40 = e_40.value();
  advance(c.dt, 0.128f * Exponential(fmaf(-1.0f / 18, w, 17.0f / 18)).value(),
          (4.0f * exp_40) / (exp_40 + 1.0f), x.h);
  advance(c.dt, 0.16f * linoid(z_n, Exponential(z_n).minus_one()),
          0.5f * Exponential(fmaf(-1.0f / 40, w, 10.0f / 40)).value(), x.n);
  // With q = exp((v + 35) / 20): steady state q^2 / (1 + q^2), speed (3.3 q + 1 / q) / tau_max.
  const float q = Exponential(fmaf(1.0f / 20, x.v, 35.0f / 20)).value();
  const float square = q * q;
  const float steady = square / (square + 1.0f);
  const float speed = fmaf(3.3f, square, 1.0f) / q;
  x.p = fmaf(-(steady - x.p), Exponential(-c.dt_tau * speed).minus_one(), x.p);
}

// Two standard normal draws; see NeuronNoise.
OCCAM_BOTH inline scalar::Pair normal_pair(NeuronNoise& noise) {
  constexpr float kTwoLog2 = 1.3862943611198906f;
  const std::uint32_t a = noise.next();
  const std::uint32_t b = noise.next();
  const float u = (static_cast<float>(static_cast<std::int32_t>(a >> 1)) + 0.5f) * 0x1p-31f;
  float radius = sqrtf(fmaxf(-kTwoLog2 * scalar::log2_of(scalar::parts_of(u)), 0.0f));
  if ((b & 2u) != 0) radius = -radius;
  const float x =
      static_cast<float>(static_cast<std::int32_t>(b)) * static_cast<float>(0.78539816339744831 * 0x1p-31);
  const float y = x * x;
  float sine = fmaf(1.0f / 362880, y, -1.0f / 5040);
  sine = fmaf(sine, y, 1.0f / 120);
  sine = fmaf(sine, y, -1.0f / 6);
  sine = fmaf(sine * y, x, x);
  float cosine = fmaf(1.0f / 40320, y, -1.0f / 720);
  cosine = fmaf(cosine, y, 1.0f / 24);
  cosine = fmaf(cosine, y, -0.5f);
  cosine = fmaf(cosine, y, 1.0f);
  return (b & 1u) != 0 ? scalar::Pair{radius * sine, radius * cosine}
                       : scalar::Pair{radius * cosine, radius * sine};
}

}  // namespace series

// Writes all rows of a series to `out`.
OCCAM_BOTH inline void run_series(const NeuronSteps& c, const NeuronInput& input, float* out) {
  series::State x{c.v_start, c.gates[0], c.gates[1], c.gates[2], c.gates[3]};
  NeuronNoise noise;
  for (int k = 0; k < 4; ++k) noise.s[k] = input.seed[k];
  const auto into = [&](std::int32_t i, float z) {
    return fmaf(c.amplitude, z, i >= input.on && i < input.off ? c.current : 0.0f);
  };
  out[0] = x.v;
  for (std::int32_t i = 0; i + 1 < input.rows; i += 2) {
    const scalar::Pair z = series::normal_pair(noise);
    series::step(c, input.g, into(i, z.first), x);
    out[i + 1] = x.v;
    if (i + 2 >= input.rows) return;
    series::step(c, input.g, into(i + 1, z.second), x);
    out[i + 2] = x.v;
  }
}

// The input of a loop of series: this, and the series behind it. The output is their rows.
struct NeuronsHead {
  NeuronSteps steps;

  static std::size_t bytes(std::int64_t count) {
    return kSeriesAt + static_cast<std::size_t>(count) * sizeof(NeuronInput);
  }
  NeuronInput* series_array() {
    return reinterpret_cast<NeuronInput*>(reinterpret_cast<std::byte*>(this) + kSeriesAt);
  }
  OCCAM_BOTH void run(std::int64_t item, float* out) const {
    const auto* const all =
        reinterpret_cast<const NeuronInput*>(reinterpret_cast<const std::byte*>(this) + kSeriesAt);
    // Copies, which no row written can change: they stay in registers.
    const NeuronSteps c = steps;
    const NeuronInput input = all[item];
    run_series(c, input, out + input.first);
  }

 private:
  static constexpr std::size_t kSeriesAt = 64;
};
static_assert(sizeof(NeuronSteps) <= 64);

// On a GPU (cuda/neurons.cu).
void launch_neurons(const std::byte* in, std::byte* out, std::int64_t items, void* stream);

}  // namespace occam
