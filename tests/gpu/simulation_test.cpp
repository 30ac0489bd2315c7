// Simulation on a GPU beside plain loops and the host's own code, on a machine with a GPU (`make gpu-test`).
#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

Batch batch_of(const std::string& problem, int threads, std::int64_t size, std::uint64_t seed,
               std::shared_ptr<LoopDevice> device) {
  ThreadPool pool(threads);
  pool.set_loop_device(std::move(device));
  return Simulator(builtin_problem(problem), seed, Purpose::test, {.batch = size}).simulate(2, pool);
}

// Values that differ by more than `by`, as a share of all.
double share_apart(const Batch& a, const Batch& b, float by) {
  EXPECT_TRUE(std::ranges::equal(a.models(), b.models()));
  EXPECT_TRUE(std::ranges::equal(a.offsets(), b.offsets()));
  std::size_t apart = 0;
  for (std::size_t i = 0; i < a.data().size(); ++i)
    apart += std::fabs(a.data()[i] - b.data()[i]) > by ? 1u : 0u;
  return static_cast<double>(apart) / static_cast<double>(a.data().size());
}

class CudaSimulation : public ::testing::TestWithParam<const char*> {};

// The same source; but the compiler of the host may fuse more than it says, and the last bits of logarithms
// in double may differ. That moves hardly a crossing, and voltages little until it moves a spike.
TEST_P(CudaSimulation, IsThatOfPlainLoops) {
  const Batch plain = batch_of(GetParam(), 4, 64, 1, make_plain_loops());
  const Batch cuda = batch_of(GetParam(), 4, 64, 1, make_cuda_loops(0));
  const bool neuron = std::string(GetParam()) == "neuron";
  const double share = share_apart(plain, cuda, neuron ? 1.0f : 0.0f);
  fmt::print("{}: {:.1e} of {} values differ\n", GetParam(), share, plain.data().size());
  EXPECT_LT(share, neuron ? 2e-2 : 1e-3);
}

// Crossings move by a step where tables stand for the formula, spikes by rounding.
TEST_P(CudaSimulation, IsThatOfTheHost) {
  const Batch host = batch_of(GetParam(), 4, 64, 2, nullptr);
  const Batch cuda = batch_of(GetParam(), 4, 64, 2, make_cuda_loops(0));
  const double share = share_apart(host, cuda, std::string(GetParam()) == "neuron" ? 1.0f : 0.0f);
  fmt::print("{}: {:.1e} of {} values differ\n", GetParam(), share, host.data().size());
  EXPECT_LT(share, 2e-2);
}

TEST_P(CudaSimulation, TheSameBytesAgainOnAnyNumberOfThreads) {
  const auto device = make_cuda_loops(0);
  const Batch one = batch_of(GetParam(), 1, 100, 3, device);
  const Batch four = batch_of(GetParam(), 4, 100, 3, device);
  const Batch again = batch_of(GetParam(), 4, 100, 3, make_cuda_loops(0));
  EXPECT_TRUE(std::ranges::equal(one.data(), four.data()));
  EXPECT_TRUE(std::ranges::equal(one.data(), again.data()));
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaSimulation,
                         ::testing::Values("decision-making", "decision-making:as_run", "neuron"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name)
                             c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           return name;
                         });

// Kolmogorov's distance of response times of one model with all its parameters fixed, made from other seeds:
// with a false alarm in 6e-5 of the cases (2 exp(-2 2.28^2)), for each noise.
TEST(CudaSimulationDraws, ResponseTimesHaveTheDistributionOfTheHost) {
  const auto device = make_cuda_loops(0);
  for (const double alpha : {2.0, 1.5, 1.0}) {
    const auto family = make_family("levy-accumulator", {{"continuous_time", true}}, "test");
    const auto times = [&](std::uint64_t seed, LoopDevice* where) {
      const std::vector<double> theta = {2, -1, 1.4, 0.3, 0.4, alpha, 0.2, 0.7, 0.3};
      constexpr std::int64_t kTrials = 100'000;
      std::vector<float> rows(6 * kTrials);
      Rng rng(seed, Purpose::test, 0);
      std::vector<SimulationRequest> requests = {{theta, kTrials, &rng, rows}};
      where != nullptr ? family->simulate_many_on(*where, requests) : family->simulate_many(requests);
      EXPECT_EQ(requests[0].rows, 2 * kTrials);
      // Signed by the response: one distribution for both.
      std::vector<double> signed_times;
      for (std::size_t i = 0; i < rows.size(); i += 3)
        signed_times.push_back((rows[i + 1] > 0 ? 1.0 : -1.0) * static_cast<double>(rows[i + 2]));
      std::sort(signed_times.begin(), signed_times.end());
      return signed_times;
    };
    const std::vector<double> host = times(21, nullptr);
    const std::vector<double> cuda = times(22, device.get());
    double distance = 0;
    std::size_t below = 0;
    for (std::size_t i = 0; i < host.size(); ++i) {
      while (below < cuda.size() && cuda[below] <= host[i]) ++below;
      distance = std::max(distance, std::fabs(static_cast<double>(below) - static_cast<double>(i + 1)) /
                                        static_cast<double>(host.size()));
    }
    EXPECT_LT(distance * std::sqrt(static_cast<double>(host.size()) / 2), 2.28) << alpha;
  }
}

}  // namespace
}  // namespace occam
