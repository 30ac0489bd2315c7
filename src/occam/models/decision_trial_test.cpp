// One trial by itself, as GPUs run it, beside the SIMD code; and data sets by loops of such trials beside
// those of the host.
#include "occam/models/decision_trial.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/rng.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

using Theta = std::array<double, 9>;  // v1, v2, a, t0, zr, alpha, st0, sv, szr

// Half of the words are small, down to the last bit: the tails come from these.
TEST(DecisionTrial, DrawsAreThoseOfTheSimdCode) {
  constexpr std::size_t kDraws = 20'000;
  std::vector<std::uint32_t> words(2 * kDraws);
  Rng rng(11, Purpose::test, 0);
  for (std::uint32_t& word : words) {
    word = rng.bits32();
    const std::uint32_t by = rng.bits32() % 64;
    word = (word & 0x80000000u) | (word & 0x7fffffffu) >> (by < 32 ? by : 0);
  }
  for (const double alpha : {1.0, 1.0001, 1.1, 1.5, 1.9, 1.9999, 2.0}) {
    const LevyNoise noise(alpha, 1.0);
    std::vector<float> draws(kDraws);
    draw_levy(noise, words, draws);
    for (std::size_t k = 0; k < kDraws; ++k) {
      const float own = trial::levy_draw(words[2 * k], words[2 * k + 1], noise);
      ASSERT_NEAR(own, draws[k], 1.2e-4 * std::fabs(draws[k]) + 1e-6) << alpha << " " << k;
    }
  }
}

// Hands out walks and keeps them as they end.
class KeptWalks : public WalkQueue {
 public:
  explicit KeptWalks(std::vector<Walk> walks) : walks_(std::move(walks)) {}
  bool exchange(Walk& walk) override {
    if (walk.request >= 0) walks_[static_cast<std::size_t>(walk.request)] = walk;
    if (next_ == walks_.size()) return false;
    walk = walks_[next_];
    walk.request = static_cast<std::int64_t>(next_++);
    return true;
  }
  const LevyLine* tables() const override { return nullptr; }
  const std::vector<Walk>& walks() const { return walks_; }

 private:
  std::vector<Walk> walks_;
  std::size_t next_ = 0;
};

// alpha from 1 to 2, where 2 stands for Gaussian noise.
std::vector<Walk> some_walks(double alpha, std::size_t count) {
  std::vector<Walk> walks(count);
  Rng rng(12, Purpose::test, 0);
  for (Walk& walk : walks) {
    walk.rng = {rng.bits32(), rng.bits32(), rng.bits32(), 1};
    const double v = rng.uniform(-4, 4), a = rng.uniform(0.6, 3), dt = 0.001;
    walk.y = static_cast<float>(a * rng.uniform(-0.2, 0.2));
    walk.half = static_cast<float>(0.5 * a);
    walk.drift = static_cast<float>(v * dt);
    walk.root_dt = static_cast<float>(std::sqrt(dt));
    walk.reach = reach_of(v, 0.5 * a, std::sqrt(dt));
    if (alpha < 2) walk.levy = LevyNoise(alpha, std::pow(dt, 1 / alpha) / std::sqrt(2.0));
  }
  return walks;
}

// By the formula on both sides, so that only rounding tells them apart: none of 40,000 walks differed with
// AVX-512, in their steps or their end.
TEST(DecisionTrial, WalksAreThoseOfTheSimdCode) {
  constexpr std::size_t kWalks = 1000;
  for (const double alpha : {1.0, 1.3, 1.7, 1.99, 2.0}) {
    for (const float last : {5000.0f, 37.0f}) {
      std::vector<Walk> own = some_walks(alpha, kWalks);
      KeptWalks queue(own);
      alpha == 2.0 ? run_gaussian_walks(queue, last) : run_levy_walks(queue, last);
      std::size_t apart = 0;
      for (std::size_t k = 0; k < kWalks; ++k) {
        do {
          alpha == 2.0 ? trial::gaussian_stretch(own[k], last)
                       : trial::levy_stretch(own[k], own[k].levy, last);
        } while (!trial::ended(own[k], last));
        const Walk& other = queue.walks()[k];
        const bool same = own[k].steps == other.steps && own[k].decided() == other.decided() &&
                          (!own[k].decided() || (own[k].y > 0) == (other.y > 0));
        apart += same ? 0u : 1u;
        // The generator stands where the walk ended: what is drawn next is the same, too.
        if (!same) continue;
        EXPECT_EQ(own[k].rng.counter, other.rng.counter) << alpha << " " << k;
        EXPECT_EQ(own[k].rng.a, other.rng.a);
      }
      EXPECT_LE(apart, kWalks / 100) << alpha << " " << last;
    }
  }
}

