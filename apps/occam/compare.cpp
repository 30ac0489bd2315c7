// occam compare: posterior model probabilities of observed data sets.
#include <cmath>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/check/network_problem.hpp"
#include "occam/compare/answer_writer.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/compare/observed.hpp"
#include "occam/compare/range_check.hpp"
#include "occam/core/error.hpp"
#include "occam/io/shown.hpp"
#include "occam/report/comparison_report.hpp"
#include "occam/report/report.hpp"
#include "occam/scope/scope.hpp"
#include "verb.hpp"

namespace occam {
namespace {

constexpr std::int64_t kTableRows = 40;

struct CompareVerb {
  std::string network, output;
  std::vector<std::string> data;
  std::string by, model_prior, report;
  std::string missing = "refuse";
  bool parameters = false;
  bool summary = false;
  bool exact = false;
  VerdictOptions verdict;
  CsvFormat csv;
};

Fields fields(CompareVerb& o) {
  return {
      field("by", o.by, "csv columns that tell data sets apart, such as subject,session (default: dataset)"),
      field("missing", o.missing, "csv rows with missing values: an error, or left out and counted")
          .one_of({"refuse", "drop"}),
      field("model_prior", o.model_prior,
            "another model prior, such as a=0.2,b=0.8; models not named get zero"),
      field("report", o.report, "also write the answers as a page to read, with figures (.html)"),
      field("parameters", o.parameters, "add rough point estimates of the best model's parameters"),
      field("summary", o.summary, "add the network's summary of each data set to the file of answers"),
      field("exact", o.exact, "hold the answers against the exact posterior, where the problem knows it")};
}

// Distance from the exact posterior, data set by data set, as `compare --exact` prints it.
class ExactCheck {
 public:
  explicit ExactCheck(const NetworkFile& file) : problem_(told_problem(file)) {
    if (!problem_.has_exact_posterior()) {
      throw Error(ErrorKind::usage, "--exact: the exact posterior of '{}' is not known", file.problem_name);
    }
  }

  void add(const std::vector<std::string>& ids, Ragged<const float> data, const ModelPosterior& answers) {
    if (text_.empty())
      text_ = fmt::format("\n{:<12}  {:>6}  {:>9}  exact / network\n", "data set", "n", "KL [nats]");
    for (std::int64_t b = 0; b < data.sets; ++b) {
      const auto exact =
          *problem_.exact_log_posterior({data.x.row(data.offsets[b]), data.size(b), data.x.columns});
      const auto network = answers.log_probabilities(b);
      double kl = 0;
      std::string pairs;
      for (std::size_t j = 0; j < exact.size(); ++j) {
        kl += exact[j] > -700 ? std::exp(exact[j]) * (exact[j] - network[j]) : 0;
        if (j < 4) {
          pairs += fmt::format(" {} {:.3f} / {:.3f}", answers.model_names()[j], std::exp(exact[j]),
                               std::exp(network[j]));
        }
      }
      if (count_ < kTableRows) {
        text_ += fmt::format("{:<12}  {:>6}  {:>9.5f} {}\n", shown(ids[static_cast<std::size_t>(b)]),
                             data.size(b), kl, pairs);
      }
      sum_ += kl;
      ++count_;
    }
  }

  std::string text() const {
    return text_ + fmt::format("mean KL from the exact posterior: {:.5f} nats over {} data sets\n",
                               sum_ / static_cast<double>(count_), count_);
  }

