#include "occam/group/group_writer.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/io/csv.hpp"
#include "occam/io/shown.hpp"

namespace occam {
namespace {

using nlohmann::json;

struct ModelColumn {
  const char* name;
  double ModelInGroup::*value;
};
constexpr ModelColumn kModelColumns[] = {
    {"frequency", &ModelInGroup::frequency},
    {"frequency_low", &ModelInGroup::frequency_low},
    {"frequency_high", &ModelInGroup::frequency_high},
    {"exceedance", &ModelInGroup::exceedance},
    {"protected_exceedance", &ModelInGroup::protected_exceedance},
    {"log_group_bf", &ModelInGroup::log_group_bf},
    {"variational_frequency", &ModelInGroup::variational_frequency},
    {"variational_exceedance", &ModelInGroup::variational_exceedance},
    {"variational_protected_exceedance", &ModelInGroup::variational_protected_exceedance}};

json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json();
}

// The plain word for one or many.
std::string counted(std::int64_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

constexpr std::size_t kShownModels = 8;  // of a group on a terminal, most frequent first

std::vector<std::size_t> by_frequency(const GroupResult& group) {
  std::vector<std::size_t> order(group.models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return group.models[a].frequency > group.models[b].frequency;
  });
  return order;
}

std::string model_lines(const GroupComparison& comparison, const GroupResult& group) {
  const auto order = by_frequency(group);
  const std::size_t shown_models = std::min(kShownModels, order.size());
  std::size_t width = 5;
  for (std::size_t i = 0; i < shown_models; ++i) {
    width = std::max(width, shown(comparison.model_names[order[i]], 30).size());
  }
  std::string text =
      fmt::format("  {:<{}}  frequency  {:>4.0f} % interval  exceedance  protected  ln group BF\n", "model",
                  width, 100 * comparison.options.level);
  for (std::size_t i = 0; i < shown_models; ++i) {
    const ModelInGroup& model = group.models[order[i]];
    text +=
        fmt::format("  {:<{}}  {:>9.3f}  {:>6.3f} to {:<6.3f}  {:>10.3f}  {:>9.3f}  {:>11}\n",
                    shown(comparison.model_names[order[i]], 30), width, model.frequency, model.frequency_low,
                    model.frequency_high, model.exceedance, model.protected_exceedance,
                    std::isnan(model.log_group_bf) ? "none" : fmt::format("{:.1f}", model.log_group_bf));
  }
  if (order.size() > shown_models) {
    text += fmt::format("  ... and {} (all of them in the files)\n",
                        counted(static_cast<std::int64_t>(order.size() - shown_models), "more model"));
  }
  return text;
}

}  // namespace

std::string groups_path(const std::string& answers_path) {
  for (const char* ending : {".csv", ".tsv"}) {
    if (answers_path.ends_with(ending)) {
      return answers_path.substr(0, answers_path.size() - 4) + ".groups" + ending;
    }
  }
  return answers_path + ".groups.csv";
}

void write_groups_csv(const GroupComparison& comparison, ByteSink sink, char delimiter) {
  std::vector<std::string> columns = {"group", "model", "n", "left_out"};
  for (const ModelColumn& column : kModelColumns) columns.emplace_back(column.name);
  columns.insert(columns.end(), {"p_equal", "variational_bor", "standard_error", "p_groups_same",
                                 "log_bf_groups_different"});
  CsvWriter writer(std::move(sink), columns, delimiter);
  const auto number_cell = [&](double value) {
    if (std::isnan(value)) {
      writer.missing();
    } else {
      writer.cell(value);
    }
  };
  for (const GroupResult& group : comparison.groups) {
    for (std::size_t k = 0; k < group.models.size(); ++k) {
      writer.cell(group.name);
      writer.cell(comparison.model_names[k]);
      writer.cell(group.n);
      writer.cell(static_cast<std::int64_t>(group.left_out.size()));
      for (const ModelColumn& column : kModelColumns) number_cell(group.models[k].*column.value);
      number_cell(group.p_equal);
      number_cell(group.variational_bor);
      number_cell(group.n == 0 ? NAN : group.error);
      number_cell(comparison.difference ? comparison.difference->p_same : NAN);
      number_cell(comparison.difference ? comparison.difference->log_bf_different : NAN);
      writer.end_row();
    }
  }
}

