// A Report as files: one self-contained html page for people, metrics.json and csv tables for scripts.
// Nothing is computed here: all numbers come from the findings, so that the files cannot disagree.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "occam/check/finding.hpp"

namespace occam {

// Writes folder/metrics.json, folder/report.html and folder/<table>.csv for every table; makes the folder if
// it is missing. Each file is either complete or not there. Error(io) when something cannot be written, after
// everything else has been; it names what is missing. A file that is one of `inputs` is not overwritten.
void write_report(const Report& report, const std::string& folder,
                  const std::vector<std::string>& inputs = {});

// The page: works offline, in light and dark, on paper and on a phone. Names and texts are escaped, whatever
// they hold. The same report gives the same bytes.
std::string report_html(const Report& report);

// What scripts read; names are stable:
//   {"title", "summary", "provenance": {key: text},
//    "judgements": [{"finding", "severity", "text", "advice"}],
//    "findings": {finding: {metric: {"value", "lower", "upper", "meaning"}}}}
// A number that is not finite, or an interval that was not computed, is null.
nlohmann::json metrics_json(const Report& report);

// A table as csv, with all digits; NaN is an empty cell.
std::string table_csv(const Table& table);

// "fine", "note", "warning" or "serious".
const char* severity_name(Severity severity);

// Whether figures can be drawn: false when the program was built where Vega could not be had. Pages then hold
// the tables and say so.
bool report_has_figures();

}  // namespace occam
