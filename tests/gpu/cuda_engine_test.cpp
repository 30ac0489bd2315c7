// The CUDA engine beside the CPU's, on a machine with a GPU (`make gpu-test`).
#include <gtest/gtest.h>

#include "occam/engine/cuda/device_engine.hpp"
#include "occam/engine/cuda/engine_cases.hpp"

namespace occam::testing_support {
namespace {

std::unique_ptr<Engine> cuda_engine(const EngineCase& c, ThreadPool& pool) {
  return std::make_unique<gpu::DeviceEngine>(config_of(c), pool, gpu::make_cuda_device());
}

const EngineCase& gpu_case(const std::string& name) {
  static const std::vector<EngineCase> cases = engine_cases();
  return *std::find_if(cases.begin(), cases.end(), [&](const EngineCase& c) { return c.name == name; });
}

class CudaEngineCases : public ::testing::TestWithParam<EngineCase> {};

// Operands of products count with about 17 bits.
TEST_P(CudaEngineCases, StepsAndAnswersAreThoseOfTheCpu) {
  ThreadPool pool(1);
  const EngineDifferences seen = differences_from_cpu(GetParam(), cuda_engine(GetParam(), pool), kTolerance);
  fmt::print("{}: loss {:.1e} gradient {:.1e} answers {:.1e}\n", GetParam().name, seen.loss, seen.gradient,
             seen.answers);
  EXPECT_LT(seen.loss, 1e-4);
  EXPECT_LT(seen.gradient, 1e-3);
  EXPECT_LT(seen.answers, 1e-4);
}

TEST_P(CudaEngineCases, TheSameBytesAgain) {
  ThreadPool pool(1);
  LearningState ends[2];
  for (LearningState& end : ends) {
    const auto engine = cuda_engine(GetParam(), pool);
    engine->learn(plan_of(GetParam()), first_state(config_of(GetParam()), GetParam()), 0);
    CaseFeed feed(GetParam());
    for (std::int64_t step = 0; step < 20; ++step) engine->step(feed, settings_of(GetParam(), step));
    end = engine->state();
  }
  EXPECT_EQ(ends[0].weights, ends[1].weights);
  EXPECT_EQ(ends[0].average, ends[1].average);
  EXPECT_EQ(ends[0].first_moment, ends[1].first_moment);
  EXPECT_EQ(ends[0].momentum, ends[1].momentum);
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaEngineCases, ::testing::ValuesIn(engine_cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(CudaEngine, LearnsTheWeightsOfTheCpu) {
  for (const char* name :
       {"default", "default_muon", "modules_muon", "wide", "sequence_neuron", "sequence_muon", "mc_dropout",
        "vae", "mmd_vae", "sequence_mc_dropout", "sequence_vae", "sequence_mmd_vae"}) {
    ThreadPool pool(1);
    const auto device = cuda_engine(gpu_case(name), pool);
    CpuEngine<double> cpu(config_of(gpu_case(name)), pool);
    const double apart = distance_after(gpu_case(name), *device, cpu, 5);
    fmt::print("{}: weights apart {:.1e} of the way\n", name, apart);
    EXPECT_LT(apart, 1e-2) << name;
  }
}

class CudaEngineGoesOn : public ::testing::TestWithParam<const char*> {};

// What one engine learned, the other goes on from, with the same noise.
TEST_P(CudaEngineGoesOn, FromTheCpuAndBack) {
  const EngineCase& c = gpu_case(GetParam());
  ThreadPool pool(1);
  CpuEngine<float> cpu(config_of(c), pool);
  const auto device = cuda_engine(c, pool);
  CaseFeed feed(c);
  cpu.learn(plan_of(c), first_state(config_of(c), c), 0);
  for (std::int64_t step = 0; step < 10; ++step) cpu.step(feed, settings_of(c, step));
  device->learn(plan_of(c), cpu.state(), 10);
  for (std::int64_t step = 10; step < 15; ++step) {
    device->step(feed, settings_of(c, step));
    cpu.step(feed, settings_of(c, step));
  }
  const std::vector<double> losses = device->take_report().losses;
  const std::vector<double> expected = cpu.take_report().losses;
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i + 10], 1e-3);
  cpu.learn(plan_of(c), device->state(), 15);
  cpu.step(feed, settings_of(c, 15));
  EXPECT_TRUE(std::isfinite(cpu.take_report().losses.back()));
}

INSTANTIATE_TEST_SUITE_P(Gpu, CudaEngineGoesOn,
                         ::testing::Values("modules_muon", "mc_dropout", "vae", "mmd_vae",
                                           "sequence_mmd_vae"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(CudaEngine, AFaultStopsLearning) {
  const EngineCase& c = gpu_case("one_module");
  ThreadPool pool(1);
  const auto engine = cuda_engine(c, pool);
  engine->learn(plan_of(c), first_state(config_of(c), c), 0);
  CaseFeed feed(c);
  StepSettings settings = settings_of(c, 0);
  engine->step(feed, settings);
  settings.rate = std::numeric_limits<double>::infinity();
  for (settings.step = 1; settings.step < 5; ++settings.step) engine->step(feed, settings);
  const StepReport& report = engine->take_report();
  EXPECT_EQ(report.losses.size(), 2u);
  ASSERT_TRUE(report.fault.has_value());
  EXPECT_EQ(*report.fault, 2);
}

// Batches that grow make room for themselves.
TEST(CudaEngine, TakesBatchesOfAnySize) {
  EngineCase c = gpu_case("two_modules_attention");
  ThreadPool pool(1);
  const auto engine = cuda_engine(c, pool);
  CpuEngine<double> cpu(config_of(c), pool);
  engine->learn(plan_of(c), first_state(config_of(c), c), 0);
  cpu.learn(plan_of(c), first_state(config_of(c), c), 0);
  for (const std::int64_t largest : {1, 5, 300, 2, 2500, 40}) {
    c.largest = largest;
    CaseFeed feed(c);
    engine->step(feed, settings_of(c, largest));
    cpu.step(feed, settings_of(c, largest));
    EXPECT_NEAR(engine->take_report().losses.back(), cpu.take_report().losses.back(), 1e-3) << largest;
  }
}

}  // namespace
}  // namespace occam::testing_support
