#include "occam/study/reproduce.hpp"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "occam/check/diagnostic.hpp"
#include "occam/core/build.hpp"
#include "occam/core/error.hpp"
#include "occam/study/experiment.hpp"
#include "occam/study/published.hpp"
#include "occam/train/warm_start.hpp"

namespace occam {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What was asked of the network's architecture is what the file has.
bool same_network(const NetworkConfig& config, const json& wanted) {
  json have = config.body;
  have.update(config.json().at("options"));
  for (const auto& [key, value] : wanted.items()) {
    if (!have.contains(key) || have[key] != value) return false;
  }
  return true;
}

NetworkFile trained(const TrainingPlan& plan, const TrainNetwork& train, ProgressSink& progress) {
  if (fs::exists(plan.path)) {
    NetworkFile file = read_network_file(plan.path);
    const bool ours = is_trained(file, plan);
    // Interrupted between the training and the scope reference, it is there without one.
    const bool whole = !plan.network.scope || !file.scope.is_null();
    if (ours && whole) {
      progress.say(fmt::format("{}: trained already ({})", plan.network.name, plan.path));
      return file;
    }
    if (!ours)
      throw Error(ErrorKind::usage,
                  "'{}' is there, but of another problem, seed or settings than network '{}' of this study; "
                  "remove it or choose another folder with -o",
                  plan.path, plan.network.name);
  }
  progress.say(fmt::format("{}: training ({} steps)", plan.network.name, plan.options.iterations));
  train(plan);
  return read_network_file(plan.path);
}

// A row of what training took, and its metrics.
void add_training(const StudiedNetwork& network, Finding& finding) {
  const json& record = network.comparator->file().record;
  const std::string& name = network.spec.name;
  const double seconds = record.value("seconds", PublishedFigure::kNone);
  finding.metrics.push_back(
      metric(name + ".seconds", "wall time of training, " + network.spec.label, seconds));
  finding.metrics.push_back(metric(name + ".validation_loss", "log-loss on validation data sets [nats]",
                                   record.value("validation_loss", PublishedFigure::kNone)));
  finding.tables.front().rows.push_back({network.spec.label, network.comparator->file().problem_name,
                                         network.spec.start, record.value("steps", std::int64_t{0}),
                                         record.value("data_sets", std::int64_t{0}),
                                         record.contains("threads") ? record["threads"].dump() : "", seconds,
                                         record.value("validation_loss", PublishedFigure::kNone)});
}

Finding training_finding() {
  Finding finding{"training", "Training", {}, {}, {}, {}};
  finding.text =
      "Wall times are of the machine and the threads named at the end of this page, whatever else ran on it.";
  finding.tables.push_back(
      {"training",
       "Networks",
       {"network", "problem", "begun_from", "steps", "data_sets", "threads", "seconds", "validation_loss"},
       {}});
  finding.tables.front().open = true;
  return finding;
}

std::string summary(const Finding& published) {
  std::int64_t aims = 0;
  std::int64_t met = 0;
  for (const Judgement& one : published.judgements) {
    ++aims;
    met += one.severity == Severity::fine ? 1 : 0;
  }
  return fmt::format("{} published figures beside ours; {} of {} aims reached.",
                     published.tables.front().rows.size(), met, aims);
}

}  // namespace

TrainingPlan plan_training(const Study& study, const StudyNetwork& network, std::uint64_t seed,
                           const std::string& folder) {
  TrainingPlan plan{network, study.problem(network), {}, seed, nullptr, ""};
  set_fields(fields(plan.options), plan.problem.train(), plan.problem.name() + " [train]");
  set_fields(fields(plan.options), network.train,
             fmt::format("{}/study.toml: network '{}'", study.name, network.name));
  plan.path = (fs::path(folder) / (network.name + ".occam")).string();
  return plan;
}

bool is_trained(const NetworkFile& file, const TrainingPlan& plan) {
  TrainOptions options = plan.options;
  const std::string start = plan.start ? weight_checksum(plan.start->members.front()) : std::string();
  return file.fingerprint == plan.problem.fingerprint() && file.record.value("seed", json()) == plan.seed &&
         file.record.value("options", json()) == fields_json(fields(options)) &&
         file.record.value("start", "") == start && file.scope.is_null() != plan.network.scope &&
         same_network(file.config, plan.network.network);
}

Report reproduce(const Study& described, const std::string& folder, std::uint64_t seed,
                 const TrainNetwork& train, ThreadPool& pool, ProgressSink& progress,
                 const std::string& device) {
  const auto start = std::chrono::steady_clock::now();
  const Study study = unpacked(described, (fs::path(folder) / "study").string());
  pool.ranks().any(false);  // written by one rank, read by all: none goes on before
  // Mistakes in the study show before hours of training, not after.
  std::vector<std::unique_ptr<Experiment>> experiments;
  for (const StudyExperiment& one : study.experiments) experiments.push_back(make_experiment(one));

  const std::string network_folder = (fs::path(folder) / "networks").string();
  fs::create_directories(network_folder);
  Report report;
  std::vector<StudiedNetwork> networks;
  Finding training = training_finding();
  for (const StudyNetwork& one : study.networks) {
    TrainingPlan plan = plan_training(study, one, seed, network_folder);
    for (const StudiedNetwork& before : networks) {
      if (before.spec.name == one.start)
        plan.start = std::make_shared<const NetworkFile>(before.comparator->file());
    }
    NetworkFile file = trained(plan, train, progress);
    std::optional<ScopeReference> scope = scope_of(file);
    networks.push_back(
        {one, plan.problem, std::make_unique<Comparator>(std::move(file), pool, device), std::move(scope)});
    add_training(networks.back(), training);
  }

  Laboratory laboratory(networks, seed, pool, progress);
  report.findings.push_back(std::move(training));
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    for (Finding& finding : experiments[i]->run(study.experiments[i], laboratory)) {
      report.findings.push_back(std::move(finding));
    }
  }
  Finding published = published_figures(study, report.findings);
  report.title = fmt::format("{} ({})", study.title, study.scale);
  report.summary = study.text + (study.text.empty() ? "" : " ") + summary(published);
  report.findings.insert(report.findings.begin(), std::move(published));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.provenance = {{"study", study.name},
                       {"scale", study.scale},
                       {"seed", std::to_string(seed)},
                       {"threads", std::to_string(pool.threads())},
                       {"device", device},
                       {"machine", machine_text()},
                       {"program", program_text()},
                       {"seconds of this run", fmt::format("{:.1f}", seconds)}};
  return report;
}

}  // namespace occam