struct Simulated {
  std::vector<float> rows;
  std::uint32_t next = 0;  // of its stream
};

std::vector<Simulated> simulated(const Family& family, const std::vector<Theta>& thetas, std::int64_t n,
                                 LoopDevice* device) {
  std::vector<Rng> rngs;
  std::vector<Simulated> out(thetas.size());
  std::vector<SimulationRequest> requests;
  for (std::size_t k = 0; k < thetas.size(); ++k) rngs.emplace_back(13, Purpose::test, k);
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    out[k].rows.resize(static_cast<std::size_t>(6 * n));
    requests.push_back({thetas[k], n, &rngs[k], out[k].rows});
  }
  device != nullptr ? family.simulate_many_on(*device, requests) : family.simulate_many(requests);
  for (std::size_t k = 0; k < thetas.size(); ++k) {
    if (requests[k].rows == 0) out[k].rows.clear();
    out[k].next = rngs[k].bits32();
  }
  return out;
}

const std::vector<Theta> kTrialThetas = {
    {2, -2, 1.2, 0.3, 0.5, 2, 0, 0, 0},       {1, -3, 0.8, 0.5, 0.4, 1.3, 0.2, 1, 0.4},
    {4, -1, 1.5, 0.2, 0.6, 2, 0.1, 0.5, 0.3}, {3, -2, 1.1, 0.4, 0.5, 1.9, 0, 0, 0},
    {0, 0, 1.2, 0.1, 0.5, 1.0, 0, 0.3, 0},    {1, -1, 1, 0.25, 1.0, 1.5, 0, 0, 0},  // starts on a boundary
    {0, 0, 1e9, 0.25, 0.5, 1.5, 0, 0, 0},                                           // never comes to one
    {0, 0, 1e9, 0.25, 0.5, 2.0, 0, 0, 0}};

constexpr std::size_t kEnding = 6;

// Tables of the noise on one side, the formula on the other: a crossing moves in less than one trial of a
// hundred. With few steps most trials are drawn again, some of them many times.
TEST(DecisionTrial, DataSetsAreThoseOfTheHost) {
  const auto device = make_plain_loops();
  for (const nlohmann::json& settings : {nlohmann::json::object(), nlohmann::json{{"max_steps", 150}},
                                         nlohmann::json{{"continuous_time", true}}}) {
    const auto family = make_family("levy-accumulator", settings, "test");
    constexpr std::int64_t kTrials = 300;
    std::vector<Theta> thetas = kTrialThetas;
    if (!settings.contains("max_steps")) thetas.resize(kEnding);  // the others would take their time
    const auto expected = simulated(*family, thetas, kTrials, nullptr);
    const auto own = simulated(*family, thetas, kTrials, device.get());
    for (std::size_t k = 0; k < thetas.size(); ++k) {
      EXPECT_EQ(own[k].next, expected[k].next) << k;
      ASSERT_EQ(own[k].rows.size(), expected[k].rows.size()) << k;
      EXPECT_EQ(own[k].rows.empty(), k >= kEnding);
      int apart = 0;
      for (std::size_t i = 0; i < own[k].rows.size(); i += 3) {
        EXPECT_EQ(own[k].rows[i], expected[k].rows[i]);
        apart +=
            own[k].rows[i + 1] != expected[k].rows[i + 1] || own[k].rows[i + 2] != expected[k].rows[i + 2];
      }
      EXPECT_LE(apart, 2 * kTrials / 100) << k << " " << settings.dump();
    }
    const auto alone = simulated(*family, {thetas.begin(), thetas.begin() + 1}, kTrials, device.get());
    EXPECT_EQ(alone[0].rows, own[0].rows);
  }
}

