// A program of somebody else's: simulates a few data sets of a built-in problem and says what came out.
#include <occam/core/version.hpp>
#include <occam/simulate/catalogue.hpp>
#include <occam/simulate/simulator.hpp>

#include <fmt/format.h>

int main() {
  occam::ThreadPool pool(2);
  occam::Simulator simulator(occam::builtin_problem("neuron"), 1, occam::Purpose::simulate,
                             {.batch = 3, .n = 20});
  const occam::Batch batch = simulator.simulate(0, pool);
  fmt::print("occam {}: {} data sets\n", occam::kVersion, batch.size());
}
