#include "occam/simulate/missing.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "occam/core/error.hpp"
#include "occam/core/progress.hpp"
#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/reference_table.hpp"
#include "occam/simulate/simulation_file.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

const std::string kModels = "[model.a]\nrho = 0\n[model.b]\n";

// Two columns, x and y; `columns` is what the table says of them.
Problem pairs(const std::string& columns, const std::string& n = "n = 200\n") {
  return read_problem("name = \"p\"\n" + n + "family = \"bivariate-normal\"\n" + kModels +
                          (columns.empty() ? "" : "[columns]\n" + columns + "\n"),
                      "p.toml");
}

std::string refusal(const std::string& columns) {
  try {
    pairs(columns);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    return error.what();
  }
  return "accepted";
}

// The share of missing values of a column in each data set of a batch.
std::vector<double> shares(const Batch& batch, std::int64_t column) {
  std::vector<double> result;
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const DataView data = batch[b];
    double gone = 0;
    for (std::int64_t r = 0; r < data.n; ++r) gone += std::isnan(data.at(r, column)) ? 1 : 0;
    result.push_back(gone / static_cast<double>(data.n));
  }
  return result;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

Batch simulated(const Problem& problem, std::int64_t count, int threads = 2, SimulatorOptions options = {}) {
  ThreadPool pool(threads);
  Batch batch;
  Simulator(problem, 3, Purpose::test, options).simulate_range(0, count, pool, batch);
  return batch;
}

TEST(Missing, IsReadFromTheTableOfColumnsAndWrittenBack) {
  for (const auto& [text, rate] :
       std::vector<std::pair<std::string, Prior>>{{"y = { missing = 0.25 }", Prior::fixed(0.25)},
                                                  {"y = { missing = \"beta(2, 5)\" }", Prior::beta(2, 5)},
                                                  {"y = { missing = true }", Prior::uniform(0, 0.5)}}) {
    const Problem problem = pairs(text);
    ASSERT_EQ(problem.missing().size(), 1u) << text;
    EXPECT_EQ(problem.missing()[0].name, "y");
    EXPECT_EQ(problem.missing()[0].at, 1);
    EXPECT_EQ(problem.missing()[0].rate, rate);
    const Problem again = read_problem(problem_toml(problem), "again.toml");
    EXPECT_EQ(again.canonical_text(), problem.canonical_text());
    EXPECT_NE(problem.fingerprint(), pairs("").fingerprint());
  }
  EXPECT_TRUE(pairs("y = { missing = false }").missing().empty());
  EXPECT_EQ(pairs("y = { missing = false }").fingerprint(), pairs("").fingerprint());
  const Problem both = pairs("y = { missing = 0.1 }\nx = { missing = 0.2 }");
  EXPECT_EQ(places_of(both.missing()), (std::vector<std::int64_t>{0, 1}));
}

TEST(Missing, OwnModelsDeclareItBesideTheDescription) {
  const Problem problem = read_problem(
      "name = \"p\"\nn = 5\nsimulator = [\"sim\"]\n[columns]\ncondition = { role = \"design\" }\n"
      "rt = { unit = \"s\", missing = \"uniform(0, 0.1)\" }\n[model.a]\n[model.b]\n",
      "p.toml");
  EXPECT_EQ(places_of(problem.missing()), std::vector<std::int64_t>{1});
  const Problem again = read_problem(problem_toml(problem), "again.toml");
  EXPECT_EQ(again.canonical_text(), problem.canonical_text());
  EXPECT_EQ(again.columns(), problem.columns());
}

