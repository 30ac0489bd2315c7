// What models of the user's own cost. A vectorised Python simulator of coin tosses, 64 data sets of 100
// tosses per request: the whole way there and back beside the time the Python function itself takes
// (`boundary` is the rest, as a part of it). And the simplest decision model as a user's C++ file beside the
// same loop compiled into this program.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "occam/core/rng.hpp"
#include "occam/io/file.hpp"
#include "occam/simulate/problem_file.hpp"
#include "scalar_accumulator.hpp"

namespace occam {
namespace {

constexpr std::int64_t kSets = 64;
constexpr std::int64_t kTosses = 100;
constexpr double kDrift = 2.0;
constexpr double kThreshold = 1.8;

constexpr const char* kPython = R"(
import time
import atexit
from occam_simulator import serve

spent = [0.0, 0]

def coin(theta, n, rng):
    start = time.perf_counter()
    rows = rng.random((len(n), n.max())) < theta[:, None]
    spent[0] += time.perf_counter() - start
    spent[1] += 1
    return rows

def tell():
    with open("spent", "w") as file:
        file.write(f"{spent[0]} {spent[1]}")

atexit.register(tell)
serve({"flat": coin, "fair": coin}, vectorized=True)
)";

constexpr const char* kCpp = R"(
#include <occam/simulator.h>

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double a = p["a"], v = p["v"], dt = 0.001, scale = std::sqrt(dt);
  for (long i = 0; i < out.n(); ++i) {
    double x = 0.5 * a;
    long steps = 0;
    while (x > 0 && x < a && steps < 5000) {
      x += v * dt + scale * rng.normal();
      ++steps;
    }
    out(i, 0) = x >= a;
    out(i, 1) = steps * dt;
  }
  return true;
}
)";

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "occam-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Many data sets of one size, asked of a model's family at once.
struct Requests {
  std::vector<Rng> rngs;
  std::vector<double> thetas;
  std::vector<float> rows;
  std::vector<SimulationRequest> all;

  Requests(const Family& family, std::vector<double> theta, std::int64_t sets, std::int64_t n)
      : thetas(std::move(theta)), rows(static_cast<std::size_t>(sets * n) * family.columns().size()) {
    const std::size_t cells = static_cast<std::size_t>(n) * family.columns().size();
    for (std::int64_t b = 0; b < sets; ++b)
      rngs.emplace_back(1, Purpose::simulate, static_cast<std::uint64_t>(b));
    for (std::int64_t b = 0; b < sets; ++b) {
      const auto at = static_cast<std::size_t>(b);
      all.push_back({thetas, n, &rngs[at], std::span<float>(rows).subspan(at * cells, cells)});
    }
  }
};

void python(benchmark::State& state) {
  const Folder folder;
  write_file_atomic(folder / "coin.py", kPython);
  write_file_atomic(folder / "p.toml",
                    "name = \"coins\"\nn = 100\ncolumns = [\"x\"]\nsimulator = \"coin.py\"\n"
                    "[model.flat]\ntheta = \"beta(1, 1)\"\n[model.fair]\ntheta = \"beta(30, 30)\"\n");
  std::int64_t count = 0;
  double seconds = 0;
  {
    const Problem problem = load_problem(folder / "p.toml");
    const Family& family = problem.models()[0].family();
    Requests requests(family, {0.4}, kSets, kTosses);
    family.simulate_many(requests.all);  // starts the program
    for (auto _ : state) {
      const auto start = std::chrono::steady_clock::now();
      family.simulate_many(requests.all);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ++count;
    }
  }
  double own = 0;
  double calls = 1;
  std::ifstream(folder / "spent") >> own >> calls;
  const double function_us = 1e6 * own / calls;
  const double whole_us = 1e6 * seconds / static_cast<double>(count);
  state.counters["function_us"] = function_us;
  state.counters["whole_us"] = whole_us;
  state.counters["boundary"] = (whole_us - function_us) / function_us;
}

void cpp_file(benchmark::State& state) {
  const Folder folder;
  write_file_atomic(folder / "walk.cpp", kCpp);
  write_file_atomic(folder / "p.toml",
                    "name = \"walks\"\nn = 100\ncolumns = [\"response\", \"rt\"]\nsimulator = \"walk.cpp\"\n"
                    "[parameters]\na = \"uniform(1, 2)\"\n[model.one]\nv = 2\n[model.two]\nv = 1\n");
  const Problem problem = load_problem(folder / "p.toml");
  const Family& family = problem.models()[0].family();
  Requests requests(family, {kThreshold, kDrift}, 16, kTosses);
  family.simulate_many(requests.all);  // compiles
  double steps = 0;
  for (auto _ : state) {
    family.simulate_many(requests.all);
    for (std::size_t k = 1; k < requests.rows.size(); k += 2) steps += requests.rows[k] / 0.001;
  }
  state.counters["steps"] = benchmark::Counter(steps, benchmark::Counter::kIsRate);
}

void scalar(benchmark::State& state) {
  ScalarAccumulator accumulator(1);
  double steps = 0;
  for (auto _ : state) steps += accumulator.trial(kDrift, kThreshold, 0.5, 2.0, 0.001, 5000).steps;
  state.counters["steps"] = benchmark::Counter(steps, benchmark::Counter::kIsRate);
}

BENCHMARK(python)->UseRealTime();
BENCHMARK(cpp_file);
BENCHMARK(scalar);

}  // namespace
}  // namespace occam

BENCHMARK_MAIN();
