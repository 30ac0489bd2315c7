#include "occam/simulate/simulator.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

// Rows: n or fewer, at random; all equal to `level`. Draws with level below `floor` give no usable data, and
// levels above 0.9 a value that is not finite.
class Patchy : public Family {
 public:
  std::string name() const override { return "patchy"; }
  std::string description() const override { return "data with random row counts and failures"; }
  std::vector<Column> columns() const override { return {{"level", ""}, {"row", ""}}; }
  std::vector<Parameter> parameters() const override {
    return {{"floor", "", 0.0, 1.0, Prior::fixed(0.3)}, {"level", "", 0.0, 1.0, Prior::uniform(0, 1)}};
  }
  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    if (theta[1] < theta[0]) return 0;
    const std::int64_t rows = rng.uniform_int(1, n);
    for (std::int64_t i = 0; i < rows; ++i) {
      out[2 * i] = theta[1] > 0.9 ? NAN : static_cast<float>(theta[1]);
      out[2 * i + 1] = static_cast<float>(i);
    }
    return rows;
  }
};

Problem patchy_problem(bool one_n_per_batch = false) {
  const auto family = std::make_shared<const Patchy>();
  const auto other = std::make_shared<const Patchy>();
  ProblemSpec spec;
  spec.name = "patchy";
  spec.size = SizeDistribution::uniform(1, 40);
  spec.one_n_per_batch = one_n_per_batch;
  spec.models = {Model("often", family, {{"floor", Prior::fixed(0.5)}}),
                 Model("never", other, {{"floor", Prior::fixed(0)}, {"level", Prior::uniform(0, 0.5)}}),
                 Model("rare", family, {{"floor", Prior::uniform(0, 0.1)}})};
  return Problem(std::move(spec));
}

void expect_same(const Batch& a, const Batch& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_TRUE(std::ranges::equal(a.models(), b.models()));
  EXPECT_TRUE(std::ranges::equal(a.sizes(), b.sizes()));
  EXPECT_TRUE(std::ranges::equal(a.offsets(), b.offsets()));
  EXPECT_TRUE(std::ranges::equal(a.data(), b.data()));
  EXPECT_TRUE(std::ranges::equal(a.failed_draws(), b.failed_draws()));
  EXPECT_TRUE(std::ranges::equal(a.parameters(), b.parameters(), [](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y));
  }));
}

TEST(Simulator, RaggedFailingDataAreCompactAndCounted) {
  ThreadPool pool(2);
  Simulator simulator(patchy_problem(), 3, Purpose::train, {.batch = 200});
  const Batch batch = simulator.simulate(5, pool);
  ASSERT_EQ(batch.size(), 200);
  EXPECT_EQ(simulator.problem().parameter_names(), (std::vector<std::string>{"level", "floor"}));
  std::int64_t rows = 0;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const DataView data = batch[b];
    ASSERT_GE(data.n, 1);
    ASSERT_LE(data.n, batch.sizes()[b]);
    rows += data.n;
    const double level = batch.parameters(b)[0];
    const double floor = batch.parameters(b)[1];
    for (std::int64_t i = 0; i < data.n; ++i) {
      EXPECT_EQ(data.at(i, 0), static_cast<float>(level));
      EXPECT_EQ(data.at(i, 1), static_cast<float>(i));
    }
    EXPECT_EQ(std::isnan(floor), batch.models()[b] != 2);
    if (batch.models()[b] == 0) {
      EXPECT_GE(level, 0.5);
    }
  }
  EXPECT_EQ(rows, batch.rows());
  EXPECT_GT(batch.failed_draws()[0], 30);  // about 0.6 of the draws of about 67 data sets, redrawn: about 100
  EXPECT_EQ(batch.failed_draws()[1], 0);
  EXPECT_GT(batch.failed_draws()[2], 0);
}

TEST(Simulator, SameBitsOnAnyNumberOfThreadsGroupsAndCalls) {
  ThreadPool one(1);
  ThreadPool seven(7);
  for (const bool shared : {false, true}) {
    const Problem problem = patchy_problem(shared);
    Simulator a(problem, 11, Purpose::test, {.batch = 64});
    const Batch reference = a.simulate(2, one);
    Batch reused;
    a.simulate(1, one, reused);
    a.simulate(2, one, reused);
    expect_same(reference, reused);
    for (const std::int64_t group : {1, 5, 64}) {
      Simulator b(problem, 11, Purpose::test, {.batch = 64, .group = group});
      expect_same(reference, b.simulate(2, seven));
    }
  }
}

