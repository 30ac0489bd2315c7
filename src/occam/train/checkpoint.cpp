#include "occam/train/checkpoint.hpp"

#include <algorithm>

#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/core/whole_number.hpp"
#include "occam/io/json_file.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/io/shown.hpp"
#include "occam/networks/network_file.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "occam-checkpoint";
constexpr const char* kFormatVersion = "4";  // 1 had no checksum, 2 no momentum, 3 cycles

json number(double x) {
  return std::isfinite(x) ? json(x) : json(nullptr);
}

double number(const json& x, double otherwise) {
  return x.is_null() ? otherwise : x.get<double>();
}

json to_json(const TrainingProgress& p) {
  return {{"step", p.step},
          {"total", p.total},
          {"attempt", p.attempt},
          {"stale", p.stale},
          {"best_loss", number(p.best_loss)},
          {"best_step", p.best_step},
          {"last_validation", number(p.last_validation)},
          {"beyond_few", p.beyond_few},
          {"loss_sum", p.loss_sum},
          {"loss_count", p.loss_count},
          {"seconds", p.seconds},
          {"history", p.history},
          {"looks", p.looks},
          {"ending", p.ending},
          {"expected_gain", p.expected_gain},
          {"failed", p.failed}};
}

TrainingProgress from_json(const json& j) {
  TrainingProgress p;
  p.step = whole_number(j.at("step"));
  p.total = whole_number(j.at("total"));
  p.attempt = whole_number(j.at("attempt"));
  p.stale = whole_number(j.at("stale"));
  p.best_loss = number(j.at("best_loss"), INFINITY);
  p.best_step = whole_number(j.at("best_step"));
  p.last_validation = number(j.at("last_validation"), NAN);
  p.beyond_few = j.value("beyond_few", 0.0);  // not in those from before
  p.loss_sum = j.at("loss_sum").get<double>();
  p.loss_count = whole_number(j.at("loss_count"));
  p.seconds = j.at("seconds").get<double>();
  p.history = j.at("history");
  p.looks = j.at("looks");
  p.ending = j.at("ending").get<bool>();
  p.expected_gain = j.at("expected_gain").get<double>();
  p.failed = whole_numbers(j.at("failed"));
  return p;
}

std::string metadata(const Safetensors& contents, const std::string& key) {
  const auto found = contents.metadata.find(key);
  return found == contents.metadata.end() ? std::string() : found->second;
}

// What does not belong to the run itself, or nothing. Another version of the program may step otherwise.
std::string foreign(const Safetensors& contents) {
  if (metadata(contents, "format") != kFormat) return "this is not a checkpoint";
  const std::string version = metadata(contents, "format_version");
  const std::string program = metadata(contents, "program");
  const std::string ours = std::string("occam ") + kVersion;
  if (version != kFormatVersion)
    return fmt::format("its format version is '{}', {} reads version {}", shown(version), ours,
                       kFormatVersion);
  if (!seal_holds(contents)) return "it is damaged: its contents do not match their checksum";
  if (program != ours) return fmt::format("it was made by '{}', this is {}", shown(program), ours);
  return "";
}

bool is_history(const json& history) {
  return history.is_array() && std::all_of(history.begin(), history.end(), [](const json& entry) {
           return entry.is_array() && entry.size() == 2 && entry[0].is_number_integer() &&
                  (entry[1].is_number() || entry[1].is_null());
         });
}

bool is_looks(const json& looks) {
  return looks.is_array() && std::all_of(looks.begin(), looks.end(), [](const json& entry) {
           return entry.is_array() && entry.size() == 4 &&
                  std::all_of(entry.begin(), entry.end(), [](const json& x) { return x.is_number(); });
         });
}

// Numbers that a run can have come to; the rest of the trainer relies on them.
bool is_possible(const TrainingProgress& p, std::size_t models) {
  const auto natural = [](std::int64_t x) { return x >= 0; };
  return natural(p.step) && natural(p.total) && (p.total == 0 || p.step <= p.total) && natural(p.attempt) &&
         natural(p.stale) && natural(p.best_step) && p.best_step <= std::max(p.step, p.total) &&
         natural(p.loss_count) && std::isfinite(p.loss_sum) && std::isfinite(p.seconds) && p.seconds >= 0 &&
         p.failed.size() == models && std::all_of(p.failed.begin(), p.failed.end(), natural) &&
         is_history(p.history) && is_looks(p.looks) && std::isfinite(p.expected_gain) &&
         std::isfinite(p.beyond_few);
}

// The first member that differs, or nothing.
std::string difference(const json& ours, const json& theirs) {
  if (!theirs.is_object()) return "identity";
  for (const auto& [name, value] : ours.items()) {
    if (!theirs.contains(name) || theirs.at(name) != value) return name;
  }
  return "";
}

}  // namespace

void write_checkpoint(const std::string& path, const json& identity, const TrainingProgress& progress,
                      const LearningState& state, const ParameterLayout& layout) {
  Safetensors contents;
  contents.metadata = {{"format", kFormat},
                       {"format_version", kFormatVersion},
                       {"program", std::string("occam ") + kVersion},
                       {"identity", identity.dump()},
                       {"progress", to_json(progress).dump()}};
  add_tensors(contents, layout, state.weights, "weights/");
  add_tensors(contents, layout, state.average, "average/");
  add_tensors(contents, layout, state.first_moment, "m/");
  add_tensors(contents, layout, state.second_moment, "v/");
  if (!progress.best.empty()) add_tensors(contents, layout, progress.best, "best/");
  if (!state.momentum.empty()) add_tensors(contents, layout, state.momentum, "momentum/");
  seal(contents);
  write_safetensors(path, contents);
}

TrainingProgress read_checkpoint(const std::string& path, const json& identity, const ParameterLayout& layout,
                                 std::int64_t models, LearningState& state) {
  const Safetensors contents = read_safetensors(path);
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorKind::bad_config, "{}: {}; remove it to begin anew", path, why);
  };
  if (const std::string why = foreign(contents); !why.empty()) throw refuse(why);
  const auto told = [&](const char* key) {
    return parse_json(metadata(contents, key), fmt::format("its '{}'", key), ErrorKind::bad_config);
  };
  try {
    const std::string other = difference(identity, told("identity"));
    if (!other.empty()) throw Error(ErrorKind::bad_config, "it was made with another {}", other);
    TrainingProgress progress = from_json(told("progress"));
    if (!is_possible(progress, static_cast<std::size_t>(models)))
      throw Error(ErrorKind::bad_config, "what it says of the progress of training is not possible");
    const auto take = [&](const char* prefix) { return take_tensors(contents, layout, prefix); };
    if (std::isfinite(progress.best_loss)) progress.best = take("best/");
    state = {take("weights/"), take("average/"), take("m/"), take("v/"), {}};
    if (identity.value("/set of training options/optimiser"_json_pointer, "") == "muon")
      state.momentum = take("momentum/");
    if (std::any_of(state.second_moment.begin(), state.second_moment.end(), [](float v) { return v < 0; }))
      throw Error(ErrorKind::bad_config, "the state of its optimiser is not usable");
    return progress;
  } catch (const json::exception& error) {
    throw refuse(fmt::format("its contents are not usable ({})", shown(error.what(), 200)));
  } catch (const Error& error) {
    throw refuse(error.what());
  }
}

}  // namespace occam
