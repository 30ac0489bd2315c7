// The html page of a report: texts and numbers as html, tables and figures as data that web/page.js draws.
// What users chose goes through report/escape. The page's own policy forbids every script but ours, and all
// use of the network.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/hash.hpp"
#include "occam/core/version.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/shown.hpp"
#include "occam/report/escape.hpp"
#include "occam/report/page.hpp"
#include "occam/report/report.hpp"

namespace occam {
namespace {

using nlohmann::json;

// "0.01234", "5,000", "1.2 × 10⁻⁵", "–" for what is not a number. page.js writes the numbers of tables alike.
std::string for_people(double number) {
  if (std::isnan(number)) return "–";
  const std::string sign = number < 0 ? "−" : "";
  const double size = std::abs(number);
  if (std::isinf(number)) return sign + "∞";
  if (size == std::floor(size) && size < 1e15) {
    std::string digits = fmt::format("{:.0f}", size);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return sign + digits;
  }
  if (size >= 1e-4 && size < 1e6) return sign + fmt::format("{:.4g}", size);
  const std::string text = fmt::format("{:.2e}", size);
  const auto e = text.find('e');
  constexpr const char* kRaised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string power = text[e + 1] == '-' ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(std::stoi(text.substr(e + 1)))))
    power += kRaised[digit - '0'];
  return sign + text.substr(0, e) + " × 10" + power;
}

struct SeverityLook {
  const char* mark;
  const char* word;
};

SeverityLook look(Severity severity) {
  switch (severity) {
    case Severity::fine:
      return {"✓", "Fine"};
    case Severity::note:
      return {"i", "Note"};
    case Severity::warning:
      return {"!", "Warning"};
    case Severity::serious:
      return {"✕", "Serious"};
  }
  throw Error(ErrorKind::internal, "severity {}", static_cast<int>(severity));
}

std::string judgement_item(const Judgement& judgement, const Finding* link) {
  const auto [mark, word] = look(judgement.severity);
  std::string text =
      fmt::format("<li class=\"judgement {}\"><span class=\"mark\" aria-hidden=\"true\">{}</span><p>",
                  severity_name(judgement.severity), mark);
  text += fmt::format("<strong class=\"word\">{}</strong> ", word);
  if (link != nullptr) {
    text += fmt::format("<a href=\"#{}\">{}</a>: ", escaped(link->name), escaped(link->title));
  }
  text += escaped(judgement.text);
  if (!judgement.advice.empty())
    text += fmt::format(" <span class=\"advice\">{}</span>", escaped(judgement.advice));
  return text + "</p></li>\n";
}

// All judgements, the gravest first.
std::string verdict(const Report& report) {
  std::vector<std::pair<const Judgement*, const Finding*>> all;
  for (const Finding& finding : report.findings) {
    for (const Judgement& judgement : finding.judgements) all.emplace_back(&judgement, &finding);
  }
  if (all.empty()) return "";
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first->severity > b.first->severity; });
  std::string text =
      "<section id=\"in-short\" aria-labelledby=\"in-short-title\">\n"
      "<h2 id=\"in-short-title\">In short</h2>\n<ul class=\"judgements\">\n";
  for (const auto& [judgement, finding] : all) text += judgement_item(*judgement, finding);
  return text + "</ul>\n</section>\n";
}

std::string contents(const Report& report) {
  if (report.findings.size() < 3) return "";
  std::string text = "<nav aria-label=\"Contents\"><ul class=\"contents\">\n";
  for (const Finding& finding : report.findings) {
    text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escaped(finding.name), escaped(finding.title));
  }
  return text + "</ul></nav>\n";
}

std::string metrics_table(const std::vector<Metric>& metrics) {
  if (metrics.empty()) return "";
  const bool intervals = std::any_of(metrics.begin(), metrics.end(), [](const Metric& metric) {
    return !std::isnan(metric.lower) || !std::isnan(metric.upper);
  });
  std::string text =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measures\">\n"
      "<table class=\"metrics\">\n<thead><tr><th scope=\"col\">measure</th>"
      "<th scope=\"col\" class=\"number\">value</th>";
  if (intervals) text += "<th scope=\"col\" class=\"number\">interval</th>";
  text += "<th scope=\"col\">name</th></tr></thead>\n<tbody>\n";
  for (const Metric& metric : metrics) {
    text += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td>", escaped(metric.meaning),
                        for_people(metric.value));
    if (intervals) {
      const bool known = !std::isnan(metric.lower) || !std::isnan(metric.upper);
      text += fmt::format(
          "<td class=\"number\">{}</td>",
          known ? fmt::format("{} to {}", for_people(metric.lower), for_people(metric.upper)) : "");
    }
    text += fmt::format("<td><code>{}</code></td></tr>\n", escaped(metric.name));
  }
  return text + "</tbody>\n</table>\n</div>\n";
}

