// Diagnostics against the same numbers computed by NumPy and scikit-learn (tests/data/check), files of
// predictions and their faults, and the statistics behind them.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/check/check_network.hpp"
#include "occam/check/network_problem.hpp"
#include "occam/check/prediction_file.hpp"
#include "occam/check/statistics.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/core/progress.hpp"
#include "occam/core/rng.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/npz.hpp"
#include "occam/io/test_support.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/scope/build_scope.hpp"
#include "occam/simulate/problem.hpp"

namespace occam {
namespace {

using testing_support::TemporaryFolder;

CheckResult checked(const std::string& path, int threads = 2, CheckOptions options = {}) {
  ThreadPool pool(threads);
  SilentProgress progress;
  const auto reader = PredictionReader::open(path);
  return check_predictions(*reader, path, {}, options, 1, pool, progress);
}

const Table& table_of(const Report& report, const std::string& name) {
  for (const Finding& finding : report.findings) {
    for (const Table& table : finding.tables) {
      if (table.name == name) return table;
    }
  }
  throw Error(ErrorKind::internal, "no table '{}'", name);
}

class Reference : public ::testing::TestWithParam<const char*> {};

TEST_P(Reference, MetricsEqualThoseOfScikitLearn) {
  const std::string folder = OCCAM_TEST_DATA "/check/";
  const nlohmann::json expected = read_json(folder + "expected.json", ErrorKind::bad_data);
  const Report report = checked(folder + GetParam()).report;
  for (const auto& [name, value] : expected["metrics"].items()) {
    EXPECT_NEAR(metric_value(report.findings, name), value.get<double>(), 1e-10) << name;
  }
  const Table& confusion = table_of(report, "confusion");
  const Table& mean_p = table_of(report, "mean_probabilities");
  const Table& shares = table_of(report, "model_shares");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(std::get<double>(confusion.rows[3 * i + j][3]), expected["confusion"][i][j].get<double>(),
                  1e-10);
      EXPECT_NEAR(std::get<double>(mean_p.rows[3 * i + j][2]),
                  expected["mean_probabilities"][i][j].get<double>(), 1e-10);
    }
    const nlohmann::json& of = expected["model_shares"];
    EXPECT_NEAR(std::get<double>(shares.rows[i][1]), of["mean_p"][i].get<double>(), 1e-10);
    EXPECT_NEAR(std::get<double>(shares.rows[i][4]), of["share_drawn"][i].get<double>(), 1e-10);
    EXPECT_NEAR(std::get<double>(shares.rows[i][5]), of["z_drawn"][i].get<double>(), 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Check, Reference, ::testing::Values("predictions.csv", "predictions.npz"),
                         [](const auto& file) { return std::string(file.param).substr(12); });

TEST(CheckThreaded, SameFindingsOnAnyNumberOfThreads) {
  const std::string path = OCCAM_TEST_DATA "/check/predictions.csv";
  CheckOptions options;
  options.replicates = 5000;  // long enough for all threads to take part
  const Report one = checked(path, 1, options).report;
  const Report seven = checked(path, 7, options).report;
  ASSERT_EQ(one.findings.size(), seven.findings.size());
  for (std::size_t i = 0; i < one.findings.size(); ++i) {
    const Finding& a = one.findings[i];
    const Finding& b = seven.findings[i];
    ASSERT_EQ(a.metrics.size(), b.metrics.size());
    for (std::size_t m = 0; m < a.metrics.size(); ++m) {
      EXPECT_EQ(a.metrics[m].value, b.metrics[m].value) << a.metrics[m].name;
      if (!std::isnan(a.metrics[m].lower)) {
        EXPECT_EQ(a.metrics[m].lower, b.metrics[m].lower) << a.metrics[m].name;
      }
    }
  }
}

// Every figure draws a table of its finding and only columns that it has.
void expect_columns(const nlohmann::json& node, const Table& table, const std::string& figure) {
  if (node.is_object()) {
    if (node.contains("field") && node["field"].is_string()) {
      const std::string field = node["field"];
      EXPECT_TRUE(std::find(table.columns.begin(), table.columns.end(), field) != table.columns.end())
          << figure << ": " << field;
    }
    for (const auto& [key, value] : node.items()) expect_columns(value, table, figure);
  } else if (node.is_array()) {
    for (const auto& value : node) expect_columns(value, table, figure);
  }
}

TEST(Findings, FiguresDrawColumnsThatTheirTablesHave) {
  const Report report = checked(OCCAM_TEST_DATA "/check/predictions.csv").report;
  std::size_t figures = 0;
  for (const Finding& finding : report.findings) {
    for (const Figure& figure : finding.figures) {
      const Table& table = table_of(report, figure.table);
      EXPECT_FALSE(table.rows.empty()) << table.name;
      for (const auto& row : table.rows) ASSERT_EQ(row.size(), table.columns.size()) << table.name;
      EXPECT_FALSE(figure.text.empty() || figure.alternative.empty()) << figure.name;
      expect_columns(figure.specification, table, figure.name);
      ++figures;
    }
  }
  EXPECT_GE(figures, 8u);
}

// Finite weights whose answers are not: golden outputs alone do not tell.
NetworkFile network_of_huge_weights() {
  NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
  for (float& weight : file.members[0]) weight *= 1e30f;
  return file;
}

TEST(Check, ANetworkWhoseAnswersAreNoNumbersIsRefused) {
  ThreadPool pool(2);
  SilentProgress progress;
  Comparator comparator(network_of_huge_weights(), pool, kDefaultEngine);
  const Problem problem = network_problem(comparator.file(), "");
  CheckRequest request;
  request.data_sets = 200;
  const auto said = [](const auto& work) {
    const auto error = testing_support::error_of(work);
    return error ? std::string(error->what()) : "accepted";
  };
  EXPECT_NE(
      said([&] { check_network(comparator, problem, request, pool, progress); }).find("is not a number"),
      std::string::npos);
  ScopeOptions options;
  options.reference = 200;
  options.calibration = 200;
  EXPECT_NE(said([&] { build_scope(comparator, problem, options, 1, progress); }).find("is not a number"),
            std::string::npos);
}

// Measurements are in memory's bounds whatever they are told.
TEST(Check, MeasurementsGuardAgainstWhatIsNoNumber) {
  PredictionLayout layout;
  layout.model_names = {"a", "b"};
  layout.has_n = true;
  Predictions block;
  for (std::int64_t b = 0; b < 400; ++b) {
    block.p.insert(block.p.end(), {NAN, NAN});
    block.truth.push_back(static_cast<std::int32_t>(b % 2));
    block.n.push_back(1 + b % 2);
  }
  ThreadPool pool(1);
  Checker checker(layout, {}, 1);
  checker.add(block, pool);
  EXPECT_TRUE(testing_support::error_of([&] { checker.finish(); }));
}

// 400 models: tables of hundreds of rows, not of 160,000.
TEST(Findings, StaySmallWithManyModels) {
  constexpr std::int64_t J = 400;
  PredictionLayout layout;
  for (std::int64_t j = 0; j < J; ++j) layout.model_names.push_back("m" + std::to_string(j));
  Predictions block;
  Rng rng(1, Purpose::test, 0);
  for (std::int64_t k = 0; k < 1000; ++k) {
    const std::int64_t truth = rng.uniform_int(0, J - 1);
    for (std::int64_t j = 0; j < J; ++j) block.p.push_back(j == truth ? 0.6 : 0.4 / (J - 1));
    block.truth.push_back(static_cast<std::int32_t>(rng.uniform() < 0.6 ? truth : rng.uniform_int(0, J - 1)));
  }
  ThreadPool pool(2);
  Checker checker(layout, {}, 1);
  checker.add(block, pool);
  std::size_t cells = 0;
  for (const Finding& finding : checker.finish()) {
    EXPECT_LE(finding.metrics.size(), 12u) << finding.name;
    for (const Table& table : finding.tables) cells += table.rows.size() * table.columns.size();
  }
  EXPECT_LT(cells, 20000u);
}

// --- Files

struct BadFile {
  const char* what;
  const char* text;
  std::vector<std::string> says;
};

TEST(PredictionFile, FaultsNameLineColumnAndWhatWasFound) {
  const std::vector<BadFile> cases = {
      {"sum", "true,p_a,p_b\na,0.5,0.5\nb,0.5,0.6\n", {":3", "p_a", "p_b", "sum to 1.1"}},
      {"negative", "true,p_a,p_b\na,-0.1,1.1\n", {":2", "'p_a'", "-0.1"}},
      {"nan", "true,p_a,p_b\na,0.5,0.5\na,NaN,1\n", {":3", "'p_a'"}},
      {"infinite", "true,p_a,p_b\na,inf,0\n", {":2", "'p_a'", "inf"}},
      {"empty cell", "true,p_a,p_b\na,,1\n", {":2", "'p_a'"}},
      {"word", "true,p_a,p_b\na,many,1\n", {":2", "'p_a'", "many"}},
      {"unknown model",
       "true,p_first,p_second\nfrist,0.5,0.5\n",
       {":2", "'true'", "'frist'", "did you mean 'first'?"}},
      {"index too large", "true,p_a,p_b\n2,0.5,0.5\n", {":2", "'true'", "'2'", "0 to 1"}},
      {"negative index", "true,p_a,p_b\n-1,0.5,0.5\n", {":2", "'-1'"}},
      {"no truth", "p_a,p_b\n0.5,0.5\n", {"'true'"}},
      {"one model", "true,p_a\na,1\n", {"p_<model>"}},
      {"no probabilities", "true,x\na,1\n", {"p_<model>"}},
      {"missing exact", "true,p_a,p_b,exact_a\na,0.5,0.5,1\n", {"'exact_b'"}},
      {"exact sum", "true,p_a,p_b,exact_a,exact_b\na,0.5,0.5,1,1\n", {":2", "exact_a", "sum to 2"}},
      {"size", "true,n,p_a,p_b\na,1.5,0.5,0.5\n", {":2", "'n'", "1.5"}},
      {"uncertainty", "true,u,p_a,p_b\na,1.5,0.5,0.5\n", {":2", "'u'", "1.5"}},
      {"ragged", "true,p_a,p_b\na,1\n", {":2"}},
      {"empty", "", {"bad.csv"}},
      {"header only", "true,p_a,p_b\n", {"bad.csv", "no predictions"}},
  };
  TemporaryFolder folder;
  for (const BadFile& bad : cases) {
    write_file_atomic(folder / "bad.csv", bad.text);
    try {
      checked(folder / "bad.csv", 1);
      ADD_FAILURE() << bad.what << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data) << bad.what << ": " << error.what();
      for (const std::string& part : bad.says) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
            << bad.what << ": " << error.what();
      }
    }
  }
}

