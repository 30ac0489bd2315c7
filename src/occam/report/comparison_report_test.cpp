#include "occam/report/comparison_report.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/report/report.hpp"

namespace occam {
namespace {

using nlohmann::json;

NetworkFile network_with(std::size_t J, double lambda) {
  NetworkFile file;
  file.problem_name = "test";
  for (std::size_t j = 0; j < J; ++j) file.model_names.push_back("m" + std::to_string(j));
  file.model_prior.assign(J, 1.0 / static_cast<double>(J));
  file.record = {{"options", {{"lambda", lambda}}}};
  return file;
}

const Finding& finding_named(const Report& report, const std::string& name) {
  for (const Finding& finding : report.findings) {
    if (finding.name == name) return finding;
  }
  throw std::runtime_error("no finding " + name);
}

Cell cell_of(const Table& table, std::size_t row, const std::string& column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c] == column) return table.rows[row][c];
  }
  throw std::runtime_error("no column " + column);
}

AnswerExtras judged(const ModelPosterior& answers) {
  AnswerExtras extras;
  extras.verdicts = verdicts_on(answers, extras, {});
  return extras;
}

TEST(ComparisonReport, WordsFollowKassAndRaftery) {
  EXPECT_EQ(bayes_factor_words(-0.1), "against");
  EXPECT_EQ(bayes_factor_words(0), "bare mention");
  EXPECT_EQ(bayes_factor_words(0.99), "bare mention");
  EXPECT_EQ(bayes_factor_words(1), "positive");
  EXPECT_EQ(bayes_factor_words(3), "strong");
  EXPECT_EQ(bayes_factor_words(4.99), "strong");
  EXPECT_EQ(bayes_factor_words(5), "very strong");
  EXPECT_EQ(bayes_factor_words(INFINITY), "very strong");
}

TEST(ComparisonReport, ShowsWhatTheAnswersSay) {
  const NetworkFile file = network_with(3, 0);
  ModelPosterior answers(file.model_names, file.model_prior);
  answers.add("s", 10, std::vector<double>{std::log(96.0), std::log(3.0), 0.0});
  answers.add("s", 11, std::vector<double>{0.0, std::log(2.0), 0.0}, "n above trained range (10)");
  ComparisonReport collected(file, {file.model_names, file.model_prior});
  collected.add(answers, judged(answers));
  const Report report = collected.report({{"network", "net.occam"}});
  const Table& table = finding_named(report, "answers").tables[0];
  EXPECT_EQ(std::get<std::string>(cell_of(table, 1, "dataset")), "s (2)");
  EXPECT_EQ(std::get<std::string>(cell_of(table, 0, "best")), "m0");
  EXPECT_NEAR(std::get<double>(cell_of(table, 0, "p_m0")), 0.96, 1e-12);
  EXPECT_NEAR(std::get<double>(cell_of(table, 0, "log_bf")), std::log(32.0), 1e-12);
  EXPECT_EQ(std::get<std::string>(cell_of(table, 0, "strength")), "strong");
  EXPECT_EQ(std::get<std::string>(cell_of(table, 1, "strength")), "bare mention");
  EXPECT_NEAR(std::get<double>(cell_of(table, 1, "u")), 0.75, 1e-12);
  EXPECT_EQ(std::get<std::string>(cell_of(table, 1, "flag")), "n above trained range (10)");
  const json metrics = metrics_json(report)["findings"];
  EXPECT_EQ(metrics["answers"]["decided"]["value"], 1);
  EXPECT_EQ(metrics["answers"]["flagged"]["value"], 1);
  EXPECT_NEAR(metrics["uncertainty"]["mean_u"]["value"].get<double>(), (0.03 + 0.75) / 2, 1e-12);
  EXPECT_NEAR(std::get<double>(cell_of(finding_named(report, "models").tables[0], 0, "mean_p")),
              (0.96 + 0.25) / 2, 1e-12);
  EXPECT_EQ(report.provenance[0].second, "net.occam");
  // Three models: the figure of the Dirichlet distribution is there, with alpha as the network gave it.
  EXPECT_NEAR(std::get<double>(cell_of(finding_named(report, "uncertainty").tables[0], 0, "alpha_1")), 96,
              1e-9);
  EXPECT_EQ(finding_named(report, "uncertainty").figures[0].choose, "dataset");
}