// With so many measures, figures come first and the list is folded.
constexpr std::size_t kManyMetrics = 24;

std::string folded_metrics(const std::vector<Metric>& metrics) {
  return fmt::format(
      "<details class=\"measures\">\n<summary>All measures <span class=\"size\">{} rows</span></summary>\n"
      "{}</details>\n",
      metrics.size(), metrics_table(metrics));
}

std::string figure_element(const Figure& figure, std::size_t index) {
  std::string text = fmt::format("<figure class=\"figure\" data-figure=\"{}\">\n<h3>{}</h3>\n", index,
                                 escaped(figure.title));
  if (report_has_figures()) {
    text += fmt::format("<div class=\"plot\" role=\"img\" aria-label=\"{}\"></div>\n",
                        escaped(figure.alternative));
  } else {
    text += fmt::format("<p class=\"left-out\">This figure was left out when occam was built. {}</p>\n",
                        escaped(figure.alternative));
  }
  return text + fmt::format("<figcaption>{}</figcaption>\n</figure>\n", escaped(figure.text));
}

std::string table_element(const Table& table) {
  return fmt::format(
      "<details class=\"table\" data-table=\"{}\"{}>\n<summary>{} <span class=\"size\">{} "
      "{}</span></summary>\n"
      "</details>\n",
      escaped(table.name), table.open ? " open" : "", escaped(table.title),
      for_people(static_cast<double>(table.rows.size())), table.rows.size() == 1 ? "row" : "rows");
}

std::string finding_section(const Finding& finding, std::size_t& figures) {
  std::string text = fmt::format(
      "<section class=\"finding\" id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
      "<h2 id=\"{0}-title\">{1}</h2>\n",
      escaped(finding.name), escaped(finding.title));
  if (!finding.text.empty()) text += fmt::format("<p class=\"about\">{}</p>\n", escaped(finding.text));
  if (!finding.judgements.empty()) {
    text += "<ul class=\"judgements\">\n";
    for (const Judgement& judgement : finding.judgements) text += judgement_item(judgement, nullptr);
    text += "</ul>\n";
  }
  const bool many = finding.metrics.size() > kManyMetrics;
  if (!many) text += metrics_table(finding.metrics);
  // A table that is the point of its finding stands above the figures; data behind them below.
  for (const Table& table : finding.tables) {
    if (table.open) text += table_element(table);
  }
  for (const Figure& figure : finding.figures) text += figure_element(figure, figures++);
  for (const Table& table : finding.tables) {
    if (!table.open) text += table_element(table);
  }
  if (many) text += folded_metrics(finding.metrics);
  return text + "</section>\n";
}

std::string provenance(const Report& report) {
  std::string text =
      "<section id=\"provenance\" aria-labelledby=\"provenance-title\">\n"
      "<h2 id=\"provenance-title\">Where this comes from</h2>\n<dl>\n";
  for (const auto& [key, value] : report.provenance) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(key), escaped(value));
  }
  return text + "</dl>\n</section>\n";
}

// Seven digits are more than a page shows; the csv files have all. JSON has no infinities: they are words.
std::string number_data(double number) {
  if (std::isnan(number)) return "null";
  if (std::isinf(number)) return number < 0 ? "\"-Inf\"" : "\"Inf\"";
  return fmt::format("{:.7g}", number);
}

// Text if any cell is text; the empty text also stands for a missing number.
bool is_text(const Table& table, std::size_t column) {
  bool numbers = false;
  for (const std::vector<Cell>& row : table.rows) {
    const auto* text = std::get_if<std::string>(&row[column]);
    if (text != nullptr && !text->empty()) return true;
    numbers = numbers || text == nullptr;
  }
  return !numbers;
}

std::string cell_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  return for_people(std::get<double>(cell));
}

// Words that repeat, such as the names of models, are kept once: "words", and "at" which of them.
std::string text_values(const Table& table, std::size_t column) {
  std::unordered_map<std::string, std::size_t> known;
  json words = json::array();
  std::string at;
  for (const std::vector<Cell>& row : table.rows) {
    const auto [word, is_new] = known.emplace(cell_text(row[column]), known.size());
    if (is_new) words.push_back(word->first);
    fmt::format_to(std::back_inserter(at), "{}{}", at.empty() ? "" : ",", word->second);
  }
  return fmt::format("\"kind\":\"text\",\"words\":{},\"at\":[{}]", as_data(words), at);
}

std::string number_values(const Table& table, std::size_t column) {
  std::string values;
  for (const std::vector<Cell>& row : table.rows) {
    if (!values.empty()) values += ',';
    if (const auto* integer = std::get_if<std::int64_t>(&row[column])) {
      values += std::to_string(*integer);
    } else if (const auto* number = std::get_if<double>(&row[column])) {
      values += number_data(*number);
    } else {
      values += "null";
    }
  }
  return fmt::format("\"kind\":\"number\",\"values\":[{}]", values);
}

