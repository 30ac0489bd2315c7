// The neuron in plain C++, one series after the other: what neuron_simd.cpp is held against by tests and
// benchmarks. Equations and source: neuron.cpp.
#pragma once

#include <cmath>
#include <numbers>

#include "occam/models/neuron.hpp"

namespace occam::neuron_reference {

// z / (exp(z) - 1), with its removable singularity at 0.
template <class T>
T linoid(T z) {
  return std::fabs(z) < T(1e-6) ? 1 - z / 2 : z / std::expm1(z);
}

// Rates of opening and closing of one gate, per ms.
template <class T>
struct Rates {
  T open;
  T close;
  T steady() const { return open / (open + close); }
};

// m, h, n, p at v [mV].
template <class T>
std::array<Rates<T>, 4> rates(const NeuronConstants& c, T v) {
  const T w = v - T(c.v_T);
  const T p_steady = 1 / (1 + std::exp(-(v + 35) / 10));
  const T p_speed = (T(3.3) * std::exp((v + 35) / 20) + std::exp(-(v + 35) / 20)) / T(c.tau_max);
  return {Rates<T>{T(1.28) * linoid(-(w - 13) / 4), T(1.4) * linoid((w - 40) / 5)},
          Rates<T>{T(0.128) * std::exp(-(w - 17) / 18), 4 / (1 + std::exp(-(w - 40) / 5))},
          Rates<T>{T(0.16) * linoid(-(w - 15) / 5), T(0.5) * std::exp(-(w - 10) / 40)},
          Rates<T>{p_steady * p_speed, (1 - p_steady) * p_speed}};
}

inline std::array<double, 4> steady_gates(const NeuronConstants& c, double v) {
  std::array<double, 4> gates;
  const auto at_v = rates(c, v);
  for (std::size_t i = 0; i < 4; ++i) gates[i] = at_v[i].steady();
  return gates;
}

// Two standard normal draws.
template <class T>
std::array<T, 2> normal_pair(NeuronNoise& noise) {
  const std::uint32_t a = noise.next();
  const std::uint32_t b = noise.next();
  const T radius = std::sqrt(-2 * std::log((T(a >> 1) + T(0.5)) * T(0x1p-31)));
  const T angle = T(static_cast<std::int32_t>(b)) * T(std::numbers::pi / 4 * 0x1p-31);
  const T r = (b & 2u) != 0 ? -radius : radius;
  const T cosine = r * std::cos(angle);
  const T sine = r * std::sin(angle);
  if ((b & 1u) != 0) return {sine, cosine};
  return {cosine, sine};
}

// Exponential Euler: v from the old gates, then the gates from the new v.
template <class T>
void simulate(const NeuronConstants& c, const NeuronSeries& series) {
  const T dt = T(c.dt_ms);
  const T amplitude = T(c.sigma / std::sqrt(c.dt_ms));
  const std::array<double, 4> start = steady_gates(c, c.v_start);
  auto [m, h, n, p] = std::array<T, 4>{T(start[0]), T(start[1]), T(start[2]), T(start[3])};
  T v = T(c.v_start);
  NeuronNoise noise(series.seed);
  std::array<T, 2> pair{};
  const auto advance = [&](T& gate, const Rates<T>& rate) {
    gate += (rate.steady() - gate) * -std::expm1(-dt * (rate.open + rate.close));
  };
  series.out[0] = static_cast<float>(v);
  for (std::int64_t i = 0; i + 1 < series.rows; ++i) {
    if (i % 2 == 0) pair = normal_pair<T>(noise);
    const T g_Na = T(series.g[0]) * m * m * m * h;
    const T g_K = T(series.g[1]) * n * n * n * n;
    const T g_M = T(series.g[2]) * p;
    const T g_L = T(series.g[3]);
    const T into = (i >= series.on && i < series.off ? T(c.current) : T(0)) +
                   amplitude * pair[static_cast<std::size_t>(i % 2)];
    const T total =
        g_Na * (T(c.e_Na) - v) + g_K * (T(c.e_K) - v) + g_M * (T(c.e_M) - v) + g_L * (T(c.e_L) - v) + into;
    // The smallest conductance stands for none: then v grows by total dt / C.
    const T g = std::max(g_Na + g_K + g_M + g_L, T(1e-6));
    v += total / g * -std::expm1(-dt / T(c.capacitance) * g);
    const auto at_v = rates(c, v);
    advance(m, at_v[0]);
    advance(h, at_v[1]);
    advance(n, at_v[2]);
    advance(p, at_v[3]);
    series.out[i + 1] = static_cast<float>(v);
  }
}

}  // namespace occam::neuron_reference
