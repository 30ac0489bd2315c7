#include "occam/networks/structure_json.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "occam/core/error.hpp"
#include "occam/core/whole_number.hpp"

namespace occam {
namespace {

using nlohmann::json;

// Every column is held against each of them; those found are four at most, the others were declared.
constexpr std::size_t kMostLabelColumns = 64;

void require(bool ok, const char* what) {
  if (!ok) throw Error(ErrorKind::bad_config, "network: {}", what);
}

bool usable(double x) {
  return std::isfinite(x) && x > 0;
}

void labels_to_json(const LabelColumns& labels, json& statistics) {
  if (labels.columns.empty()) return;
  statistics["labels"] = labels.columns;
  for (const LabelOrder& order : labels.orders)
    statistics["orders"].push_back({{"label", order.label}, {"column", order.column}, {"gap", order.gap}});
  for (const CrossedColumns& crossed : labels.crossings) {
    statistics["crossings"].push_back({{"columns", {crossed.first, crossed.second}},
                                       {"crossing", kCrossings[static_cast<std::size_t>(crossed.crossing)]}});
  }
}

CrossedColumns crossing_from_json(const json& entry) {
  const std::vector<std::int64_t> columns = whole_numbers(entry.at("columns"));
  const auto name = entry.at("crossing").get<std::string>();
  const auto known = std::find(kCrossings.begin(), kCrossings.end(), name);
  require(columns.size() == 2 && known != kCrossings.end(),
          "the crossed columns of its statistics are not usable");
  return {columns[0], columns[1], static_cast<Crossing>(known - kCrossings.begin())};
}

// The entries of a list that need not be there.
template <class F>
void for_entries(const json& statistics, const char* key, F use) {
  if (!statistics.contains(key)) return;
  for (const json& entry : statistics.at(key)) use(entry);
}

LabelColumns labels_from_json(const json& statistics) {
  LabelColumns labels;
  if (!statistics.contains("labels")) return labels;
  labels.columns = whole_numbers(statistics.at("labels"));
  for_entries(statistics, "orders", [&](const json& order) {
    labels.orders.push_back(
        {whole_number(order.at("label")), whole_number(order.at("column")), order.at("gap").get<double>()});
  });
  for_entries(statistics, "crossings",
              [&](const json& crossed) { labels.crossings.push_back(crossing_from_json(crossed)); });
  return labels;
}

void check_labels(const LabelColumns& labels, std::int64_t columns) {
  require(increasing_columns(labels.columns, columns),
          "the columns of labels of its statistics are not usable");
  require(labels.columns.size() <= kMostLabelColumns, "its statistics have too many columns of labels");
  const auto is_label = [&](std::int64_t c) {
    return std::find(labels.columns.begin(), labels.columns.end(), c) != labels.columns.end();
  };
  for (const LabelOrder& order : labels.orders) {
    require(is_label(order.label) && order.column >= -1 && order.column < columns &&
                order.column != order.label && usable(order.gap),
            "the orders of rows of its statistics are not usable");
  }
  require(labels.orders.size() <= labels.columns.size(), "its statistics have too many orders of rows");
  const CrossedColumns* before = nullptr;  // a pair of columns is told apart first
  for (const CrossedColumns& crossed : labels.crossings) {
    const bool again = before != nullptr && crossed.same_columns(*before);
    require(crossed.first < crossed.second && is_label(crossed.first) && is_label(crossed.second) &&
                again == (crossed.crossing != Crossing::apart),
            "the crossed columns of its statistics are not usable");
    before = &crossed;
  }
  require(labels.crossings.size() <= kMostCrossings, "its statistics have too many crossed columns");
}

void check_relations(const Relations& relations, std::int64_t columns) {
  require(increasing_columns(relations.tabled, columns) && relations.tabled.size() <= kMostTabled,
          "the tables of its statistics are not usable");
  const auto is_column = [&](std::int64_t c) { return c >= 0 && c < columns; };
  for (const ShapedColumns& shaped : relations.shaped) {
    require(is_column(shaped.x) && is_column(shaped.y) && shaped.x != shaped.y,
            "the shapes of its statistics are not usable");
  }
  require(relations.shaped.size() <= kMostShaped, "its statistics have too many shapes");
}

}  // namespace

bool increasing_columns(const std::vector<std::int64_t>& columns, std::int64_t count) {
  return columns.empty() ||
         (columns.front() >= 0 && columns.back() < count &&
          std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end());
}

void structure_to_json(const Structure& structure, json& statistics) {
  const auto& [time, labels, places, relations] = structure;
  if (time.column >= 0) statistics["time"] = {{"column", time.column}, {"gap", time.gap}};
  labels_to_json(labels, statistics);
  if (!places.columns.empty()) statistics["places"] = {{"columns", places.columns}, {"scale", places.scale}};
  for (const ShapedColumns& shaped : relations.shaped) statistics["shapes"].push_back({shaped.x, shaped.y});
  if (!relations.tabled.empty()) statistics["tables"] = relations.tabled;
}

Structure structure_from_json(const json& statistics) {
  Structure structure;
  if (statistics.contains("time")) {
    const json& time = statistics.at("time");
    structure.time = {whole_number(time.at("column")), time.at("gap").get<double>()};
  }
  structure.labels = labels_from_json(statistics);
  if (statistics.contains("places")) {
    const json& places = statistics.at("places");
    structure.places = {whole_numbers(places.at("columns")), places.at("scale").get<std::vector<double>>()};
  }
  for_entries(statistics, "shapes", [&](const json& entry) {
    const std::vector<std::int64_t> columns = whole_numbers(entry);
    require(columns.size() == 2, "the shapes of its statistics are not usable");
    structure.relations.shaped.push_back({columns[0], columns[1]});
  });
  if (statistics.contains("tables")) structure.relations.tabled = whole_numbers(statistics.at("tables"));
  return structure;
}

void check_structure(const Structure& structure, std::int64_t columns) {
  const auto& [time, labels, places, relations] = structure;
  require(time.column >= -1 && time.column < columns && usable(time.gap),
          "the column of times of its statistics is not usable");
  check_labels(labels, columns);
  require(increasing_columns(places.columns, columns) && places.columns.size() <= kMostDimensions &&
              places.scale.size() == places.columns.size() &&
              std::all_of(places.scale.begin(), places.scale.end(), usable),
          "the columns of places of its statistics are not usable");
  check_relations(relations, columns);
}

}  // namespace occam
