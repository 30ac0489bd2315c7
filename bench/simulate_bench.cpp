// Simulation throughput of every problem in the catalogue, by number of threads: data sets and observations
// per second (wall clock) at the problem's own distribution of N, and exact posteriors per second on one
// core.
#include <string>

#include <benchmark/benchmark.h>

#include "occam/parallel/thread_pool.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

void simulate_batches(benchmark::State& state, const std::string& name) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  Simulator simulator(builtin_problem(name), 1, Purpose::simulate, {.batch = 256});
  Batch batch;
  std::int64_t number = 0;
  std::int64_t observations = 0;
  for (auto _ : state) {
    simulator.simulate(number++, pool, batch);
    observations += batch.rows();
    benchmark::DoNotOptimize(batch.data().data());
  }
  const auto rate = [](std::int64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
  };
  state.counters["data_sets"] = rate(number * 256);
  state.counters["observations"] = rate(observations);
}

void exact_posteriors(benchmark::State& state, const std::string& name) {
  const Problem problem = builtin_problem(name);
  ThreadPool pool(1);
  Simulator simulator(problem, 1, Purpose::simulate, {.batch = 64, .n = problem.size().high()});
  const Batch batch = simulator.simulate(0, pool);
  std::int64_t count = 0;
  for (auto _ : state) benchmark::DoNotOptimize(problem.exact_log_posterior(batch[count++ % batch.size()]));
  state.counters["data_sets"] = benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
}

void register_all() {
  const int cores = available_cores();
  for (const std::string& name : catalogue().problem_names()) {
    auto* throughput = benchmark::RegisterBenchmark(
        ("simulate/" + name).c_str(), [name](benchmark::State& state) { simulate_batches(state, name); });
    throughput->ArgName("threads")->UseRealTime();
    for (int threads = 1; threads < cores; threads *= 2) throughput->Arg(threads);
    throughput->Arg(cores);
    if (!builtin_problem(name).has_exact_posterior()) continue;
    benchmark::RegisterBenchmark(("exact_posterior_largest_n/" + name).c_str(),
                                 [name](benchmark::State& state) { exact_posteriors(state, name); });
  }
}

}  // namespace
}  // namespace occam

int main(int argc, char** argv) {
  occam::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
