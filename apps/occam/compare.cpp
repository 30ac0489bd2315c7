// occam compare: posterior model probabilities of observed data sets.
#include <cmath>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/compare/answer_writer.hpp"
#include "occam/compare/comparator.hpp"
#include "occam/compare/observed.hpp"
#include "occam/core/error.hpp"
#include "occam/report/comparison_report.hpp"
#include "occam/report/report.hpp"
#include "occam/simulate/problem_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

constexpr std::int64_t kTableRows = 40;

struct CompareVerb {
  std::string network, output;
  std::vector<std::string> data;
  std::string by, model_prior, report;
  bool parameters = false;
  bool exact = false;
};

Fields fields(CompareVerb& o) {
  return {
      field("by", o.by, "csv columns that tell data sets apart, such as subject,session (default: dataset)"),
      field("model_prior", o.model_prior,
            "another model prior, such as a=0.2,b=0.8; models not named get zero"),
      field("report", o.report, "also write the answers as a page to read, with figures (.html)"),
      field("parameters", o.parameters, "add rough point estimates of the best model's parameters"),
      field("exact", o.exact, "hold the answers against the exact posterior, where the problem knows it")};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const auto comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

// Distance from the exact posterior, data set by data set, as `compare --exact` prints it.
class ExactCheck {
 public:
  explicit ExactCheck(const NetworkFile& file) : problem_(read_problem(file.problem, file.problem_name)) {
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
        text_ += fmt::format("{:<12}  {:>6}  {:>9.5f} {}\n", ids[static_cast<std::size_t>(b)], data.size(b),
                             kl, pairs);
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

// Refuses a bad name before any work.
void check_report_path(const std::string& path) {
  if (path.empty()) return;
  if (!path.ends_with(".html"))
    throw Error(ErrorKind::usage, "--report {}: a report is written as .html", path);
  require_writable(path);
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

  std::unique_ptr<AtomicFile> out;
  std::unique_ptr<AnswerWriter> writer;
  const auto names = o.parameters ? file.parameter_names : std::vector<std::string>{};
  if (o.output == "-") {
    writer = make_answer_writer(
        "-.csv", [](std::string_view text) { Call::print(text); }, file, names);
  } else if (!o.output.empty()) {
    make_answer_writer(
        o.output, [](std::string_view) {}, file, names);  // refuse an unknown ending before any work
    out = std::make_unique<AtomicFile>(o.output);
    writer = make_answer_writer(o.output, out->sink(), file, names);
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
  const auto add = [&](const std::vector<std::string>& ids, Ragged<const float> data) {
    ModelPosterior answers = comparator.empty_posterior();
    ParameterEstimates estimates;
    comparator.compare(ids, data, answers, o.parameters ? &estimates : nullptr);
    if (!prior.empty()) answers = answers.with_model_prior(prior);
    if (writer) writer->add(answers, o.parameters ? &estimates : nullptr);
    if (!writer && done < kTableRows) {
      if (done == 0) Call::print(answer_header(answers));
      Call::print(answer_lines(answers, kTableRows - done));
      for (std::int64_t b = 0; o.parameters && b < std::min(kTableRows - done, answers.size()); ++b) {
        estimates_text += fmt::format("{}:", answers.id(b));
        for (std::size_t p = 0; p < estimates.names.size(); ++p) {
          const double value = estimates.values[static_cast<std::size_t>(b) * estimates.names.size() + p];
          if (!std::isnan(value)) estimates_text += fmt::format(" {} {:.3g}", estimates.names[p], value);
        }
        estimates_text += '\n';
      }
    }
    if (exact) exact->add(ids, data, answers);
    if (report) report->add(answers);
    for (std::int64_t b = 0; b < answers.size(); ++b) flagged += answers.flag(b).empty() ? 0 : 1;
    done += answers.size();
    progress->update(done, 0, "");
    if (progress->stop_requested()) throw Error(ErrorKind::interrupted, "stopped after {} data sets", done);
  };
  ObservedOptions options;
  options.columns = file.columns;
  options.by = split(o.by);
  for (const std::string& path : o.data) read_observed(path, options, add);
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
  if (flagged > 0) {
    progress->say(
        fmt::format("{} of {} data sets have sizes outside the range trained on ({} to {}); do not trust "
                    "their answers (column `flag`)",
                    flagged, done, file.smallest_n, file.largest_n));
  }
}

}  // namespace

void register_compare(Verbs& verbs) {
  const auto o = std::make_shared<CompareVerb>();
  verbs.add("compare", "Posterior model probabilities of observed data sets")
      .about(
          "Asks a trained network which model each data set supports. DATA are csv or tsv files with a "
          "header (one "
          "row per observation, columns found by name), npy or npz files, or - for csv on standard input. "
          "Without -o "
          "the answers are shown as a table.")
      .example("occam compare coins.occam tosses.csv", "one data set per value of the column `dataset`")
      .example("occam compare levy.occam rt.csv --by subject -o answers.csv",
               "one data set per subject, all numbers")
      .example("occam compare levy.occam rt.csv --by subject --report answers.html",
               "the answers as a page to read and to pass on")
      .argument("NET", o->network, "the network file (.occam)")
      .arguments("DATA", o->data, "observed data")
      .output(o->output, "write the answers to this file (.csv, .tsv, .json; - for csv on standard output)")
      .options(fields(*o))
      .computes()
      .run([o](const Call& call) { compare(*o, call); });
}

}  // namespace occam
