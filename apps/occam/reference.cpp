// occam reference PART: tables for the docs, the man page and completion for shells, from the declarations
// themselves. `make docs` puts the tables into place, the build installs the rest. And what is running, and
// where.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "completion.hpp"
#include "manual.hpp"
#include "occam/abc/summary.hpp"
#include "occam/compare/answer_columns.hpp"
#include "occam/core/build.hpp"
#include "occam/core/registry.hpp"
#include "occam/networks/network.hpp"
#include "occam/simulate/call_text.hpp"
#include "occam/simulate/catalogue.hpp"
#include "verb.hpp"

namespace occam {
namespace {

std::string verbs_part(const Verbs& verbs) {
  std::string text;
  for (const Verb& verb : verbs.all()) {
    if (verb.is_hidden()) continue;
    if (!text.empty()) text += '\n';
    text += verb.markdown();
  }
  return text;
}

std::string priors_part() {
  std::string text = "| prior | meaning |\n|---|---|\n";
  for (const PriorSignature& prior : Prior::signatures()) {
    text += fmt::format("| `{}({})` | {} |\n", prior.name, prior.arguments, prior.meaning);
  }
  return text;
}

std::string family_text(const std::string& name) {
  const std::shared_ptr<const Family> family = make_family(name);
  std::string text = fmt::format("### {}\n\n{}: {}.\n\n", name,
                                 family->ordered() ? "Ordered" : "Exchangeable", family->description());
  for (const Column& column : family->columns()) {
    text += fmt::format("- column `{}`: {}\n", column.name, column.description);
  }
  text += "\n| parameter | legal values | prior if none is given | meaning |\n|---|---|---|---|\n";
  for (const Parameter& parameter : family->parameters()) {
    text +=
        fmt::format("| `{}` | {}{}, {}{} | `{}` | {} |\n", parameter.name, parameter.lower_open ? '(' : '[',
                    number_text(parameter.lower), number_text(parameter.upper),
                    parameter.upper_open ? ')' : ']', parameter.prior.text(), parameter.description);
  }
  const std::vector<Disturbance> disturbances = family->disturbances();
  if (!disturbances.empty()) text += "\n| disturbance | strength | what it does |\n|---|---|---|\n";
  for (const Disturbance& one : disturbances) {
    text += fmt::format("| `{}` | {} to {}{}{} | {} |\n", one.name, one.from, one.to,
                        one.unit.empty() ? "" : " ", one.unit, one.description);
  }
  const std::unique_ptr<Family> unconfigured = catalogue().families.at(name)();
  const Fields settings = unconfigured->settings();
  if (!settings.empty()) text += "\nSettings:\n\n" + fields_markdown(settings);
  return text;
}

std::string families_part() {
  std::string text;
  for (const std::string& name : catalogue().families.names()) {
    if (!text.empty()) text += '\n';
    text += family_text(name);
  }
  return text;
}

std::string networks_part() {
  NetworkOptions common;
  std::string text = "### All networks\n\n" + fields_markdown(fields(common));
  for (const std::string& name : architectures().names()) {
    const Architecture& architecture = architectures().at(name);
    text += fmt::format("\n### {}\n\n{}\n\n{}", name, architecture.help, architecture.markdown());
  }
  for (const std::string& name : heads().names()) {
    const HeadKind& head = heads().at(name);
    if (head.resolve(nlohmann::json::object()).empty()) continue;
    text += fmt::format("\n### head {}\n\n{}\n\n{}", name, head.help, head.markdown());
  }
  return text;
}

std::string summaries_part() {
  std::string text;
  for (const std::string& name : summaries().names()) {
    const SummaryKind& kind = summaries().at(name);
    text += fmt::format("{}### {}\n\nStatistics: {}.\n", text.empty() ? "" : "\n", name, kind.help);
    if (const std::string options = kind.markdown(); !options.empty()) text += "\n" + options;
  }
  return text;
}

std::string answers_part() {
  std::string text = "| column | meaning | there |\n|---|---|---|\n";
  for (const AnswerColumn& column : answer_columns()) {
    text += fmt::format("| `{}` | {} | {} |\n", column.pattern(), column.meaning,
                        column.when.empty() ? "always" : column.when);
  }
  return text;
}

}  // namespace

void register_reference(Verbs& verbs) {
  auto part = std::make_shared<std::string>();
  Registry<std::function<std::string()>> parts("part");
  parts.add("verbs", [&verbs] { return verbs_part(verbs); });
  parts.add("man", [&verbs] { return manual(verbs); });
  parts.add("bash", [&verbs] { return bash_completion(verbs); });
  parts.add("zsh", [&verbs] { return zsh_completion(verbs); });
  parts.add("fish", [&verbs] { return fish_completion(verbs); });
  parts.add("priors", priors_part);
  parts.add("families", families_part);
  parts.add("networks", networks_part);
  parts.add("summaries", summaries_part);
  parts.add("answers", answers_part);
  parts.add("program", [] { return program_text() + "\n"; });
  parts.add("machine", [] { return machine_text() + "\n"; });
  verbs.add("reference", "Write tables for the docs as Markdown, the man page, or completion for a shell")
      .hidden()
      .argument("PART", *part,
                "verbs, priors, families, networks, summaries, answers; man; bash, zsh or fish; program and "
                "machine, for records")
      .run([part, parts](const Call& call) { call.print(parts.at(*part)()); });
}

}  // namespace occam
