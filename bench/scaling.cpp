// How training would scale to more ranks than there are at hand. One process plays the first and the last of
// R ranks (DryRun), and the one that takes longer counts: it makes its part of the gradients and of the
// optimiser's work, whose time is measured, and counts what it would send. Time on the network follows from
// that by a plain model, a latency for every stage of a collective call and a bandwidth for the bytes; it is
// a prediction, no measurement.
//   build/bench/bench/scaling [steps]
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "occam/core/progress.hpp"
#include "occam/parallel/dry_run.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/reference_table.hpp"
#include "occam/simulate/simulation_file.hpp"
#include "occam/train/trainer.hpp"

namespace occam {
namespace {

constexpr std::int64_t kBatch = 128;

struct Network {
  const char* name;
  double latency_s, bytes_per_s;
};
constexpr Network kNetworks[] = {{"100 Gbit/s InfiniBand", 2e-6, 10e9}, {"10 Gbit/s Ethernet", 30e-6, 1e9}};

// Of the processor, whatever else runs on it; there is one thread.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// What a step takes and sends beside simulations, which a table stands for.
struct Step {
  double seconds = 0, calls = 0, bytes = 0;
};

Step measure(const Problem& problem, std::shared_ptr<const ReferenceTable> table, int rank, int ranks,
             std::int64_t steps) {
  DryRun others(rank, ranks);
  ThreadPool pool(1, others);
  SilentProgress silent;
  TrainRun run;
  run.table = std::move(table);
  Step best{INFINITY, 0, 0};
  const auto train = [&](std::int64_t count) {
    TrainOptions options;
    options.iterations = count;
    options.batch = kBatch;
    options.validate_every = 1 << 20;
    Trainer trainer(problem, {}, options, run, pool, silent);
    others.clear();
    return seconds_of([&] { trainer.train(); });
  };
  for (int repeat = 0; repeat < 3; ++repeat) {
    // The difference of two lengths has no beginning and no end in it.
    const double few_s = train(2);
    const DryRun::Traffic few = others.traffic();
    const double many_s = train(2 + steps);
    const DryRun::Traffic many = others.traffic();
    const auto n = static_cast<double>(steps);
    if ((many_s - few_s) / n < best.seconds)
      best = {(many_s - few_s) / n, static_cast<double>(many.calls - few.calls) / n,
              static_cast<double>(many.sent + many.received - few.sent - few.received) / n};
  }
  return best;
}

void predict(const Problem& problem, std::shared_ptr<const ReferenceTable> table, double set_s,
             const std::string& title, const Network& network, const std::vector<int>& sizes,
             const std::vector<Step>& steps) {
  const double data_bytes = static_cast<double>(table->all().rows() * problem.D()) * sizeof(float) /
                            static_cast<double>(table->size()) * kBatch;
  fmt::print("\n{}, {}\n{:>6} {:>14} {:>14} {:>14} {:>9} {:>11}\n", title, network.name, "ranks", "step [ms]",
             "simulating", "sending", "speed-up", "efficiency");
  double one = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double R = sizes[i];
    // Every rank waits for the one with most data sets.
    const double simulating = set_s * std::ceil(static_cast<double>(kBatch) / R);
    const double stages = std::ceil(std::log2(R));
    const double sending = sizes[i] == 1 ? 0
                                         : (steps[i].calls + 2) * stages * network.latency_s +
                                               (steps[i].bytes + data_bytes) / network.bytes_per_s;
    const double total = steps[i].seconds + simulating + sending;
    if (i == 0) one = total;
    fmt::print("{:>6} {:>14.3f} {:>14.3f} {:>14.3f} {:>9.1f} {:>10.0f}%\n", sizes[i], 1e3 * total,
               1e3 * simulating, 1e3 * sending, one / total, 100 * one / total / R);
  }
}

void run(std::int64_t steps) {
  const Problem problem = load_problem("decision-making");
  ThreadPool one(1);
  SilentProgress silent;
  const std::string path = (std::filesystem::temp_directory_path() / "occam-scaling.npz").string();
  SimulationFileOptions options;
  options.datasets = 2000;
  options.with_parameters = true;
  const double set_s =
      seconds_of([&] { write_simulations(problem, options, 1, path, one, silent); }) / 2000.0;
  const auto table = std::make_shared<const ReferenceTable>(ReferenceTable::read(path, problem));
  std::filesystem::remove(path);
  const std::vector<int> sizes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::vector<Step> measured;
  fmt::print("one thread per rank, batch {}, {:.1f} us per simulated data set\n", kBatch, 1e6 * set_s);
  fmt::print("{:>6} {:>22} {:>8} {:>14}\n", "ranks", "gradient, update [ms]", "calls", "bytes");
  for (const int size : sizes) {
    const Step first = measure(problem, table, 0, size, steps);
    const Step last = size == 1 ? first : measure(problem, table, size - 1, size, steps);
    measured.push_back(first.seconds > last.seconds ? first : last);
    fmt::print("{:>6} {:>22.3f} {:>8.1f} {:>14.0f}\n", size, 1e3 * measured.back().seconds,
               measured.back().calls, measured.back().bytes);
  }
  for (const Network& network : kNetworks) {
    predict(problem, table, set_s, "the decision study", network, sizes, measured);
    predict(problem, table, 1.0, "the same with a simulator of 1 s per data set", network, sizes, measured);
  }
}

}  // namespace
}  // namespace occam

int main(int argc, char** argv) {
  occam::run(argc > 1 ? std::atoll(argv[1]) : 20);
}
