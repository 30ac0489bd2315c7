#include "occam/simulate/design.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/simulate/simulator.hpp"

namespace occam {
namespace {

using nlohmann::json;

const std::vector<Column> kColumns = {{"condition", "", Role::design}, {"y", ""}, {"dose", "", Role::design}};

// One data set: the design columns of n rows, NaN elsewhere.
std::vector<float> draw(const Design& design, std::int64_t n, std::uint64_t item, std::size_t D = 3) {
  std::vector<float> rows(static_cast<std::size_t>(n) * D, NAN);
  Rng rng(1, Purpose::design, item);
  design.fill(rng, n, rows);
  return rows;
}

std::map<float, int> counts(const std::vector<float>& rows, std::size_t column, std::size_t D = 3) {
  std::map<float, int> result;
  for (std::size_t i = column; i < rows.size(); i += D) ++result[rows[i]];
  return result;
}

json with_condition(const json& condition) {
  return {{"condition", condition}, {"dose", "uniform(0, 10)"}};
}

TEST(Design, EqualSharesAreAsEqualAsTheSizeAllows) {
  const auto design = make_design(with_condition({{"levels", {1, 2, 3}}}), kColumns);
  std::map<float, int> extra;
  for (std::uint64_t item = 0; item < 300; ++item) {
    const auto seen = counts(draw(*design, 100, item), 0);
    ASSERT_EQ(seen.size(), 3u);
    for (const auto& [level, count] : seen) {
      EXPECT_GE(count, 33);
      EXPECT_LE(count, 34);
      if (count == 34) ++extra[level];
    }
  }
  for (const auto& [level, times] : extra) EXPECT_GT(times, 60) << level;  // 100 expected, sd 8
}

TEST(Design, LeavesTheObservedColumnsAlone) {
  const auto design = make_design(with_condition({{"levels", {1, 2}}}), kColumns);
  const std::vector<float> rows = draw(*design, 50, 0);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(std::isnan(rows[3 * i + 1]));
    EXPECT_GE(rows[3 * i + 2], 0.0f);
    EXPECT_LE(rows[3 * i + 2], 10.0f);
  }
}

TEST(Design, GivenSharesHoldOnAverage) {
  const auto design = make_design(with_condition({{"levels", {1, 2}}, {"shares", {0.8, 0.2}}}), kColumns);
  double first = 0;
  for (std::uint64_t item = 0; item < 100; ++item) first += counts(draw(*design, 100, item), 0)[1.0f];
  EXPECT_NEAR(first / 10000, 0.8, 0.02);  // five standard errors
}

TEST(Design, AnySharesReachFromBalancedToNearlyAbsent) {
  const auto design = make_design(with_condition({{"levels", {1, 2}}, {"shares", "any"}}), kColumns);
  int balanced = 0, rare = 0;
  for (std::uint64_t item = 0; item < 1000; ++item) {
    const int first = counts(draw(*design, 100, item), 0)[1.0f];
    balanced += first == 50 ? 1 : 0;
    rare += first <= 5 || first >= 95 ? 1 : 0;
  }
  EXPECT_GT(balanced, 205);  // a quarter exactly, a few by chance: 275 expected, sd 14
  EXPECT_LT(balanced, 345);
  EXPECT_GT(rare, 25);  // half of a tenth of 1000 expected
}

TEST(Design, AConstantIsTheSameInAllRows) {
  const json table = {{"condition", {{"levels", {1, 2}}, {"constant", true}, {"shares", "random"}}},
                      {"dose", {{"values", "uniform(0, 10)"}, {"constant", true}}}};
  const auto design = make_design(table, kColumns);
  std::map<float, int> seen;
  for (std::uint64_t item = 0; item < 50; ++item) {
    const std::vector<float> rows = draw(*design, 20, item);
    EXPECT_EQ(counts(rows, 0).size(), 1u);
    EXPECT_EQ(counts(rows, 2).size(), 1u);
    ++seen[rows[0]];
  }
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Design, AFactorialDesignHasEveryCombinationEquallyOften) {
  const json table = {
      {"factorial", true}, {"condition", {{"levels", {1, 2}}}}, {"dose", {{"levels", {0, 5, 10}}}}};
  const auto design = make_design(table, kColumns);
  const std::vector<float> rows = draw(*design, 60, 3);
  std::map<std::pair<float, float>, int> cells;
  for (std::size_t i = 0; i < 60; ++i) ++cells[{rows[3 * i], rows[3 * i + 2]}];
  ASSERT_EQ(cells.size(), 6u);
  for (const auto& [cell, count] : cells) EXPECT_EQ(count, 10);
}

TEST(Design, ReadsBackAsTheSame) {
  for (const json& table :
       {with_condition({{"levels", {1, 2}}, {"shares", "any"}}),
        with_condition({{"levels", {1, 2}}, {"shares", {0.25, 0.75}}}),
        json{{"factorial", true}, {"condition", {{"levels", {1, 2}}}}, {"dose", {{"levels", {0, 5}}}}},
        json{{"condition", 1}, {"dose", {{"values", "normal(0, 1)"}, {"constant", true}}}}}) {
    const auto design = make_design(table, kColumns);
    const auto again = make_design(design->json(), kColumns);
    EXPECT_EQ(again->json(), design->json());
    EXPECT_EQ(counts(draw(*again, 40, 7), 0), counts(draw(*design, 40, 7), 0));
  }
}

TEST(Design, SubjectsOfAnExperimentAreTakenWholeOrCutShort) {
  const testing_support::TemporaryFolder folder;
  std::string csv = "subject,condition,y,dose\n";
  for (int i = 0; i < 100; ++i) csv += fmt::format("anna,{},0.1,{}\n", i % 10 == 0 ? 2 : 1, i);
  for (int i = 0; i < 40; ++i) csv += fmt::format("ben,2,0.1,{}\n", i);
  write_file_atomic(folder / "trials.csv", csv);
  const auto design = make_design({{"from", "trials.csv"}, {"by", "subject"}}, kColumns, folder.path());
  EXPECT_FALSE(design->needs_n());
  EXPECT_EQ(design->sizes(1, 1), (std::pair<std::int64_t, std::int64_t>{4, 100}));
  std::map<std::int64_t, int> sizes;
  for (std::uint64_t item = 0; item < 400; ++item) {
    Rng rng(1, Purpose::design, item);
    const std::int64_t n = design->size(rng, 17);
    ++sizes[n];
    const std::vector<float> rows = draw(*design, n, item);
    for (std::size_t i = 3; i < rows.size(); i += 3) EXPECT_EQ(rows[i + 2], rows[i - 1] + 1);  // a stretch
  }
  EXPECT_GT(sizes[100], 60);  // a quarter
  EXPECT_GT(sizes[40], 60);
  EXPECT_LT(sizes[100] + sizes[40], 260);
  // Without the file, from what it says of itself.
  const auto again = make_design(design->json(), kColumns);
  EXPECT_EQ(again->json(), design->json());
  EXPECT_EQ(counts(draw(*again, 30, 5), 2), counts(draw(*design, 30, 5), 2));
}

TEST(Design, RowsOfNobodyAreRefused) {
  const testing_support::TemporaryFolder folder;
  write_file_atomic(folder / "trials.csv", "subject,condition,dose\nanna,1,2\n anna,1,3\nNA,1,4\n");
  const auto taken = [&] {
    return make_design({{"from", "trials.csv"}, {"by", "subject"}}, kColumns, folder.path());
  };
  const std::string said = testing_support::failure_of(taken);
  EXPECT_NE(said.find("trials.csv:4: column 'subject': the value is missing ('NA'), so the row is of nobody"),
            std::string::npos)
      << said;
  write_file_atomic(folder / "trials.csv", "subject,condition,dose\nanna,1,2\n anna,1,3\n");
  EXPECT_EQ(taken()->sizes(1, 1).second, 2) << "one subject";
}

TEST(Design, SaysWhatIsWrong) {
  const auto says = [](const json& table, const std::string& words) {
    try {
      make_design(table, kColumns);
      FAIL() << table;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_config);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  says({{"condition", {{"levels", {1, 2}}}}}, "dose: where do its values come from");
  says(with_condition({{"levels", {"A", "B"}}}), "give names numbers");
  says(with_condition({{"levels", {1, 1}}}), "each of them once");
  says(with_condition({{"levels", json::array()}}), "one or more numbers");
  says(with_condition({{"levels", {1, 2}}, {"shares", {0.5, 0.6}}}), "sum to 1.1");
  says(with_condition({{"levels", {1, 2}}, {"shares", {1}}}), "expected 2 numbers");
  says(with_condition({{"levels", {1, 2}}, {"shares", "anny"}}), "did you mean 'any'");
  says(with_condition({{"level", {1, 2}}}), "did you mean 'levels'");
  says(with_condition("unifrom(0, 1)"), "uniform");
  says({{"condition", 1}, {"dose", 1}, {"y", 1}}, "no design column has this name");
  EXPECT_THROW(make_design({{"x", 1}}, {{"x", ""}}), Error);
}

// Their number is a product, which may be beyond any number.
TEST(Design, CrossingsOfTooManyLevelsAreRefused) {
  for (const int factors : {10, 32, 63, 64}) {
    json table = {{"factorial", true}};
    std::vector<Column> columns = {{"y", "what is observed"}};
    for (int k = 0; k < factors; ++k) {
      const std::string name = "c" + std::to_string(k);
      columns.push_back({name, name, Role::design});
      table[name] = {{"levels", factors == 10 ? json{1, 2, 3, 4} : json{1, 2}}};
    }
    const auto error = testing_support::error_of([&] { make_design(table, columns); });
    ASSERT_TRUE(error) << factors;
    EXPECT_NE(std::string(error->what()).find("more than 1000000 combinations"), std::string::npos)
        << error->what();
  }
}

constexpr const char* kOwn = R"toml(
name = "dose"
n = "uniform(20, 40)"
family = "linear-regression"
[design]
x = { levels = [0, 1], shares = "random" }
[model.a]
[model.b]
slope = "normal(0, 1)"
)toml";

TEST(Design, GoesThroughAProblemFile) {
  const Problem problem = read_problem(kOwn, "dose.toml");
  ASSERT_NE(problem.design(), nullptr);
  const Problem again = read_problem(problem_toml(problem), "again.toml");
  EXPECT_EQ(again.fingerprint(), problem.fingerprint());
  std::string other(kOwn);
  other.replace(other.find("random"), 6, "any");
  EXPECT_NE(read_problem(other, "other.toml").fingerprint(), problem.fingerprint());
}

TEST(Design, IsTheSameForEveryModelAndOnAnyNumberOfThreads) {
  const Problem problem = read_problem(kOwn, "dose.toml");
  ThreadPool one(1), seven(7);
  SimulatorOptions first, second;
  first.model = 0;
  second.model = 1;
  const Batch a = Simulator(problem, 5, Purpose::test, first).simulate(3, one);
  const Batch b = Simulator(problem, 5, Purpose::test, second).simulate(3, seven);
  ASSERT_EQ(a.rows(), b.rows());
  bool same_y = true;
  for (std::int64_t r = 0; r < a.rows(); ++r) {
    const auto at = static_cast<std::size_t>(2 * r);
    ASSERT_EQ(a.data()[at], b.data()[at]);
    same_y = same_y && a.data()[at + 1] == b.data()[at + 1];
  }
  EXPECT_FALSE(same_y);
}

TEST(Design, AFamilyThatCannotTakeOneIsRefused) {
  constexpr const char* kText = R"toml(
name = "x"
n = 10
family = "bernoulli"
[design]
x = 1
[model.a]
[model.b]
)toml";
  try {
    read_problem(kText, "x.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_config);
    EXPECT_NE(std::string(error.what()).find("no column of the data has role"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace occam
