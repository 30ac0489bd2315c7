// occam compare: posterior model probabilities of observed data sets.
#include <cmath>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/check/network_problem.hpp"
#include "occam/compare/log_sum.hpp"
#include "occam/core/error.hpp"
#include "occam/data/log_mean.hpp"
#include "occam/group/group_report.hpp"
#include "occam/group/group_writer.hpp"
#include "occam/group/groups.hpp"
#include "occam/io/shown.hpp"
#include "occam/pipeline/comparison.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "occam/report/comparison_report.hpp"
#include "occam/report/report.hpp"
#include "occam/report/sequential_report.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "verb.hpp"

namespace occam {
namespace {

constexpr std::int64_t kTableRows = 40;

struct CompareVerb {
  std::string network, output;
  std::vector<std::string> data;
  std::string by, model_prior, report, problem;
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
  std::string device = kDefaultEngine;
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
      field("problem", o.problem,
            "with --exact: the problem file, where the evidence is known to simulators of your own"),
      field("group", o.group, "also say how frequent each model is in the population behind all data sets"),
      field("group_by", o.group_by, "the same for each group: a csv column, such as diagnosis"),
      field("group_all", o.group_all,
            "data sets count for their group also when they are out of scope or outside training"),
      field("orders", o.orders,
            "with --sequential: the mean over so many random orders, instead of the order of the file")
          .at_least(0)
          .at_most(kMostOrders),
      device_field(o.device)};
}

// Distance from the exact posterior, data set by data set, as `compare --exact` prints it.
class ExactCheck {
 public:
  ExactCheck(const NetworkFile& file, const std::string& problem_path)
      : problem_(problem_path.empty() ? told_problem(file) : network_problem(file, problem_path)) {
    if (problem_.has_exact_posterior()) return;
    throw Error(ErrorKind::usage, "--exact: the exact posterior of '{}' is not known{}", file.problem_name,
                names_simulators(problem_)
                    ? "; if its simulators know it, name the problem file with --problem FILE.toml"
                    : "");
  }

  const Problem& problem() const { return problem_; }

