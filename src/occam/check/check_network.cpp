#include "occam/check/check_network.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/check/missed/missed.hpp"
#include "occam/check/prediction_file.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/core/error.hpp"
#include "occam/core/progress.hpp"
#include "occam/core/version.hpp"
#include "occam/parallel/thread_pool.hpp"
#include "occam/scope/scope.hpp"
#include "occam/simulate/problem.hpp"
#include "occam/simulate/reference_table.hpp"

namespace occam {
namespace {

// Columns of the finding `sizes` after n and data_sets: metrics of the diagnostics, by their names.
const std::vector<std::string> kColumns = {"accuracy",          "log_loss",         "brier",
                                           "ece_top",           "ece_top_expected", "ece",
                                           "calibration_error", "overconfidence"};
const std::vector<std::string> kExactColumns = {"best_accuracy", "best_log_loss", "kl", "kl_se"};

std::vector<std::string> size_columns(bool exact) {
  std::vector<std::string> names = {"n", "data_sets"};
  names.insert(names.end(), kColumns.begin(), kColumns.end());
  if (exact) names.insert(names.end(), kExactColumns.begin(), kExactColumns.end());
  return names;
}

// The rows of several runs, and what was found at single sizes.
class Sizes {
 public:
  explicit Sizes(bool exact) {
    finding_.name = "sizes";
    finding_.title = "By size";
    Table& table = finding_.tables.emplace_back();
    table.name = "sizes";
    table.title = "Sizes checked one by one, and all sizes together";
    table.columns = size_columns(exact);
    table.open = true;
  }

  void add(const std::string& n, std::int64_t data_sets, const std::vector<Finding>& findings) {
    Table& table = finding_.tables.front();
    std::vector<Cell> row = {n, data_sets};
    for (std::size_t i = 2; i < table.columns.size(); ++i) {
      row.emplace_back(metric_value(findings, table.columns[i]));
    }
    table.rows.push_back(std::move(row));
  }

  // A size that the network was not trained for: whatever is found there is no fault of the network's.
  void add_outside(const std::string& n, std::pair<std::int64_t, std::int64_t> trained,
                   const std::vector<Finding>& findings) {
    bool fine = true;
    for (const Finding& finding : findings) {
      for (const Judgement& judgement : finding.judgements)
        fine = fine && judgement.severity == Severity::fine;
    }
    finding_.judgements.push_back(
        {fine ? Severity::note : Severity::warning,
         fmt::format("N = {} lies outside the sizes of the training, {} to {}: its answers there {}", n,
                     trained.first, trained.second, fine ? "happen to be right." : "are not to be trusted."),
         fmt::format("This says nothing of the sizes trained on. `occam compare` calls such data sets "
                     "outside-training; train for a larger range of n to have answers for them.")});
  }

  // What is not fine, with the size in front.
  void add_judgements(const std::string& n, const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      for (Judgement judgement : finding.judgements) {
        if (judgement.severity == Severity::fine) continue;
        judgement.text = fmt::format("N = {}: {}", n, judgement.text);
        finding_.judgements.push_back(std::move(judgement));
      }
    }
  }

  Finding take() { return std::move(finding_); }

 private:
  Finding finding_;
};

// Counts over several parts of the work, and stops where asked to.
class Work {
 public:
  Work(ProgressSink& progress, std::int64_t total) : progress_(progress), total_(total) {}

  std::function<void(std::int64_t)> part(std::int64_t size) {
    const std::int64_t before = before_;
    before_ += size;
    return [this, before](std::int64_t done) {
      progress_.update(before + done, total_, "");
      if (progress_.stop_requested()) {
        throw Error(ErrorKind::interrupted, "stopped after {} of {} data sets", before + done, total_);
      }
    };
  }

 private:
  ProgressSink& progress_;
  std::int64_t total_;
  std::int64_t before_ = 0;
};

// What the training itself found wrong.
Finding training_finding(const std::string& doubt) {
  Finding finding{"training", "Training", {}, {}, {}, {}};
  finding.judgements.push_back({Severity::serious, fmt::format("The network is of no use: {}.", doubt),
                                "Train it longer, or look at what the models make (`occam simulate`)."});
  return finding;
}

Verdict summarise(Report& report, const CheckOptions& options) {
  Verdict result = verdict(report.findings, options.false_alarm);
  report.summary = "Verdict: " + result.text;
  return result;
}

void add_options(Report& report, CheckOptions options) {
  for (const Field& field : fields(options)) report.provenance.emplace_back(field.name, field.value());
  report.provenance.emplace_back("version", kVersion);
}

// What training and the exact posterior say of how much the network lacks.
KnownGap known_gap(const NetworkFile& file, const std::vector<Finding>& findings) {
  KnownGap known;
  known.kl = metric_value(findings, "kl");
  const auto gain = file.record.find("expected_gain");
  if (gain != file.record.end() && gain->is_number()) known.training_gain = gain->get<double>();
  return known;
}

}  // namespace

