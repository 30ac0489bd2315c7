// One training step (forward, loss, backward, clipping, Adam) of the three published networks, timed as the
// peers in bench/peers time theirs. Prints one JSON object per line; bench/side_by_side.py puts them beside
// the others.
//   engine_bench [--threads T] [--only a,b,c] [--pooling attention|mean] [--seconds S]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/core/rng.hpp"
#include "occam/networks/batch_gradient.hpp"
#include "occam/networks/network.hpp"
#include "occam/nn/adam.hpp"
#include "occam/nn/loss.hpp"
#include "study_networks.hpp"

namespace {

using namespace occam;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

struct Case {
  std::string name;
  std::int64_t sets, n, channels, models;
  json options;
};

std::vector<Case> cases(const std::string& pooling) {
  return {{"a", 64, 50, 1, 2, study_network(64, 32, 2, pooling)},
          {"b", 64, 150, 3, 6, study_network(128, 64, 3, pooling)},
          {"c", 32, 1101, 1, 3, series_network(128, 256)}};
}

struct LogLoss : BundleLoss<float> {
  const std::vector<std::int64_t>* labels;
  void bundle(std::int64_t first, const Network<float>::Tape& tape, Matrix<float> d_models, Matrix<float>,
              Workspace&) override {
    double f[8], d[8], scratch[24];
    const auto J = static_cast<std::size_t>(tape.models.columns);
    for (std::int64_t b = 0; b < tape.models.rows; ++b) {
      std::copy_n(tape.models.row(b), J, f);
      evidential_loss(Link::exp, 0, {f, J}, (*labels)[first + b], {d, J}, {scratch, 3 * J});
      std::copy_n(d, J, d_models.row(b));
    }
  }
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Step>
std::pair<double, double> time_steps(double seconds, Step&& step) {  // median and minimum, in ms
  for (int i = 0; i < 3; ++i) step();
  std::vector<double> times;
  const auto begin = Clock::now();
  while (seconds_since(begin) < seconds || times.size() < 5) {
    const auto start = Clock::now();
    step();
    times.push_back(1e3 * seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[0]};
}

void run_case(const Case& c, int threads, double seconds) {
  NetworkConfig config;
  config.channels = c.channels;
  config.models = c.models;
  config.standardisation.mean.assign(c.channels, 0.0);
  config.standardisation.scale.assign(c.channels, 1.0);
  config.set_options(c.options, "bench");
  const Network<float> network(config);
  std::vector<float> weights(network.weight_count());
  network.layout().initialise<float>(weights, 1, 0);

  Rng rng(1, Purpose::test, 0);
  std::vector<float> x(c.sets * c.n * c.channels);
  for (float& value : x) value = static_cast<float>(rng.normal());
  std::vector<std::int64_t> offsets, labels;
  for (std::int64_t b = 0; b <= c.sets; ++b) offsets.push_back(b * c.n);
  for (std::int64_t b = 0; b < c.sets; ++b) labels.push_back(b % c.models);
  const Ragged<const float> batch{{x.data(), c.sets * c.n, c.channels, c.channels}, offsets.data(), c.sets};

  ThreadPool pool(threads);
  BatchGradient<float> gradient(network, pool);
  Adam<float> adam(network.weight_count(), {});
  LogLoss loss;
  loss.labels = &labels;
  const auto [median, fastest] = time_steps(seconds, [&] {
    gradient.run(weights.data(), batch, loss, 1.0 / static_cast<double>(c.sets));
    adam.begin(1e-4, gradient.squared_norm());
    pool.for_each(adam.chunks(), [&](std::int64_t chunk, int) {
      adam.update_chunk(chunk, gradient.gradient().data(), weights.data());
    });
  });
  ThreadPool one(1);
  BatchGradient<float> inference(network, one);
  const auto [forward, forward_fastest] = time_steps(seconds / 2, [&] {
    inference.forward(weights.data(), batch, [](std::int64_t, const Network<float>::Tape&) {});
  });
  const json line = {{"peer", "occam"},
                     {"variant", kernels<float>().target},
                     {"case", c.name},
                     {"threads", threads},
                     {"ms_median", median},
                     {"ms_min", fastest},
                     {"weights", network.weight_count()},
                     {"inference_ms_median", forward},
                     {"inference_sets_per_s", 1e3 * static_cast<double>(c.sets) / forward},
                     {"inference_sets_per_s_best", 1e3 * static_cast<double>(c.sets) / forward_fastest}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

// The rate of a large product in our own kernel: what "peak" means on this machine, per thread count.
void run_peak(int threads, double seconds) {
  constexpr std::int64_t rows = 1536, inner = 512, columns = 512;
  ThreadPool pool(threads);
  std::vector<float> a(rows * inner, 0.5f), w(inner * columns, 0.25f);
  PackedWeights<float> panels(inner * columns);
  std::vector<std::vector<float>> c(threads, std::vector<float>(rows * columns));
  const Kernels<float>& k = kernels<float>();
  k.pack(w.data(), columns, 1, inner, columns, panels.data());
  const auto [median, fastest] = time_steps(seconds, [&] {
    pool.for_each(threads, [&](std::int64_t item, int) {
      k.multiply({.a = a.data(),
                  .a_stride = inner,
                  .b = panels.data(),
                  .b_stride = 0,
                  .c = c[item].data(),
                  .c_stride = columns,
                  .rows = rows,
                  .inner = inner,
                  .columns = columns});
    });
  });
  const double flop = 2.0 * rows * inner * columns * threads;
  const json line = {{"peer", "occam"},
                     {"case", "peak"},
                     {"threads", threads},
                     {"gflops", flop / median / 1e6},
                     {"gflops_best", flop / fastest / 1e6}};
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = available_cores();
  std::string only = "a,b,c,peak";
  std::string pooling = "attention";
  double seconds = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--threads") threads = std::stoi(argv[i + 1]);
    if (key == "--only") only = argv[i + 1];
    if (key == "--pooling") pooling = argv[i + 1];
    if (key == "--seconds") seconds = std::stod(argv[i + 1]);
  }
  if (only.find("peak") != std::string::npos) run_peak(threads, seconds / 2);
  for (const Case& c : cases(pooling)) {
    if (only.find(c.name) != std::string::npos && only != "peak") run_case(c, threads, seconds);
  }
}