TEST(PredictionFile, FaultsOfArraysNameRowAndShape) {
  TemporaryFolder folder;
  const auto message = [&](const Shape& p_shape, std::vector<double> p,
                           std::vector<std::int64_t> truth) -> std::string {
    NpzWriter writer(folder / "bad.npz");
    const auto K = static_cast<std::int64_t>(truth.size());
    writer.add("p", ArrayView::of<double>(p_shape, p));
    writer.add("true", ArrayView::of<std::int64_t>({K}, truth));
    writer.commit();
    try {
      checked(folder / "bad.npz", 1);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_data);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({2, 2}, {0.5, 0.5, 1, 0}, {0, 1}), "");
  EXPECT_NE(message({2, 2}, {0.5, 0.5, 1, 0.5}, {0, 1}).find("row 1: the probabilities"), std::string::npos);
  EXPECT_NE(message({2, 2}, {0.5, 0.5, NAN, 1}, {0, 1}).find("row 1: column 'p_model_1': nan"),
            std::string::npos);
  EXPECT_NE(message({2, 2}, {0.5, 0.5, 1, 0}, {0, 2}).find("row 1: array 'true': 2"), std::string::npos);
  EXPECT_NE(message({2, 2}, {0.5, 0.5, 1, 0}, {0}).find("(2,) is expected"), std::string::npos);
  EXPECT_NE(message({4}, {0.5, 0.5, 1, 0}, {0, 1}).find("shape (4,)"), std::string::npos);
}

