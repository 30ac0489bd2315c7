#include "occam/report/comparison_figures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace occam {
namespace {

using nlohmann::json;

constexpr double kEdge = 10;  // log Bayes factors beyond it are drawn at the edge

json axis(const char* field, const char* type, const json& title) {
  return {{"field", field}, {"type", type}, {"title", title}};
}

json by_data_set() {
  json result = axis("dataset", "nominal", nullptr);
  result["sort"] = nullptr;
  return result;
}

json legend() {
  return {{"orient", "top"}, {"title", nullptr}, {"symbolType", "square"}};
}

}  // namespace

json probabilities_specification(const std::vector<std::string>& models, bool with_u, bool has_u) {
  const bool coloured = static_cast<std::int64_t>(models.size()) <= kColours;
  json colour = axis(coloured ? "model" : "place", coloured ? "nominal" : "ordinal", nullptr);
  json domain = models;
  if (!coloured) {
    domain = kPlaceNames;
    domain.push_back(kOthers);
  }
  colour["scale"] = {{"domain", domain}};
  if (!coloured) colour["scale"]["reverse"] = true;  // the most probable stands out
  colour["legend"] = legend();
  const char* title = with_u ? "posterior probability p (diamond: u)" : "posterior probability p";
  json x = axis("p", "quantitative", title);
  x["stack"] = "zero";
  x["scale"] = {{"domain", {0, 1}}};
  json tooltip = {axis("dataset", "nominal", "data set"), axis("model", "nominal", "model"),
                  axis("p", "quantitative", "p")};
  if (has_u) tooltip.push_back(axis("u", "quantitative", "u"));
  json layers = json::array();
  layers.push_back({{"mark", {{"type", "bar"}, {"tooltip", true}, {"cornerRadius", 1}}},
                    {"encoding",
                     {{"x", x},
                      {"color", colour},
                      {"order", {{"field", "position"}, {"type", "quantitative"}}},
                      {"tooltip", tooltip}}}});
  if (!coloured) {
    layers.push_back({{"transform", {{{"filter", "datum.position == 0 && datum.p > 0.15"}}}},
                      {"mark", {{"type", "text"}, {"align", "left"}, {"dx", 5}, {"style", "on-bar"}}},
                      {"encoding", {{"x", {{"datum", 0}}}, {"text", {{"field", "model"}}}}}});
  }
  if (with_u) {
    layers.push_back({{"transform", {{{"filter", "datum.position == 0"}}}},
                      {"mark", {{"type", "point"}, {"shape", "diamond"}, {"size", 70}, {"style", "ink-dot"}}},
                      {"encoding", {{"x", axis("u", "quantitative", title)}}}});
  }
  return {{"height", {{"step", 24}}}, {"encoding", {{"y", by_data_set()}}}, {"layer", layers}};
}

json models_specification() {
  json y = axis("model", "nominal", nullptr);
  y["sort"] = nullptr;
  const char* title = "mean posterior probability";  // layers share an axis only if they agree on its title
  json x = axis("mean_p", "quantitative", title);
  x["scale"] = {{"domainMin", 0}};
  const json bars = {{"mark", {{"type", "bar"}, {"tooltip", true}}},
                     {"encoding",
                      {{"x", x},
                       {"tooltip",
                        {axis("model", "nominal", "model"), axis("mean_p", "quantitative", "mean p"),
                         axis("best", "quantitative", "best in")}}}}};
  const json prior = {{"mark", {{"type", "tick"}, {"thickness", 2}}},
                      {"encoding", {{"x", axis("prior", "quantitative", title)}}}};
  return {{"height", {{"step", 24}}}, {"encoding", {{"y", y}}}, {"layer", {bars, prior}}};
}