TEST(ComparisonReport, SaysWhatNoModelCanHaveMade) {
  const NetworkFile file = network_with(3, 0);
  ModelPosterior answers(file.model_names, file.model_prior);
  AnswerExtras extras;
  for (int i = 0; i < 40; ++i) {
    answers.add(std::to_string(i), 10, std::vector<double>(file.model_names.size(), 0.0));
    extras.scope.push_back({i < 2 ? 0.001 : 0.02 * i, {}, i == 0 ? "median x is 9" : ""});
  }
  extras.verdicts = verdicts_on(answers, extras, {});
  ComparisonReport fresh(file, {file.model_names, file.model_prior});
  fresh.add(answers, extras);
  const Report report = fresh.report({});
  const Finding& scope = finding_named(report, "scope");
  EXPECT_EQ(scope.metrics[0].value, 2);
  EXPECT_EQ(scope.judgements[0].severity, Severity::warning);
  const Table& table = finding_named(report, "answers").tables[0];
  EXPECT_EQ(std::get<std::string>(cell_of(table, 0, "verdict")), "out-of-scope");
  EXPECT_NE(std::get<std::string>(cell_of(table, 0, "explanation")).find("median x is 9"), std::string::npos);
  EXPECT_EQ(std::get<double>(cell_of(table, 5, "scope_p")), 0.1);
}

// A network knows no scope of what it was not trained for: that nothing is out of scope would be no news.
TEST(ComparisonReport, SaysWhatCouldNotBeJudged) {
  NetworkFile file = network_with(3, 0);
  file.smallest_n = 1;
  file.largest_n = 10;
  ModelPosterior answers(file.model_names, file.model_prior);
  AnswerExtras extras;
  const std::vector<double> even(file.model_names.size(), 0.0);
  answers.add("usual", 10, even);
  answers.add("long", 11, even, "n above trained range (10)");
  answers.add("other", 10, even, "plate: 5 different ones, in training at most 4");
  for (const double p : {0.5, 0.001, 0.002}) extras.scope.push_back({p, {}, ""});
  extras.verdicts = verdicts_on(answers, extras, {});
  ComparisonReport collected(file, {file.model_names, file.model_prior});
  collected.add(answers, extras);
  const Report report = collected.report({});
  const Finding& scope = finding_named(report, "scope");
  ASSERT_EQ(scope.judgements.size(), 2u);
  EXPECT_EQ(scope.judgements[0].text, "No data set that can be judged is out of scope.");
  EXPECT_EQ(scope.judgements[1].severity, Severity::warning);
  EXPECT_TRUE(scope.judgements[1].text.starts_with("2 of 3 data sets could not be judged"));
  const Finding& shown = finding_named(report, "answers");
  ASSERT_EQ(shown.judgements.size(), 3u);
  EXPECT_EQ(shown.judgements[1].text,
            "1 of 3 data sets is unlike those that the network was trained on, which had 1 to 10 rows.");
  EXPECT_EQ(shown.judgements[2].text,
            "1 of 3 data sets is unlike those that the network was trained on: plate: 5 different ones, in "
            "training at most 4.");
}

TEST(ComparisonReport, UIsNotOversold) {
  for (const double lambda : {0.0, 0.1}) {
    const NetworkFile file = network_with(2, lambda);
    ModelPosterior answers(file.model_names, file.model_prior);
    answers.add("s", 10, std::vector<double>{1.0, 0.0});
    ComparisonReport collected(file, {file.model_names, file.model_prior});
    collected.add(answers, judged(answers));
    const Report report = collected.report({});
    const std::string text = finding_named(report, "uncertainty").judgements[0].text;
    EXPECT_EQ(text.find("not identified") != std::string::npos, lambda == 0) << text;
    // Drawn only where it means something.
    const std::string drawn = finding_named(report, "answers").figures[0].specification.dump();
    EXPECT_EQ(drawn.find("diamond") != std::string::npos, lambda > 0);
  }
}

