// What models of the user's own cost. A vectorised Python simulator of coin tosses, 64 data sets of 100
// tosses per request: the whole way there and back beside the time the Python function itself takes
// (`boundary` is the rest, as a part of it). And C++ files: the simplest decision model beside the same loop
// compiled into this program; and what it costs that they run in a process of their own, for a coin, the
// cheapest model there is, and for the epidemic of the examples: CPU time of both processes beside that of
// the same function called in this one. And what it costs to look parameters up by name in every row.
#define OCCAM_HOST  // of simulator.h: only the plain C structures
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "occam/core/rng.hpp"
#include "occam/io/file.hpp"
#include "occam/simulate/own/helpers.hpp"
#include "occam/simulate/own/simulator.h"
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

constexpr const char* kCoin = R"(
#include <occam/simulator.h>

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double theta = p["theta"];
  for (long i = 0; i < out.n(); ++i) out(i, 0) = rng.uniform() < theta;
  return true;
}
)";

// Of this process and of those that have ended and were waited for.
double cpu_us() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    struct rusage usage {};
    ::getrusage(who, &usage);
    for (const struct timeval& t : {usage.ru_utime, usage.ru_stime})
      sum += 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec);
  }
  return sum;
}

// The same file, called in this process.
using Direct = int (*)(const occam_request_v1*);
Direct load(const std::string& source, const std::string& library) {
  const std::string command = "c++ -std=c++20 -O3 -march=native -fno-math-errno -shared -fPIC -I '" +
                              helper_folder() + "' -o '" + library + "' '" + source + "'";
  if (std::system(command.c_str()) != 0) return nullptr;
  void* handle = ::dlopen(library.c_str(), RTLD_NOW);
  return handle == nullptr ? nullptr : reinterpret_cast<Direct>(::dlsym(handle, "occam_simulate_v1"));
}

void call_directly(Direct simulate, const Model& model, Requests& requests) {
  std::vector<const char*> names;
  const std::vector<Parameter> parameters = model.family().parameters();
  for (const Parameter& parameter : parameters) names.push_back(parameter.name.c_str());
  std::array<char, 512> message{};
  for (const SimulationRequest& one : requests.all) {
    occam_request_v1 request{};
    request.model = model.name().c_str();
    request.names = names.data();
    request.theta = one.theta.data();
    request.parameters = static_cast<std::int64_t>(one.theta.size());
    request.seed[0] = one.rng->bits64();
    request.seed[1] = one.rng->bits64();
    request.n = one.n;
    request.columns = static_cast<std::int64_t>(model.family().columns().size());
    request.out = one.out.data();
    request.message = message.data();
    request.message_size = static_cast<std::int64_t>(message.size());
    benchmark::DoNotOptimize(simulate(&request));
  }
}

// CPU time of a request for 64 data sets of size n, through the worker and called directly.
void handed_over(benchmark::State& state, const std::string& folder, const std::string& problem_file,
                 const std::string& source, std::int64_t n) {
  const Folder made;
  const Direct direct = load(folder + "/" + source, made / "direct.so");
  if (direct == nullptr) return state.SkipWithError("the file does not compile");
  const auto with_problem = [&](auto&& work) {
    const Problem problem = load_problem(folder + "/" + problem_file);
    const Model& model = problem.models()[0];
    std::vector<double> theta(model.parameters().size());
    Rng rng(1, Purpose::simulate, 0);
    model.sample_parameters(rng, theta);
    Requests requests(model.family(), theta, kSets, n);
    model.family().simulate_many(requests.all);  // starts the worker
    work(model, requests);
  };
  with_problem([](const Model&, Requests&) {});  // compiles
  const auto iterations = static_cast<double>(state.max_iterations);
  const double start_us = cpu_us();
  with_problem([&](const Model& model, Requests& requests) {
    for (auto _ : state) model.family().simulate_many(requests.all);
  });
  const double worker_us = (cpu_us() - start_us) / iterations;
  double direct_us = 0;
  with_problem([&](const Model& model, Requests& requests) {
    const double before_us = cpu_us();
    for (double i = 0; i < iterations; ++i) call_directly(direct, model, requests);
    direct_us = (cpu_us() - before_us) / iterations;
  });
  state.counters["worker_us"] = worker_us;
  state.counters["direct_us"] = direct_us;
  state.counters["boundary"] = (worker_us - direct_us) / direct_us;
}

