// Inference as `occam compare` does it: 5,000 data sets of 100 observations through the network of every
// built-in problem (its default size, untrained: the time does not depend on the weights), after loading, by
// number of threads.
#include <memory>

#include <benchmark/benchmark.h>

#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

constexpr std::int64_t kSets = 5000;
constexpr std::int64_t kN = 100;

NetworkFile untrained(const Problem& problem, Ragged<const float> sample) {
  NetworkFile file;
  file.config.options.architecture = problem.ordered() ? "sequence" : "set";
  file.config.set_options(problem.network(), problem.name());
  file.config.channels = problem.D();
  file.config.models = problem.J();
  file.config.standardisation = learn_standardisation(sample);
  const Network<float> network(file.config);
  file.members.emplace_back(static_cast<std::size_t>(network.weight_count()));
  network.layout().initialise<float>(file.members[0], 1, 0);
  file.model_names = problem.model_names();
  file.model_prior.assign(problem.model_prior().begin(), problem.model_prior().end());
  file.largest_n = kN;
  return file;
}

void compare_data_sets(benchmark::State& state, const std::string& name) {
  const Problem problem = builtin_problem(name);
  ThreadPool pool(static_cast<int>(state.range(0)));
  SimulatorOptions options;
  options.batch = kSets;
  options.n = kN;
  const Batch batch = Simulator(problem, 1, Purpose::test, options).simulate(0, pool);
  const Ragged<const float> data{
      {batch.data().data(), batch.rows(), batch.columns(), batch.columns()}, batch.offsets().data(), kSets};
  Comparator comparator(untrained(problem, data), pool);
  const std::vector<std::string> ids(static_cast<std::size_t>(kSets));
  for (auto _ : state) {
    ModelPosterior answers = comparator.empty_posterior();
    comparator.compare(ids, data, answers);
    benchmark::DoNotOptimize(answers.uncertainty(0));
  }
  state.SetItemsProcessed(state.iterations() * kSets);
}

}  // namespace
}  // namespace occam

int main(int argc, char** argv) {
  for (const std::string& name : occam::catalogue().problem_names()) {
    benchmark::RegisterBenchmark(("compare_5000x100/" + name).c_str(), occam::compare_data_sets, name)
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
