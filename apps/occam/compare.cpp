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
#include "occam/compare/sequential.hpp"
#include "occam/core/error.hpp"
#include "occam/group/group_report.hpp"
#include "occam/group/group_writer.hpp"
#include "occam/group/groups.hpp"
#include "occam/io/shown.hpp"
#include "occam/report/comparison_report.hpp"
#include "occam/report/report.hpp"
#include "occam/report/sequential_report.hpp"
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
  bool group = false, group_all = false;
  std::string group_by;
  std::optional<std::string> sequential;  // sizes as text; empty: 1, 2, 4, ...
  std::int64_t orders = 0;
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
      field("exact", o.exact, "hold the answers against the exact posterior, where the problem knows it"),
      field("group", o.group, "also say how frequent each model is in the population behind all data sets"),
      field("group_by", o.group_by, "the same for each group: a csv column, such as diagnosis"),
      field("group_all", o.group_all,
            "data sets count for their group also when they are out of scope or outside training"),
      field("orders", o.orders,
            "with --sequential: the mean over so many random orders, instead of the order of the file")
          .at_least(0)
          .at_most(kMostOrders)};
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

// What `compare` does, from options to files.
class CompareRun {
 public:
  CompareRun(CompareVerb& o, const Call& call)
      : o_(o),
        call_(call),
        pool_(call.threads()),
        comparator_(read_network_file(o.network), pool_),
        file_(comparator_.file()),
        scope_(scope_of(file_)),
        ranges_(file_),
        columns_(shape()),
        progress_(call.progress("data sets")) {
    check_options();
    if (o.exact) exact_.emplace(file_);
    if (o.group || !o.group_by.empty()) groups_.emplace(empty_answers());
    if (!o.report.empty()) report_.emplace(file_, empty_answers());
    open_output();
  }

  void run() {
    ObservedOptions options;
    options.columns = file_.columns;
    options.by = split_list(o_.by);
    options.group = o_.group_by;
    options.missing = o_.missing == "drop" ? MissingRows::drop : MissingRows::refuse;
    options.may_miss = file_.config.missing;
    options.missing_advice =
        "leave such rows out with --missing drop, or train for them: declare missing = true, or how often, "
        "for "
        "column '{}' in the problem file";
    options.csv = o_.csv;
    options.notes = progress_.get();
    for (const std::string& path : o_.data) {
      const auto left_out = read_observed(path, options, [&](const ObservedSets& sets) { take(sets); });
      report_missing(left_out, file_, path, *progress_);
    }
    if (done_ == 0) throw Error(ErrorKind::bad_data, "no data set has a row without a missing value");
    finish();
  }

 private:
  // Answers for some data sets, with all that is said beside them.
  struct Answered {
    ModelPosterior answers;
    AnswerExtras extras;
  };

  AnswerShape shape() const {
    AnswerShape shape(file_, o_.parameters, o_.summary ? comparator_.summary_width() : 0);
    shape.sequential = o_.sequential.has_value();
    return shape;
  }

  // Refuses what cannot be done before any work.
  void check_options() {
    check_report_path(o_.report);
    if (!o_.model_prior.empty()) {
      prior_ = parse_model_prior(o_.model_prior, file_.model_names);
      comparator_.empty_posterior().with_model_prior(prior_);
    }
    if (o_.parameters) comparator_.require_estimates();
    if (o_.group && !o_.group_by.empty())
      throw Error(ErrorKind::usage,
                  "--group takes all data sets for one group, --group-by COLUMN for several: "
                  "give one of them");
    if (o_.group_all && !o_.group && o_.group_by.empty())
      throw Error(ErrorKind::usage, "--group-all belongs to --group or --group-by");
    if (!o_.sequential) {
      if (o_.orders > 0) throw Error(ErrorKind::usage, "--orders belongs to --sequential");
      return;
    }
    sequential_.sizes = parse_sizes(*o_.sequential);
    sequential_.orders = o_.orders;
    sequential_.seed = call_.seed();
    check_sequential(sequential_, file_.ordered);
    if (o_.exact || o_.parameters)
      throw Error(ErrorKind::usage, "--sequential goes with neither --exact nor --parameters");
  }

  ModelPosterior empty_answers() const {
    const ModelPosterior empty = comparator_.empty_posterior();
    return prior_.empty() ? empty : empty.with_model_prior(prior_);
  }

  void open_output() {
    if (o_.output == "-") {
      writer_ = make_answer_writer(
          "-.csv", [](std::string_view text) { Call::print_data(text); }, file_, columns_.names());
    } else if (!o_.output.empty()) {
      make_answer_writer(
          o_.output, [](std::string_view) {}, file_,
          columns_.names());  // refuse an unknown ending before any work
      out_ = std::make_unique<AtomicFile>(o_.output);
      writer_ = make_answer_writer(o_.output, out_->sink(), file_, columns_.names());
      if (groups_ && !o_.output.ends_with(".json")) require_writable(groups_path(o_.output));
    }
  }