// Dots by data set over bands of strength.
json factors_specification(const Table& table) {
  double lowest = 0;
  double highest = kStrengthLimits.back() + 2;
  for (const auto& row : table.rows) {
    const double log_bf = std::get<double>(row[3]);
    if (std::isnan(log_bf)) continue;
    lowest = std::max(-kEdge, std::min(lowest, std::floor(log_bf)));
    highest = std::min(kEdge, std::max(highest, std::ceil(log_bf)));
  }
  json bands = json::array();
  json words = json::array();
  for (std::size_t i = lowest < 0 ? 0 : 1; i < kStrengths.size(); ++i) {
    bands.push_back({{"from", i == 0 ? lowest : kStrengthLimits[i - 1]},
                     {"to", i + 1 < kStrengths.size() ? kStrengthLimits[i] : highest},
                     {"shade", i % 2 == 0 ? 0.07 : 0.02}});
    words.push_back(kStrengths[i]);
  }
  const json scale = {{"domain", {lowest, highest}}, {"nice", false}};
  const char* title = "ln BF of the best model against the runner-up";
  json from = axis("from", "quantitative", title);
  json x = axis("drawn", "quantitative", title);
  from["scale"] = x["scale"] = scale;
  json colour = axis("strength", "ordinal", nullptr);
  colour["scale"] = {{"domain", words}};
  colour["legend"] = {{"orient", "top"}, {"title", nullptr}};
  const json edge = {{"calculate", fmt::format("max(-{0}, min({0}, datum.log_bf))", kEdge)}, {"as", "drawn"}};
  const json shades = {{"data", {{"values", bands}}},
                       {"mark", {{"type", "rect"}, {"style", "ink"}}},
                       {"encoding",
                        {{"x", from},
                         {"x2", {{"field", "to"}}},
                         {"opacity", {{"field", "shade"}, {"scale", nullptr}, {"type", "quantitative"}}}}}};
  const json dots = {{"transform", {edge, {{"filter", "isValid(datum.log_bf)"}}}},
                     {"mark", {{"type", "point"}, {"size", 80}, {"opacity", 1}}},
                     {"encoding",
                      {{"x", x},
                       {"y", by_data_set()},
                       {"color", colour},
                       {"tooltip",
                        {axis("dataset", "nominal", "data set"), axis("best", "nominal", "best"),
                         axis("runner_up", "nominal", "runner-up"), axis("log_bf", "quantitative", "ln BF"),
                         axis("strength", "nominal", "strength")}}}}};
  return {{"height", {{"step", 20}}}, {"layer", {shades, dots}}};
}

json strengths_specification() {
  json y = axis("strength", "nominal", nullptr);
  y["sort"] = nullptr;
  return {{"mark", {{"type", "bar"}, {"tooltip", true}}},
          {"height", {{"step", 26}}},
          {"encoding", {{"y", y}, {"x", axis("data_sets", "quantitative", "data sets")}}}};
}

