// occam simulate PROBLEM: simulated data sets, to look at, to test with, or to train from elsewhere.
#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/simulation_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct SimulateOptions {
  std::string problem;
  std::string output = "-";
  SimulationFileOptions file;
};

void simulate(const SimulateOptions& options, const Call& call) {
  const Problem problem = load_problem(options.problem);
  call.keep(problem_inputs(problem));
  const auto progress = call.progress("data sets");
  ThreadPool pool(call.threads(), call.ranks());
  write_simulations(problem, options.file, call.seed(), options.output, pool, *progress);
}

}  // namespace

void register_simulate(Verbs& verbs) {
  auto o = std::make_shared<SimulateOptions>();
  verbs.add("simulate", "Simulate data sets from the models of a problem")
      .about(R"(
        Simulates data sets: for each, a model is drawn from the model prior, parameters from the
        model's prior, and then the data. The same seed gives the same bytes, whatever the number of
        threads.
      )")
      .argument("PROBLEM", o->problem, "a built-in problem (see `occam models`) or a problem file (.toml)")
      .output(o->output, "file to write: .csv, .tsv or .npz; - is csv to standard output")
      .options(fields(o->file))
      .computes()
      .shares_work()
      .example("occam simulate beta-binomial --datasets 5 --exact",
               "five series of coin tosses, with the exact answer beside them")
      .example("occam simulate decision-making --disturb shift=2 -o late.csv",
               "data with all response times two seconds late, which no model of the problem makes")
      .example("occam simulate gaussian-mixtures --datasets 1000 --seed 7 -o mixtures.npz",
               "a thousand data sets for NumPy")
      .run([o](const Call& call) { simulate(*o, call); });
}

}  // namespace occam
