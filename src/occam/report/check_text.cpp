#include "occam/report/check_text.hpp"

#include <fmt/format.h>

#include "occam/report/report.hpp"

namespace occam {
namespace {

// The table by size, in the columns that fit a terminal.
std::string sizes_text(const Finding& sizes) {
  struct Shown {
    const char* column;
    const char* heading;
    int width;
    int digits;
  };
  const std::vector<Shown> all = {{"accuracy", "accuracy", 8, 4},
                                  {"log_loss", "log-loss", 8, 4},
                                  {"ece_top", "ECE", 7, 4},
                                  {"ece_top_expected", "by chance", 9, 4},
                                  {"best_accuracy", "best acc.", 10, 4},
                                  {"best_log_loss", "best loss", 10, 4},
                                  {"kl", "KL [nats]", 9, 5},
                                  {"kl_se", "+-", 8, 5}};
  const Table& table = sizes.tables.front();
  std::string text = fmt::format("{:>8}  {:>9}", "n", "data sets");
  std::vector<std::pair<std::size_t, Shown>> shown;
  for (const Shown& one : all) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c] == one.column) shown.emplace_back(c, one);
    }
  }
  for (const auto& [column, one] : shown) text += fmt::format("  {:>{}}", one.heading, one.width);
  text += '\n';
  for (const std::vector<Cell>& row : table.rows) {
    text += fmt::format("{:>8}  {:>9}", std::get<std::string>(row[0]), std::get<std::int64_t>(row[1]));
    for (const auto& [column, one] : shown) {
      text += fmt::format("  {:>{}.{}f}", std::get<double>(row[column]), one.width, one.digits);
    }
    text += '\n';
  }
  return text;
}

// Everything that is not fine in full, what is fine by its title.
std::string judgements_text(const Report& report) {
  std::string fine;
  std::string others;
  for (const Finding& finding : report.findings) {
    bool all_fine = !finding.judgements.empty();
    std::string advice;  // said once, after all that it is for
    const auto advise = [&](const std::string& next) {
      if (advice != next && !advice.empty()) others += fmt::format("    {}\n", advice);
      advice = next;
    };
    for (const Judgement& judgement : finding.judgements) {
      if (judgement.severity == Severity::fine) continue;
      all_fine = false;
      advise(judgement.advice);
      others +=
          fmt::format("{} [{}]: {}\n", finding.title, severity_name(judgement.severity), judgement.text);
    }
    advise("");
    if (all_fine) fine += (fine.empty() ? "" : ", ") + finding.title;
  }
  return (fine.empty() ? "" : "Fine: " + fine + "\n") + others;
}

}  // namespace

std::string check_text(const CheckResult& result) {
  return sizes_text(result.report.findings.front()) + "\n" + judgements_text(result.report) +
         "Verdict: " + result.verdict.text + "\n";
}

}  // namespace occam
