// The diagnostics of `occam check` without simulation and network: 100,000 predictions of 6 models, and
// 10,000 of 400, with default options, by number of threads.
#include <benchmark/benchmark.h>

#include "occam/check/diagnostic.hpp"
#include "occam/core/rng.hpp"
#include "occam/parallel/thread_pool.hpp"

namespace occam {
namespace {

// A block of predictions without fault; seen again and again.
Predictions some_predictions(std::int64_t J) {
  Predictions block;
  Rng rng(1, Purpose::test, 0);
  for (std::int64_t k = 0; k < 1000; ++k) {
    std::vector<double> p;
    double sum = 0;
    for (std::int64_t j = 0; j < J; ++j) sum += p.emplace_back(rng.gamma(0.5) + 1e-12);
    for (double& value : p) value /= sum;
    block.truth.push_back(static_cast<std::int32_t>(rng.categorical(p)));
    block.n.push_back(rng.uniform_int(1, 300));
    block.u.push_back(rng.uniform());
    block.p.insert(block.p.end(), p.begin(), p.end());
  }
  return block;
}

void diagnose(benchmark::State& state, std::int64_t J, std::int64_t predictions) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  const Predictions block = some_predictions(J);
  PredictionLayout layout;
  for (std::int64_t j = 0; j < J; ++j) layout.model_names.push_back("m" + std::to_string(j));
  layout.has_n = layout.has_u = true;
  for (auto _ : state) {
    Checker checker(layout, {}, 1);
    for (std::int64_t k = 0; k < predictions; k += block.size()) checker.add(block, pool);
    benchmark::DoNotOptimize(checker.finish().size());
  }
  state.SetItemsProcessed(state.iterations() * predictions);
}

void six_models(benchmark::State& state) {
  diagnose(state, 6, 100000);
}
void many_models(benchmark::State& state) {
  diagnose(state, 400, 10000);
}

BENCHMARK(six_models)->Name("check_100000x6")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(many_models)->Name("check_10000x400")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace occam

BENCHMARK_MAIN();
