// occam check: how well a network recovers the true model on fresh simulations, and how far it is from the
// exact posterior where the problem knows it.
#include <memory>

#include <fmt/format.h>

#include "occam/check/network_problem.hpp"
#include "occam/check/recovery.hpp"
#include "occam/core/error.hpp"
#include "occam/simulate/problem_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct CheckVerb {
  std::string network;
  std::int64_t datasets = 2000;
  std::vector<std::int64_t> n;
  std::string problem, table;
};

Fields fields(CheckVerb& o) {
  return {field("datasets", o.datasets, "fresh simulated data sets per row of the table").at_least(1),
          field("n", o.n, "sizes to check one by one, such as 5,20,100 (none: the problem's own sizes)")
              .at_least(1),
          field("problem", o.problem,
                "the problem file, where its simulators are your own and not beside the network file"),
          field("table", o.table,
                "check on this file of simulated data sets (.npz, .csv, .tsv) instead of simulating")};
}

std::string header(bool exact) {
  return fmt::format(
      "{:>8}  {:>9}  {:>8}  {:>8}{}\n", "n", "data sets", "accuracy", "log-loss",
      exact ? fmt::format("  {:>10}  {:>10}  {:>9}  {:>8}", "best acc.", "best loss", "KL [nats]", "+-")
            : "");
}

std::string row(const std::string& n, const Recovery& r) {
  std::string text = fmt::format("{:>8}  {:>9}  {:>8.4f}  {:>8.4f}", n, r.data_sets, r.accuracy, r.log_loss);
  if (r.exact) {
    text += fmt::format("  {:>10.4f}  {:>10.4f}  {:>9.5f}  {:>8.5f}", r.exact->accuracy, r.exact->log_loss,
                        r.exact->kl, r.exact->kl_se);
  }
  return text + "\n";
}

// A table that the network was trained from counts only where training set it aside.
void check_on_table(CheckVerb& o, Comparator& comparator, ThreadPool& pool, ProgressSink& progress) {
  const NetworkFile& file = comparator.file();
  const Problem problem = read_problem(file.problem, file.problem_name);
  const ReferenceTable table = ReferenceTable::read(o.table, problem);
  const bool trained_from = file.record.value("table", "") == table.fingerprint();
  if (trained_from)
    progress.say("the network was trained from this table: taking the tenth that was set aside");
  Call::print(header(problem.has_exact_posterior()));
  Call::print(row("all", measure_recovery(comparator, problem, table, trained_from, pool)));
}

void check(CheckVerb& o, const Call& call) {
  ThreadPool pool(call.threads());
  Comparator comparator(read_network_file(o.network), pool);
  const auto progress = call.progress("rows");
  if (!o.table.empty()) return check_on_table(o, comparator, pool, *progress);
  const Problem problem = network_problem(comparator.file(), o.network, o.problem);
  Call::print(header(problem.has_exact_posterior()));
  const auto rows = static_cast<std::int64_t>(o.n.size()) + 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (progress->stop_requested()) throw Error(ErrorKind::interrupted, "stopped after {} rows", i);
    const bool all = i == rows - 1;
    const auto n = all ? std::nullopt : std::optional(o.n[static_cast<std::size_t>(i)]);
    const Recovery recovery = measure_recovery(comparator, problem, call.seed(), o.datasets, n, pool);
    Call::print(row(all ? "all" : std::to_string(*n), recovery));
    progress->update(i + 1, rows, "");
  }
}

}  // namespace

void register_check(Verbs& verbs) {
  const auto o = std::make_shared<CheckVerb>();
  verbs.add("check", "How well a network recovers the true model")
      .about(
          "Simulates fresh data sets, of the sizes given and of the problem's own, and prints how often the "
          "network's "
          "best model is the true one and its logarithmic loss. Where the exact posterior is known, the best "
          "possible "
          "figures on the same data sets and the distance from the exact posterior stand beside them.")
      .example("occam check coins.occam --datasets 10000 --n 5,20,100", "by size, and over all sizes")
      .argument("NET", o->network, "the network file (.occam)")
      .options(fields(*o))
      .computes()
      .run([o](const Call& call) { check(*o, call); });
}

}  // namespace occam