TEST(Missing, WhatMakesNoSenseIsRefusedWithItsPlace) {
  EXPECT_NE(refusal("z = { missing = 0.1 }").find("no column 'z'"), std::string::npos);
  EXPECT_TRUE(refusal("z = { missing = 0.1 }").starts_with("p.toml:8:")) << refusal("z = { missing = 0.1 }");
  EXPECT_NE(refusal("y = { missing = 1.5 }").find("reaches outside"), std::string::npos);
  EXPECT_NE(refusal("y = { missing = \"normal(0, 1)\" }").find("reaches outside"), std::string::npos);
  EXPECT_NE(refusal("y = { missing = [1] }").find("expected a number or a prior"), std::string::npos);
  EXPECT_NE(refusal("y = { missing = \"from\" }").find("[design] from"), std::string::npos);
  EXPECT_NE(refusal("y = { mising = 0.1 }").find("did you mean 'missing'"), std::string::npos);
  try {
    read_problem(
        "name = \"p\"\nn = 5\nfamily = \"linear-regression\"\n[model.a]\n[model.b]\nslope = 1\n"
        "[columns]\nx = { missing = 0.1 }\n",
        "p.toml");
    FAIL() << "a design column may be missing";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("always known"), std::string::npos) << error.what();
  }
}

TEST(Missing, RatesAreThoseAskedFor) {
  const Batch some = simulated(pairs("y = { missing = 0.25 }"), 200);
  EXPECT_NEAR(mean(shares(some, 1)), 0.25, 0.01);  // sd 0.0022
  EXPECT_EQ(mean(shares(some, 0)), 0);
  // A rate of its own for every data set: shares spread from nearly none to nearly 0.6.
  const std::vector<double> spread =
      shares(simulated(pairs("y = { missing = \"uniform(0, 0.6)\" }"), 400), 1);
  EXPECT_NEAR(mean(spread), 0.3, 0.04);  // sd 0.009
  EXPECT_LT(*std::min_element(spread.begin(), spread.end()), 0.02);
  EXPECT_GT(*std::max_element(spread.begin(), spread.end()), 0.55);
  // A row may lose all.
  const Batch both = simulated(pairs("x = { missing = 0.5 }\ny = { missing = 0.5 }"), 50);
  double lost = 0;
  for (std::int64_t r = 0; r < both.rows(); ++r) {
    const auto at = static_cast<std::size_t>(2 * r);
    lost += std::isnan(both.data()[at]) && std::isnan(both.data()[at + 1]) ? 1 : 0;
  }
  EXPECT_NEAR(lost / static_cast<double>(both.rows()), 0.25, 0.03);
}

TEST(Missing, ChangesNothingThatIsThere) {
  const Batch whole = simulated(pairs(""), 50);
  const Batch some = simulated(pairs("y = { missing = 0.4 }"), 50);
  ASSERT_EQ(whole.rows(), some.rows());
  for (std::size_t i = 0; i < whole.data().size(); ++i) {
    if (!std::isnan(some.data()[i])) {
      ASSERT_EQ(some.data()[i], whole.data()[i]);
    }
  }
  SimulatorOptions complete;
  complete.complete = true;
  const Batch kept = simulated(pairs("y = { missing = 0.4 }"), 50, 2, complete);
  EXPECT_TRUE(std::equal(kept.data().begin(), kept.data().end(), whole.data().begin()));
}

// On the bits: NaN is not equal to itself.
bool same_bits(const Batch& a, const Batch& b) {
  return a.data().size() == b.data().size() &&
         std::memcmp(a.data().data(), b.data().data(), a.data().size_bytes()) == 0;
}

TEST(SimulatorMissing, SameBitsOnAnyNumberOfThreadsAndInAnyPieces) {
  const Problem problem = pairs("y = { missing = true }", "n = \"uniform(1, 50)\"\n");
  const Batch one = simulated(problem, 64, 1);
  EXPECT_TRUE(same_bits(one, simulated(problem, 64, 7)));
  ThreadPool pool(2);
  Batch part;
  Simulator(problem, 3, Purpose::test).simulate_range(10, 5, pool, part);
  for (std::int64_t b = 0; b < 5; ++b) {
    const DataView a = part[b], c = one[10 + b];
    ASSERT_EQ(a.n, c.n);
    EXPECT_EQ(std::memcmp(a.data, c.data, a.values().size_bytes()), 0);
  }
}

