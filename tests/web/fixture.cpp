// Writes the reports that the browser tests open, into a folder: diagnostics as `check` makes them (a line
// with a band, a heat map, dots, bars) for 3, 6 and 400 models, comparisons of observed data, and one whose
// names are as hostile as names can be.
//   report_fixture FOLDER
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/report/comparison_report.hpp"
#include "occam/report/report.hpp"

namespace occam {
namespace {

using nlohmann::json;

const std::string kHostile =
    "</script><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
const std::string kHostilePath = "a.b['c']\\\"; datum.x // ${1}";

std::vector<std::string> models(std::int64_t J) {
  std::vector<std::string> names;
  for (std::int64_t j = 0; j < J; ++j) names.push_back("M" + std::to_string(j + 1));
  return names;
}

json field(const char* name, const char* type) {
  return {{"field", name}, {"type", type}};
}

Finding calibration(const std::vector<std::string>& names) {
  Finding finding;
  finding.name = "calibration";
  finding.title = "Calibration";
  finding.text = "Whether what is called likely happens as often as it should.";
  finding.metrics = {{"ece", "expected calibration error", 0.0123, 0.008, 0.017},
                     {"tiny", "a number near zero", 1.234e-7},
                     {"none", "a number that is not one", NAN},
                     {"endless", "a number without end", std::numeric_limits<double>::infinity()}};
  finding.judgements = {{Severity::fine, "The largest error is .012 (limit .05).", ""},
                        {Severity::serious, "Something is badly wrong.", "Train longer."}};
  Table table{"calibration", "Calibration curve", {"predicted", "observed", "lower", "upper", "model"}, {}};
  for (std::size_t j = 0; j < std::min<std::size_t>(names.size(), 3); ++j) {
    for (int i = 0; i <= 10; ++i) {
      const double p = i / 10.0;
      table.rows.push_back({p, p * p, p * p - 0.05, i == 5 ? NAN : p * p + 0.05, names[j]});
    }
  }
  const json x = field("predicted", "quantitative");
  finding.figures.push_back(
      {"calibration",
       "Calibration curve",
       "On the diagonal is best.",
       "Curves of three models.",
       "calibration",
       {{"height", 260},
        {"encoding", {{"x", x}, {"color", field("model", "nominal")}}},
        {"layer",
         {{{"mark", {{"type", "area"}, {"opacity", 0.2}}},
           {"encoding", {{"y", field("lower", "quantitative")}, {"y2", {{"field", "upper"}}}}}},
          {{"mark", {{"type", "line"}, {"tooltip", true}}},
           {"encoding", {{"y", field("observed", "quantitative")}}}}}}}});
  finding.tables.push_back(std::move(table));
  return finding;
}

Finding confusion(const std::vector<std::string>& names) {
  Finding finding;
  finding.name = "confusion";
  finding.title = "Confusion";
  finding.judgements = {{Severity::warning, "Two models are confused.", "Look at them."}};
  Table table{"confusion", "Confusion matrix", {"true", "answered", "share"}, {}};
  // Of very many models the check itself shows a selection; so does this.
  const std::size_t shown = std::min<std::size_t>(names.size(), 60);
  for (std::size_t i = 0; i < shown; ++i) {
    for (std::size_t j = 0; j < shown; ++j) {
      const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
      table.rows.push_back({names[i], names[j], distance < 12 ? 0.3 * std::exp(-distance) : 0.0});
    }
  }
  const bool many = names.size() > 30;
  json x = field("answered", "nominal");
  json y = field("true", "nominal");
  x["sort"] = y["sort"] = nullptr;
  if (many) x["axis"] = y["axis"] = nullptr;
  finding.figures.push_back(
      {"confusion",
       "Confusion matrix",
       "Rows are true models.",
       "A heat map.",
       "confusion",
       {{"height", 320},
        {"mark", {{"type", "rect"}, {"tooltip", true}}},
        {"encoding", {{"x", x}, {"y", y}, {"color", field("share", "quantitative")}}}}});
  finding.tables.push_back(std::move(table));
  return finding;
}

Finding scatter(const std::vector<std::string>& names) {
  Finding finding;
  finding.name = "exact";
  finding.title = "Against the exact posterior";
  finding.judgements = {{Severity::note, "The exact posterior is known.", ""}};
  Table table{"exact", "Exact and estimated", {"exact", "estimated", "model"}, {}};
  for (int i = 0; i < 400; ++i) {
    const double p = 0.5 + 0.5 * std::sin(i);
    table.rows.push_back({p, p + 0.02 * std::cos(7 * i), names[static_cast<std::size_t>(i) % 3]});
  }
  finding.figures.push_back({"exact",
                             "Exact and estimated probability",
                             "Dots on the diagonal are right.",
                             "Dots.",
                             "exact",
                             {{"height", 240},
                              {"mark", "point"},
                              {"encoding",
                               {{"x", field("exact", "quantitative")},
                                {"y", field("estimated", "quantitative")},
                                {"color", field("model", "nominal")}}}}});
  finding.tables.push_back(std::move(table));
  return finding;
}

Report diagnostics(const std::vector<std::string>& names) {
  return {"How far the network can be trusted",
          "Ten thousand fresh simulations.",
          {{"command", "occam check net.occam"}, {"seed", "1"}},
          {calibration(names), confusion(names), scatter(names)}};
}

// Answers that go through all there are: clear, undecided, flagged, overwhelming.
Report comparison(std::vector<std::string> names, std::int64_t data_sets, double lambda,
                  const std::string& id) {
  NetworkFile file;
  file.problem_name = "fixture";
  file.fingerprint = "0123456789abcdef";
  file.model_names = names;
  file.model_prior.assign(names.size(), 1.0 / static_cast<double>(names.size()));
  file.largest_n = 100;
  file.record = {{"options", {{"lambda", lambda}}}, {"steps", 1000}, {"seed", 1}, {"validation_loss", 0.5}};
  ComparisonReport report(file, {file.model_names, file.model_prior});
  ModelPosterior answers(file.model_names, file.model_prior);
  for (std::int64_t b = 0; b < data_sets; ++b) {
    std::vector<double> log_alpha(names.size(), 0.0);
    log_alpha[static_cast<std::size_t>(b) % names.size()] =
        b == 3 ? 900.0 : 0.25 * static_cast<double>(b % 30);
    log_alpha[static_cast<std::size_t>(b + 1) % names.size()] = 1.0;
    answers.add(id + std::to_string(b), 1 + b % 120, log_alpha,
                b % 120 >= 100 ? "n above trained range (100)" : "");
  }
  AnswerExtras extras;
  for (std::int64_t b = 0; b < data_sets; ++b) {
    extras.scope.push_back(
        {b % 9 == 4 ? 0.002 : 0.01 + 0.99 * static_cast<double>(b % 23) / 23, {}, "median x is 9"});
  }
  extras.verdicts = verdicts_on(answers, extras, {});
  report.add(answers, extras);
  return report.report({{"command", "occam compare net.occam " + id + ".csv"}, {"network", "net.occam"}});
}

void write(const std::string& folder, const std::string& name, const Report& report) {
  write_file_atomic(folder + "/" + name + ".html", report_html(report));
}

void write_all(const std::string& folder) {
  write_report(diagnostics(models(3)), folder + "/check-3");
  write(folder, "check-6", diagnostics(models(6)));
  write(folder, "check-400", diagnostics(models(400)));
  write(folder, "compare-2", comparison({"flat", "fair"}, 6, 0, "coin "));
  write(folder, "compare-3", comparison(models(3), 30, 0.1, "subject "));
  write(folder, "compare-400", comparison(models(400), 5200, 0, "s"));
  Report hostile = diagnostics({kHostile, kHostilePath, "M3"});
  hostile.title = kHostile;
  hostile.summary = kHostile + "\xff";
  hostile.provenance.emplace_back(kHostile, kHostile);
  for (Finding& finding : comparison({kHostile, kHostilePath, "M3"}, 8, 0.1, kHostile).findings) {
    for (Figure& figure : finding.figures) figure.text = figure.alternative = kHostile;
    hostile.findings.push_back(std::move(finding));
  }
  write(folder, "hostile", hostile);
}

}  // namespace
}  // namespace occam

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    std::filesystem::create_directories(argv[1]);
    occam::write_all(argv[1]);
  } catch (const occam::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