json groups_json(const GroupComparison& comparison) {
  json groups = json::array();
  for (const GroupResult& group : comparison.groups) {
    json models = json::array();
    for (std::size_t k = 0; k < group.models.size(); ++k) {
      json model = {{"model", comparison.model_names[k]}};
      for (const ModelColumn& column : kModelColumns)
        model[column.name] = finite_or_null(group.models[k].*column.value);
      models.push_back(std::move(model));
    }
    json left_out = json::array();
    for (const LeftOut& one : group.left_out) left_out.push_back({{"dataset", one.id}, {"why", one.why}});
    groups.push_back({{"group", group.name},
                      {"n", group.n},
                      {"left_out", left_out},
                      {"models", models},
                      {"p_equal", finite_or_null(group.p_equal)},
                      {"p_equal_error", group.p_equal_error},
                      {"variational_bor", finite_or_null(group.variational_bor)},
                      {"standard_error", group.error},
                      {"notes", group.notes}});
  }
  json result = {{"groups", groups},
                 {"difference", nullptr},
                 {"settings",
                  {{"prior_concentration", comparison.options.alpha0},
                   {"level", comparison.options.level},
                   {"seed", comparison.options.seed}}}};
  if (comparison.difference) {
    result["difference"] = {{"p_same", comparison.difference->p_same},
                            {"log_bf_different", finite_or_null(comparison.difference->log_bf_different)},
                            {"log_bf_error", comparison.difference->error},
                            {"groups", comparison.difference->groups}};
  }
  return result;
}

std::string effects_sentence() {
  return "Frequencies and exceedance probabilities (random effects) are right where members of a population "
         "may follow different models; the group Bayes factor (fixed effects) is right only where all of "
         "them "
         "must follow the same one, and a single unusual data set can decide it.";
}

std::string difference_sentence(const GroupComparison& comparison) {
  if (!comparison.difference) return "";
  const GroupDifference& d = *comparison.difference;
  const char* verdict = d.p_same > 0.9   ? "The groups share their model frequencies"
                        : d.p_same < 0.1 ? "The groups differ in their model frequencies"
                                         : "Whether the groups differ in their model frequencies is open";
  std::string error;
  if (d.error > 0) error = fmt::format(", standard error {:.2g}", d.error);
  return fmt::format(
      "{}: the probability that they are the same is {:.3f} (ln Bayes factor for different ones {:.2f}{}; "
      "even odds beforehand).",
      verdict, d.p_same, d.log_bf_different, error);
}

std::string left_out_sentence(const GroupResult& group, std::size_t most) {
  if (group.left_out.empty()) return "";
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (std::size_t i = 0; i < std::min(most, group.left_out.size()); ++i) {
    const auto found = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& r) { return r.first == group.left_out[i].why; });
    auto& names = found == reasons.end()
                      ? reasons.emplace_back(group.left_out[i].why, std::vector<std::string>())
                      : *found;
    names.second.push_back(shown(group.left_out[i].id));
  }
  std::vector<std::string> parts;
  for (const auto& [why, ids] : reasons)
    parts.push_back(fmt::format("{} ({})", fmt::join(ids, ", "), shown(why)));
  const std::size_t more = group.left_out.size() - std::min(most, group.left_out.size());
  return fmt::format("{} left out: {}{}", group.left_out.size(), fmt::join(parts, "; "),
                     more == 0 ? "" : fmt::format("; and {} more", more));
}

std::string groups_text(const GroupComparison& comparison) {
  std::string text;
  for (const GroupResult& group : comparison.groups) {
    text += fmt::format("Group '{}': {}", shown(group.name), counted(group.n, "data set"));
    const std::string left_out = left_out_sentence(group);
    text += left_out.empty() ? "\n" : fmt::format(" ({})\n", left_out);
    if (group.n > 0) {
      text += model_lines(comparison, group);
      text += fmt::format("  probability that all models are equally frequent: {:.3f}\n", group.p_equal);
    }
    for (const std::string& note : group.notes) text += fmt::format("  {}\n", note);
  }
  const std::string difference = difference_sentence(comparison);
  if (!difference.empty()) text += difference + "\n";
  return text + effects_sentence() + "\n";
}

}  // namespace occam