 private:
  Problem problem_;
  std::string text_;
  double sum_ = 0;
  std::int64_t count_ = 0;
};

// How many data sets no model can have made, also when the number of questions asked is taken into account.
void report_scope(const std::vector<double>& p, const ScopeReference& scope, const VerdictOptions& options,
                  ProgressSink& progress) {
  if (scope.smallest_p() >= options.scope_level) {
    progress.warn(
        fmt::format("--scope-level {} cannot be reached: the calibration of this network allows no p below "
                    "{:.2g} (train with a larger --scope-calibration)",
                    options.scope_level, scope.smallest_p()));
  }
  const auto out = std::count_if(p.begin(), p.end(), [&](double x) { return x < options.scope_level; });
  if (out == 0) return;
  constexpr double kFalseShare = 0.05;
  const std::vector<bool> found = benjamini_hochberg(p, kFalseShare);
  progress.warn(fmt::format(
      "{} of {} data sets are out of scope at level {} ({:.1f} expected if the models are right); {} "
      "when at most {:.0f} % of them may be false (Benjamini-Hochberg)",
      out, p.size(), options.scope_level, options.scope_level * static_cast<double>(p.size()),
      std::count(found.begin(), found.end(), true), 100 * kFalseShare));
}

// Refuses a bad name before any work.
void check_report_path(const std::string& path) {
  if (path.empty()) return;
  if (!path.ends_with(".html"))
    throw Error(ErrorKind::usage, "--report {}: a report is written as .html", path);
  require_writable(path);
}

void report_missing(const ObservedSummary& left_out, const NetworkFile& file, const std::string& path,
                    ProgressSink& progress) {
  if (left_out.dropped_rows == 0) return;
  progress.warn(
      fmt::format("{}: left out {} row{} with missing values{}", path, left_out.dropped_rows,
                  left_out.dropped_rows == 1 ? "" : "s",
                  file.ordered ? "; the rows that remain are taken as if they followed each other" : ""));
  for (const std::string& id : left_out.lost_sets) {
    progress.warn(
        fmt::format("{}: data set '{}' has no row without a missing value and gets no answer", path, id));
  }
}

void compare(CompareVerb& o, const Call& call) {
  check_report_path(o.report);
  ThreadPool pool(call.threads());
  Comparator comparator(read_network_file(o.network), pool);
  const NetworkFile& file = comparator.file();
  std::vector<double> prior;
  if (!o.model_prior.empty()) {
    prior = parse_model_prior(o.model_prior, file.model_names);
    comparator.empty_posterior().with_model_prior(prior);  // refuse a bad one before any work
  }
  std::optional<ExactCheck> exact;
  if (o.exact) exact.emplace(file);
  const std::optional<ScopeReference> scope = scope_of(file);
  std::vector<double> scope_p;

  std::unique_ptr<AtomicFile> out;
  std::unique_ptr<AnswerWriter> writer;
  if (o.parameters) comparator.require_estimates();
  const AnswerTable columns({file, o.parameters, o.summary ? comparator.summary_width() : 0});
  if (o.output == "-") {
    writer = make_answer_writer(
        "-.csv", [](std::string_view text) { Call::print_data(text); }, file, columns.names());
  } else if (!o.output.empty()) {
    make_answer_writer(
        o.output, [](std::string_view) {}, file,
        columns.names());  // refuse an unknown ending before any work
    out = std::make_unique<AtomicFile>(o.output);
    writer = make_answer_writer(o.output, out->sink(), file, columns.names());
  }
  std::optional<ComparisonReport> report;
  if (!o.report.empty()) {
    const ModelPosterior empty = comparator.empty_posterior();
    report.emplace(file, prior.empty() ? empty : empty.with_model_prior(prior));
  }
  const auto progress = call.progress("data sets");
  std::int64_t done = 0;
  std::int64_t flagged = 0;
  std::string estimates_text;
  RangeCheck ranges(file);
  const auto add = [&](const std::vector<std::string>& ids, Ragged<const float> data) {
    ModelPosterior answers = comparator.empty_posterior();
    AnswerExtras extras;
    const ParameterEstimates& estimates = extras.estimates;
    NetworkOutputs outputs = comparator.outputs(data);
    comparator.add_answers(ids, data, outputs, answers, o.parameters ? &extras.estimates : nullptr);
    if (scope) extras.scope = judge_scope(*scope, comparator, data, outputs);
    extras.summary = std::move(outputs.summary);
    if (!prior.empty()) answers = answers.with_model_prior(prior);
    extras.verdicts = verdicts_on(answers, extras, o.verdict);
    extras.notes = ranges.add(ids, data);
    for (const ScopeAnswer& answer : extras.scope) scope_p.push_back(answer.p);
    for (std::int64_t b = 0; writer && b < answers.size(); ++b) writer->add(columns.row(answers, extras, b));
    if (!writer && done < kTableRows) {
      if (done == 0) Call::print(answer_header(answers, scope.has_value()));
      Call::print(answer_lines(answers, extras, kTableRows - done));
      for (std::int64_t b = 0; o.parameters && b < std::min(kTableRows - done, answers.size()); ++b) {
        estimates_text += fmt::format("{}:", shown(answers.id(b)));
        for (std::size_t p = 0; p < estimates.names.size(); ++p) {
          const double value = estimates.values[static_cast<std::size_t>(b) * estimates.names.size() + p];
          if (!std::isnan(value)) estimates_text += fmt::format(" {} {:.3g}", estimates.names[p], value);
        }
        estimates_text += '\n';
      }
    }
    if (exact) exact->add(ids, data, answers);
    if (report) report->add(answers, extras);
    for (std::int64_t b = 0; b < answers.size(); ++b) flagged += answers.flag(b).empty() ? 0 : 1;
    done += answers.size();
    progress->update(done, 0, "");
    if (progress->stop_requested()) throw Error(ErrorKind::interrupted, "stopped after {} data sets", done);
  };
  ObservedOptions options;
  options.columns = file.columns;
  options.by = split_list(o.by);
  options.missing = o.missing == "drop" ? MissingRows::drop : MissingRows::refuse;
  options.csv = o.csv;
  options.notes = progress.get();
  for (const std::string& path : o.data)
    report_missing(read_observed(path, options, add), file, path, *progress);
  if (done == 0) throw Error(ErrorKind::bad_data, "no data set has a row without a missing value");
  if (writer) writer->end();
  if (out) out->commit();
  if (report) {
    write_file_atomic(o.report,
                      report_html(report->report({{"command", call.command()},
                                                  {"network", o.network},
                                                  {"data", fmt::format("{}", fmt::join(o.data, ", "))}})));
  }
  if (!writer && done > kTableRows) {
    Call::print(
        fmt::format("... and {} more data sets (write all of them with -o FILE.csv)\n", done - kTableRows));
  }
  if (!estimates_text.empty()) {
    Call::print("\nRough point estimates of the parameters of the most probable model:\n" + estimates_text);
  }
  if (exact) Call::print(exact->text());
  if (scope) report_scope(scope_p, *scope, o.verdict, *progress);
  for (const std::string& warning : ranges.warnings()) progress->warn(warning);
  if (flagged > 0) {
    progress->warn(
        fmt::format("{} of {} data sets have sizes outside the range trained on ({} to {}); do not trust "
                    "their answers (column `flag`)",
                    flagged, done, file.smallest_n, file.largest_n));
  }
}

}  // namespace

void register_compare(Verbs& verbs) {
  const auto o = std::make_shared<CompareVerb>();
  verbs.add("compare", "Posterior model probabilities of observed data sets")
      .about(R"(
        Asks a trained network which model each data set supports. DATA are csv or tsv files with a
        header (one row per observation, columns found by name), npy or npz files, or - for csv on
        standard input. Without -o the answers are shown as a table.
      )")
      .example("occam compare coins.occam tosses.csv", "one data set per value of the column `dataset`")
      .example("occam compare levy.occam rt.csv --by subject -o answers.csv",
               "one data set per subject, all numbers")
      .example("occam compare levy.occam rt.csv --by subject --report answers.html",
               "the answers as a page to read and to pass on")
      .argument("NET", o->network, "the network file (.occam)")
      .arguments("DATA", o->data, "observed data")
      .output(o->output, "write the answers to this file (.csv, .tsv, .json; - for csv on standard output)")
      .options(fields(*o))
      .options(fields(o->csv))
      .options(fields(o->verdict))
      .writes({"report"})
      .computes()
      .run([o](const Call& call) { compare(*o, call); });
}

}  // namespace occam
