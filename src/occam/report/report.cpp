#include "occam/report/report.hpp"

#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/io/csv.hpp"
#include "occam/io/file.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/same_file.hpp"

namespace occam {
namespace {

using nlohmann::json;

json finite_or_null(double number) {
  return std::isfinite(number) ? json(number) : json(nullptr);
}

// Names of findings are anchors in the page, those of tables are file names.
void require_plain_name(const char* what, const std::string& name) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  if (name.empty() || name.find_first_not_of(kPlain) != std::string::npos) {
    throw Error(ErrorKind::internal, "the {} '{}' needs a name of lower-case letters, digits, _ and -", what,
                name);
  }
}

void require_new_name(const char* what, const std::string& name, std::set<std::string>& names) {
  if (!names.insert(name).second) throw Error(ErrorKind::internal, "two {}s are named '{}'", what, name);
}

void write_cell(CsvWriter& writer, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    writer.cell(*text);
  } else if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    writer.cell(*integer);
  } else if (const double number = std::get<double>(cell); std::isnan(number)) {
    writer.missing();
  } else {
    writer.cell(number);
  }
}

void make_folder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw Error(ErrorKind::io, "cannot make the folder '{}': {}", folder, problem.message());
}

}  // namespace

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::fine:
      return "fine";
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::serious:
      return "serious";
  }
  throw Error(ErrorKind::internal, "severity {}", static_cast<int>(severity));
}

json metrics_json(const Report& report) {
  json result = {{"title", report.title},
                 {"summary", report.summary},
                 {"provenance", json::object()},
                 {"judgements", json::array()},
                 {"findings", json::object()}};
  for (const auto& [key, text] : report.provenance) result["provenance"][key] = text;
  std::set<std::string> finding_names;
  for (const Finding& finding : report.findings) {
    require_plain_name("finding", finding.name);
    require_new_name("finding", finding.name, finding_names);
    json& metrics = result["findings"][finding.name] = json::object();
    std::set<std::string> metric_names;
    for (const Metric& metric : finding.metrics) {
      require_new_name("metric", metric.name, metric_names);
      metrics[metric.name] = {{"value", finite_or_null(metric.value)},
                              {"lower", finite_or_null(metric.lower)},
                              {"upper", finite_or_null(metric.upper)},
                              {"meaning", metric.meaning}};
    }
    for (const Judgement& judgement : finding.judgements) {
      result["judgements"].push_back({{"finding", finding.name},
                                      {"severity", severity_name(judgement.severity)},
                                      {"text", judgement.text},
                                      {"advice", judgement.advice}});
    }
  }
  return result;
}

std::string table_csv(const Table& table) {
  std::string text;
  CsvWriter writer([&](std::string_view bytes) { text += bytes; }, table.columns);
  for (const std::vector<Cell>& row : table.rows) {
    for (const Cell& cell : row) write_cell(writer, cell);
    writer.end_row();
  }
  return text;
}

void write_report(const Report& report, const std::string& folder, const std::vector<std::string>& inputs) {
  // Everything is made before anything is written, so that a fault leaves no half of a report.
  const json metrics = metrics_json(report);
  const std::string page = report_html(report);
  std::set<std::string> table_names;
  std::vector<std::pair<std::string, std::string>> files;
  for (const Finding& finding : report.findings) {
    for (const Table& table : finding.tables) {
      require_plain_name("table", table.name);
      require_new_name("table", table.name, table_names);
      files.emplace_back(table.name + ".csv", table_csv(table));
    }
  }
  files.emplace_back("metrics.json", json_text(metrics));
  files.emplace_back("report.html", page);
  make_folder(folder);
  std::string why;
  std::vector<std::string> missing;
  for (const auto& [name, text] : files) {
    const std::string path = folder + "/" + name;
    try {
      for (const std::string& input : inputs) {
        if (!input.empty() && same_file(input, path))
          throw Error(ErrorKind::io, "'{}' is not overwritten, since it was read", path);
      }
      write_file_atomic(path, text);
    } catch (const Error& error) {
      if (missing.empty()) why = error.what();
      missing.push_back(name);
    }
  }
  if (missing.empty()) return;
  throw Error(ErrorKind::io, "{}; the report in '{}' lacks {}{}", why, folder, fmt::join(missing, ", "),
              missing.size() < files.size() ? "; its other files are complete" : "");
}

}  // namespace occam
