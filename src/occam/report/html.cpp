// The html page of a report.
#include <fmt/format.h>

#include "occam/report/report.hpp"

namespace occam {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

bool report_has_figures() {
  return false;
}

std::string report_html(const Report& report) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{0}</title></head>\n"
      "<body>\n<h1>{0}</h1>\n<p>{1}</p>\n",
      escaped(report.title), escaped(report.summary));
  for (const Finding& finding : report.findings) {
    page += fmt::format("<h2 id=\"{}\">{}</h2>\n", escaped(finding.name), escaped(finding.title));
    for (const Judgement& judgement : finding.judgements) {
      page += fmt::format("<p>{}: {} {}</p>\n", severity_name(judgement.severity), escaped(judgement.text),
                          escaped(judgement.advice));
    }
  }
  return page + "</body>\n</html>\n";
}

}  // namespace occam
