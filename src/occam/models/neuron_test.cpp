// The independent solution is the classical Runge-Kutta method with ever smaller steps, on the equations
// written once more below.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/models/neuron_reference.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

using State = std::array<double, 5>;  // V, m, h, n, p

// A neuron that fires regularly, and slows down by the M current.
constexpr std::array<double, 4> kRegular = {20.0, 5.0, 0.07, 0.1};

State slope(const State& x, const std::array<double, 4>& g, double current) {
  const auto [v, m, h, n, p] = x;
  const auto e = [](double z) { return std::fabs(z) < 1e-9 ? 1.0 : z / (std::exp(z) - 1.0); };
  const double w = v + 60.0;
  const double ion = g[0] * std::pow(m, 3) * h * (53.0 - v) + g[1] * std::pow(n, 4) * (-107.0 - v) +
                     g[2] * p * (-107.0 - v) + g[3] * (-70.0 - v);
  const double a_m = 1.28 * e(-(w - 13.0) / 4.0);
  const double b_m = 1.4 * e((w - 40.0) / 5.0);
  const double a_h = 0.128 * std::exp(-(w - 17.0) / 18.0);
  const double b_h = 4.0 / (1.0 + std::exp(-(w - 40.0) / 5.0));
  const double a_n = 0.16 * e(-(w - 15.0) / 5.0);
  const double b_n = 0.5 * std::exp(-(w - 10.0) / 40.0);
  const double p_inf = 1.0 / (1.0 + std::exp(-(v + 35.0) / 10.0));
  const double tau_p = 600.0 / (3.3 * std::exp((v + 35.0) / 20.0) + std::exp(-(v + 35.0) / 20.0));
  return {ion + current, a_m * (1.0 - m) - b_m * m, a_h * (1.0 - h) - b_h * h, a_n * (1.0 - n) - b_n * n,
          (p_inf - p) / tau_p};
}

State along(const State& x, double dt, const State& slope) {
  State moved = x;
  for (std::size_t i = 0; i < x.size(); ++i) moved[i] += dt * slope[i];
  return moved;
}

// `steps` steps of the classical Runge-Kutta method over dt ms.
State runge_kutta(State x, const std::array<double, 4>& g, double current, double dt, int steps) {
  const double h = dt / steps;
  for (int step = 0; step < steps; ++step) {
    const State a = slope(x, g, current);
    const State b = slope(along(x, h / 2, a), g, current);
    const State c = slope(along(x, h / 2, b), g, current);
    const State d = slope(along(x, h, c), g, current);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  }
  return x;
}

// The same with as many steps as it takes until twice as many give the same to ten digits.
State runge_kutta_converged(const State& x, const std::array<double, 4>& g, double current, double dt) {
  State coarse = runge_kutta(x, g, current, dt, 1);
  for (int steps = 2; steps <= 1 << 14; steps *= 2) {
    const State fine = runge_kutta(x, g, current, dt, steps);
    const bool same = std::equal(fine.begin(), fine.end(), coarse.begin(), [](double a, double b) {
      return std::fabs(a - b) <= 1e-10 * (1.0 + std::fabs(a));
    });
    if (same) return fine;
    coarse = fine;
  }
  ADD_FAILURE() << "no convergence from " << x[0] << " mV";
  return coarse;
}

// V every `every` ms over T + 20 ms, current on from 10 to T + 10 ms.
std::vector<double> accurate(const std::array<double, 4>& g, double T, double every) {
  State x = {-70.0};
  const std::array<double, 4> gates = neuron_reference::steady_gates({}, -70.0);
  std::copy(gates.begin(), gates.end(), x.begin() + 1);
  std::vector<double> v = {x[0]};
  const auto rows = std::llround((T + 20.0) / every);
  for (std::int64_t i = 0; i < rows; ++i) {
    // Rows lie on the times at which the current changes, so no step reaches across.
    const double t = static_cast<double>(i) * every;
    const double current = t > 10.0 - 1e-9 && t < T + 10.0 - 1e-9 ? 3.0 : 0.0;
    x = runge_kutta_converged(x, g, current, every);
    v.push_back(x[0]);
  }
  return v;
}