TEST(PredictionFile, MetaIsTextOfTheRightKind) {
  TemporaryFolder folder;
  const auto message = [&](const ArrayView& meta) {
    const std::vector<double> p = {0.5, 0.5, 1, 0};
    const std::vector<std::int64_t> truth = {0, 1};
    NpzWriter writer(folder / "p.npz");
    writer.add("p", ArrayView::of<double>({2, 2}, p));
    writer.add("true", ArrayView::of<std::int64_t>({2}, truth));
    writer.add("meta", meta);
    writer.commit();
    return testing_support::failure_of([&] { PredictionReader::open(folder / "p.npz"); });
  };
  const auto bytes = [](const std::string& text) {
    return std::vector<std::int8_t>(text.begin(), text.end());
  };
  const auto told = [&](const std::string& text) {
    const std::vector<std::int8_t> all = bytes(text);
    return message(ArrayView::of<std::int8_t>({static_cast<std::int64_t>(all.size())}, all));
  };
  EXPECT_EQ(told(R"({"models": ["a", "b"]})"), "no error");  // int8 is as good as uint8
  EXPECT_EQ(PredictionReader::open(folder / "p.npz")->layout().model_names,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(told("[1]").find("65: " + folder.path() + "/p.npz: meta: expected a JSON object"),
            std::string::npos);
  EXPECT_NE(told(R"({"models": 3})").find("65: "), std::string::npos);
  EXPECT_NE(told(R"({"model_prior": ["x"]})").find("65: "), std::string::npos);
  EXPECT_NE(told(std::string(100000, '[')).find("nested deeper"), std::string::npos);
  const std::vector<double> numbers = {1, 2};
  EXPECT_NE(message(ArrayView::of<double>({2}, numbers)).find("65: "), std::string::npos);
}

TEST(PredictionFile, WhatIsWrittenReadsBackTheSame) {
  PredictionLayout layout{{"a", "b"}, {0.25, 0.75}, true, true, true};
  const Predictions block{{0.125, 0.875, 1, 0}, {1, 0}, {3, 100}, {0.5, 0.1}, {0.1, 0.9, 1, 0}};
  TemporaryFolder folder;
  for (const char* name : {"p.csv", "p.tsv", "p.npz"}) {
    const auto writer = PredictionWriter::create(folder / name, layout);
    writer->add(block);
    writer->commit();
    const auto reader = PredictionReader::open(folder / name);
    EXPECT_EQ(reader->layout().model_names, layout.model_names);
    Predictions read;
    ASSERT_TRUE(reader->next(read));
    EXPECT_EQ(read.p, block.p);
    EXPECT_EQ(read.truth, block.truth);
    EXPECT_EQ(read.n, block.n);
    EXPECT_EQ(read.u, block.u);
    EXPECT_EQ(read.exact, block.exact);
    EXPECT_FALSE(reader->next(read));
  }
  EXPECT_EQ(PredictionReader::open(folder / "p.npz")->layout().model_prior, layout.model_prior);
  EXPECT_THROW(PredictionWriter::create(folder / "p.xlsx", layout), Error);
}

// --- Statistics

TEST(CheckStatistics, WilsonIntervalsAreThoseOfTheFormula) {
  const Interval half = wilson(50, 100);  // (0.4038, 0.5962), as in textbooks
  EXPECT_NEAR(half.lower, 0.4038315, 1e-6);
  EXPECT_NEAR(half.upper, 0.5961685, 1e-6);
  EXPECT_EQ(wilson(0, 10).lower, 0);
  EXPECT_NEAR(wilson(0, 10).upper, 0.2775328, 1e-6);
  EXPECT_NEAR(wilson(10, 10).lower, 0.7224672, 1e-6);
}

// The bootstrap of a mean has the standard error of the mean: 1.96 sd / sqrt(K) either way.
TEST(CheckStatistics, BootstrapIntervalsHaveTheWidthOfTheStandardError) {
  Rng rng(4, Purpose::test, 0);
  std::vector<double> values;
  Mean mean;
  for (int k = 0; k < 2000; ++k) {
    values.push_back(rng.normal());
    values.push_back(1.0);
    values.push_back(k < 1000 ? 0.0 : 1.0);
    mean.add(values[values.size() - 3]);
  }
  const std::vector<Interval> intervals = bootstrap_means(values, 3, 2000, 1);
  EXPECT_NEAR(intervals[0].upper - intervals[0].lower, 2 * 1.96 * mean.se(), 0.1 * 2 * 1.96 * mean.se());
  EXPECT_LT(intervals[0].lower, mean.value());
  EXPECT_GT(intervals[0].upper, mean.value());
  EXPECT_EQ(intervals[1].lower, 1.0);
  EXPECT_EQ(intervals[1].upper, 1.0);
  // All rows are drawn from, the last as often as the first.
  EXPECT_NEAR(intervals[2].lower, 0.5 - 1.96 * 0.5 / std::sqrt(2000.0), 0.004);
  EXPECT_NEAR(intervals[2].upper, 0.5 + 1.96 * 0.5 / std::sqrt(2000.0), 0.004);
  const std::vector<Interval> again = bootstrap_means(values, 3, 2000, 1);
  EXPECT_EQ(intervals[0].lower, again[0].lower);
  EXPECT_NE(intervals[0].lower, bootstrap_means(values, 3, 2000, 2)[0].lower);
}

TEST(CheckStatistics, LimitsReachTheTailAlsoOfSkewedDistributions) {
  std::vector<double> normal;
  std::vector<double> skewed;
  Rng rng(5, Purpose::test, 0);
  for (int r = 0; r < 20000; ++r) {
    normal.push_back(3 + 2 * rng.normal());
    skewed.push_back(rng.gamma(20) / 20);
  }
  EXPECT_NEAR(NullDistribution(normal).limit(0.001), 3 + 2 * 3.09, 0.15);
  // Gamma with shape 20 and mean 1: the 99.9 % quantile is 1.835; a normal would have 1.69.
  EXPECT_NEAR(NullDistribution(skewed).limit(0.001), 1.835, 0.04);
  // What cannot vary has its limit where it is.
  EXPECT_NEAR(NullDistribution(std::vector<double>(100, 0.3)).limit(0.001), 0.3, 1e-12);
}

// Too sure in one half of the designs, not sure enough in the other: right on the whole.
std::vector<Finding> findings_of_halves(double wrong_by) {
  PredictionLayout layout;
  layout.model_names = {"a", "b"};
  layout.conditions = {"share of treated"};
  Predictions block;
  Rng rng(3, Purpose::test, 0);
  for (std::int64_t k = 0; k < 4000; ++k) {
    const double share = rng.uniform();
    const double p = 0.75;
    block.conditions.push_back(share);
    block.p.insert(block.p.end(), {p, 1 - p});
    block.truth.push_back(rng.uniform() < p + (share < 0.5 ? -wrong_by : wrong_by) ? 0 : 1);
  }
  ThreadPool pool(1);
  Checker checker(layout, {}, 1);
  checker.add(block, pool);
  return checker.finish();
}

const Finding& finding_named(const std::vector<Finding>& findings, const std::string& name) {
  for (const Finding& finding : findings)
    if (finding.name == name) return finding;
  throw Error(ErrorKind::internal, "no finding '{}'", name);
}

TEST(Conditions, FaultsThatCancelOnTheWholeAreFoundInBands) {
  const std::vector<Finding> wrong = findings_of_halves(0.12);
  for (const char* whole : {"overconfidence", "model_shares"})
    for (const Judgement& judgement : finding_named(wrong, whole).judgements)
      EXPECT_EQ(judgement.severity, Severity::fine) << judgement.text;
  const Finding& conditions = finding_named(wrong, "conditions");
  EXPECT_EQ(conditions.judgements.at(0).severity, Severity::serious);
  EXPECT_NE(conditions.judgements[0].text.find("For share of treated = 0."), std::string::npos)
      << conditions.judgements[0].text;
  EXPECT_EQ(conditions.tables.at(0).rows.size(), 5u);
  EXPECT_EQ(finding_named(findings_of_halves(0), "conditions").judgements.at(0).severity, Severity::fine);
}

TEST(CheckStatistics, SizeBandsHoldAllSizesAndAboutEquallyMany) {
  std::vector<std::int64_t> n;
  for (std::int64_t k = 0; k < 1000; ++k) n.push_back(1 + k % 100);
  const SizeBands bands(n, 10);
  ASSERT_EQ(bands.count(), 10u);
  std::vector<int> counts(10, 0);
  for (const std::int64_t size : n) {
    const std::size_t band = bands(size);
    ++counts[band];
    EXPECT_GE(size, bands.lower(band));
    EXPECT_LE(size, bands.upper(band));
  }
  for (const int count : counts) EXPECT_EQ(count, 100);
  const std::vector<std::int64_t> few = {5, 20, 5, 100};
  EXPECT_EQ(SizeBands(few).count(), 3u);
  EXPECT_EQ(SizeBands(few)(20), 1u);
  // One size that fills most bands has one of its own.
  std::vector<std::int64_t> lumpy(1000, 7);
  for (std::int64_t k = 0; k < 20; ++k) lumpy.push_back(100 + k);
  const SizeBands of_lumpy(lumpy, 10);
  for (std::size_t band = 0; band < of_lumpy.count(); ++band) {
    EXPECT_LE(of_lumpy.lower(band), of_lumpy.upper(band));
    if (band > 0) {
      EXPECT_GT(of_lumpy.lower(band), of_lumpy.upper(band - 1));
    }
  }
}

// What a network tells of its problem may come from anyone, and would be simulated.
TEST(NetworkProblem, SizesBeyondThoseOfTheTrainingAreRefused) {
  NetworkFile file = read_network_file(OCCAM_TEST_DATA "/networks/version1.occam");
  EXPECT_NO_THROW(network_problem(file, ""));
  const std::string sizes = "n = \"uniform(1, 100)\"";
  const auto at = file.problem.find(sizes);
  ASSERT_NE(at, std::string::npos) << file.problem;
  file.problem.replace(at, sizes.size(), "n = \"uniform(1, 101)\"");
  const auto error = testing_support::error_of([&] { network_problem(file, ""); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find("up to 101 rows"), std::string::npos) << error->what();
}

}  // namespace
}  // namespace occam