std::string table_data(const Table& table) {
  for (const std::vector<Cell>& row : table.rows) {
    if (row.size() != table.columns.size()) {
      throw Error(ErrorKind::internal, "table '{}' has {} columns and a row of {} cells", table.name,
                  table.columns.size(), row.size());
    }
  }
  std::string columns;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const ColumnView view = c < table.view.size() ? table.view[c] : ColumnView{};
    columns +=
        fmt::format("{}{{\"name\":{},\"heading\":{},\"meaning\":{},\"share\":{},{}}}", c == 0 ? "" : ",",
                    as_data(table.columns[c]),
                    as_data(view.heading.empty() ? table.columns[c] : view.heading), as_data(view.meaning),
                    view.share, is_text(table, c) ? text_values(table, c) : number_values(table, c));
  }
  return fmt::format("{{\"title\":{},\"note\":{},\"rows\":{},\"columns\":[{}]}}", as_data(table.title),
                     as_data(table.note), table.rows.size(), columns);
}

// {"tables": {name: ...}, "figures": [...]}, what page.js reads.
std::string page_data(const Report& report) {
  std::map<std::string, const Table*> known;
  std::string tables;
  for (const Finding& finding : report.findings) {
    for (const Table& table : finding.tables) {
      if (!known.emplace(table.name, &table).second)
        throw Error(ErrorKind::internal, "two tables are named '{}'", table.name);
      tables += fmt::format("{}{}:{}", tables.empty() ? "" : ",\n", as_data(table.name), table_data(table));
    }
  }
  std::string figures;
  for (const Finding& finding : report.findings) {
    for (const Figure& figure : finding.figures) {
      const auto table = known.find(figure.table);
      if (table == known.end())
        throw Error(ErrorKind::internal, "figure '{}': there is no table '{}'", figure.name, figure.table);
      const auto& columns = table->second->columns;
      if (!figure.choose.empty() && std::find(columns.begin(), columns.end(), figure.choose) == columns.end())
        throw Error(ErrorKind::internal, "figure '{}': there is no column '{}'", figure.name, figure.choose);
      figures += fmt::format("{}{}", figures.empty() ? "" : ",\n",
                             as_data({{"name", figure.name},
                                      {"table", figure.table},
                                      {"choose", figure.choose},
                                      {"specification", figure.specification}}));
    }
  }
  return fmt::format("{{\"tables\":{{{}}},\n\"figures\":[{}]}}", tables, figures);
}

// A word that scripts of the page must carry. It depends on all that is in the page, so that no text in it
// can know it beforehand, and so that the same report gives the same bytes.
std::string pass_word(std::string_view text) {
  return ByteHash().add(text).plain_text();
}

std::string footer() {
  std::string text = fmt::format("<footer>\n<p>Written by occam {}. This page needs no network.", kVersion);
  if (!report_has_figures()) return text + " Figures were left out when occam was built.</p>\n</footer>\n";
  return text +
         " Figures are drawn by Vega and Vega-Lite.</p>\n"
         "<details id=\"licences\"><summary>Licences of the software in this page</summary></details>\n"
         "</footer>\n";
}

}  // namespace

bool report_has_figures() {
  return !page_figures().empty();
}

std::string report_html(const Report& report) {
  std::string body;
  std::size_t figures = 0;
  for (const Finding& finding : report.findings) body += finding_section(finding, figures);
  const std::string data = page_data(report);
  const std::string pass = pass_word(report.title + report.summary + body + data);
  const std::string title = escaped(report.title);

  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{}'; "
      "style-src 'unsafe-inline'; img-src data: blob:\">\n"
      "<meta name=\"generator\" content=\"occam {}\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      pass, kVersion, title, page_style());
  page += fmt::format(
      "<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n"
      "<header><span class=\"brand\">occam</span>"
      "<button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n"
      "<main id=\"content\">\n<h1>{}</h1>\n<p class=\"summary\">{}</p>\n"
      "<noscript><p class=\"left-out\">Tables and figures of this page are drawn by a script, which is "
      "switched off in this browser.</p></noscript>\n",
      title, escaped(report.summary));
  page += verdict(report) + contents(report) + body + provenance(report) + "</main>\n" + footer();
  page += fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", data);
  if (report_has_figures()) {
    page += fmt::format("<script type=\"text/plain\" id=\"figures\">{}</script>\n", page_figures());
  }
  page += fmt::format("<script nonce=\"{}\">\n{}{}</script>\n</body>\n</html>\n", pass, page_element(),
                      page_script());
  return page;
}

}  // namespace occam
