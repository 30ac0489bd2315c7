// occam check: how far a network can be trusted, from fresh simulations; or predictions of any other program.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "occam/check/check_network.hpp"
#include "occam/check/network_problem.hpp"
#include "occam/check/prediction_file.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/report/check_text.hpp"
#include "occam/report/report.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/reference_table.hpp"
#include "verb.hpp"

namespace occam {
namespace {

constexpr int kFailedStrictly = 1;

struct CheckVerb {
  std::string network, output;
  std::int64_t datasets = 2000;
  std::vector<std::int64_t> n;
  std::string problem, table;
  std::string predictions, save_predictions, model_prior;
  std::string robustness;
  std::int64_t robustness_datasets = 200;
  std::int64_t missed_datasets = 20000;
  bool strict = false;
  std::string device = kDefaultEngine;
  CsvFormat csv;
  CheckOptions options;
};

Fields own_fields(CheckVerb& o) {
  return {field("datasets", o.datasets, "fresh simulated data sets per row of the table").at_least(1),
          field("n", o.n, "sizes to check one by one, such as 5,20,100, beside the problem's own sizes")
              .at_least(1),
          field("problem", o.problem,
                "the problem file, where its simulators are your own: they are run from no other"),
          field("table", o.table,
                "check on this file of simulated data sets (.npz, .csv, .tsv) instead of simulating; several "
                "with commas between"),
          field("robustness", o.robustness,
                "also disturb the data: all, or names such as shift,flip (`occam models` lists them)"),
          field("robustness_datasets", o.robustness_datasets, "data sets per strength of a disturbance")
              .at_least(1),
          field("missed_datasets", o.missed_datasets,
                "further data sets, for a second learner that looks for what the network missed (0: none; if "
                "not given: ten times --datasets, at most 20000)")
              .at_least(0),
          field("predictions", o.predictions,
                "check the predictions in this file (.csv, .tsv, .npz) instead of a network's"),
          field("model_prior", o.model_prior,
                "with --predictions: the model prior they were made under, such as a=0.2,b=0.8"),
          field("save_predictions", o.save_predictions,
                "write the network's predictions to this file (.csv, .tsv, .npz)"),
          field("strict", o.strict, "end with exit code 1 when the verdict is a warning or worse"),
          device_field(o.device)};
}

// The verdict first, so that a disk that is full costs the files and nothing else.
void finish(const CheckVerb& o, CheckResult result, const Call& call) {
  Call::print(check_text(result));
  if (o.strict && result.verdict.severity >= Severity::warning) call.set_exit_code(kFailedStrictly);
  if (o.output.empty()) return;
  result.report.provenance.emplace(result.report.provenance.begin(), "command", call.command());
  write_report(result.report, o.output, {o.network, o.table, o.predictions, o.problem});
  Call::print(fmt::format("The report is in {}/report.html\n", o.output));
}

// Predictions that are saved along the way: what cannot be written does not end the check.
class SavedAside final : public PredictionWriter {
 public:
  explicit SavedAside(std::unique_ptr<PredictionWriter> file) : file_(std::move(file)) {}

  void add(const Predictions& block) override {
    attempt([&] { file_->add(block); });
  }
  void commit() override {
    attempt([&] { file_->commit(); });
  }
  // Error(io) with why the file is missing, where it is.
  void confirm() const {
    if (failure_) throw Error(failure_->kind(), "{}; the predictions are not saved", failure_->what());
  }

 private:
  template <class Work>
  void attempt(Work&& work) {
    if (failure_) return;
    try {
      work();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io) throw;
      failure_ = error;
    }
  }

