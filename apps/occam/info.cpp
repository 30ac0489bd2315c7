// occam info: what a network file is, and is for; which ready-made networks there are.
#include <memory>

#include <fmt/format.h>

#include "occam/io/json_file.hpp"
#include "occam/networks/network_text.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "occam/scope/scope.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct InfoVerb {
  std::string network;
  bool json = false;
};

Fields fields(InfoVerb& o) {
  return {field("json", o.json, "print everything as JSON")};
}

// How a network was made, as the record beside it has it, below what the file itself says.
std::string record_text(const nlohmann::json& record) {
  std::string text;
  for (const auto& [name, key] : {std::pair{"made with", "command"}, {"by", "program"}, {"on", "machine"}}) {
    if (record.contains(key) && record[key].is_string())
      text += fmt::format("{:<18}{}\n", name, record[key].get<std::string>());
  }
  if (record.contains("verdict") && record["verdict"].is_string())
    text += fmt::format("{:<18}{}\n", "checked", record["verdict"].get<std::string>());
  return text;
}

void describe(const InfoVerb& o) {
  const NetworkFile file = read_network_file(o.network);
  scope_of(file);  // what is described is whole
  const nlohmann::json record = record_beside(o.network);
  if (!o.json) return Call::print(network_text(file) + (record.is_null() ? "" : record_text(record)));
  nlohmann::json all = network_json(file);
  if (!record.is_null()) all["made"] = record;
  Call::print_data(all.dump(2) + "\n");
}

std::string list_text(const ReadyMadeNetworks& networks) {
  std::string text;
  for (const ReadyMade& one : networks.all()) {
    text += fmt::format("{}\n    {}\n    {}\n", one.problem, made_text(one.record), one.path);
  }
  if (!text.empty()) return "Ready-made networks, for `occam compare NAME DATA`:\n\n" + text;
  text = "No ready-made networks were found. Looked in:\n";
  for (const std::string& folder : networks.folders()) text += fmt::format("    {}\n", folder);
  return text;
}

void list(bool as_json) {
  const ReadyMadeNetworks networks = ReadyMadeNetworks::of_program();
  if (!as_json) return Call::print(list_text(networks));
  nlohmann::json all = nlohmann::json::array();
  for (const ReadyMade& one : networks.all())
    all.push_back({{"problem", one.problem}, {"path", one.path}, {"made", one.record}});
  Call::print_data(json_text(all));
}

}  // namespace

void register_info(Verbs& verbs) {
  const auto o = std::make_shared<InfoVerb>();
  verbs.add("info", "What a network file is, and is for; which ready-made ones there are")
      .about(R"(
        Reads a network file, verifies that it gives the outputs it was saved with, and describes it.
        Without NET it lists the ready-made networks: trained for built-in problems, installed with
        the program, and used by the name of the problem instead of a file.
      )")
      .example("occam info", "the ready-made networks, with what their check said")
      .example("occam info coins.occam", "problem, models, network, training")
      .optional_argument("NET", o->network, "the network file (.occam), or the name of a ready-made one")
      .options(fields(*o))
      .run([o](const Call&) { o->network.empty() ? list(o->json) : describe(*o); });
}

}  // namespace occam
