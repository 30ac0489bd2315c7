// One series by itself, as GPUs run it, beside the SIMD code; and batches by loops of such series.
#include "occam/models/neuron_series.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/models/neuron_reference.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

// Rounding moves spikes, the more the longer a series runs; until the current has been on for 2 ms it is
// rounding alone.
TEST(NeuronSeriesAlone, IsThatOfTheSimdCode) {
  constexpr std::size_t kSeries = 60;
  constexpr std::size_t kRows = 601;
  const NeuronConstants c;
  const auto gates = neuron_reference::steady_gates(c, c.v_start);
  const NeuronSteps steps = neuron_steps(c, gates);
  const Problem problem = builtin_problem("neuron");
  std::vector<NeuronSeries> series(kSeries);
  std::vector<float> lanes(kSeries * kRows), own(kSeries * kRows);
  for (std::size_t i = 0; i < kSeries; ++i) {
    Rng rng(2, Purpose::test, i);
    problem.models()[i % 3].sample_parameters(rng, series[i].g);
    for (std::uint32_t& word : series[i].seed) word = rng.bits32();
    series[i].rows = kRows;
    series[i].on = 50;
    series[i].off = 550;
    series[i].out = lanes.data() + i * kRows;
    NeuronInput input{};
    const NeuronNoise noise(series[i].seed);
    for (std::size_t k = 0; k < 4; ++k) {
      input.g[k] = static_cast<float>(series[i].g[k]);
      input.seed[k] = noise.s[k];
    }
    input.rows = kRows;
    input.on = 50;
    input.off = 550;
    run_series(steps, input, own.data() + i * kRows);
  }
  simulate_neurons(c, gates, series);
  std::vector<double> largest;
  for (std::size_t i = 0; i < kSeries; ++i) {
    double difference = 0.0;
    for (std::size_t k = 0; k < kRows; ++k) {
      const double apart = std::fabs(own[i * kRows + k] - lanes[i * kRows + k]);
      difference = std::max(difference, apart);
      if (k > 60) continue;
      EXPECT_LT(apart, 2e-3) << "series " << i << " row " << k;
    }
    largest.push_back(difference);
  }
  std::sort(largest.begin(), largest.end());
  // mV, of about 140 from end to end.
  EXPECT_LT(largest[kSeries / 2], 0.04);
  EXPECT_LT(largest[kSeries / 10], 0.002);
}

TEST(NeuronSeriesThreaded, BatchesAreThoseOfTheHostOnAnyNumberOfThreads) {
  const Problem problem = builtin_problem("neuron");
  ThreadPool host(2), one(1), four(4);
  one.set_loop_device(make_plain_loops());
  four.set_loop_device(make_plain_loops());
  const auto batch = [&](ThreadPool& pool) {
    return Simulator(problem, 5, Purpose::simulate, {.batch = 12, .n = 20}).simulate(3, pool);
  };
  const Batch expected = batch(host), a = batch(one), b = batch(four);
  EXPECT_TRUE(std::ranges::equal(a.data(), b.data()));
  EXPECT_TRUE(std::ranges::equal(a.offsets(), expected.offsets()));
  std::size_t far = 0;
  for (std::size_t i = 0; i < a.data().size(); ++i)
    far += std::fabs(a.data()[i] - expected.data()[i]) > 1 ? 1u : 0u;
  EXPECT_LT(static_cast<double>(far), 0.01 * static_cast<double>(a.data().size()));
}

// Sizes differ, and so do the places of their rows; a voltage that is no number is a failed draw.
TEST(NeuronSeriesAlone, EverySeriesHasItsOwnRows) {
  const auto device = make_plain_loops();
  const auto run = [&](const Family& family, std::vector<std::int64_t> sizes) {
    const std::array<double, 4> g = {20.0, 5.0, 0.07, 0.1};
    std::vector<Rng> rngs;
    std::vector<std::vector<float>> out;
    std::vector<SimulationRequest> requests;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      rngs.emplace_back(3, Purpose::test, static_cast<std::uint64_t>(sizes[i]));
      out.emplace_back(static_cast<std::size_t>(family.max_rows(sizes[i])));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) requests.push_back({g, sizes[i], &rngs[i], out[i]});
    family.simulate_many_on(*device, requests);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (requests[i].rows == 0) out[i].clear();
    }
    return out;
  };
  const auto family = make_family("neuron");
  const auto together = run(*family, {7, 30, 12});
  EXPECT_EQ(run(*family, {30})[0], together[1]);
  EXPECT_EQ(run(*family, {12})[0], together[2]);
  const auto wild = make_family("neuron", {{"current_uA", 1e38}}, "test");
  EXPECT_TRUE(run(*wild, {20})[0].empty());
}

}  // namespace
}  // namespace occam
