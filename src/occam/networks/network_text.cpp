#include "occam/networks/network_text.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace occam {
namespace {

using nlohmann::json;

bool has_link(const NetworkFile& file) {
  return file.config.head_kind().concentrations;
}

std::string some(const std::vector<std::string>& names) {
  if (names.size() <= 8) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ... ({} in all)", fmt::join(names.begin(), names.begin() + 6, ", "), names.size());
}

// "vae (latents 5, latent_weight 0.1): probabilities without concentrations; alpha and u are not defined".
std::string head_text(const NetworkConfig& config) {
  std::vector<std::string> options;
  for (const auto& [name, value] : config.head.items()) options.push_back(name + " " + value.dump());
  return fmt::format("{}{}: probabilities without concentrations; alpha and u are not defined",
                     config.options.head,
                     options.empty() ? "" : fmt::format(" ({})", fmt::join(options, ", ")));
}

// What columns are taken for, a line each: "home and away: the same things, held against each other".
std::vector<std::string> meanings(const Structure& structure, const std::vector<std::string>& columns) {
  const auto name = [&](std::int64_t c) { return columns[static_cast<std::size_t>(c)]; };
  std::vector<std::string> lines;
  if (structure.time.column >= 0) lines.push_back(name(structure.time.column) + ": says when");
  for (const std::int64_t c : structure.labels.columns)
    lines.push_back(name(c) + ": says which rows belong together");
  for (const LabelOrder& order : structure.labels.orders) {
    lines.push_back(fmt::format("rows of each {}: follow on each other{}", name(order.label),
                                order.column < 0 ? " as they stand" : " by " + name(order.column)));
  }
  for (const CrossedColumns& crossed : structure.labels.crossings) {
    constexpr std::array words = {"looked at beside each other",
                                  "the same things, whose effects add up",
                                  "the same things, held against each other",
                                  "pairs of them, beside the first",
                                  "pairs of them, beside the second",
                                  "the same things, one of the other and the other way around"};
    lines.push_back(fmt::format("{} and {}: {}", name(crossed.first), name(crossed.second),
                                words[static_cast<std::size_t>(crossed.crossing)]));
  }
  for (const ShapedColumns& shaped : structure.relations.shaped)
    lines.push_back(fmt::format("{} over {}: steps, bends and curves", name(shaped.y), name(shaped.x)));
  std::vector<std::string> tabled;
  for (const std::int64_t c : structure.relations.tabled) tabled.push_back(name(c));
  if (!tabled.empty()) lines.push_back(fmt::format("{}: counted together", fmt::join(tabled, ", ")));
  std::vector<std::string> places;
  for (const std::int64_t c : structure.places.columns) places.push_back(name(c));
  if (!places.empty())
    lines.push_back(fmt::format("{}: {} where", fmt::join(places, ", "), places.size() > 1 ? "say" : "says"));
  return lines;
}

}  // namespace

nlohmann::json network_json(const NetworkFile& file) {
  return {{"problem_name", file.problem_name},
          {"fingerprint", file.fingerprint},
          {"models", file.model_names},
          {"model_prior", file.model_prior},
          {"columns", file.columns},
          {"ordered", file.ordered},
          {"n", {file.smallest_n, file.largest_n}},
          {"parameters", file.parameter_names},
          {"members", file.members.size()},
          {"weights", file.members[0].size()},
          {"network", file.config.json()},
          {"head", file.config.options.head},
          {"link", has_link(file) ? json(link_names()[static_cast<std::size_t>(file.link)]) : json()},
          {"record", file.record},
          {"problem", file.problem}};
}

std::string network_text(const NetworkFile& file) {
  const json& r = file.record;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<18}{}\n", name, value);
  };
  line("problem", fmt::format("{} (fingerprint {})", file.problem_name, file.fingerprint));
  line("models", some(file.model_names));
  line("columns", some(file.columns));
  for (std::size_t c = 0; c < file.config.inputs.size(); ++c) {
    const ColumnInput& input = file.config.inputs[c];
    if (input.transformation == Transformation::none && input.levels.empty() && input.atoms.empty() &&
        !input.stays && !input.ends)
      continue;
    line("", fmt::format("{}: {}", file.columns[c], input.text()));
  }
  for (const std::string& meaning : meanings(file.config.statistics.structure, file.columns))
    line("", meaning);
  line("observations", fmt::format("{} to {}, {}", file.smallest_n, file.largest_n,
                                   file.ordered ? "in order" : "order irrelevant"));
  const std::size_t members = file.members.size();
  line("network",
       fmt::format("{}{}, {} weights{}", members > 1 ? fmt::format("{} times ", members) : "",
                   file.config.options.architecture, file.members[0].size(),
                   has_link(file) ? ", link " + link_names()[static_cast<std::size_t>(file.link)] : ""));
  if (!has_link(file)) line("head", head_text(file.config));
  if (file.config.parameters > 0) line("estimates", some(file.parameter_names));
  line("trained",
       fmt::format("{} steps, {} data sets from {}, seed {}, by {}", r.value("steps", std::int64_t{0}),
                   r.value("data_sets", std::int64_t{0}), r.value("source", ""),
                   r.value("seed", std::uint64_t{0}), r.value("program", "")));
  if (r.contains("extended")) {
    line("grown from", fmt::format("a network for {}",
                                   fmt::join(r["extended"]["models"].get<std::vector<std::string>>(), ", ")));
  }
  line("validation loss", fmt::format("{:.4f} nats, at step {}", r.value("validation_loss", 0.0),
                                      r.value("best_step", std::int64_t{0})));
  if (r.contains("expected_gain")) {
    line("twice as long",
         fmt::format("would be expected to gain {:.4f} nats", r.value("expected_gain", 0.0)));
  }
  if (!file.doubt().empty()) line("of no use", file.doubt());
  if (r.contains("seconds")) {
    line("wall time", fmt::format("{:.1f} s, {:.0f} data sets/s", r.value("seconds", 0.0),
                                  r.value("data_sets_per_s", 0.0)));
  }
  return text;
}

}  // namespace occam