  Answered answer(const std::vector<std::string>& ids, Ragged<const float> data) {
    Answered result{comparator_.empty_posterior(), {}};
    AnswerExtras& extras = result.extras;
    NetworkOutputs outputs = comparator_.outputs(data);
    comparator_.add_answers(ids, data, outputs, result.answers, o_.parameters ? &extras.estimates : nullptr);
    if (scope_) extras.scope = judge_scope(*scope_, comparator_, data, outputs);
    extras.summary = std::move(outputs.summary);
    if (!prior_.empty()) result.answers = result.answers.with_model_prior(prior_);
    extras.verdicts = verdicts_on(result.answers, extras, o_.verdict);
    return result;
  }

  void take(const ObservedSets& sets) {
    Answered answered = answer(sets.ids, sets.data);
    answered.extras.notes = ranges_.add(sets.ids, sets.data);
    for (std::size_t b = 0; b < sets.ids.size(); ++b) {
      if (sets.dropped[b] == 0) continue;
      std::string& note = answered.extras.notes[b];
      note += fmt::format("{}{} row{} with missing values left out", note.empty() ? "" : "; ",
                          sets.dropped[b], sets.dropped[b] == 1 ? "" : "s");
    }
    if (o_.sequential) {
      for (std::int64_t b = 0; b < sets.data.sets; ++b) take_course(sets, b, answered);
    } else {
      write(answered);
    }
    count(sets, answered);
  }

  void write(const Answered& answered) {
    const ModelPosterior& answers = answered.answers;
    for (std::int64_t b = 0; writer_ && b < answers.size(); ++b)
      writer_->add(columns_.row(answers, answered.extras, b));
    if (writer_ || shown_ >= kTableRows) {
      shown_ += answers.size();
      return;
    }
    if (shown_ == 0) Call::print(answer_header(answers, scope_.has_value()));
    Call::print(answer_lines(answers, answered.extras, kTableRows - shown_));
    if (o_.parameters) add_estimates(answered);
    shown_ += answers.size();
  }

  void add_estimates(const Answered& answered) {
    const ParameterEstimates& estimates = answered.extras.estimates;
    for (std::int64_t b = 0; b < std::min(kTableRows - shown_, answered.answers.size()); ++b) {
      estimates_text_ += fmt::format("{}:", shown(answered.answers.id(b)));
      for (std::size_t p = 0; p < estimates.names.size(); ++p) {
        const double value = estimates.values[static_cast<std::size_t>(b) * estimates.names.size() + p];
        if (!std::isnan(value)) estimates_text_ += fmt::format(" {} {:.3g}", estimates.names[p], value);
      }
      estimates_text_ += '\n';
    }
  }

  // Data set b as its observations come in. The last answer is the one for all of them, to the bit.
  void take_course(const ObservedSets& sets, std::int64_t b, const Answered& whole) {
    SequentialOptions options = sequential_;
    const std::int64_t N = sets.data.size(b);
    options.sizes = sequential_sizes(N, options.sizes);
    std::erase_if(options.sizes, [&](std::int64_t k) { return k < comparator_.shortest() && k < N; });
    const Prefixes prefixes(sets.data.x.rows_from(sets.data.offsets[b], N), done_ + b, options);
    const auto at = static_cast<std::size_t>(b);
    const Answered all =
        answer(std::vector<std::string>(prefixes.list().size(), sets.ids[at]), prefixes.view());
    Answered course{empty_answers(), {}};
    for (std::size_t i = 0; i < prefixes.list().size();) {
      std::size_t end = i + 1;
      while (end < prefixes.list().size() && prefixes.list()[end].k == prefixes.list()[i].k) ++end;
      const bool last = end == prefixes.list().size();
      course.answers.add_mean(last ? whole.answers : all.answers, last ? b : static_cast<std::int64_t>(i),
                              last ? b + 1 : static_cast<std::int64_t>(end));
      const AnswerExtras& from = last ? whole.extras : all.extras;
      const std::size_t place = last ? at : i;
      if (!from.scope.empty()) course.extras.scope.push_back(from.scope[place]);
      const auto S = static_cast<std::ptrdiff_t>(comparator_.summary_width());
      const auto first = from.summary.begin() + static_cast<std::ptrdiff_t>(place) * S;
      course.extras.summary.insert(course.extras.summary.end(), first, first + S);
      course.extras.notes.push_back(last ? whole.extras.notes[at] : "");
      i = end;
    }
    course.extras.verdicts = verdicts_on(course.answers, course.extras, o_.verdict);
    write(course);
    if (report_) courses_.add(course.answers, o_.verdict.decided_above);
  }