TEST(Simulator, RangesAreThePiecesOfBatches) {
  ThreadPool pool(2);
  Simulator simulator(patchy_problem(), 11, Purpose::test, {.batch = 32});
  const Batch whole = simulator.simulate(3, pool);
  Batch part;
  simulator.simulate_range(3 * 32 + 10, 5, pool, part);
  ASSERT_EQ(part.size(), 5);
  for (std::int64_t b = 0; b < 5; ++b) {
    EXPECT_TRUE(std::ranges::equal(part[b].values(), whole[10 + b].values()));
  }
  simulator.simulate_range(0, 0, pool, part);
  EXPECT_EQ(part.size(), 0);
  EXPECT_EQ(part.rows(), 0);
}

TEST(Simulator, TasksRunInsideALoopOfTheCaller) {
  ThreadPool pool(3);
  SimulatorOptions options;
  options.group = 8;
  Simulator simulator(patchy_problem(), 4, Purpose::train, options);
  const Batch expected = simulator.simulate(9, pool);
  Batch next;
  simulator.prepare(9, pool, next);
  const std::int64_t tasks = simulator.task_count();
  ASSERT_GE(tasks, 8);
  std::atomic<int> other_work{0};
  pool.for_each(tasks + 20, [&](std::int64_t item, int) {
    if (item < 20) {
      ++other_work;
    } else {
      simulator.run_task(tasks - 1 - (item - 20));
    }
  });
  simulator.finish();
  EXPECT_EQ(other_work, 20);
  expect_same(expected, next);
}

TEST(Simulator, BatchesSeedsAndPurposesDiffer) {
  ThreadPool pool(1);
  const Problem problem = builtin_problem("one-sample");
  const auto first = [&](std::uint64_t seed, Purpose purpose, std::int64_t number) {
    Simulator simulator(problem, seed, purpose, {.batch = 4});
    return simulator.simulate(number, pool).data()[0];
  };
  const float reference = first(1, Purpose::train, 0);
  EXPECT_NE(reference, first(2, Purpose::train, 0));
  EXPECT_NE(reference, first(1, Purpose::test, 0));
  EXPECT_NE(reference, first(1, Purpose::train, 1));
}

TEST(Simulator, FixingModelOrSizeChangesNothingElse) {
  ThreadPool pool(1);
  const Problem problem = builtin_problem("beta-binomial");
  Simulator free(problem, 1, Purpose::simulate, {.batch = 50});
  const Batch reference = free.simulate(0, pool);
  Simulator long_ones(problem, 1, Purpose::simulate, {.batch = 50, .n = 500});
  const Batch longer = long_ones.simulate(0, pool);
  Simulator fair(problem, 1, Purpose::simulate, {.batch = 50, .model = 1});
  const Batch fair_only = fair.simulate(0, pool);
  for (std::int64_t b = 0; b < 50; ++b) {
    EXPECT_EQ(longer[b].n, 500);
    EXPECT_EQ(longer.models()[b], reference.models()[b]);
    EXPECT_EQ(longer.parameters(b)[0], reference.parameters(b)[0]);
    EXPECT_EQ(fair_only.models()[b], 1);
    EXPECT_EQ(fair_only[b].n, reference[b].n);
  }
}

TEST(Simulator, OneSizePerBatchWhereAsked) {
  ThreadPool pool(1);
  ProblemSpec spec;
  spec.name = "shared";
  spec.size = SizeDistribution::uniform(1, 1000);
  spec.one_n_per_batch = true;
  spec.models = {Model("a", make_family("normal")),
                 Model("b", make_family("normal"), {{"mu", Prior::fixed(0)}})};
  const Problem problem(spec);
  Simulator train(problem, 1, Purpose::train, {.batch = 8});
  Simulator test(problem, 1, Purpose::test, {.batch = 8});
  std::vector<std::int64_t> sizes;
  bool purposes_differ = false;
  for (std::int64_t number = 0; number < 10; ++number) {
    const Batch batch = train.simulate(number, pool);
    for (const std::int64_t n : batch.sizes()) EXPECT_EQ(n, batch.sizes()[0]);
    sizes.push_back(batch.sizes()[0]);
    purposes_differ = purposes_differ || test.simulate(number, pool).sizes()[0] != sizes.back();
  }
  EXPECT_NE(*std::min_element(sizes.begin(), sizes.end()), *std::max_element(sizes.begin(), sizes.end()));
  EXPECT_TRUE(purposes_differ);
}