void cpp_coin(benchmark::State& state) {
  const Folder folder;
  write_file_atomic(folder / "coin.cpp", kCoin);
  write_file_atomic(folder / "p.toml",
                    "name = \"coins\"\nn = 100\ncolumns = [\"x\"]\nsimulator = \"coin.cpp\"\n"
                    "[model.flat]\ntheta = \"beta(1, 1)\"\n[model.fair]\ntheta = \"beta(30, 30)\"\n");
  handed_over(state, folder / ".", "p.toml", "coin.cpp", kTosses);
}

void cpp_epidemic(benchmark::State& state) {
  handed_over(state, OCCAM_SOURCE "/examples/cpp-epidemic", "problem.toml", "epidemic.cpp", 60);
}

// A regression that looks its coefficients up in every row, as many write it, or once before the loop.
constexpr const char* kInTheLoop = R"(
#include <occam/simulator.h>

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const double x = rng.uniform();
    out(i, 0) = x;
    out(i, 1) = p["intercept"] + (p.has("slope") ? p["slope"] * x : 0) + rng.normal(0, p["sigma"]);
  }
  return true;
}
)";
constexpr const char* kBeforeTheLoop = R"(
#include <occam/simulator.h>

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double intercept = p["intercept"], slope = p.has("slope") ? p["slope"] : 0, sigma = p["sigma"];
  for (long i = 0; i < out.n(); ++i) {
    const double x = rng.uniform();
    out(i, 0) = x;
    out(i, 1) = intercept + slope * x + rng.normal(0, sigma);
  }
  return true;
}
)";

void cpp_names(benchmark::State& state) {
  const Folder folder;
  write_file_atomic(folder / "in.cpp", kInTheLoop);
  write_file_atomic(folder / "before.cpp", kBeforeTheLoop);
  write_file_atomic(folder / "p.toml",
                    "name = \"lines\"\nn = 100\ncolumns = [\"x\", \"y\"]\nsimulator = \"in.cpp\"\n"
                    "[parameters]\nsigma = \"uniform(0.5, 2)\"\nintercept = \"normal(0, 1)\"\n"
                    "[model.line]\nslope = \"normal(0, 1)\"\n[model.constant]\n");
  const Problem problem = load_problem(folder / "p.toml");
  const Model& model = problem.models()[0];
  Requests requests(model.family(), {1, 0.5, 2}, kSets, kTosses);
  const Direct in = load(folder / "in.cpp", folder / "in.so");
  const Direct before = load(folder / "before.cpp", folder / "before.so");
  if (in == nullptr || before == nullptr) return state.SkipWithError("the files do not compile");
  double in_us = 0, before_us = 0;
  for (auto _ : state) {
    const double start_us = cpu_us();
    call_directly(in, model, requests);
    const double between_us = cpu_us();
    call_directly(before, model, requests);
    in_us += between_us - start_us;
    before_us += cpu_us() - between_us;
  }
  const auto iterations = static_cast<double>(state.iterations());
  state.counters["in_the_loop_us"] = in_us / iterations;
  state.counters["before_the_loop_us"] = before_us / iterations;
}

BENCHMARK(python)->UseRealTime();
BENCHMARK(cpp_file)->UseRealTime();
BENCHMARK(cpp_coin)->UseRealTime()->Iterations(20000);
BENCHMARK(cpp_epidemic)->UseRealTime()->Iterations(1000);
BENCHMARK(cpp_names)->Iterations(3000);
BENCHMARK(scalar);

}  // namespace
}  // namespace occam

BENCHMARK_MAIN();