TEST(ComparisonReport, ManyModelsAndDataSetsStaySmall) {
  const NetworkFile file = network_with(60, 0);
  ComparisonReport collected(file, {file.model_names, file.model_prior});
  ModelPosterior answers(file.model_names, file.model_prior);
  std::vector<double> log_alpha(60, 0.0);
  for (int b = 0; b < 10; ++b) {
    log_alpha[static_cast<std::size_t>(b)] = 10;
    answers.add("s", 1, log_alpha);
  }
  for (int i = 0; i < 501; ++i) collected.add(answers, judged(answers));
  const Report report = collected.report({});
  const Table& table = finding_named(report, "answers").tables[0];
  EXPECT_EQ(table.rows.size(), 5000u);
  EXPECT_EQ(table.note, "The first 5000 of 5010 data sets; -o FILE.csv writes all of them.");
  EXPECT_LT(table.columns.size(), 16u);
  EXPECT_EQ(metrics_json(report)["findings"]["answers"]["data_sets"]["value"], 5010);
  EXPECT_EQ(finding_named(report, "models").tables[0].rows.size(), 30u);
  // Only the first of ten has one model ahead of all others.
  EXPECT_EQ(metrics_json(report)["findings"]["answers"]["decided"]["value"], 501);
  EXPECT_NEAR(std::get<double>(cell_of(table, 0, "log_bf")), 10, 1e-9);
}

TEST(ComparisonReport, AnotherModelPriorIsSaid) {
  const NetworkFile file = network_with(2, 0);
  ModelPosterior trained(file.model_names, file.model_prior);
  ComparisonReport collected(file, trained.with_model_prior({1, 0}));
  trained.add("s", 10, std::vector<double>{0.0, 2.0});
  collected.add(trained.with_model_prior({1, 0}), judged(trained));
  const Report report = collected.report({});
  const Table& table = finding_named(report, "answers").tables[0];
  EXPECT_EQ(std::get<double>(cell_of(table, 0, "p_m0")), 1);
  EXPECT_TRUE(std::isnan(std::get<double>(cell_of(table, 0, "log_bf"))));  // there is no runner-up
  EXPECT_NE(metrics_json(report)["provenance"]["model prior"].get<std::string>().find("changed"),
            std::string::npos);
  report_html(report);
}

TEST(ComparisonReport, SaysWhyARivalHeadHasNoU) {
  NetworkFile file = network_with(3, 0);
  file.config.options.head = "mc-dropout";
  file.members.resize(1);
  ModelPosterior answers(file.model_names, file.model_prior, false);
  const std::vector<double> log_p = {std::log(0.96), std::log(0.03), std::log(0.01)};
  answers.add("s", 10, log_p, "", {}, std::vector<double>{0.02, 0.02, 0.01});
  ComparisonReport collected(file, {file.model_names, file.model_prior, false});
  collected.add(answers, judged(answers));
  const Report report = collected.report({});
  const Finding& finding = finding_named(report, "uncertainty");
  EXPECT_NE(finding.text.find("the head `mc-dropout`"), std::string::npos) << finding.text;
  EXPECT_NE(finding.text.find("mean over samples"), std::string::npos) << finding.text;
  EXPECT_TRUE(finding.metrics.empty());
  EXPECT_TRUE(finding.figures.empty());
  const Table& table = finding_named(report, "answers").tables[0];
  EXPECT_EQ(std::count(table.columns.begin(), table.columns.end(), "u"), 0);
  EXPECT_EQ(std::get<double>(cell_of(table, 0, "spread")), 0.02);
  EXPECT_NEAR(std::get<double>(cell_of(table, 0, "p_m0")), 0.96, 1e-12);
}

}  // namespace
}  // namespace occam
