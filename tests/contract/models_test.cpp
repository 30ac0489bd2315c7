// What every problem in the catalogue promises. A family added to models/CMakeLists.txt is tested here
// without another line.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

class EveryProblem : public testing::TestWithParam<std::string> {
 protected:
  Problem problem_ = load_problem(GetParam());
};

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b,
                            [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

TEST_P(EveryProblem, SameBitsOnOneAndSevenThreads) {
  ThreadPool one(1);
  ThreadPool seven(7);
  Simulator a(problem_, 42, Purpose::simulate, {.batch = 50});
  Simulator b(problem_, 42, Purpose::simulate, {.batch = 50, .group = 3});
  for (const std::int64_t number : {0, 17}) {
    const Batch x = a.simulate(number, one);
    const Batch y = b.simulate(number, seven);
    EXPECT_TRUE(std::ranges::equal(x.models(), y.models()));
    EXPECT_TRUE(std::ranges::equal(x.offsets(), y.offsets()));
    EXPECT_TRUE(std::ranges::equal(x.data(), y.data()));
    EXPECT_TRUE(same_bits(x.parameters(), y.parameters()));
  }
}

TEST_P(EveryProblem, DataAreFiniteAndParametersWithinTheirPriors) {
  ThreadPool pool(2);
  Simulator simulator(problem_, 1, Purpose::simulate, {.batch = 200});
  const Batch batch = simulator.simulate(0, pool);
  EXPECT_TRUE(std::ranges::all_of(batch.data(), [](float x) { return std::isfinite(x); }));
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const std::int64_t j = batch.models()[b];
    const Family& family = problem_.models()[static_cast<std::size_t>(j)].family();
    EXPECT_GE(batch[b].n, 1);
    EXPECT_LE(batch[b].n, family.max_rows(batch.sizes()[b]));
    EXPECT_GE(batch.sizes()[b], problem_.size().low());
    EXPECT_LE(batch.sizes()[b], problem_.size().high());
    for (std::int64_t p = 0; p < problem_.P(); ++p) {
      const double value = batch.parameters(b)[static_cast<std::size_t>(p)];
      const Prior* prior = problem_.prior(j, p);
      ASSERT_EQ(prior != nullptr, problem_.mask(j)[static_cast<std::size_t>(p)] == 1);
      if (prior == nullptr) {
        EXPECT_TRUE(std::isnan(value));
      } else {
        EXPECT_TRUE(value >= prior->lower() && value <= prior->upper())
            << problem_.parameter_names()[p] << " " << value;
      }
    }
  }
}

// Fewer than one draw in ten fails, or the prior in the file is not the prior simulated from.
TEST_P(EveryProblem, DrawsRarelyFail) {
  ThreadPool pool(2);
  Simulator simulator(problem_, 3, Purpose::simulate, {.batch = 200});
  const Batch batch = simulator.simulate(0, pool);
  std::int64_t failed = 0;
  for (const std::int64_t count : batch.failed_draws()) failed += count;
  EXPECT_LE(failed, batch.size() / 10);
}

// Each model within 4.9 standard deviations of its probability (a false alarm in a million for each).
TEST_P(EveryProblem, ModelsComeWithTheirPriorProbability) {
  constexpr int kDraws = 20000;
  std::vector<int> counts(static_cast<std::size_t>(problem_.J()), 0);
  for (int i = 0; i < kDraws; ++i) {
    Rng rng(9, Purpose::simulate, static_cast<std::uint64_t>(i));
    ++counts[static_cast<std::size_t>(problem_.sample_model(rng))];
  }
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const double p = problem_.model_prior()[j];
    EXPECT_NEAR(counts[j], kDraws * p, 4.9 * std::sqrt(kDraws * p * (1.0 - p)) + 1.0)
        << problem_.model_names()[j];
  }
}

TEST_P(EveryProblem, PrintsAsAFileThatReadsBackTheSame) {
  const std::string text = problem_toml(problem_);
  const Problem again = read_problem(text, "printed.toml");
  EXPECT_EQ(again.canonical_text(), problem_.canonical_text());
  EXPECT_EQ(again.fingerprint(), problem_.fingerprint());
  EXPECT_EQ(again.name(), GetParam());
  EXPECT_EQ(again.description(), problem_.description());
}

TEST_P(EveryProblem, ExactPosteriorSumsToOne) {
  if (!problem_.has_exact_posterior()) GTEST_SKIP() << "no exact posterior known for " << GetParam();
  ThreadPool pool(2);
  Simulator simulator(problem_, 2, Purpose::simulate, {.batch = 20});
  const Batch batch = simulator.simulate(0, pool);
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const auto log_p = problem_.exact_log_posterior(batch[b]);
    ASSERT_TRUE(log_p.has_value());
    ASSERT_EQ(static_cast<std::int64_t>(log_p->size()), problem_.J());
    double sum = 0.0;
    for (const double l : *log_p) {
      EXPECT_LE(l, 1e-9);
      sum += std::exp(l);
    }
    EXPECT_NEAR(sum, 1.0, 1e-9);
  }
  for (const Model& model : problem_.models()) {
    EXPECT_EQ(model.family().log_evidence(model.priors(), {nullptr, 0, problem_.D()}), 0.0) << model.name();
  }
}

TEST_P(EveryProblem, IsDescribedForPeople) {
  EXPECT_FALSE(problem_.description().empty());
  // Keys of a model's table in a problem file: a parameter of that name could not be set.
  const std::set<std::string> reserved = {"family", "prior_probability", "settings", "simulator"};
  for (const Model& model : problem_.models()) {
    EXPECT_FALSE(model.family().description().empty());
    EXPECT_EQ(catalogue().families.find(model.family().name()) == nullptr, false);
    for (const Parameter& parameter : model.parameters()) {
      EXPECT_FALSE(parameter.description.empty()) << parameter.name;
      EXPECT_EQ(reserved.count(parameter.name), 0u) << parameter.name;
    }
  }
  for (const Column& column : problem_.columns()) EXPECT_FALSE(column.description.empty()) << column.name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryProblem, testing::ValuesIn(catalogue().problem_names()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
                               '_');
                           return name;
                         });

// Default settings and priors of every family are legal, and its settings read back from their own record.
TEST(EveryFamily, HasUsableDefaults) {
  for (const std::string& name : catalogue().families.names()) {
    const auto family = make_family(name);
    EXPECT_EQ(family->name(), name);
    const Model model("defaults", family);
    EXPECT_EQ(make_family(name, family->settings_json(), "test")->settings_json(), family->settings_json());
  }
}

}  // namespace
}  // namespace occam
