#include "occam/report/report.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "occam/io/csv.hpp"
#include "occam/io/file.hpp"
#include "occam/io/test_support.hpp"
#include "occam/report/page.hpp"

namespace occam {
namespace {

using nlohmann::json;
using testing_support::failure_of;
using testing_support::TemporaryFolder;

constexpr double kEndless = std::numeric_limits<double>::infinity();

Report example_report() {
  Finding finding;
  finding.name = "calibration";
  finding.title = "Calibration";
  finding.metrics = {{"ece", "calibration error", 0.125, 0.1, 0.2}, {"odd", "not a number", NAN}};
  finding.judgements = {{Severity::warning, "The error is .125 (limit .05).", "Train longer."}};
  finding.tables = {{"curve",
                     "The curve",
                     {"model", "n", "p"},
                     {{std::string("a,\"b\""), std::int64_t{7}, 0.1},
                      {std::string("c"), std::int64_t{-1}, NAN},
                      {std::string("c"), std::int64_t{0}, kEndless}}}};
  finding.figures = {{"curve", "Curve", "How to read it.", "A curve.", "curve", {{"mark", "line"}}}};
  return {"A title", "A summary.", {{"seed", "1"}}, {finding}};
}

// What page.js reads.
json page_data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const auto from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(Report, MetricsHaveStableNames) {
  const json metrics = metrics_json(example_report());
  EXPECT_EQ(metrics["findings"]["calibration"]["ece"],
            json({{"value", 0.125}, {"lower", 0.1}, {"upper", 0.2}, {"meaning", "calibration error"}}));
  EXPECT_TRUE(metrics["findings"]["calibration"]["odd"]["value"].is_null());
  EXPECT_EQ(metrics["judgements"], json::array({{{"finding", "calibration"},
                                                 {"severity", "warning"},
                                                 {"text", "The error is .125 (limit .05)."},
                                                 {"advice", "Train longer."}}}));
  EXPECT_EQ(metrics["provenance"]["seed"], "1");
  EXPECT_EQ(metrics["title"], "A title");
}

TEST(Report, TablesKeepAllDigitsAsCsv) {
  EXPECT_EQ(table_csv(example_report().findings[0].tables[0]),
            "model,n,p\n\"a,\"\"b\"\"\",7,0.1\nc,-1,\nc,0,Inf\n");
  Table table{"t", "", {"x"}, {{1.0 / 3}}};
  EXPECT_EQ(table_csv(table), "x\n0.3333333333333333\n");
}

TEST(Report, WritesAllFilesIntoAFolderItMakes) {
  const TemporaryFolder folder;
  write_report(example_report(), folder / "deep/er");
  EXPECT_EQ(json::parse(read_file(folder / "deep/er/metrics.json")), metrics_json(example_report()));
  EXPECT_EQ(read_csv(folder / "deep/er/curve.csv").rows(), 3u);
  EXPECT_EQ(read_file(folder / "deep/er/report.html"), report_html(example_report()));
  write_file_atomic(folder / "file", "");
  EXPECT_TRUE(failure_of([&] { write_report(example_report(), folder / "file/in"); }).starts_with("74: "));
}

TEST(Report, RefusesNamesThatCollideOrLeaveTheFolder) {
  const TemporaryFolder folder;
  const auto failure = [&](const auto& change) {
    Report report = example_report();
    change(report);
    return failure_of([&] { write_report(report, folder / "out"); });
  };
  EXPECT_EQ(failure([](Report&) {}), "no error");
  EXPECT_TRUE(failure([](Report& r) {
                r.findings[0].tables[0].name = r.findings[0].figures[0].table = "../x";
              }).starts_with("70: the table '../x' needs a name"));
  EXPECT_TRUE(
      failure([](Report& r) { r.findings.push_back(r.findings[0]); }).starts_with("70: two findings"));
  EXPECT_EQ(failure([](Report& r) { r.findings[0].tables.push_back(r.findings[0].tables[0]); }),
            "70: two tables are named 'curve'");
  EXPECT_EQ(failure([](Report& r) { r.findings[0].figures[0].table = "none"; }),
            "70: figure 'curve': there is no table 'none'");
  EXPECT_EQ(failure([](Report& r) { r.findings[0].figures[0].choose = "none"; }),
            "70: figure 'curve': there is no column 'none'");
  EXPECT_EQ(failure([](Report& r) { r.findings[0].tables[0].rows[1].pop_back(); }),
            "70: table 'curve' has 3 columns and a row of 2 cells");
}

TEST(Report, PageHoldsTablesAsTypedColumns) {
  const json table = page_data_of(report_html(example_report()))["tables"]["curve"];
  EXPECT_EQ(table["rows"], 3);
  EXPECT_EQ(table["columns"][0]["words"], (json{"a,\"b\"", "c"}));
  EXPECT_EQ(table["columns"][0]["at"], (json{0, 1, 1}));
  EXPECT_EQ(table["columns"][1]["values"], (json{7, -1, 0}));
  EXPECT_EQ(table["columns"][2]["values"], (json{0.1, nullptr, "Inf"}));
}

TEST(Report, HostileTextStaysText) {
  const std::string hostile = "</script><img src=x onerror='x()'>&\"";
  Report report = example_report();
  report.title = report.summary = hostile + "\xff";
  report.provenance = {{hostile, hostile}};
  Finding& finding = report.findings[0];
  finding.title = finding.text = hostile;
  finding.metrics[0].meaning = finding.metrics[0].name = hostile;
  finding.judgements[0].text = finding.judgements[0].advice = hostile;
  finding.figures[0].title = finding.figures[0].text = finding.figures[0].alternative = hostile;
  finding.figures[0].specification["title"] = hostile;
  Table& table = finding.tables[0];
  table.title = table.note = table.columns[0] = hostile;
  table.rows[0][0] = hostile;
  table.view = {{hostile, hostile}};
  const std::string page = report_html(report);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;img src=x onerror=&#39;x()&#39;&gt;&amp;&quot;"),
            std::string::npos);
  const json data = page_data_of(page);
  EXPECT_EQ(data["tables"]["curve"]["columns"][0]["words"][0], hostile);
  EXPECT_EQ(data["figures"][0]["specification"]["title"], hostile);
}

TEST(Report, SaysWhenFiguresWereLeftOut) {
  const std::string page = report_html(example_report());
  EXPECT_EQ(page.find("left out when occam was built") == std::string::npos, report_has_figures());
  EXPECT_EQ(page.find("id=\"figures\"") != std::string::npos, report_has_figures());
}

}  // namespace
}  // namespace occam