// The scalar version without noise.
std::vector<float> scalar(const std::array<double, 4>& g, double T, double dt) {
  NeuronConstants c;
  c.sigma = 0.0;
  c.dt_ms = dt;
  NeuronSeries series;
  series.g = g;
  series.rows = std::llround((T + 20.0) / dt) + 1;
  series.on = std::llround(10.0 / dt);
  series.off = std::llround((T + 10.0) / dt);
  std::vector<float> out(static_cast<std::size_t>(series.rows));
  series.out = out.data();
  neuron_reference::simulate<double>(c, series);
  return out;
}

// The family as users meet it.
std::vector<float> simulated(const nlohmann::json& settings, const std::array<double, 4>& g, std::int64_t n) {
  const auto family = make_family("neuron", settings, "test");
  Rng rng(1, Purpose::test, 0);
  std::vector<float> out(static_cast<std::size_t>(family->max_rows(n)));
  out.resize(static_cast<std::size_t>(family->simulate(g, n, rng, out)));
  return out;
}

// Times at which v rises through 0 mV, by interpolation.
template <class Values>
std::vector<double> spikes(const Values& v, double dt) {
  std::vector<double> times;
  for (std::size_t i = 1; i < v.size(); ++i) {
    if (v[i - 1] > 0 || v[i] <= 0) continue;
    times.push_back(dt * (static_cast<double>(i) - v[i] / static_cast<double>(v[i] - v[i - 1])));
  }
  return times;
}

// Gates follow the voltage by half a step, as in a leapfrog. So voltages are of second order, although each
// update alone is of first: halving the step divides the error of the spike times by four.
TEST(Neuron, ConvergesToTheAccurateSolution) {
  const std::vector<double> exact = accurate(kRegular, 40.0, 0.02);
  const std::vector<double> exact_spikes = spikes(exact, 0.02);
  ASSERT_GE(exact_spikes.size(), 2u);
  std::vector<double> errors;
  for (const double dt : {0.08, 0.04, 0.02}) {
    const std::vector<double> times = spikes(scalar(kRegular, 40.0, dt), dt);
    ASSERT_EQ(times.size(), exact_spikes.size()) << dt;
    errors.push_back(times[0] - exact_spikes[0]);
  }
  EXPECT_NEAR(errors[0] / errors[1], 4.0, 0.6);
  EXPECT_NEAR(errors[1] / errors[2], 4.0, 0.6);
  EXPECT_LT(std::fabs(errors[2]), 0.005);  // ms
  // The voltage itself, on the way to the first spike.
  ASSERT_GT(exact_spikes[0], 14.0);
  const std::vector<float> v = scalar(kRegular, 40.0, 0.02);
  for (std::size_t i = 0; i <= 700; ++i) ASSERT_NEAR(v[i], exact[i], 1e-3) << i;
}

TEST(Neuron, SpikesAsOftenAsTheAccurateSolution) {
  for (const std::array<double, 4>& g :
       {kRegular, std::array{20.0, 5.0, 0.3, 0.1}, std::array{10.0, 2.0, 0.02, 0.05},
        std::array{3.0, 14.0, 0.07, 0.1}, std::array{30.0, 10.0, 0.005, 0.18}}) {
    const auto exact = spikes(accurate(g, 200.0, 0.1), 0.1).size();
    EXPECT_EQ(spikes(simulated({{"sigma_uA", 0.0}, {"dt_ms", 0.02}}, g, 200), 0.02).size(), exact) << g[0];
    // At the default step the period is a little off: at most one spike in ten.
    const auto coarse = spikes(simulated({{"sigma_uA", 0.0}}, g, 200), 0.2).size();
    EXPECT_NEAR(static_cast<double>(coarse), static_cast<double>(exact), 0.1 * static_cast<double>(exact))
        << g[0];
  }
}

