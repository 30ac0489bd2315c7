// The neuron on one core: SIMD lanes against the plain scalar version of the same equations, in single and in
// double precision. Series of T = 200 ms (1101 rows) with
// parameters from the prior of the third model. `steps` counts time steps of all series per second.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "occam/models/neuron_reference.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

constexpr std::int64_t kRows = 1101;

struct Work {
  explicit Work(std::int64_t count) : values(static_cast<std::size_t>(count * kRows)) {
    const Problem problem = builtin_problem("neuron");
    for (std::int64_t i = 0; i < count; ++i) {
      Rng rng(1, Purpose::test, static_cast<std::uint64_t>(i));
      NeuronSeries one;
      problem.models()[2].sample_parameters(rng, one.g);
      for (std::uint32_t& word : one.seed) word = rng.bits32();
      one.rows = kRows;
      one.on = 50;
      one.off = 1050;
      one.out = values.data() + i * kRows;
      series.push_back(one);
    }
  }
  std::vector<float> values;
  std::vector<NeuronSeries> series;
};

void report(benchmark::State& state, std::int64_t series) {
  const auto rate = [](std::int64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
  };
  state.counters["series"] = rate(series);
  state.counters["steps"] = rate(series * (kRows - 1));
}

template <class T>
void scalar(benchmark::State& state) {
  const Work work(16);
  std::int64_t done = 0;
  for (auto _ : state) {
    neuron_reference::simulate<T>({}, work.series[static_cast<std::size_t>(done++ % 16)]);
    benchmark::DoNotOptimize(work.values.data());
    benchmark::ClobberMemory();
  }
  report(state, done);
}

void simd(benchmark::State& state) {
  const Work work(state.range(0));
  const NeuronConstants constants;
  const std::array<double, 4> gates = neuron_reference::steady_gates(constants, constants.v_start);
  std::int64_t done = 0;
  for (auto _ : state) {
    simulate_neurons(constants, gates, work.series);
    done += state.range(0);
    benchmark::ClobberMemory();
  }
  report(state, done);
  state.SetLabel(neuron_target());
}

BENCHMARK(scalar<double>);
BENCHMARK(scalar<float>);
BENCHMARK(simd)->ArgName("series")->Arg(1)->Arg(8)->Arg(16)->Arg(64);

}  // namespace
}  // namespace occam

BENCHMARK_MAIN();
