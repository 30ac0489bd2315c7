// Finding: what one diagnostic measured, in a form that every writer can show: numbers under stable names,
// tables, figures over those tables, and judgements in words. Writers compute no statistics, so that the
// terminal, json, csv and html cannot disagree.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace occam {

// One number, with an interval where one was computed.
struct Metric {
  std::string name;     // stable, snake_case: "log_loss"; scripts rely on it
  std::string meaning;  // a short phrase with its unit
  double value = 0;
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
};

using Cell = std::variant<std::int64_t, double, std::string>;

// How a page shows a column.
struct ColumnView {
  std::string heading;  // instead of the name of the column
  std::string meaning;  // said on demand; may be empty
  bool share = false;   // a number between 0 and 1, drawn with a bar
};

// Written as <name>.csv; figures and html refer to it by name, which no other table of the report has.
struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // (rows, columns)
  // For the page, which sorts and filters every table. One that is not open is folded behind its title.
  std::string note;              // shown below the title
  std::vector<ColumnView> view;  // (columns), or empty
  bool open = false;
};

// A Vega-Lite specification without data: the writer adds the rows of `table`. Colours, fonts and (where none
// is given) the width come from the page. Names of users belong into the rows, not into names of columns,
// which Vega-Lite reads as paths.
struct Figure {
  std::string name;
  std::string title;
  std::string text;         // how to read it, two or three sentences
  std::string alternative;  // what it shows, for those who cannot see it
  std::string table;
  nlohmann::json specification;
  std::string choose;  // a column of the table: the page offers its values and draws the rows of one
};

enum class Severity { fine, note, warning, serious };

// "Calibration: fine. The largest error is .012 (limit .05)."
struct Judgement {
  Severity severity = Severity::fine;
  std::string text;    // what was found, with the figure and its threshold
  std::string advice;  // what to do about it; empty when fine
};

struct Finding {
  std::string name;   // snake_case: "calibration"
  std::string title;  // "Calibration"
  std::vector<Metric> metrics;
  std::vector<Table> tables;
  std::vector<Figure> figures;
  std::vector<Judgement> judgements;
  std::string text;  // what this is about, in a few sentences; may be empty
};

// A document of findings and where they come from.
struct Report {
  std::string title;
  std::string summary;                                          // one or two sentences
  std::vector<std::pair<std::string, std::string>> provenance;  // command, seed, fingerprint, version, ...
  std::vector<Finding> findings;
};

}  // namespace occam