TEST(Neuron, RestsWhereCurrentsBalance) {
  const std::vector<float> v = simulated({{"sigma_uA", 0.0}, {"current_uA", 0.0}}, kRegular, 3000);
  const double rest = v.back();
  const std::array<double, 4> gates = neuron_reference::steady_gates({}, rest);
  const State balance = slope({rest, gates[0], gates[1], gates[2], gates[3]}, kRegular, 0.0);
  for (const double change : balance) EXPECT_NEAR(change, 0.0, 1e-4);
  EXPECT_NEAR(v[v.size() - 500], rest, 1e-3);
}

// Single against double precision, with the same noise. The equations amplify small differences near the
// threshold, so late in a series a spike may come a little earlier or later; the early part must agree.
TEST(Neuron, LanesFollowTheScalarVersion) {
  const Problem problem = builtin_problem("neuron:as_run");
  const NeuronConstants c;
  constexpr std::size_t kSeries = 200;
  constexpr std::int64_t kRows = 601;
  std::vector<NeuronSeries> series(kSeries);
  std::vector<float> lanes(kSeries * kRows);
  std::vector<float> plain(kSeries * kRows);
  for (std::size_t i = 0; i < kSeries; ++i) {
    Rng rng(2, Purpose::test, i);
    problem.models()[i % 3].sample_parameters(rng, series[i].g);
    for (std::uint32_t& word : series[i].seed) word = rng.bits32();
    series[i].rows = kRows;
    series[i].on = 50;
    series[i].off = 550;
    series[i].out = plain.data() + i * kRows;
    neuron_reference::simulate<double>(c, series[i]);
    series[i].out = lanes.data() + i * kRows;
  }
  simulate_neurons(c, neuron_reference::steady_gates(c, c.v_start), series);
  std::vector<double> largest;
  std::size_t same_count = 0;
  for (std::size_t i = 0; i < kSeries; ++i) {
    const std::span<const float> a{lanes.data() + i * kRows, kRows};
    const std::span<const float> b{plain.data() + i * kRows, kRows};
    double difference = 0.0;
    for (std::size_t k = 0; k < kRows; ++k) {
      difference = std::max(difference, static_cast<double>(std::fabs(a[k] - b[k])));
      if (k > 60) continue;
      EXPECT_NEAR(a[k], b[k], 2e-3) << "series " << i << " row " << k;
    }
    largest.push_back(difference);
    same_count += spikes(a, 0.2).size() == spikes(b, 0.2).size() ? 1u : 0u;
  }
  std::sort(largest.begin(), largest.end());
  // mV, of about 140 from end to end. A rate off by a thousandth gives 0.12 and 0.0044.
  EXPECT_LT(largest[kSeries / 2], 0.04);
  EXPECT_LT(largest[kSeries / 10], 0.002);
  EXPECT_GE(same_count, kSeries - 4);
}

TEST(Neuron, SeriesDoNotDependOnTheirNeighbours) {
  const auto family = make_family("neuron");
  constexpr std::size_t kSeries = 35;
  const std::array<double, 4> g = {20.0, 5.0, 0.07, 0.1};
  const auto n_of = [](std::size_t i) { return static_cast<std::int64_t>(5 + 3 * (i % 7)); };
  std::vector<std::vector<float>> alone;
  for (std::size_t i = 0; i < kSeries; ++i) {
    Rng rng(3, Purpose::test, i);
    alone.emplace_back(static_cast<std::size_t>(family->max_rows(n_of(i))));
    ASSERT_EQ(family->simulate(g, n_of(i), rng, alone.back()), family->max_rows(n_of(i)));
  }
  for (const std::size_t together : {std::size_t{2}, std::size_t{8}, std::size_t{9}, kSeries}) {
    std::vector<Rng> rngs;
    for (std::size_t i = 0; i < together; ++i) rngs.emplace_back(3, Purpose::test, i);
    std::vector<std::vector<float>> data(together);
    std::vector<SimulationRequest> requests;
    for (std::size_t i = 0; i < together; ++i) {
      data[i].resize(static_cast<std::size_t>(family->max_rows(n_of(i))));
      requests.push_back({g, n_of(i), &rngs[i], data[i], 0});
    }
    family->simulate_many(requests);
    for (std::size_t i = 0; i < together; ++i) EXPECT_EQ(data[i], alone[i]) << together << " series, " << i;
  }
}