  void add(const std::vector<std::string>& ids, Ragged<const float> data, const ModelPosterior& answers) {
    if (text_.empty())
      text_ = fmt::format("\n{:<12}  {:>6}  {:>9}  exact / network\n", "data set", "n", "KL [nats]");
    for (std::int64_t b = 0; b < data.sets; ++b) {
      const auto exact = under_prior_of(
          answers,
          *problem_.exact_log_posterior({data.x.row(data.offsets[b]), data.size(b), data.x.columns}));
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
      std::vector<double> log_alpha;
      for (std::int64_t j = 0; j < answers.J(); ++j) log_alpha.push_back(answers.log_alpha(b, j));
      if (!std::isfinite(kl) || !usable_answer(log_alpha)) {
        ++without_;
        continue;
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
    const std::string without =
        without_ == 0 ? ""
                      : fmt::format("left out: {} whose answer is not a usable number\n",
                                    without_ == 1 ? "a data set" : fmt::format("{} data sets", without_));
    if (count_ == 0) return without;
    return text_ +
           fmt::format("mean KL from the exact posterior: {:.5f} nats over {} data sets\n",
                       sum_ / static_cast<double>(count_), count_) +
           without;
  }

 private:
  // The prior that was asked for may be another one.
  std::vector<double> under_prior_of(const ModelPosterior& answers, std::vector<double> log_posterior) const {
    for (std::size_t j = 0; j < log_posterior.size(); ++j)
      log_posterior[j] += std::log(answers.model_prior()[j]) - std::log(problem_.model_prior()[j]);
    const double sum = log_mean_exp(log_posterior) + std::log(static_cast<double>(log_posterior.size()));
    for (double& one : log_posterior) one -= sum;
    return log_posterior;
  }

  Problem problem_;
  std::string text_;
  double sum_ = 0;
  std::int64_t count_ = 0, without_ = 0;  // data sets with a number and without one
};

// The population's own file beside the answers; none where these hold it or are not kept.
std::string groups_file(const CompareVerb& o) {
  const bool wanted = o.group || !o.group_by.empty();
  if (!wanted || o.output.empty() || o.output == "-" || o.output.ends_with(".json")) return "";
  return groups_path(o.output);
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
        comparison_(with_caution(o.network), comparison_options(o, call), pool_),
        file_(comparison_.file()),
        progress_(call.progress("data sets")) {
    check_options();
    if (o.exact) {
      exact_.emplace(file_, o.problem);
      call.keep(problem_inputs(exact_->problem()));
    }
    if (o.group || !o.group_by.empty()) groups_.emplace(comparison_.empty_answers());
    if (!o.report.empty()) report_.emplace(file_, comparison_.empty_answers());
    open_output();
  }

  void run() {
    ObservedOptions options = comparison_.reading();
    options.by = split_list(o_.by);
    options.group = o_.group_by;
    options.missing = o_.missing == "drop" ? MissingRows::drop : MissingRows::refuse;
    options.missing_advice =
        "leave such rows out with --missing drop, or train for them: declare missing = true, or how often, "
        "for "
        "column '{}' in the problem file";
    options.given_advice =
        "column '{}' says under what conditions a row was observed, or which rows belong together, so every "
        "row needs it: leave such rows out with --missing drop";
    options.nameless_advice = "fill it in, or leave such rows out with --missing drop";
    options.csv = o_.csv;
    options.notes = progress_.get();
    for (const std::string& path : o_.data) {
      const auto left_out = read_observed(path, options, [&](const ObservedSets& sets) { take(sets); });
      report_missing(left_out, file_, path, *progress_);
    }
    if (comparison_.answered() == 0)
      throw Error(ErrorKind::bad_data, "no data set has a row without a missing value");
    finish();
  }

 private:
  static NetworkFile with_caution(const std::string& path) {
    NetworkFile file = read_network_file(path);
    file.caution = caution_of(record_beside(path));
    return file;
  }
  static ComparisonOptions comparison_options(const CompareVerb& o, const Call& call) {
    if (!o.sequential && o.orders > 0) throw Error(ErrorKind::usage, "--orders belongs to --sequential");
    ComparisonOptions options{o.model_prior, o.parameters, o.summary, {}, o.verdict, o.device};
    if (o.sequential) options.sequential = {parse_sizes(*o.sequential), o.orders, call.seed()};
    return options;
  }

  // Refuses what cannot be done before any work.
  void check_options() const {
    check_report_path(o_.report);
    if (o_.group && !o_.group_by.empty())
      throw Error(ErrorKind::usage,
                  "--group takes all data sets for one group, --group-by COLUMN for several: "
                  "give one of them");
    if (o_.group_all && !o_.group && o_.group_by.empty())
      throw Error(ErrorKind::usage, "--group-all belongs to --group or --group-by");
    if (o_.sequential && (o_.exact || o_.parameters))
      throw Error(ErrorKind::usage, "--sequential goes with neither --exact nor --parameters");
    if (!o_.problem.empty() && !o_.exact) throw Error(ErrorKind::usage, "--problem belongs to --exact");
  }

  void open_output() {
    const std::vector<std::string>& columns = comparison_.columns().names();
    if (to_standard_output()) {
      writer_ = make_answer_writer(
          "-.csv", [](std::string_view text) { Call::print_data(text); }, file_, columns);
    } else if (!o_.output.empty()) {
      // refuse an unknown ending before any work
      make_answer_writer(
          o_.output, [](std::string_view) {}, file_, columns);
      out_ = std::make_unique<AtomicFile>(o_.output);
      writer_ = make_answer_writer(o_.output, out_->sink(), file_, columns);
      if (const std::string groups = groups_file(o_); !groups.empty()) require_writable(groups);
    }
  }

  void take(const ObservedSets& sets) {
    const Answered answered = comparison_.answer(sets);
    for (std::int64_t b = 0; o_.sequential && b < sets.data.sets; ++b) {
      const Answered course = comparison_.course(sets, b, answered);
      write(course);
      if (report_) courses_.add(course.answers, o_.verdict.decided_above);
    }
    if (!o_.sequential) write(answered);
    count(sets, answered);
  }

  void write(const Answered& answered) {
    const ModelPosterior& answers = answered.answers;
    for (std::int64_t b = 0; writer_ && b < answers.size(); ++b)
      writer_->add(comparison_.columns().row(answers, answered.extras, b));
    if (writer_ || shown_ >= kTableRows) {
      shown_ += answers.size();
      return;
    }
    if (shown_ == 0) Call::print(answer_header(answers, comparison_.has_scope()));
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

  void count(const ObservedSets& sets, const Answered& answered) {
    const ModelPosterior& answers = answered.answers;
    if (exact_) exact_->add(sets.ids, sets.data, answers);
    if (report_) report_->add(answers, answered.extras);
    if (groups_) {
      const std::vector<std::string> none(sets.ids.size());
      groups_->add(answers, group_names(sets), o_.group_all ? none : left_out_of_group(answered));
    }
    const std::int64_t done = comparison_.answered();
    progress_->update(done, 0, "");
    if (progress_->stop_requested()) throw Error(ErrorKind::interrupted, "stopped after {} data sets", done);
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
    if (population && !groups_file(o_).empty()) write_groups(*population);
    if (report_) write_report(population);
    if (!writer_ && shown_ > kTableRows) {
      Call::print(fmt::format("... and {} more {} (write all of them with -o FILE.csv)\n",
                              shown_ - kTableRows, o_.sequential ? "rows" : "data sets"));
    }
    if (!estimates_text_.empty()) {
      Call::print("\nRough point estimates of the parameters of the most probable model:\n" +
                  estimates_text_);
    }
    if (exact_) print_beside(exact_->text());
    if (population && (!writer_ || to_standard_output())) print_beside("\n" + groups_text(*population));
    for (const std::string& warning : comparison_.warnings()) progress_->warn(warning);
    if (const std::string remark = comparison_.remark(); !remark.empty()) progress_->say(remark);
  }

  bool to_standard_output() const { return o_.output == "-"; }

  // What is read by a program must hold the answers alone.
  void print_beside(const std::string& text) const {
    to_standard_output() ? Call::print_aside(text) : Call::print(text);
  }

  void write_groups(const GroupComparison& population) const {
    AtomicFile file(groups_file(o_));
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

  CompareVerb& o_;
  const Call& call_;
  ThreadPool pool_;
  Comparison comparison_;
  const NetworkFile& file_;
  std::unique_ptr<ProgressSink> progress_;
  std::optional<ExactCheck> exact_;
  std::optional<GroupCollector> groups_;
  SequentialReport courses_;
  std::optional<ComparisonReport> report_;
  std::unique_ptr<AtomicFile> out_;
  std::unique_ptr<AnswerWriter> writer_;
  std::string estimates_text_;
  std::int64_t shown_ = 0;  // rows written or shown
};

}  // namespace

void register_compare(Verbs& verbs) {
  const auto o = std::make_shared<CompareVerb>();
  verbs.add("compare", "Posterior model probabilities of observed data sets")
      .about(R"(
        Asks a trained network which model each data set supports. DATA are csv or tsv files with a
        header (one row per observation, columns found by name), npy or npz files, or - for csv on
        standard input. Without -o the answers are shown as a table. NET is a network file or, where
        there is no such file, a built-in problem for which a ready-made network is installed.
      )")
      .example("occam compare decision-making trials.csv --by subject",
               "ask a ready-made network: nothing has to be trained")
      .example("occam compare coins.occam tosses.csv", "one data set per value of the column `dataset`")
      .example("occam compare levy.occam rt.csv --by subject -o answers.csv",
               "one data set per subject, all numbers")
      .example("occam compare levy.occam rt.csv --by subject --report answers.html",
               "the answers as a page to read and to pass on")
      .argument("NET", o->network, kNetworkHelp)
      .arguments("DATA", o->data, "observed data")
      .output(o->output, "write the answers to this file (.csv, .tsv, .json; - for csv on standard output)")
      .options(fields(*o))
      .options(fields(o->csv))
      .options(fields(o->verdict))
      .option_with_default("sequential", o->sequential, "K,K,...",
                           "answers after so many observations (default 1, 2, 4, ...), one row for each")
      .reads({"problem"})
      .writes({"report"})
      .writes_beside([o] {
        return std::vector<NamedPath>{{"the groups beside -o", groups_file(*o)}};
      })
      .computes()
      .run([o](const Call& call) { CompareRun(*o, call).run(); });
}

}  // namespace occam
