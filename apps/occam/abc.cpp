// occam abc: ABC-SMC or rejection on one data set, without a network.
#include "occam/abc/abc.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "occam/abc/abc_result.hpp"
#include "occam/compare/observed.hpp"
#include "occam/core/error.hpp"
#include "occam/core/suggest.hpp"
#include "occam/io/file.hpp"
#include "occam/pipeline/ready_made.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "occam/simulate/problem_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

struct AbcVerb {
  std::string problem, data, output, particles;
  std::string by, dataset;
  std::string missing = "refuse";
  std::int64_t n = 0;
  CsvFormat csv;
  AbcOptions options;
};

Fields own_fields(AbcVerb& o) {
  return {
      field("dataset", o.dataset, "the data set to take, where DATA holds several"),
      field("by", o.by, "csv columns that tell data sets apart, such as subject,session (default: dataset)"),
      field("missing", o.missing, "csv rows with missing values: an error, or left out and counted")
          .one_of({"refuse", "drop"}),
      field("n", o.n, "the size to simulate").at_least(1).by_default("that of the data"),
      field("particles", o.particles,
            "write the particles of the last population to this file (.csv, .npz)")};
}

// The one data set that was asked for.
struct ObservedSet {
  std::string id;
  std::vector<float> values;  // (rows, D)
  std::int64_t rows = 0;
};

std::string id_list(const std::vector<std::string>& ids) {
  constexpr std::size_t kShown = 10;
  const std::vector<std::string> some(
      ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, ids.size())));
  return fmt::format("{}{}", fmt::join(some, ", "), ids.size() > kShown ? ", ..." : "");
}

ObservedSet read_one(const AbcVerb& o, const Problem& problem, ProgressSink& progress) {
  ObservedOptions options;
  for (const Column& column : problem.columns()) options.columns.push_back(column.name);
  options.labels = label_groups(problem.columns());
  options.by = split_list(o.by);
  options.missing = o.missing == "drop" ? MissingRows::drop : MissingRows::refuse;
  options.missing_advice =
      "ABC compares complete data sets only: leave such rows out with --missing drop, or train a network for "
      "missing values (docs/data.md)";
  options.nameless_advice = "fill it in, or leave such rows out with --missing drop";
  options.csv = o.csv;
  options.notes = &progress;
  std::vector<std::string> ids;
  std::optional<ObservedSet> chosen;
  const auto take = [&](const ObservedSets& sets) {
    const std::vector<std::string>& names = sets.ids;
    const Ragged<const float> data = sets.data;
    for (std::size_t b = 0; b < names.size(); ++b) {
      ids.push_back(names[b]);
      if (chosen || (!o.dataset.empty() && names[b] != o.dataset)) continue;
      const std::int64_t first = data.offsets[b];
      const std::int64_t rows = data.size(static_cast<std::int64_t>(b));
      const float* values = data.x.row(first);
      chosen = {names[b], {values, values + rows * data.x.columns}, rows};
    }
  };
  const ObservedSummary left_out = read_observed(o.data, options, take);
  if (left_out.dropped_rows > 0) {
    progress.warn(fmt::format("{}: left out {} row{} with missing values", o.data, left_out.dropped_rows,
                              left_out.dropped_rows == 1 ? "" : "s"));
  }
  if (ids.empty())
    throw Error(ErrorKind::bad_data, "{}: no data set has a row without a missing value", o.data);
  if (!o.dataset.empty() && !chosen) {
    throw Error(ErrorKind::usage, "{} has no data set '{}'{}", o.data, o.dataset,
                did_you_mean(o.dataset, ids.size() <= 20 ? ids : std::vector<std::string>{}));
  }
  if (o.dataset.empty() && ids.size() > 1) {
    throw Error(ErrorKind::usage,
                "{} holds {} data sets ({}), and abc takes one: choose it with --dataset {}", o.data,
                ids.size(), id_list(ids), ids.front());
  }
  return std::move(*chosen);
}

void abc(AbcVerb& o, const Call& call) {
  if (o.data == "-" && !call.ranks().is_alone())
    throw Error(ErrorKind::usage, "standard input reaches one rank of {}: give the data as a file",
                call.ranks().size());
  check_abc_path(o.output);
  check_particles_path(o.particles);
  for (const std::string& path : {o.output, o.particles}) {
    if (!path.empty() && path != "-") require_writable(path);
  }
  const Problem problem = load_problem(o.problem);
  call.keep(problem_inputs(problem));
  o.options = abc_options(problem);
  call.apply(fields(o.options));  // the command line has the last word
  check(o.options);
  if (std::string& network = o.options.summary_network; !network.empty())
    network = ReadyMadeNetworks::of_program().path_of(network);
  const auto progress = call.progress("simulations");
  const ObservedSet observed = read_one(o, problem, *progress);
  const DataView data{observed.values.data(), observed.rows, problem.D()};
  const std::int64_t n = o.n > 0 ? o.n : size_to_simulate(problem, observed.rows);
  ThreadPool pool(call.threads(), call.ranks());
  const AbcResult result = run_abc(problem, data, n, o.options, call.seed(), pool, *progress);
  const AbcRecord record{problem,     o.options,     call.seed(), o.data,
                         observed.id, observed.rows, n,           exact_posterior(problem, data, *progress)};
  tell_failures(result, problem, *progress);
  if (o.output.empty()) {
    Call::print(abc_text(result, record));
  } else {
    write_abc(o.output, result, record);
  }
  // The larger file last: where there is no room for it, the answer is there.
  if (!o.particles.empty()) write_particles(o.particles, result, problem);
}

}  // namespace

void register_abc(Verbs& verbs) {
  const auto o = std::make_shared<AbcVerb>();
  verbs.add("abc", "Compare models on one data set without a network (ABC-SMC)")
      .about(R"(
        Approximate Bayesian computation: simulates from all models of PROBLEM and keeps the
        parameters whose data come close to the observed ones, in populations that come closer and
        closer. No training, but all the work anew for every data set, and only as good as the
        statistics that data sets are compared by. Defaults come from the problem. Without -o the
        populations are shown as a table.
      )")
      .example("occam abc jump-process path.csv", "one path of a reaction, as in the published study")
      .example("occam abc beta-binomial tosses.csv --by coin --dataset penny -o penny.json",
               "one of several data sets, all numbers to a file")
      .example("occam abc my_problem.toml data.csv --summary network --summary-network my.occam",
               "compare data sets by what a trained network makes of them")
      .argument("PROBLEM", o->problem, "a built-in problem (see `occam models`) or a problem file (.toml)")
      .argument("DATA", o->data, "the observed data, as for `occam compare`")
      .output(o->output,
              "write the populations to this file (.csv, .tsv, .json; - for csv on standard output)")
      .options(own_fields(*o))
      .options(fields(o->csv))
      .options(fields(o->options))
      .reads({"summary_network"})
      .writes({"particles"})
      .computes()
      .shares_work()
      .run([o](const Call& call) { abc(*o, call); });
}

}  // namespace occam
