#include "occam/pipeline/ready_made.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/json_file.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

// A folder may well be named like a problem; it is no network. Pipes are given by name, never looked for.
bool is_file(const fs::path& path) {
  std::error_code unknown;
  return is_there(path) && !fs::is_directory(path, unknown);
}
bool is_plain_file(const fs::path& path) {
  std::error_code unknown;
  return fs::is_regular_file(path, unknown);
}

bool looks_like_a_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".occam");
}

std::string list_text(const ReadyMadeNetworks& networks) {
  const std::vector<std::string> names = networks.names();
  if (!names.empty()) return fmt::format("ready-made are {}", fmt::join(names, ", "));
  return networks.folders().empty()
             ? "no ready-made networks are installed"
             : fmt::format("there are no ready-made networks in {}", fmt::join(networks.folders(), ", "));
}

}  // namespace

ReadyMadeNetworks::ReadyMadeNetworks(std::vector<std::string> folders) : folders_(std::move(folders)) {}

ReadyMadeNetworks ReadyMadeNetworks::with(const std::string& installed) {
  std::vector<std::string> folders;
  const char* const own = std::getenv("OCCAM_NETWORKS");
  if (own != nullptr && *own != '\0') folders.emplace_back(own);
  if (!installed.empty()) folders.push_back(installed);
  return ReadyMadeNetworks(std::move(folders));
}

ReadyMadeNetworks ReadyMadeNetworks::of_program() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (unknown) return with("");
  return with((program.parent_path().parent_path() / "share/occam/networks").string());
}

std::string ReadyMadeNetworks::find(std::string_view problem) const {
  for (const std::string& folder : folders_) {
    const fs::path path = fs::path(folder) / ready_made_file(problem);
    if (is_plain_file(path)) return path.string();
  }
  return "";
}

std::vector<ReadyMade> ReadyMadeNetworks::all() const {
  std::vector<ReadyMade> list;
  for (const std::string& problem : catalogue().problem_names()) {
    if (const std::string path = find(problem); !path.empty())
      list.push_back({problem, path, record_beside(path)});
  }
  return list;
}

std::vector<std::string> ReadyMadeNetworks::names() const {
  std::vector<std::string> list = catalogue().problem_names();
  std::erase_if(list, [this](const std::string& problem) { return find(problem).empty(); });
  return list;
}

std::string ReadyMadeNetworks::path_of(const std::string& name) const {
  if (is_file(name) || looks_like_a_path(name)) return name;
  const std::vector<std::string> problems = catalogue().problem_names();
  if (std::find(problems.begin(), problems.end(), name) == problems.end()) {
    if (is_there(name)) return name;  // a folder, which the reader refuses
    const std::string nearest = nearest_name(name, names());
    throw Error(ErrorKind::no_input, "there is neither a file nor a ready-made network '{}'{}; {}", name,
                nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest), list_text(*this));
  }
  const std::string found = find(name);
  if (!found.empty()) return found;
  throw Error(ErrorKind::no_input,
              "there is neither a file '{0}' nor a ready-made network for the problem of that name; {1}; "
              "`occam train {0} -o {2}` trains one",
              name, list_text(*this), ready_made_file(name));
}

std::string ready_made_file(std::string_view problem) {
  std::string file(problem);
  std::replace(file.begin(), file.end(), ':', '.');
  return file + ".occam";
}

nlohmann::json record_beside(const std::string& network) {
  const fs::path path = network;
  try {
    const nlohmann::json record =
        read_json(fs::path(path).replace_extension(".json").string(), ErrorKind::bad_config);
    // Other files may have that name, too, such as answers.
    const bool belongs =
        record.is_object() && record.contains("network") && record["network"] == path.filename().string();
    return belongs ? record : nlohmann::json();
  } catch (const Error&) {
    return {};
  }
}

std::string caution_of(const nlohmann::json& record) {
  // A record is a text like any other: what it holds may be anything.
  const auto text_of = [](const nlohmann::json& from, const char* key) {
    const auto found = from.is_object() ? from.find(key) : from.end();
    return from.is_object() && found != from.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!record.is_object() || !record.contains("judgements")) return "";
  for (const nlohmann::json& one : record["judgements"]) {
    if (text_of(one, "severity") == "serious")
      return "when this network was made, `occam check` called it " + text_of(record, "verdict");
  }
  return "";
}

std::string made_text(const nlohmann::json& record) {
  const auto has = [&](const char* key, auto right) {
    return record.is_object() && record.contains(key) && right(record[key]);
  };
  std::string text;
  if (has("steps", [](const auto& value) { return value.is_number_integer(); }))
    text = fmt::format("{} steps", record["steps"].get<std::int64_t>());
  if (has("validation_loss", [](const auto& value) { return value.is_number(); })) {
    text += fmt::format("{}validation loss {:.4f} nats", text.empty() ? "" : ", ",
                        record["validation_loss"].get<double>());
  }
  if (has("verdict", [](const auto& value) { return value.is_string(); }))
    text += fmt::format("{}check: {}", text.empty() ? "" : "; ", record["verdict"].get<std::string>());
  return text.empty() ? "there is no record of how it was made" : text;
}

}  // namespace occam