// Data sets too many for one loop go in several.
TEST(DecisionTrial, ManyTrialsGoInSeveralLoops) {
  const auto device = make_plain_loops();
  const auto family = make_family("levy-accumulator", {{"max_steps", 5}}, "test");
  const Theta fast = {0, 0, 0.01, 0.2, 0.5, 2, 0, 0, 0};
  constexpr std::int64_t kTrials = 200'000;  // in each condition
  const auto own = simulated(*family, {fast, fast, fast}, kTrials, device.get());
  const auto expected = simulated(*family, {fast, fast, fast}, kTrials, nullptr);
  for (std::size_t k = 0; k < own.size(); ++k) EXPECT_EQ(own[k].rows, expected[k].rows) << k;
}

// Plain loops that count.
class CountedLoops final : public LoopDevice {
 public:
  std::atomic<int> runs{0};

 private:
  class Lane final : public LoopLane {
   public:
    explicit Lane(std::atomic<int>& runs) : runs_(runs) {}
    std::byte* input(std::size_t bytes) override {
      in_.resize(bytes);
      return in_.data();
    }
    const std::byte* run(const DeviceLoop& loop, std::int64_t items, std::size_t out_bytes) override {
      out_.resize(out_bytes);
      loop.plain(in_.data(), out_.data(), items);
      ++runs_;
      return out_.data();
    }

   private:
    std::atomic<int>& runs_;
    std::vector<std::byte> in_, out_;
  };
  std::unique_ptr<LoopLane> make_lane() override { return std::make_unique<Lane>(runs); }
};

Batch batch_of(const std::string& problem, int threads, std::int64_t size,
               std::shared_ptr<LoopDevice> device) {
  ThreadPool pool(threads);
  pool.set_loop_device(std::move(device));
  return Simulator(builtin_problem(problem), 14, Purpose::test, {.batch = size}).simulate(2, pool);
}

// Few tasks for a device, since each waits for it; one for a batch, several for what is many.
TEST(DecisionTrial, TasksAreFew) {
  ThreadPool pool(4);
  pool.set_loop_device(make_plain_loops());
  const auto tasks = [&](std::int64_t size) {
    Batch out;
    Simulator simulator(builtin_problem("decision-making"), 14, Purpose::test, {.batch = size});
    simulator.prepare(0, pool, out);
    return simulator.task_count();
  };
  EXPECT_EQ(tasks(12), 1);
  EXPECT_EQ(tasks(5000), 4);
}

TEST(DecisionTrialThreaded, BatchesAreThoseOfTheHostOnAnyNumberOfThreads) {
  for (const char* problem : {"decision-making", "decision-making:as_run"}) {
    const Batch host = batch_of(problem, 2, 12, nullptr);
    const auto loops = std::make_shared<CountedLoops>();
    const Batch one = batch_of(problem, 1, 12, loops);
    EXPECT_EQ(loops->runs, 1);
    // Several batches at a time, as a training makes them.
    Batch more[2];
    ThreadPool pool(2);
    pool.for_each(2, [&](std::int64_t i, int) { more[i] = batch_of(problem, 4, 12, loops); });
    EXPECT_EQ(loops->runs, 3);
    for (const Batch& again : more) EXPECT_TRUE(std::ranges::equal(one.data(), again.data()));
    EXPECT_TRUE(std::ranges::equal(one.models(), host.models()));
    EXPECT_TRUE(std::ranges::equal(one.offsets(), host.offsets()));
    ASSERT_EQ(one.data().size(), host.data().size());
    std::size_t apart = 0;
    for (std::size_t i = 0; i < one.data().size(); ++i) apart += one.data()[i] != host.data()[i] ? 1u : 0u;
    EXPECT_LT(static_cast<double>(apart), 0.01 * static_cast<double>(one.data().size())) << problem;
  }
}

}  // namespace
}  // namespace occam