double metric_value(const std::vector<Finding>& findings, const std::string& name) {
  for (const Finding& finding : findings) {
    for (const Metric& one : finding.metrics) {
      if (one.name == name) return one.value;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::int64_t> rows_to_check(const ReferenceTable& table, const NetworkFile& file,
                                        ProgressSink& progress) {
  const bool trained_from = file.record.value("table", "") == table.fingerprint();
  if (trained_from)
    progress.say("the network was trained from this table: taking the tenth that was set aside");
  std::vector<std::int64_t> rows;
  for (std::int64_t k = 0; k < table.size(); ++k) {
    if (!trained_from || ReferenceTable::held_out(k)) rows.push_back(k);
  }
  return rows;
}

std::int64_t usual_missed_data_sets(std::int64_t data_sets) {
  constexpr std::int64_t kMost = 20000;
  return 10 * std::min(data_sets, kMost / 10);
}

CheckResult check_network(Comparator& comparator, const Problem& problem, const CheckRequest& request,
                          ThreadPool& pool, ProgressSink& progress) {
  const NetworkFile& file = comparator.file();
  const PredictionLayout layout = prediction_layout(comparator, problem);
  const std::optional<ScopeReference> scope = scope_of(file);
  const Predictor predictor{comparator, scope ? &*scope : nullptr};
  const auto runs = static_cast<std::int64_t>(request.n.size()) + 1;
  const std::int64_t data_sets =
      request.table == nullptr ? request.data_sets : static_cast<std::int64_t>(request.table_rows.size());
  const std::int64_t disturbed = request.robustness ? robustness_data_sets(problem, *request.robustness) : 0;
  if (request.robustness && disturbed == 0)
    progress.warn(fmt::format("problem '{}' knows no disturbances, so nothing is said about its robustness",
                              problem.name()));
  const MissedRequest missed{request.seed, request.missed_data_sets, request.table, request.table_rows};
  const std::int64_t missed_sets = missed_data_sets(problem, missed, pool);
  const double level = test_level(request.options, runs, missed_sets > 0 ? 1 : 0);
  Work work(progress, runs * data_sets + disturbed + missed_sets);
  CheckResult result;
  Report& report = result.report;
  Sizes sizes(layout.has_exact);
  for (std::int64_t i = 0; i < runs; ++i) {
    const bool all = i + 1 == runs;
    PredictRequest predicted{request.seed, data_sets, {}};
    if (!all) predicted.n = request.n[static_cast<std::size_t>(i)];
    Checker checker(layout, request.options, request.seed, level);
    const auto take = [&](const Predictions& block) {
      checker.add(block, pool);
      if (all && request.save != nullptr) request.save->add(block);
    };
    if (request.table != nullptr) {
      predict(predictor, problem, *request.table, request.table_rows, pool, take, work.part(data_sets));
    } else {
      predict(predictor, problem, predicted, pool, take, work.part(data_sets));
    }
    std::vector<Finding> findings = checker.finish();
    const std::string n = all ? "all" : std::to_string(*predicted.n);
    sizes.add(n, data_sets, findings);
    if (all) {
      report.findings = std::move(findings);
    } else if (const auto trained = problem.sizes();
               *predicted.n < trained.first || *predicted.n > trained.second) {
      sizes.add_outside(n, trained, findings);
    } else {
      sizes.add_judgements(n, findings);
    }
  }
  report.findings.insert(report.findings.begin(), sizes.take());
  if (!file.doubt().empty()) {
    report.findings.insert(report.findings.begin() + 1, training_finding(file.doubt()));  // after the sizes
  }
  if (missed_sets > 0) {
    const Missed found = measure_missed(comparator, problem, missed, pool, work.part(missed_sets));
    report.findings.push_back(
        missed_finding(found, known_gap(file, report.findings), request.options.missed_limit, level));
  }
  if (disturbed > 0) {
    report.findings.push_back(
        measure_robustness(predictor, problem, *request.robustness, pool, work.part(disturbed)));
  }
  report.title = fmt::format("Check of a network for {}", file.problem_name);
  report.provenance = {
      {"problem", file.problem_name},           {"fingerprint", file.fingerprint},
      {"models", std::to_string(layout.J())},   {"seed", std::to_string(request.seed)},
      {"data_sets", std::to_string(data_sets)}, {"n", fmt::format("{}", fmt::join(request.n, ","))}};
  if (file.config.options.head != kDefaultHead)
    report.provenance.emplace_back("head", file.config.options.head);
  add_options(report, request.options);
  result.verdict = summarise(report, request.options);
  return result;
}

CheckResult check_predictions(PredictionReader& reader, const std::string& name,
                              const std::vector<double>& model_prior, const CheckOptions& options,
                              std::uint64_t seed, ThreadPool& pool, ProgressSink& progress) {
  PredictionLayout layout = reader.layout();
  if (!model_prior.empty()) layout.model_prior = model_prior;
  Checker checker(layout, options, seed);
  Predictions block;
  while (reader.next(block)) {
    checker.add(block, pool);
    progress.update(checker.count(), 0, "");
    if (progress.stop_requested()) {
      throw Error(ErrorKind::interrupted, "stopped after {} predictions", checker.count());
    }
  }
  if (checker.count() == 0) throw Error(ErrorKind::bad_data, "{}: there are no predictions in it", name);
  CheckResult result;
  result.report.title = fmt::format("Check of the predictions in {}", name);
  Sizes sizes(layout.has_exact);
  std::vector<Finding> findings = checker.finish();
  sizes.add("all", checker.count(), findings);
  result.report.findings = std::move(findings);
  result.report.findings.insert(result.report.findings.begin(), sizes.take());
  result.report.provenance = {{"predictions", name},
                              {"models", std::to_string(layout.J())},
                              {"seed", std::to_string(seed)},
                              {"data_sets", std::to_string(checker.count())}};
  add_options(result.report, options);
  result.verdict = summarise(result.report, options);
  return result;
}

}  // namespace occam