  std::unique_ptr<PredictionWriter> file_;
  std::optional<Error> failure_;
};

void check_file(const CheckVerb& o, const Call& call) {
  for (const char* option :
       {"n", "datasets", "robustness", "missed-datasets", "save-predictions", "problem", "table", "device"}) {
    std::string name = option;
    std::replace(name.begin(), name.end(), '-', '_');
    if (call.given(name)) throw Error(ErrorKind::usage, "--{} needs a network, not --predictions", option);
  }
  if (!o.network.empty()) {
    throw Error(ErrorKind::usage, "both a network, '{}', and --predictions are given; one is wanted",
                o.network);
  }
  const auto progress = call.progress("predictions");
  const auto reader = PredictionReader::open(o.predictions, o.csv, progress.get());
  std::vector<double> prior;
  if (!o.model_prior.empty()) prior = parse_model_prior(o.model_prior, reader->layout().model_names);
  ThreadPool pool(call.threads(), call.ranks());
  finish(o, check_predictions(*reader, o.predictions, prior, o.options, call.seed(), pool, *progress), call);
}

std::int64_t missed_data_sets(const CheckVerb& o, const Call& call) {
  return call.given("missed_datasets") || !o.table.empty() ? o.missed_datasets
                                                           : usual_missed_data_sets(o.datasets);
}

void check_net(const CheckVerb& o, const Call& call) {
  for (const char* option : {"n", "datasets", "robustness"}) {
    if (!o.table.empty() && call.given(option))
      throw Error(ErrorKind::usage, "--{} needs simulations; with --table there are none", option);
  }
  if (o.network.empty()) {
    throw Error(ErrorKind::usage, "NET is missing: the network file (.occam), or --predictions FILE instead");
  }
  if (!o.model_prior.empty()) throw Error(ErrorKind::usage, "--model-prior goes with --predictions");
  ThreadPool pool(call.threads(), call.ranks());
  simulate_beside(o.device, pool);
  Comparator comparator(read_network_file(o.network), pool, o.device);
  const NetworkFile& file = comparator.file();
  const auto progress = call.progress("data sets");
  std::optional<ReferenceTable> table;
  CheckRequest request;
  const Problem problem = o.table.empty() ? network_problem(file, o.problem) : told_problem(file);
  call.keep(problem_inputs(problem));
  if (!o.table.empty()) {
    table.emplace(ReferenceTable::read(o.table, problem, o.csv, progress.get()));
    request.table = &table->all();
    request.table_rows = rows_to_check(*table, file, *progress);
  }
  request.seed = call.seed();
  request.data_sets = o.datasets;
  request.n = o.n;
  request.options = o.options;
  request.missed_data_sets = missed_data_sets(o, call);
  if (!o.robustness.empty()) {
    request.robustness.emplace();
    request.robustness->data_sets = o.robustness_datasets;
    request.robustness->seed = call.seed();
    if (o.robustness != "all") request.robustness->names = split_list(o.robustness);
  }
  std::optional<SavedAside> save;
  if (!o.save_predictions.empty()) {
    save.emplace(PredictionWriter::create(o.save_predictions, prediction_layout(comparator, problem)));
    request.save = &*save;
  }
  CheckResult result = check_network(comparator, problem, request, pool, *progress);
  if (save) save->commit();
  if (const std::string remark = comparator.remark(); !remark.empty()) progress->say(remark);
  finish(o, std::move(result), call);
  if (save) save->confirm();
}

}  // namespace

void register_check(Verbs& verbs) {
  const auto o = std::make_shared<CheckVerb>();
  verbs.add("check", "How far a network can be trusted")
      .about(R"(
        Simulates fresh data sets, of the sizes given and of the problem's own, asks the network
        about them, and judges the answers: accuracy, log-loss, calibration, overconfidence, what a
        second learner finds in the data that the network missed, and, where the exact posterior
        is known, the distance from it. Prints a table by size and a
        verdict; with -o also writes a report. With --predictions FILE it judges probabilities that
        any other program made.
      )")
      .example("occam check coins.occam --datasets 10000 --n 5,20,100", "by size, and over all sizes")
      .example("occam check levy.occam -o report --robustness all",
               "a report with figures, and what the network says of data that no model makes")
      .example("occam check --predictions other.csv -o report", "the same diagnostics for another program")
      .optional_argument("NET", o->network, kNetworkHelp)
      .output(o->output, "folder for the report: report.html, metrics.json and a csv file per table")
      .options(own_fields(*o))
      .options(fields(o->csv))
      .reads({"problem", "table", "predictions"})
      .writes({"save_predictions"})
      .options(fields(o->options))
      .computes()
      .shares_work()
      .run([o](const Call& call) { o->predictions.empty() ? check_net(*o, call) : check_file(*o, call); });
}

}  // namespace occam