json scope_specification() {
  json x = axis("from", "quantitative", "scope p");
  x["bin"] = {{"binned", true}, {"step", 0.05}};
  return {
      {"layer",
       {{{"mark", {{"type", "bar"}, {"tooltip", true}}},
         {"encoding",
          {{"x", x}, {"x2", {{"field", "to"}}}, {"y", axis("data_sets", "quantitative", "data sets")}}}},
        {{"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}}},
         {"encoding", {{"y", {{"field", "expected"}, {"type", "quantitative"}, {"aggregate", "mean"}}}}}}}}};
}

// The Dirichlet density over the triangle of three models, in tiles. The specification makes the tiles of the
// one data set chosen, so that the page holds three numbers per data set and not a picture of each.
json simplex_specification(const std::vector<std::string>& models) {
  constexpr int kTiles = 40;  // along a side
  constexpr int kSide_px = 400;
  const double height = std::sqrt(3.0) / 2;
  const std::string count = std::to_string(kTiles);
  const json tiles = {
      {{"calculate", "sequence(0, " + count + ")"}, {"as", "i"}},
      {{"flatten", {"i"}}},
      {{"calculate", "sequence(0, 2 * (" + count + " - datum.i) - 1)"}, {"as", "k"}},
      {{"flatten", {"k"}}},
      // Row i from below, tile k of it; even ones point up. Centres in shares of the three corners.
      {{"calculate", "datum.k % 2"}, {"as", "down"}},
      {{"calculate", "(datum.i + (datum.down ? 2 : 1) / 3) / " + count}, {"as", "s3"}},
      {{"calculate", "((datum.k - datum.down) / 2 + (datum.down ? 2 : 1) / 3) / " + count}, {"as", "s2"}},
      {{"calculate", "1 - datum.s2 - datum.s3"}, {"as", "s1"}},
      {{"calculate",
        "(datum.alpha_1 - 1) * log(datum.s1) + (datum.alpha_2 - 1) * log(datum.s2) + (datum.alpha_3 - 1) * "
        "log(datum.s3)"},
       {"as", "log_density"}},
      {{"joinaggregate", {{{"op", "max"}, {"field", "log_density"}, {"as", "highest"}}}}},
      {{"calculate", "exp(datum.log_density - datum.highest)"}, {"as", "density"}},
      {{"calculate", "datum.s2 + datum.s3 / 2"}, {"as", "x"}},
      {{"calculate", fmt::format("datum.s3 * {}", height)}, {"as", "y"}},
      {{"calculate", "datum.down ? 'M-1,-0.5774L1,-0.5774L0,1.1547Z' : 'M-1,0.5774L1,0.5774L0,-1.1547Z'"},
       {"as", "tile"}}};
  const auto place = [](const char* field, double low, double high) {
    return json{{"field", field},
                {"type", "quantitative"},
                {"axis", nullptr},
                {"scale", {{"domain", {low, high}}, {"nice", false}}}};
  };
  const json x = place("x", 0, 1);
  const json y = place("y", 0, height);
  const json corners = {{{"x", 0}, {"y", 0}, {"model", models[0]}, {"at", 0}},
                        {{"x", 1}, {"y", 0}, {"model", models[1]}, {"at", 1}},
                        {{"x", 0.5}, {"y", height}, {"model", models[2]}, {"at", 2}},
                        {{"x", 0}, {"y", 0}, {"model", models[0]}, {"at", 3}}};
  const auto label = [&](const char* filter, const char* align, int dy) {
    return json{{"data", {{"values", corners}}},
                {"transform", {{{"filter", filter}}}},
                {"mark", {{"type", "text"}, {"align", align}, {"dy", dy}, {"fontSize", 12}, {"limit", 190}}},
                {"encoding", {{"x", x}, {"y", y}, {"text", {{"field", "model"}}}}}};
  };
  json colour = axis("density", "quantitative", "density (highest = 1)");
  colour["scale"] = {{"domain", {0, 1}}};
  colour["legend"] = {{"orient", "top"}, {"gradientLength", 160}};
  const double side = static_cast<double>(kSide_px) / kTiles + 0.4;  // a little more, so that no seams show
  return {{"width", kSide_px},
          {"height", static_cast<int>(std::lround(kSide_px * height))},
          {"padding", {{"left", 20}, {"right", 20}, {"top", 5}, {"bottom", 5}}},
          {"layer",
           {{{"transform", tiles},
             {"mark", {{"type", "point"}, {"filled", true}, {"opacity", 1}, {"size", side * side}}},
             {"encoding",
              {{"x", x},
               {"y", y},
               {"color", colour},
               {"shape", {{"field", "tile"}, {"type", "nominal"}, {"scale", nullptr}}}}}},
            {{"data", {{"values", corners}}},
             {"mark", {{"type", "line"}, {"style", "soft"}, {"strokeWidth", 1}}},
             {"encoding", {{"x", x}, {"y", y}, {"order", {{"field", "at"}, {"type", "quantitative"}}}}}},
            label("datum.at == 0", "left", 16),
            label("datum.at == 1", "right", 16),
            label("datum.at == 2", "center", -10),
            {{"transform",
              {{{"calculate", "datum.p_2 + datum.p_3 / 2"}, {"as", "x"}},
               {{"calculate", fmt::format("datum.p_3 * {}", height)}, {"as", "y"}}}},
             {"mark", {{"type", "point"}, {"shape", "circle"}, {"size", 90}, {"style", "mean-dot"}}},
             {"encoding", {{"x", x}, {"y", y}}}}}}};
}

}  // namespace occam
