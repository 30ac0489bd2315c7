// The engine of devices on a plain one: programs, staging and reports are those of a GPU, only its kernels
// are replaced by loops.
#include "occam/engine/cuda/device_engine.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <gtest/gtest.h>

#include "occam/engine/cuda/engine_cases.hpp"
#include "occam/engine/cuda/plain_device.hpp"

namespace occam::testing_support {
namespace {

std::unique_ptr<Engine> plain_engine(const EngineCase& c, ThreadPool& pool) {
  return std::make_unique<gpu::DeviceEngine>(config_of(c), pool, std::make_unique<gpu::PlainDevice>());
}

const EngineCase& case_named(const std::string& name) {
  static const std::vector<EngineCase> cases = engine_cases();
  return *std::find_if(cases.begin(), cases.end(), [&](const EngineCase& c) { return c.name == name; });
}

class DeviceEngineCases : public ::testing::TestWithParam<EngineCase> {};

TEST_P(DeviceEngineCases, StepsAndAnswersAreThoseOfTheCpu) {
  if (GetParam().large) GTEST_SKIP() << "slow in plain loops";
  ThreadPool pool(1);
  const EngineDifferences seen = differences_from_cpu(GetParam(), plain_engine(GetParam(), pool), kTolerance);
  EXPECT_LT(seen.loss, 1e-5);
  EXPECT_LT(seen.gradient, 1e-4);
  EXPECT_LT(seen.answers, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Plain, DeviceEngineCases, ::testing::ValuesIn(engine_cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(DeviceEngine, LearnsTheWeightsOfTheCpu) {
  for (const char* name : {"default", "default_muon", "modules_muon", "sequence_muon", "mc_dropout", "vae",
                           "mmd_vae", "sequence_mc_dropout", "sequence_vae", "sequence_mmd_vae"}) {
    ThreadPool pool(1);
    const auto device = plain_engine(case_named(name), pool);
    CpuEngine<double> cpu(config_of(case_named(name)), pool);
    EXPECT_LT(distance_after(case_named(name), *device, cpu, 3), 2e-3) << name;
  }
}

// The noise of a head follows from seed and step alone: a run that is taken up again ends with the same bits.
TEST(DeviceEngine, GoesOnWithTheSameNoise) {
  for (const char* name : {"mc_dropout", "vae", "mmd_vae", "sequence_mc_dropout", "sequence_mmd_vae"}) {
    const EngineCase& c = case_named(name);
    ThreadPool pool(1);
    CaseFeed feed(c);
    const auto run = [&](LearningState state, std::int64_t from, std::int64_t to, std::uint64_t seed) {
      const auto engine = plain_engine(c, pool);
      LearningPlan plan = plan_of(c);
      plan.seed = seed;
      engine->learn(plan, std::move(state), from);
      for (std::int64_t step = from; step < to; ++step) engine->step(feed, settings_of(c, step));
      return engine->state();
    };
    const LearningState begin = first_state(config_of(c), c);
    const std::vector<float> whole = run(begin, 0, 4, 11).weights;
    EXPECT_EQ(run(run(begin, 0, 2, 11), 2, 4, 11).weights, whole) << name;
    EXPECT_NE(run(begin, 0, 4, 12).weights, whole) << name;
  }
}

// Answers draw nothing but the samples of a fixed stream: what was learned in between is of no consequence.
TEST(DeviceEngine, AnswersAreTheSameAgain) {
  for (const char* name : {"mc_dropout", "vae"}) {
    const EngineCase& c = case_named(name);
    ThreadPool pool(2);
    const auto engine = plain_engine(c, pool);
    CaseFeed feed(c);
    const LearningState begin = first_state(config_of(c), c);
    Batch batch;
    fill_batch(c, 77, batch);
    NetworkAnswers before, after;
    engine->answer(begin.weights, batch.view(), 30, before);
    engine->learn(plan_of(c), begin, 0);
    for (std::int64_t step = 0; step < 6; ++step) engine->step(feed, settings_of(c, step));
    engine->answer(begin.weights, batch.view(), 30, after);
    EXPECT_EQ(before.log_p, after.log_p) << name;
    EXPECT_EQ(before.spread, after.spread) << name;
    EXPECT_EQ(before.spread.size(), c.name == "mc_dropout" ? before.log_p.size() : 0) << name;
  }
}

TEST(DeviceEngine, ReportsEveryStepOnce) {
  const EngineCase& c = case_named("one_module");
  ThreadPool pool(1);
  const auto engine = plain_engine(c, pool);
  engine->learn(plan_of(c), first_state(config_of(c), c), 0);
  CaseFeed feed(c);
  for (std::int64_t step = 0; step < 3; ++step) engine->step(feed, settings_of(c, step));
  EXPECT_EQ(engine->take_report().losses.size(), 3u);
  EXPECT_TRUE(engine->take_report().losses.empty());
  engine->step(feed, settings_of(c, 3));
  EXPECT_EQ(engine->take_report().losses.size(), 1u);
}

TEST(DeviceEngine, AFaultStopsLearning) {
  const EngineCase& c = case_named("one_module");
  ThreadPool pool(1);
  const auto engine = plain_engine(c, pool);
  LearningState state = first_state(config_of(c), c);
  engine->learn(plan_of(c), state, 0);
  CaseFeed feed(c);
  StepSettings settings = settings_of(c, 0);
  engine->step(feed, settings);
  settings.step = 1;
  settings.rate = std::numeric_limits<double>::infinity();  // the weights are not finite after it
  engine->step(feed, settings);
  for (settings.step = 2; settings.step < 5; ++settings.step) engine->step(feed, settings);
  const StepReport& report = engine->take_report();
  EXPECT_EQ(report.losses.size(), 2u);
  ASSERT_TRUE(report.fault.has_value());
  EXPECT_EQ(*report.fault, 2);
  engine->learn(plan_of(c), state, 0);
  engine->step(feed, settings_of(c, 0));
  EXPECT_FALSE(engine->take_report().fault.has_value());
}

TEST(DeviceEngine, RefusesWhatItDoesNotKnow) {
  EngineCase c = case_named("default");
  ThreadPool pool(1);
  const nlohmann::json unknown[] = {{{"architecture", "sequence"}, {"lstm", 300}},
                                    {{"inv_width", 2000}},
                                    {{"head", "vae"}, {"latents", 600}}};
  for (const nlohmann::json& options : unknown) {
    c.options = options;
    EXPECT_THROW(plain_engine(c, pool), Error) << options;
  }
}

// Factors of moments, or statistics, that outputs would read directly.
TEST(DeviceEngine, RefusesOutputsThatReadDirectlyWithoutASummary) {
  ThreadPool pool(1);
  for (const char* name : {"default", "sequence_statistics"}) {
    for (const nlohmann::json& more : {nlohmann::json::object(), {{"direct", false}, {"post_layers", 0}}}) {
      EngineCase c = case_named(name);
      EXPECT_NO_THROW(plain_engine(c, pool));
      c.options["summary"] = 0;
      c.options.update(more);
      EXPECT_THROW(plain_engine(c, pool), Error) << name << more;
    }
  }
}

// Without a GPU, or without CUDA in this build, the message names the way out.
TEST(DeviceEngine, AMissingGpuIsToldAsSuch) {
  try {
    gpu::make_cuda_device();
    GTEST_SKIP() << "there is a GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("--device cpu"), std::string::npos);
  }
}

TEST(DeviceFormulas, GammaFunctionsAreThoseOfTheLibrary) {
  for (double x = 1; x < 1e6; x *= 1.37) {
    EXPECT_NEAR(gpu::digamma(x), boost::math::digamma(x), 1e-14 * std::max(1.0, std::log(x)));
    EXPECT_NEAR(gpu::trigamma(x), boost::math::trigamma(x), 1e-14);
  }
}

// Rows of z at random, one of them far out; without gradients of outputs, and with z = mu.
TEST(DeviceFormulas, PenaltiesOfLatentVariablesAreThoseOfTheLibrary) {
  constexpr int kLatents = 3, kSets = 7, kStride = 16;
  Rng rng(1, Purpose::test, 6);
  std::vector<float> latent(kSets * kStride), z(latent), d_z(latent), d_latent(latent),
      noise(kSets * kLatents);
  std::vector<double> scratch(kSets * kLatents), exact, d_exact(kSets * kLatents);
  for (int set = 0; set < kSets; ++set) {
    for (int c = 0; c < kLatents; ++c) {
      const auto at = static_cast<std::size_t>(set * kStride + c);
      latent[at] = z[at] = static_cast<float>((set == 3 ? 4 : 1) * rng.normal());
      latent[at + kLatents] = static_cast<float>(rng.normal());
      exact.push_back(z[at]);
    }
  }
  gpu::Feed feed{};
  feed.noise = noise.data();
  feed.noise_stride = kLatents;
  std::vector<double> losses(kSets, 1.0);
  gpu::LatentView view;
  view.latents = kLatents;
  view.stride = view.z_stride = kStride;
  view.noisy = view.mmd = true;
  view.weight = 0.7;
  view.latent = latent.data();
  view.z = z.data();
  view.d_z = d_z.data();
  view.d_latent = d_latent.data();
  view.losses = losses.data();
  view.scratch = scratch.data();
  gpu::latent_back(gpu::Alone{}, view, feed, 0, kSets);
  const double scales[] = {1, 2, 4, 8, 16};
  const double mmd = mmd_from_normal(exact, kLatents, scales, d_exact);
  for (int set = 0; set < kSets; ++set) {
    EXPECT_NEAR(losses[static_cast<std::size_t>(set)], 1 + 0.7 * mmd, 1e-12);
    for (int c = 0; c < kLatents; ++c)
      EXPECT_NEAR(d_latent[static_cast<std::size_t>(set * kStride + c)],
                  0.7 * kSets * d_exact[static_cast<std::size_t>(set * kLatents + c)], 1e-6);
  }
  view.mmd = false;
  gpu::latent_back(gpu::Alone{}, view, feed, 2, 3);
  std::vector<double> log_var(kLatents), d_mu(kLatents), d_log_var(kLatents);
  for (std::size_t c = 0; c < kLatents; ++c) log_var[c] = latent[2 * kStride + kLatents + c];
  const double kl = gaussian_kl(std::span(exact).subspan(2 * kLatents, kLatents), log_var, d_mu, d_log_var);
  EXPECT_NEAR(losses[2], 1 + 0.7 * (mmd + kl), 1e-12);
  for (std::size_t c = 0; c < kLatents; ++c) {
    EXPECT_NEAR(d_latent[2 * kStride + c], 0.7 * d_mu[c], 1e-6);
    EXPECT_NEAR(d_latent[2 * kStride + kLatents + c], 0.7 * d_log_var[c], 1e-6);
  }
}

TEST(DeviceFormulas, LossesAreThoseOfTheLibrary) {
  Rng rng(1, Purpose::test, 5);
  const std::size_t J = 6;
  std::vector<double> exact(J), gradient(J), scratch(3 * J);
  std::vector<float> f(J), d(J);
  for (int trial = 0; trial < 200; ++trial) {
    for (std::size_t j = 0; j < J; ++j) exact[j] = f[j] = static_cast<float>(4 * rng.normal());
    const int truth = trial % static_cast<int>(J);
    for (const Link link : {Link::exp, Link::softplus, Link::relu}) {
      for (const double lambda : {0.0, 0.2}) {
        const EvidentialTerms terms = evidential_loss(link, lambda, exact, truth, gradient, scratch);
        keep_moving(exact, gradient);
        const double loss =
            gpu::evidential(gpu::Alone{}, link, lambda, f.data(), static_cast<int>(J), truth, d.data());
        EXPECT_NEAR(loss, terms.log_loss + lambda * terms.kl, 1e-10);
        for (std::size_t j = 0; j < J; ++j)
          EXPECT_NEAR(d[j], gradient[j], 1e-6 * (1 + std::abs(gradient[j])));
      }
    }
    EXPECT_NEAR(gpu::cross_entropy(gpu::Alone{}, f.data(), static_cast<int>(J), truth, d.data()),
                softmax_loss(exact, truth, gradient), 1e-12);
    for (std::size_t j = 0; j < J; ++j) EXPECT_NEAR(d[j], gradient[j], 1e-6);
  }
}

}  // namespace
}  // namespace occam::testing_support