  void count(const ObservedSets& sets, const Answered& answered) {
    const ModelPosterior& answers = answered.answers;
    for (const ScopeAnswer& one : answered.extras.scope) scope_p_.push_back(one.p);
    if (exact_) exact_->add(sets.ids, sets.data, answers);
    if (report_) report_->add(answers, answered.extras);
    std::vector<std::string> why;
    for (std::int64_t b = 0; b < answers.size(); ++b) {
      flagged_ += answers.flag(b).empty() ? 0 : 1;
      const VerdictKind verdict = answered.extras.verdicts[static_cast<std::size_t>(b)].verdict;
      const bool foreign = verdict == VerdictKind::out_of_scope || verdict == VerdictKind::outside_training;
      why.emplace_back(foreign && !o_.group_all ? word(verdict) : "");
    }
    if (groups_) groups_->add(answers, group_names(sets), why);
    done_ += answers.size();
    progress_->update(done_, 0, "");
    if (progress_->stop_requested()) throw Error(ErrorKind::interrupted, "stopped after {} data sets", done_);
  }

  std::vector<std::string> group_names(const ObservedSets& sets) const {
    return o_.group ? std::vector<std::string>(sets.ids.size(), "all") : sets.groups;
  }

  void finish() {
    std::optional<GroupComparison> population;
    if (groups_) {
      FrequencyOptions options;
      options.seed = call_.seed();
      population = groups_->compare(options, pool_);
    }
    if (writer_)
      writer_->end(population ? nlohmann::json{{"groups", groups_json(*population)}}
                              : nlohmann::json::object());
    if (out_) out_->commit();
    if (population && out_ && !o_.output.ends_with(".json")) write_groups(*population);
    if (report_) write_report(population);
    if (!writer_ && shown_ > kTableRows) {
      Call::print(fmt::format("... and {} more {} (write all of them with -o FILE.csv)\n",
                              shown_ - kTableRows, o_.sequential ? "rows" : "data sets"));
    }
    if (!estimates_text_.empty()) {
      Call::print("\nRough point estimates of the parameters of the most probable model:\n" +
                  estimates_text_);
    }
    if (exact_) Call::print(exact_->text());
    if (population && !writer_) Call::print("\n" + groups_text(*population));
    warn();
  }

  void write_groups(const GroupComparison& population) const {
    AtomicFile file(groups_path(o_.output));
    write_groups_csv(population, file.sink(), o_.output.ends_with(".tsv") ? '\t' : ',');
    file.commit();
  }

  void write_report(const std::optional<GroupComparison>& population) {
    Report report = report_->report({{"command", call_.command()},
                                     {"network", o_.network},
                                     {"data", fmt::format("{}", fmt::join(o_.data, ", "))}});
    if (o_.sequential) report.findings.insert(report.findings.begin() + 1, courses_.finding());
    if (population) report.findings.insert(report.findings.begin() + 1, group_finding(*population));
    write_file_atomic(o_.report, report_html(report));
  }

  void warn() {
    if (scope_) report_scope(scope_p_, *scope_, o_.verdict, *progress_);
    for (const std::string& warning : ranges_.warnings()) progress_->warn(warning);
    if (flagged_ == 0) return;
    progress_->warn(
        fmt::format("{} of {} data sets are unlike those that the network was trained on, which had {} to {} "
                    "rows; do not "
                    "trust their answers (column `flag` says why)",
                    flagged_, done_, file_.smallest_n, file_.largest_n));
  }

  CompareVerb& o_;
  const Call& call_;
  ThreadPool pool_;
  Comparator comparator_;
  const NetworkFile& file_;
  std::vector<double> prior_;
  std::optional<ScopeReference> scope_;
  RangeCheck ranges_;
  AnswerTable columns_;
  std::unique_ptr<ProgressSink> progress_;
  std::optional<ExactCheck> exact_;
  std::optional<GroupCollector> groups_;
  SequentialOptions sequential_;
  SequentialReport courses_;
  std::optional<ComparisonReport> report_;
  std::unique_ptr<AtomicFile> out_;
  std::unique_ptr<AnswerWriter> writer_;
  std::vector<double> scope_p_;
  std::string estimates_text_;
  std::int64_t done_ = 0;     // data sets
  std::int64_t shown_ = 0;    // rows written or shown
  std::int64_t flagged_ = 0;  // data sets
};

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
      .option_with_default("sequential", o->sequential, "K,K,...",
                           "answers after so many observations (default 1, 2, 4, ...), one row for each")
      .writes({"report"})
      .computes()
      .run([o](const Call& call) { CompareRun(*o, call).run(); });
}

}  // namespace occam
