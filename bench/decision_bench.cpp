// Trials of the decision model on one core: the SIMD version of the library against the plain scalar program
// beside this file, by the stability alpha of the noise (in hundredths). A step is dt = 1 ms of a trial,
// whether taken by itself or, with Gaussian noise, skipped over.
#include <array>
#include <vector>

#include <benchmark/benchmark.h>

#include "occam/models/decision_making.hpp"
#include "occam/simulate/catalogue.hpp"
#include "scalar_accumulator.hpp"

namespace occam {
namespace {

constexpr double kDrift = 2.0;
constexpr double kThreshold = 1.8;
constexpr std::int64_t kTrials = 4000;

void report(benchmark::State& state, double trials, double steps) {
  state.counters["trials"] = benchmark::Counter(trials, benchmark::Counter::kIsRate);
  state.counters["steps"] = benchmark::Counter(steps, benchmark::Counter::kIsRate);
}

void simd(benchmark::State& state) {
  const auto family = make_family("levy-accumulator");
  const double alpha = 0.01 * static_cast<double>(state.range(0));
  const std::array<double, 9> theta = {kDrift, -kDrift, kThreshold, 0, 0.5, alpha, 0, 0, 0};
  std::vector<float> rows(3 * kTrials);
  Rng rng(1, Purpose::simulate, 0);
  double trials = 0.0;
  double seconds = 0.0;
  for (auto _ : state) {
    family->simulate(theta, kTrials / 2, rng, rows);
    trials += kTrials;
    for (std::size_t k = 2; k < rows.size(); k += 3) seconds += rows[k];
  }
  report(state, trials, seconds / 0.001);
}

void scalar(benchmark::State& state) {
  const double alpha = 0.01 * static_cast<double>(state.range(0));
  ScalarAccumulator accumulator(1);
  double trials = 0.0;
  double steps = 0.0;
  for (auto _ : state) {
    steps += accumulator.trial(kDrift, kThreshold, 0.5, alpha, 0.001, 5000).steps;
    trials += 1.0;
  }
  report(state, trials, steps);
}

void simd_draws(benchmark::State& state) {
  const double alpha = 0.01 * static_cast<double>(state.range(0));
  std::vector<float> out(1 << 14);
  std::vector<std::uint32_t> words(2 * out.size());
  Rng rng(1, Purpose::simulate, 0);
  for (std::uint32_t& word : words) word = rng.bits32();
  const LevyNoise noise(alpha, 1.0);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    ++seed;
    alpha == 2.0 ? draw_gaussian(seed, out) : draw_levy(noise, words, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(seed) * static_cast<std::int64_t>(out.size()));
}

BENCHMARK(scalar)->ArgName("alpha")->Arg(110)->Arg(150)->Arg(200);
BENCHMARK(simd)->ArgName("alpha")->Arg(110)->Arg(150)->Arg(200);
BENCHMARK(simd_draws)->ArgName("alpha")->Arg(150)->Arg(200);

}  // namespace
}  // namespace occam

BENCHMARK_MAIN();
