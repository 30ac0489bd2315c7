// occam reproduce: run a study, and hold it against the published figures.
#include "occam/study/reproduce.hpp"

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "occam/core/error.hpp"
#include "occam/pipeline/training_run.hpp"
#include "occam/report/report.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"
#include "occam/train/ensemble.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct ReproduceVerb {
  std::string study, output;
  std::string scale = "quick";
  std::string device = kDefaultEngine;
};

Fields fields(ReproduceVerb& o) {
  return {field("scale", o.scale, "quick: minutes on two cores; full: as long as the published study trained")
              .one_of({"quick", "full"}),
          device_field(o.device)};
}

void list_studies() {
  std::string text = "Studies:\n";
  for (const std::string& name : study_names()) {
    text += fmt::format("  {:<20}{}\n", name, study_title(name));
  }
  Call::print(text + "Run one with `occam reproduce STUDY -o DIR`.\n");
}

// As `occam train` does it; a run that was interrupted goes on from its checkpoint.
void train_as_planned(const TrainingPlan& plan, const std::string& device, const Call& call, ThreadPool& pool,
                      ProgressSink& progress) {
  TrainingCommand command;
  command.output = plan.path;
  command.seed = call.seed();
  command.device = device;
  command.train = plan.options;
  command.scope.reference = plan.network.scope ? command.scope.reference : 0;
  command.record_timing = true;
  command.resume = has_checkpoint(checkpoint_of(plan.path));
  try {
    run_training(command, plan.problem, plan.network.network, plan.start, pool, progress);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(
        ErrorKind::interrupted,
        "stopped while training '{}'; what was trained is kept, and the same command goes on from there",
        plan.network.name);
  }
}

std::string cell_text(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell))
    return std::isnan(*number) ? "-" : fmt::format("{:.4g}", *number);
  return std::to_string(std::get<std::int64_t>(cell));
}

// Ours beside published and best possible, in the columns that fit a terminal.
std::string figures_text(const Finding& published) {
  std::size_t width = 6;
  const auto& rows = published.tables.front().rows;
  for (const std::vector<Cell>& row : rows) width = std::max(width, std::get<std::string>(row[0]).size());
  const auto line = [&](const std::string& what, const std::string& ours, const std::string& theirs,
                        const std::string& best, const std::string& aim, const std::string& met) {
    return fmt::format("{:<{}}  {:>9}  {:>9}  {:>9}  {:<26}{}\n", what, width, ours, theirs, best, aim, met);
  };
  std::string text = line("figure", "ours", "published", "best", "aim", "reached");
  for (const std::vector<Cell>& row : rows) {
    text += line(cell_text(row[0]), cell_text(row[1]), cell_text(row[2]), cell_text(row[3]),
                 cell_text(row[4]), cell_text(row[5]));
  }
  return text;
}

// A whole table, numbers to the right.
std::string table_text(const Table& table) {
  std::vector<std::vector<std::string>> rows = {table.columns};
  for (const std::vector<Cell>& row : table.rows) {
    rows.emplace_back();
    for (const Cell& cell : row) rows.back().push_back(cell_text(cell));
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text += '\n';
  }
  return text;
}

// Distances from exact posteriors are what their study is about.
std::string distances_text(const Study& study, const Report& report) {
  std::string text;
  for (const StudyExperiment& experiment : study.experiments) {
    if (experiment.kind != "exact") continue;
    for (const Finding& finding : report.findings) {
      if (finding.name == experiment.name) text += table_text(finding.tables.front()) + '\n';
    }
  }
  return text;
}

void run_study(const ReproduceVerb& o, const Call& call) {
  if (o.study.empty()) return list_studies();
  if (o.output.empty()) throw Error(ErrorKind::usage, "reproduce needs -o DIR: where networks and report go");
  const Study study = load_study(o.study, o.scale);
  ThreadPool pool(call.threads(), call.ranks());
  simulate_beside(o.device, pool);
  const auto progress = call.progress("done");
  Report report = reproduce(
      study, o.output, call.seed(),
      [&](const TrainingPlan& plan) { train_as_planned(plan, o.device, call, pool, *progress); }, pool,
      *progress, o.device);
  report.provenance.emplace(report.provenance.begin(), "command", call.command());
  Call::print(fmt::format("{}\n\n{}{}\n", report.title, distances_text(study, report),
                          figures_text(report.findings.front())));
  write_report(report, o.output);
  Call::print(fmt::format("The report is in {}/report.html\n", o.output));
}

}  // namespace

void register_reproduce(Verbs& verbs) {
  const auto o = std::make_shared<ReproduceVerb>();
  verbs.add("reproduce", "Run a published study and hold it against its figures")
      .about(R"(
        Trains the networks of a study, makes its experiments with fresh simulations, and sets our
        figures beside the published ones and, where they can be computed, the best possible ones.
        Networks stay in DIR/networks: a run that was interrupted goes on where it was, and one that
        is repeated trains nothing twice. Without STUDY it lists the studies.
      )")
      .example("occam reproduce beta-binomial -o coins", "a minute")
      .example("occam reproduce decision-making --scale full -o decisions", "hours; can be interrupted")
      .optional_argument("STUDY", o->study, "the name of a study, or a folder with study.toml")
      .output(o->output, "folder for networks, report.html, metrics.json and a csv file per table")
      .options(fields(*o))
      .computes()
      .shares_work()
      .run([o](const Call& call) { run_study(*o, call); });
}

}  // namespace occam
