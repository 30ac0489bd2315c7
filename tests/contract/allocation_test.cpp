// After warm-up a step of a training allocates nothing: neither the network's passes nor all that stands
// around them. How much memory it takes does not grow with the length of data sets.
#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "occam/networks/batch_gradient.hpp"
#include "occam/nn/adam.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/trainer.hpp"

namespace {

std::atomic<std::int64_t> allocations{0}, allocated_bytes{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  allocated_bytes += static_cast<std::int64_t>(bytes);
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory =
      alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return counted(bytes == 0 ? 1 : bytes, 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace occam {
namespace {

struct Ones : BundleLoss<float> {
  void bundle(std::int64_t, const Network<float>::Tape&, Matrix<float> d_models, Matrix<float>,
              Workspace&) override {
    for (std::int64_t b = 0; b < d_models.rows; ++b) std::fill_n(d_models.row(b), d_models.columns, 1.0f);
  }
};

NetworkConfig network_config(const nlohmann::json& options) {
  NetworkConfig config;
  config.channels = 2;
  config.models = 3;
  config.standardisation = {{0, 0}, {1, 1}, 0, 1, 10};
  config.set_options(options, "test");
  return config;
}

std::int64_t allocations_per_step(const nlohmann::json& options, int threads,
                                  std::int64_t tile_rows = kTileRows) {
  const Network<float> network(network_config(options), tile_rows);
  std::vector<float> weights(static_cast<std::size_t>(network.weight_count()));
  network.layout().initialise<float>(weights, 1, 0);
  std::vector<std::int64_t> offsets = {0};
  for (std::int64_t b = 0; b < 40; ++b) offsets.push_back(offsets.back() + 10 + (b * 7) % 60);
  std::vector<float> x(static_cast<std::size_t>(2 * offsets.back()));
  Rng rng(1, Purpose::test, 0);
  for (float& value : x) value = static_cast<float>(rng.normal());
  ThreadPool pool(threads);
  BatchGradient<float> gradient(network, pool);
  Adam<float> adam(network.weight_count(), {});
  Ones loss;
  const auto step = [&] {
    const PassNoise noise{1, 0};
    gradient.run(weights.data(), {{x.data(), offsets.back(), 2, 2}, offsets.data(), 40}, loss, 1.0, {},
                 &noise);
    adam.begin(1e-3, gradient.squared_norm());
    pool.for_each(adam.chunks(), [&](std::int64_t chunk, int) {
      adam.update_chunk(chunk, gradient.gradient().data(), weights.data());
    });
  };
  // Which thread takes which bundle varies: give every thread a chance to meet the largest.
  for (int i = 0; i < 20; ++i) step();
  std::int64_t fewest = 1 << 30;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = allocations;
    step();
    fewest = std::min(fewest, allocations - before);
  }
  return fewest;
}

TEST(NetworksThreaded, NoAllocationAfterWarmUp) {
  for (const int threads : {1, 2}) {
    for (const char* pooling : {"mean+sum", "max", "attention"}) {
      EXPECT_EQ(allocations_per_step({{"architecture", "set"}, {"pooling", pooling}}, threads), 0) << pooling;
      EXPECT_EQ(
          allocations_per_step({{"architecture", "set"}, {"modules", 1}, {"pooling", pooling}}, threads, 16),
          0)
          << pooling;
    }
    EXPECT_EQ(allocations_per_step({{"architecture", "sequence"}, {"lstm", 16}}, threads), 0);
    for (const std::string& head : heads().names()) {
      EXPECT_EQ(allocations_per_step({{"inv_width", 16}, {"head", head}}, threads), 0) << head;
    }
  }
}

// Counts what is allocated between updates, which come after every step.
struct Counting : SilentProgress {
  std::int64_t last = 0, total = 0, counted = 0;
  void update(std::int64_t step, std::int64_t steps, std::string_view) override {
    if (step > steps / 2 && step < steps) {  // not those of warm-up, nor the last one, which is validated
      total += allocations - last;
      ++counted;
    }
    last = allocations;
  }
};

// All steps count, simulation of the next batch, loss, optimiser and progress included. Sizes are fixed:
// where they vary, a batch that is larger than any before takes more memory.
TEST(NetworksThreaded, NoStepOfATrainerAllocates) {
  constexpr const char* kCoins =
      "name = \"coins\"\nn = 30\nfamily = \"bernoulli\"\n[model.flat]\ntheta = \"beta(1, 1)\"\n"
      "[model.fair]\ntheta = \"beta(30, 30)\"\n";
  const Problem coins = read_problem(kCoins, "coins");
  for (const int threads : {1, 2}) {
    TrainOptions options;
    options.iterations = 90;
    options.batch = 64;
    options.validate_every = 1000;
    options.validation_datasets = 100;
    Counting counting;
    ThreadPool pool(threads);
    Trainer(coins, {}, options, {}, pool, counting).train();
    EXPECT_EQ(counting.total, 0) << threads << " threads";
    EXPECT_EQ(counting.counted, 44);
  }
}

// Bytes taken by the gradient of one data set of so many rows, and by its answer.
std::int64_t bytes_for(std::int64_t rows, const nlohmann::json& options) {
  const Network<float> network(network_config(options));
  std::vector<float> weights(static_cast<std::size_t>(network.weight_count()));
  network.layout().initialise<float>(weights, 1, 0);
  const std::vector<float> x(static_cast<std::size_t>(2 * rows), 0.5f);
  const std::int64_t offsets[] = {0, rows};
  ThreadPool pool(1);
  BatchGradient<float> gradient(network, pool);
  Ones loss;
  const std::int64_t before = allocated_bytes;
  gradient.run(weights.data(), {{x.data(), rows, 2, 2}, offsets, 1}, loss, 1.0);
  gradient.forward(weights.data(), {{x.data(), rows, 2, 2}, offsets, 1}, [](auto, const auto&) {});
  return allocated_bytes - before;
}

TEST(NetworksThreaded, MemoryDoesNotGrowWithTheLengthOfSets) {
  for (const char* pooling : {"mean+sum", "attention"}) {
    const nlohmann::json options = {{"modules", 1}, {"inv_width", 16}, {"pooling", pooling}};
    const std::int64_t data = 8 * (80'000 - 20'000);
    EXPECT_LT(bytes_for(80'000, options) - bytes_for(20'000, options), data) << pooling;
  }
}

TEST(NetworksThreaded, TheCounterCounts) {
  const std::int64_t before = allocations;
  const std::vector<int> memory(1000);
  EXPECT_GT(allocations - before, 0);
  EXPECT_EQ(memory.size(), 1000u);
}

}  // namespace
}  // namespace occam
