#include "occam/study/study.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/core/fields.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/file.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/toml_file.hpp"
#include "occam/io/toml_library.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/study/study_files.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr const char* kFile = "study.toml";
constexpr const char* kExpected = "expected.json";
const std::vector<std::string> kScales = {"quick", "full"};

using Files = std::map<std::string, std::string>;

const std::map<std::string, Files>& built_in() {
  static const std::map<std::string, Files> all = [] {
    std::map<std::string, Files> studies;
    for (const auto& [path, text] : study_files::all) {
      const std::string_view name = path.substr(0, path.find('/'));
      studies[std::string(name)][std::string(path.substr(name.size() + 1))] = text;
    }
    return studies;
  }();
  return all;
}

void check_name(const std::string& name, const std::string& where) {
  const bool fine = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
  if (!fine) {
    throw Error(ErrorKind::bad_config, "{}: name '{}' is not made of letters, digits, '_' and '-'", where,
                name);
  }
}

// One entry of a list, as it is at this scale: what stands under `quick` or `full` goes over the rest. False
// where `only` keeps it to the other scale.
bool at_scale(json& entry, const std::string& scale, const std::string& where) {
  if (entry.contains("only")) {
    const json only = entry["only"];
    if (std::none_of(kScales.begin(), kScales.end(), [&](const std::string& one) { return only == one; }))
      throw Error(ErrorKind::bad_config, "{}: only = {}; expected \"quick\" or \"full\"", where, only.dump());
    if (only != scale) return false;
    entry.erase("only");
  }
  const json over = entry.value(scale, json::object());
  for (const std::string& one : kScales) entry.erase(one);
  entry.merge_patch(over);
  return true;
}

json take_table(json& entry, const char* key, const std::string& where) {
  json table = entry.value(key, json::object());
  if (!table.is_object()) throw Error(ErrorKind::bad_config, "{}: {} is not a table", where, key);
  entry.erase(key);
  return table;
}

StudyNetwork read_network(json entry, const std::string& where) {
  StudyNetwork result;
  result.train = take_table(entry, "train", where);
  result.network = take_table(entry, "network", where);
  set_fields({field("name", result.name, "of the network"), field("label", result.label, "for people"),
              field("problem", result.problem, "a problem file of the study or a built-in name"),
              field("start", result.start, "the network to begin from"),
              field("scope", result.scope, "whether it carries a scope reference")},
             entry, where);
  check_name(result.name, where);
  if (result.problem.empty()) throw Error(ErrorKind::bad_config, "{}: it has no problem", where);
  if (result.label.empty()) result.label = result.name;
  return result;
}

StudyExperiment read_experiment(json entry, const std::string& where) {
  StudyExperiment result;
  result.where = where;
  for (const auto& [key, target] : {std::pair<const char*, std::string*>{"name", &result.name},
                                    {"kind", &result.kind},
                                    {"title", &result.title}}) {
    const auto found = entry.find(key);
    if (found == entry.end()) continue;
    if (!found->is_string()) throw Error(ErrorKind::bad_config, "{}: {} is not a text", where, key);
    *target = found->get<std::string>();
    entry.erase(key);
  }
  if (result.kind.empty()) throw Error(ErrorKind::bad_config, "{}: it has no kind", where);
  if (result.name.empty()) result.name = result.kind;
  check_name(result.name, where);
  result.options = std::move(entry);
  return result;
}

template <class Entry, class Read>
std::vector<Entry> read_list(json& all, const char* key, const std::string& file, const std::string& scale,
                             Read read) {
  std::vector<Entry> result;
  const json list = all.value(key, json::array());
  all.erase(key);
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = fmt::format("{}: [[{}]] number {}", file, key, i + 1);
    json entry = list[i];
    if (!entry.is_object()) throw Error(ErrorKind::bad_config, "{}: it is not a table", where);
    if (!at_scale(entry, scale, where)) continue;
    result.push_back(read(std::move(entry), where));
    if (!names.insert(result.back().name).second) {
      throw Error(ErrorKind::bad_config, "{}: there are two of name '{}'", where, result.back().name);
    }
  }
  if (result.empty()) throw Error(ErrorKind::bad_config, "{}: there is no [[{}]]", file, key);
  return result;
}

// Networks are trained in the order of the file: one can begin from those before it.
void check_starts(const Study& study, const std::string& file) {
  std::vector<std::string> before;
  for (const StudyNetwork& one : study.networks) {
    if (!one.start.empty() && std::find(before.begin(), before.end(), one.start) == before.end()) {
      throw Error(ErrorKind::bad_config, "{}: network '{}' starts from '{}', which is not one before it{}",
                  file, one.name, one.start, before.empty() ? "" : did_you_mean(one.start, before));
    }
    before.push_back(one.name);
  }
}

