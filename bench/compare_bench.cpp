// Inference as `occam compare` does it: 5,000 data sets of 100 observations through the network of every
// built-in problem (its default size, untrained: the time does not depend on the weights), after loading, by
// number of threads; without and with a scope reference of 20,000.
#include <memory>

#include <benchmark/benchmark.h>

#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/core/progress.hpp"
#include "occam/scope/build_scope.hpp"
#include "occam/scope/scope.hpp"
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
  for (const Column& column : problem.columns()) file.columns.push_back(column.name);
  return file;
}

void compare_data_sets(benchmark::State& state, const std::string& name, bool with_scope) {
  const Problem problem = builtin_problem(name);
  ThreadPool pool(static_cast<int>(state.range(0)));
  SimulatorOptions options;
  options.batch = kSets;
  options.n = kN;
  const Batch batch = Simulator(problem, 1, Purpose::test, options).simulate(0, pool);
  const Ragged<const float> data = batch.view();
  Comparator comparator(untrained(problem, data), pool);
  const std::vector<std::string> ids(static_cast<std::size_t>(kSets));
  SilentProgress progress;
  std::optional<ScopeReference> scope;
  if (with_scope) scope = build_scope(comparator, problem, {20000, 1000, false}, 1, progress);
  for (auto _ : state) {
    ModelPosterior answers = comparator.empty_posterior();
    const NetworkOutputs outputs = comparator.outputs(data);
    comparator.add_answers(ids, data, outputs, answers, nullptr);
    if (scope) benchmark::DoNotOptimize(judge_scope(*scope, comparator, data, outputs).data());
    benchmark::DoNotOptimize(answers.uncertainty(0));
  }
  state.SetItemsProcessed(state.iterations() * kSets);
}

}  // namespace
}  // namespace occam

int main(int argc, char** argv) {
  for (const std::string& name : occam::catalogue().problem_names()) {
    for (const bool scope : {false, true}) {
      benchmark::RegisterBenchmark(
          (scope ? "compare_with_scope_5000x100/" + name : "compare_5000x100/" + name).c_str(),
          occam::compare_data_sets, name, scope)
          ->Arg(1)
          ->Arg(2)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