TEST(Simulator, GivesUpWithTheModelAndItsParameters) {
  ThreadPool pool(2);
  const auto family = std::make_shared<const Patchy>();
  ProblemSpec spec;
  spec.name = "hopeless";
  spec.size = SizeDistribution::fixed(3);
  spec.models = {Model("fine", family), Model("hopeless", family, {{"floor", Prior::fixed(1)}})};
  Simulator simulator(Problem(spec), 1, Purpose::train, {.batch = 20, .max_failures = 50});
  for (int round = 0; round < 2; ++round) {  // and stays usable
    try {
      simulator.simulate(0, pool);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data);
      const std::string message = error.what();
      EXPECT_NE(message.find("model 'hopeless' gave no usable data in 50 draws"), std::string::npos)
          << message;
      EXPECT_NE(message.find("floor = 1, level = 0."), std::string::npos) << message;
    }
  }
}

TEST(Simulator, RefusesOptionsOutOfRange) {
  const Problem problem = builtin_problem("beta-binomial");
  const auto refused = [&](const SimulatorOptions& options) {
    try {
      Simulator simulator(problem, 1, Purpose::train, options);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused({.batch = 0}));
  EXPECT_TRUE(refused({.batch = -64}));
  EXPECT_TRUE(refused({.model = 2}));
  EXPECT_TRUE(refused({.model = -1}));
  EXPECT_TRUE(refused({.n = 0}));
  EXPECT_TRUE(refused({.n = -5}));
  EXPECT_TRUE(refused({.group = 0}));
  Simulator simulator(problem, 1, Purpose::train);
  ThreadPool pool(1);
  Batch batch;
  EXPECT_THROW(simulator.simulate(-1, pool, batch), Error);
  EXPECT_THROW(simulator.simulate_range(0, -1, pool, batch), Error);
}

TEST(Simulator, RefusesABlockLargerThanMemory) {
  SimulatorOptions options;
  options.n = SizeDistribution::kLargest;
  Simulator simulator(builtin_problem("beta-binomial"), 1, Purpose::train, options);
  ThreadPool pool(1);
  Batch batch;
  try {
    simulator.simulate_range(0, 1000, pool, batch);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    EXPECT_NE(std::string(error.what()).find("1000 data sets of 100000000 rows"), std::string::npos)
        << error.what();
  }
}

// Slow simulators are watched while a range is made, not only between ranges; data do not depend on it.
TEST(Simulator, TellsHowManyDataSetsAreDone) {
  Simulator simulator(patchy_problem(), 1, Purpose::test);
  ThreadPool pool(1);
  Batch told, plain;
  std::vector<std::int64_t> done;
  simulator.simulate_range(0, 500, pool, told, [&](std::int64_t count) { done.push_back(count); });
  EXPECT_GT(done.size(), 4u);
  EXPECT_TRUE(std::ranges::is_sorted(done));
  EXPECT_EQ(done.back(), 500);
  simulator.simulate_range(0, 500, pool, plain);
  expect_same(told, plain);
}

TEST(Batch, KeepsItsMemory) {
  Batch batch;
  batch.reset(2, 1, 3);
  batch.append(1, 5, 5);
  const float* memory = batch.mutable_data(0).data();
  std::ranges::fill(batch.mutable_data(0), 1.0f);
  batch.reset(2, 1, 3);
  batch.append(0, 4, 4);
  EXPECT_EQ(batch.mutable_data(0).data(), memory);
  EXPECT_TRUE(std::isnan(batch.parameters(0)[0]));
  EXPECT_EQ(batch.rows(), 4);
}

}  // namespace
}  // namespace occam
