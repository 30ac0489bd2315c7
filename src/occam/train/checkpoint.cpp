#include "occam/train/checkpoint.hpp"

#include "occam/core/error.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/networks/network_file.hpp"

namespace occam {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "occam-checkpoint";

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
          {"loss_sum", p.loss_sum},
          {"loss_count", p.loss_count},
          {"seconds", p.seconds},
          {"history", p.history},
          {"failed", p.failed}};
}

TrainingProgress from_json(const json& j) {
  TrainingProgress p;
  p.step = j.at("step").get<std::int64_t>();
  p.total = j.at("total").get<std::int64_t>();
  p.attempt = j.at("attempt").get<std::int64_t>();
  p.stale = j.at("stale").get<std::int64_t>();
  p.best_loss = number(j.at("best_loss"), INFINITY);
  p.best_step = j.at("best_step").get<std::int64_t>();
  p.last_validation = number(j.at("last_validation"), NAN);
  p.loss_sum = j.at("loss_sum").get<double>();
  p.loss_count = j.at("loss_count").get<std::int64_t>();
  p.seconds = j.at("seconds").get<double>();
  p.history = j.at("history");
  p.failed = j.at("failed").get<std::vector<std::int64_t>>();
  return p;
}

// The first member that differs, or nothing.
std::string difference(const json& ours, const json& theirs) {
  for (const auto& [name, value] : ours.items()) {
    if (!theirs.contains(name) || theirs.at(name) != value) return name;
  }
  return "";
}

}  // namespace

void write_checkpoint(const std::string& path, const json& identity, const TrainingProgress& progress,
                      Adam<float>& adam, const ParameterLayout& layout) {
  Safetensors contents;
  contents.metadata = {{"format", kFormat},
                       {"format_version", "1"},
                       {"identity", identity.dump()},
                       {"progress", to_json(progress).dump()}};
  add_tensors(contents, layout, progress.weights, "weights/");
  add_tensors(contents, layout, progress.average, "average/");
  add_tensors(contents, layout, adam.first_moment(), "m/");
  add_tensors(contents, layout, adam.second_moment(), "v/");
  if (!progress.best.empty()) add_tensors(contents, layout, progress.best, "best/");
  write_safetensors(path, contents);
}

TrainingProgress read_checkpoint(const std::string& path, const json& identity, Adam<float>& adam,
                                 const ParameterLayout& layout) {
  const Safetensors contents = read_safetensors(path);
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorKind::bad_config, "{}: {}; remove it or train without --resume", path, why);
  };
  const auto format = contents.metadata.find("format");
  if (format == contents.metadata.end() || format->second != kFormat)
    throw refuse("this is not a checkpoint");
  TrainingProgress progress;
  try {
    const std::string other = difference(identity, json::parse(contents.metadata.at("identity")));
    if (!other.empty()) throw refuse(fmt::format("it was made with another {}", other));
    progress = from_json(json::parse(contents.metadata.at("progress")));
  } catch (const json::exception& error) {
    throw refuse(fmt::format("its contents are not usable ({})", error.what()));
  } catch (const std::out_of_range&) {
    throw refuse("its contents are not usable");
  }
  const auto take = [&](const char* prefix) { return take_tensors(contents, layout, prefix, path); };
  progress.weights = take("weights/");
  progress.average = take("average/");
  adam.first_moment() = take("m/");
  adam.second_moment() = take("v/");
  adam.set_step(progress.step);
  if (std::isfinite(progress.best_loss)) progress.best = take("best/");
  return progress;
}

}  // namespace occam