TEST(NeuronThreaded, SameBitsOnOneAndSevenThreads) {
  ThreadPool one(1);
  ThreadPool seven(7);
  Simulator a(builtin_problem("neuron"), 4, Purpose::simulate, {.batch = 40, .n = 20});
  Simulator b(builtin_problem("neuron"), 4, Purpose::simulate, {.batch = 40, .n = 20, .group = 19});
  const Batch x = a.simulate(3, one);
  const Batch y = b.simulate(3, seven);
  EXPECT_TRUE(std::ranges::equal(x.data(), y.data()));
}

TEST(Neuron, RowsFollowDurationAndStep) {
  EXPECT_EQ(make_family("neuron")->max_rows(200), 1101);
  EXPECT_EQ(make_family("neuron", {{"dt_ms", 0.5}, {"quiet_ms", 0.0}}, "test")->max_rows(100), 201);
  EXPECT_THROW(make_family("neuron", {{"dt_ms", 1e-6}}, "test")->max_rows(10000), Error);
  const std::vector<float> v = simulated({}, kRegular, 10);
  EXPECT_EQ(v.size(), 151u);
  EXPECT_EQ(v[0], -70.0f);
}

// Without conductances the membrane is a capacitor: 1 mV per ms for each uA/cm2, while the current is on.
TEST(Neuron, WithoutConductancesOnlyTheCurrentCounts) {
  const std::vector<float> v = simulated({{"sigma_uA", 0.0}, {"capacitance_uF", 2.0}}, {0, 0, 0, 0}, 20);
  EXPECT_NEAR(v[50], -70.0, 1e-3);
  EXPECT_NEAR(v[100], -70.0 + 10.0 * 1.5, 2e-2);
  EXPECT_NEAR(v[150], -70.0 + 20.0 * 1.5, 2e-2);
  EXPECT_NEAR(v.back(), v[150], 1e-2);
}

// With nothing that moves it, the voltage stays exactly at a removable singularity (w = 13, 15, 40).
TEST(Neuron, PassesTheRemovableSingularities) {
  for (const double v_start : {-47.0, -45.0, -20.0}) {
    const std::vector<float> v =
        simulated({{"v_start_mV", v_start}, {"sigma_uA", 0.0}, {"current_uA", 0.0}}, {0, 0, 0, 0}, 5);
    ASSERT_FALSE(v.empty());
    EXPECT_EQ(v.back(), static_cast<float>(v_start));
  }
}

// Corners of the priors, wild starts, rough steps.
TEST(Neuron, IsStable) {
  for (const double v_start : {-47.0, -45.0, -20.0, -200.0, 200.0}) {
    for (const double dt : {0.01, 0.2, 5.0}) {
      for (const double g_Na : {0.0, 1.5, 30.0, 1000.0}) {
        for (const double g_K : {0.1, 15.0}) {
          for (const double rest : {0.0, 0.005, 0.3}) {
            const std::vector<float> v =
                simulated({{"v_start_mV", v_start}, {"dt_ms", dt}}, {g_Na, g_K, rest, 0.6 * rest}, 5);
            ASSERT_FALSE(v.empty());
            EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](float x) { return std::fabs(x) < 500.0f; }))
                << v_start << " " << dt << " " << g_Na << " " << g_K << " " << rest;
          }
        }
      }
    }
  }
}

TEST(Neuron, AVoltageThatIsNoNumberIsAFailedDraw) {
  EXPECT_TRUE(simulated({{"current_uA", 1e38}}, {0, 0, 0, 0}, 20).empty());
}

}  // namespace
}  // namespace occam