TEST(Missing, DisturbancesComeBeforeTheLoss) {
  const Problem problem = pairs("y = { missing = 0.3 }");
  ThreadPool pool(2);
  const DisturbedRange range{.seed = 3, .purpose = Purpose::test, .first = 0, .count = 20};
  const Batch plain = simulated(problem, 20);
  const Batch disturbed = disturb(problem, {"scale", 1}, range, pool);
  for (std::int64_t r = 0; r < plain.rows(); ++r) {
    const auto at = static_cast<std::size_t>(2 * r + 1);
    ASSERT_EQ(std::isnan(plain.data()[at]), std::isnan(disturbed.data()[at]));
    if (!std::isnan(plain.data()[at])) {
      ASSERT_EQ(disturbed.data()[at], 2 * plain.data()[at]);
    }
  }
}

TEST(Missing, PatternsOfTheUsersOwnExperiment) {
  const testing_support::TemporaryFolder folder;
  // Of subject a every third y is missing, of subject b the y where x is 5.
  std::string csv = "subject,x,y\n";
  for (int i = 0; i < 30; ++i) {
    csv += fmt::format("a,{},{}\n", i % 2, i % 3 == 0 ? "NA" : "1");
    csv += fmt::format("b,{},{}\n", 5 + i % 2, i % 2 == 0 ? "" : "1");
  }
  write_file_atomic(folder / "trials.csv", csv);
  const std::string text =
      "name = \"p\"\nfamily = \"linear-regression\"\n[model.a]\n[model.b]\nslope = 1\n"
      "[columns]\ny = { missing = \"from\" }\n[design]\nfrom = \"trials.csv\"\nby = \"subject\"\n";
  const Problem problem = read_problem_to_run(text, "p.toml", folder.path());
  const Batch batch = simulated(problem, 100);
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const DataView data = batch[b];
    const bool second = data.at(0, 0) >= 5;
    std::int64_t gone = 0;
    for (std::int64_t r = 0; r < data.n; ++r) {
      ASSERT_FALSE(std::isnan(data.at(r, 0)));
      if (second) {
        ASSERT_EQ(std::isnan(data.at(r, 1)), data.at(r, 0) == 5) << b;
      }
      gone += std::isnan(data.at(r, 1)) ? 1 : 0;
    }
    if (!second && data.n % 3 == 0) {
      EXPECT_EQ(gone, data.n / 3);
    }
  }
  // The patterns travel with the problem.
  const Problem again = read_problem(problem_toml(problem), "again.toml");
  EXPECT_EQ(again.canonical_text(), problem.canonical_text());
  EXPECT_TRUE(same_bits(simulated(again, 100), batch));
}

TEST(Missing, PatternsNeedNoDesignColumn) {
  const testing_support::TemporaryFolder folder;
  write_file_atomic(folder / "trials.csv", "x,y\n1,1\n2,NA\n3,3\n4,\n5,5\n6,NaN\n");
  const Problem problem = read_problem_to_run("name = \"p\"\nfamily = \"bivariate-normal\"\n" + kModels +
                                                  "[columns]\ny = { missing = \"from\" }\n[design]\nfrom = "
                                                  "\"trials.csv\"\n",
                                              "p.toml", folder.path());
  const Batch batch = simulated(problem, 50);
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    const DataView data = batch[b];
    ASSERT_LE(data.n, 6);
    for (std::int64_t r = 0; r + 1 < data.n; ++r)
      ASSERT_NE(std::isnan(data.at(r, 1)), std::isnan(data.at(r + 1, 1)));
  }
  EXPECT_TRUE(same_bits(simulated(read_problem(problem_toml(problem), "again"), 50), batch));
}

TEST(Missing, TablesHoldWhatIsMissing) {
  const testing_support::TemporaryFolder folder;
  const Problem problem = pairs("y = { missing = 0.4 }", "n = 12\n");
  ThreadPool pool(2);
  SilentProgress silent;
  SimulationFileOptions options;
  options.datasets = 20;
  for (const char* name : {"t.csv", "t.npz"}) {
    write_simulations(problem, options, 5, folder / name, pool, silent);
    const ReferenceTable table = ReferenceTable::read(folder / name, problem);
    EXPECT_NEAR(mean(shares(table.all(), 1)), 0.4, 0.15) << name;
    EXPECT_EQ(mean(shares(table.all(), 0)), 0) << name;
    EXPECT_THROW(ReferenceTable::read(folder / name, pairs("", "n = 12\n")), Error) << name;
  }
}

}  // namespace
}  // namespace occam