// "best" is a number, or the name of a metric of ours.
PublishedFigure read_figure(json entry, const std::string& where) {
  PublishedFigure result;
  if (!entry.is_object()) throw Error(ErrorKind::bad_config, "{}: it is not an object", where);
  if (entry.contains("best") && entry["best"].is_string()) {
    result.best_metric = entry["best"].get<std::string>();
    entry.erase("best");
  }
  set_fields(
      {field("what", result.what, ""), field("metric", result.metric, ""), field("source", result.source, ""),
       field("published", result.published, ""), field("best", result.best, ""),
       field("at_least", result.at_least, ""), field("at_most", result.at_most, ""),
       field("below_best", result.below_best, ""), field("above_best", result.above_best, "")},
      entry, where);
  if (result.what.empty() || result.metric.find('/') == std::string::npos)
    throw Error(ErrorKind::bad_config, "{}: it needs \"what\" and \"metric\": \"FINDING/METRIC\"", where);
  return result;
}

std::vector<PublishedFigure> read_figures(const std::string& text, const std::string& file) {
  const json all = parse_json(text, file, ErrorKind::bad_config);
  if (!all.is_object() || !all.contains("figures") || !all["figures"].is_array())
    throw Error(ErrorKind::bad_config, "{}: it has no list \"figures\"", file);
  std::vector<PublishedFigure> result;
  for (const json& entry : all["figures"]) {
    result.push_back(read_figure(entry, fmt::format("{}: figure {}", file, result.size() + 1)));
  }
  return result;
}

bool is_source(const std::string& file) {
  return file.ends_with(".cpp") || file.ends_with(".h");
}

Files read_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  Files files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool wanted = entry.is_regular_file() &&
                        (entry.path().extension() == ".toml" || name == kExpected || is_source(name));
    if (wanted) files[name] = read_file(entry.path().string());
  }
  if (!files.contains(kFile)) {
    throw Error(ErrorKind::no_input, "folder '{}' has no {}: it is not the folder of a study", folder, kFile);
  }
  return files;
}

}  // namespace

const StudyNetwork& Study::network(const std::string& wanted) const {
  std::vector<std::string> names;
  for (const StudyNetwork& one : networks) {
    if (one.name == wanted) return one;
    names.push_back(one.name);
  }
  throw Error(ErrorKind::bad_config, "study '{}' has no network '{}'{}", name, wanted,
              did_you_mean(wanted, names));
}

Problem Study::problem(const StudyNetwork& network) const {
  const auto file = files.find(network.problem);
  if (file == files.end()) return load_problem(network.problem);
  const std::string path = name + "/" + file->first;
  return folder.empty() ? read_problem(file->second, path) : read_problem_to_run(file->second, path, folder);
}

std::vector<std::string> study_names() {
  std::vector<std::string> names;
  for (const auto& [name, files] : built_in()) names.push_back(name);
  return names;
}

std::string study_title(const std::string& name) {
  return load_study(name, kScales.front()).title;
}

Study load_study(const std::string& name_or_folder, const std::string& scale) {
  const auto found = built_in().find(name_or_folder);
  if (found != built_in().end()) return parse_study(name_or_folder, found->second, scale);
  if (std::filesystem::is_directory(name_or_folder)) {
    const auto folder = std::filesystem::absolute(name_or_folder).lexically_normal();
    const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    return parse_study(name, read_folder(name_or_folder), scale, folder.string());
  }
  if (name_or_folder.find('/') != std::string::npos)
    throw Error(ErrorKind::no_input, "there is no folder '{}'", name_or_folder);
  throw Error(ErrorKind::usage, "unknown study '{}'{}; or give the folder of one", name_or_folder,
              did_you_mean(name_or_folder, study_names()));
}

Study unpacked(Study study, const std::string& folder) {
  const bool simulates = std::any_of(study.files.begin(), study.files.end(),
                                     [](const auto& file) { return is_source(file.first); });
  if (!study.folder.empty() || !simulates) return study;
  std::filesystem::create_directories(folder);
  for (const auto& [file, text] : study.files)
    write_file_atomic((std::filesystem::path(folder) / file).string(), text);
  study.folder = std::filesystem::absolute(folder).string();
  return study;
}

Study parse_study(const std::string& name, const Files& files, const std::string& scale,
                  const std::string& folder) {
  if (std::find(kScales.begin(), kScales.end(), scale) == kScales.end())
    throw Error(ErrorKind::usage, "unknown scale '{}'; expected quick or full", scale);
  const std::string file = name + "/" + kFile;
  json all = toml_to_json(parse_toml(files.at(kFile), file));
  Study study;
  study.name = name;
  study.scale = scale;
  study.files = files;
  study.folder = folder;
  study.networks = read_list<StudyNetwork>(all, "network", file, scale, read_network);
  study.experiments = read_list<StudyExperiment>(all, "experiment", file, scale, read_experiment);
  set_fields({field("title", study.title, "of the study"), field("text", study.text, "what is reproduced")},
             all, file);
  check_starts(study, file);
  const auto expected = files.find(kExpected);
  if (expected != files.end()) study.figures = read_figures(expected->second, name + "/" + kExpected);
  return study;
}

}  // namespace occam
