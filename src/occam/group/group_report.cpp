#include "occam/group/group_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "occam/group/group_writer.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr std::size_t kDrawnModels = 20;  // a figure of more would not be read

json group_axis(const char* field, const char* type, const json& title) {
  return {{"field", field}, {"type", type}, {"title", title}};
}

std::size_t most_frequent(const GroupResult& group) {
  const auto by_frequency = [](const ModelInGroup& a, const ModelInGroup& b) {
    return a.frequency < b.frequency;
  };
  return static_cast<std::size_t>(std::max_element(group.models.begin(), group.models.end(), by_frequency) -
                                  group.models.begin());
}

Table groups_table(const GroupComparison& comparison) {
  Table table;
  table.name = "groups";
  table.title = "Model frequencies by group";
  table.columns = {"group",          "model",      "n",
                   "left_out",       "frequency",  "frequency_low",
                   "frequency_high", "exceedance", "protected_exceedance",
                   "log_group_bf",   "place"};
  table.view = {{"group", "", false},
                {"model", "", false},
                {"data sets", "data sets that count", false},
                {"left out", "data sets that do not count", false},
                {"frequency", "expected share of the population that the model describes", true},
                {"from", "lower bound of the interval", false},
                {"to", "upper bound of the interval", false},
                {"exceedance", "probability that no model is more frequent", true},
                {"protected", "the same, allowing that all models may be equally frequent", true},
                {"ln group BF",
                 "fixed effects: natural log Bayes factor against the best model, if all share one", false},
                {"place", "1: the most frequent model of its group", false}};
  table.open = true;
  for (const GroupResult& group : comparison.groups) {
    for (std::size_t k = 0; k < group.models.size(); ++k) {
      const ModelInGroup& model = group.models[k];
      const auto ahead =
          std::count_if(group.models.begin(), group.models.end(),
                        [&](const ModelInGroup& other) { return other.frequency > model.frequency; });
      table.rows.push_back(
          {group.name, comparison.model_names[k], group.n, static_cast<std::int64_t>(group.left_out.size()),
           model.frequency, model.frequency_low, model.frequency_high, model.exceedance,
           model.protected_exceedance, model.log_group_bf, static_cast<std::int64_t>(ahead + 1)});
    }
  }
  return table;
}

Table left_out_table(const GroupComparison& comparison) {
  Table table;
  table.name = "left_out";
  table.title = "Data sets that do not count for their group";
  table.columns = {"group", "dataset", "why"};
  for (const GroupResult& group : comparison.groups) {
    for (const LeftOut& one : group.left_out) table.rows.push_back({group.name, one.id, one.why});
  }
  return table;
}

// Dots with intervals, by model; groups side by side in colours.
json frequencies_specification(std::size_t models, std::size_t groups) {
  json y = group_axis("model", "nominal", nullptr);
  y["sort"] = nullptr;
  const char* title = "frequency in the population";
  const json scale = {{"domain", {0, 1}}};
  json x = group_axis("frequency", "quantitative", title);
  json low = group_axis("frequency_low", "quantitative", title);
  x["scale"] = low["scale"] = scale;
  json encoding = {{"y", y}};
  if (groups > 1) {
    json colour = group_axis("group", "nominal", nullptr);
    colour["sort"] = nullptr;
    colour["legend"] = {{"orient", "top"}, {"title", nullptr}};
    encoding["color"] = colour;
    encoding["yOffset"] = {{"field", "group"}, {"type", "nominal"}, {"sort", nullptr}};
  }
  const json tooltip = {group_axis("group", "nominal", "group"),
                        group_axis("model", "nominal", "model"),
                        group_axis("frequency", "quantitative", "frequency"),
                        group_axis("frequency_low", "quantitative", "from"),
                        group_axis("frequency_high", "quantitative", "to"),
                        group_axis("exceedance", "quantitative", "exceedance"),
                        group_axis("protected_exceedance", "quantitative", "protected")};
  json result = {{"height", {{"step", groups > 1 ? 14 : 24}}},
                 {"encoding", encoding},
                 {"layer",
                  {{{"mark", {{"type", "rule"}, {"strokeWidth", 2}}},
                    {"encoding", {{"x", low}, {"x2", {{"field", "frequency_high"}}}, {"tooltip", tooltip}}}},
                   {{"mark", {{"type", "point"}, {"filled", true}, {"size", 80}, {"opacity", 1}}},
                    {"encoding", {{"x", x}, {"tooltip", tooltip}}}}}}};
  json transform = json::array({{{"filter", "isValid(datum.frequency)"}}});
  if (models > kDrawnModels)
    transform.push_back({{"filter", fmt::format("datum.place <= {}", kDrawnModels)}});
  result["transform"] = transform;
  return result;
}

Judgement judgement_on(const GroupComparison& comparison, const GroupResult& group) {
  if (group.n == 0)
    return {Severity::warning, fmt::format("{}: {}", shown(group.name), group.notes.front()), ""};
  const std::size_t top = most_frequent(group);
  const ModelInGroup& model = group.models[top];
  std::string text = fmt::format(
      "{} ({} data set{}): '{}' is the most frequent model, expected in {:.0f} % of the population ({:.0f} % "
      "interval {:.0f} to {:.0f} %); exceedance probability {:.3f}, protected {:.3f}; probability that all "
      "models are equally frequent {:.3f}.",
      shown(group.name), group.n, group.n == 1 ? "" : "s", shown(comparison.model_names[top]),
      100 * model.frequency, 100 * comparison.options.level, 100 * model.frequency_low,
      100 * model.frequency_high, model.exceedance, model.protected_exceedance, group.p_equal);
  for (const std::string& note : group.notes) text += " " + note;
  const std::string left_out = left_out_sentence(group);
  if (!left_out.empty()) text += " " + left_out + ".";
  return {Severity::note, text, ""};
}

}  // namespace

Finding group_finding(const GroupComparison& comparison) {
  Finding finding;
  finding.name = "groups";
  finding.title = comparison.groups.size() == 1 ? "The population" : "Groups";
  finding.text = "Which share of the population each model describes. " + effects_sentence();
  for (const GroupResult& group : comparison.groups) {
    finding.judgements.push_back(judgement_on(comparison, group));
  }
  const std::string difference = difference_sentence(comparison);
  if (!difference.empty()) finding.judgements.push_back({Severity::note, difference, ""});
  if (comparison.difference) {
    finding.metrics = {
        {"p_groups_same", "probability that the groups share their model frequencies",
         comparison.difference->p_same},
        {"log_bf_groups_different", "ln Bayes factor of different frequencies against the same",
         comparison.difference->log_bf_different}};
  }
  finding.tables.push_back(groups_table(comparison));
  if (Table left_out = left_out_table(comparison); !left_out.rows.empty()) {
    finding.tables.push_back(std::move(left_out));
  }
  const std::size_t models = comparison.model_names.size();
  std::string text = fmt::format(
      "Dots are expected frequencies, lines {:.0f} % intervals. Long lines say that there are few data sets "
      "or "
      "that these say little.",
      100 * comparison.options.level);
  if (models > kDrawnModels)
    text += fmt::format(" Only the {} most frequent models of a group are drawn.", kDrawnModels);
  finding.figures.push_back({"group_frequencies", "Model frequencies in the population", text,
                             "Expected frequency of every model with its interval, by group.", "groups",
                             frequencies_specification(models, comparison.groups.size()), ""});
  return finding;
}

}  // namespace occam
