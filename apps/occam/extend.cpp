// occam extend: add models to a trained network, or tune it to other priors, without starting over.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "occam/check/retention.hpp"
#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/pipeline/training_run.hpp"
#include "occam/simulate/problem_file.hpp"
#include "verb.hpp"

namespace occam {
namespace {

using nlohmann::json;

struct ExtendVerb {
  std::string network, problem;
  std::int64_t retention = 2000;
  TrainingCommand training;
};

Fields own_fields(ExtendVerb& o) {
  return {field("retention_datasets", o.retention,
                "simulated data sets to measure what became of the old models (0: do not)")
              .at_least(0)};
}

std::vector<std::string> missing(const std::vector<std::string>& names,
                                 const std::vector<std::string>& from) {
  std::vector<std::string> result;
  for (const std::string& name : names) {
    if (std::find(from.begin(), from.end(), name) == from.end()) result.push_back(name);
  }
  return result;
}

std::string what_changes(const NetworkFile& old, const Problem& problem) {
  const auto added = missing(problem.model_names(), old.model_names);
  const auto dropped = missing(old.model_names, problem.model_names());
  if (added.empty() && dropped.empty()) {
    return problem.fingerprint() == old.fingerprint ? "same problem: training goes on"
                                                    : "same models: tuning to what changed in the problem";
  }
  std::string text;
  if (!added.empty()) text += fmt::format("new: {}", fmt::join(added, ", "));
  if (!dropped.empty())
    text += fmt::format("{}dropped: {}", text.empty() ? "" : "; ", fmt::join(dropped, ", "));
  return text;
}

json figures_json(const Retention::Figures& f) {
  json result = {{"accuracy", f.accuracy}, {"log_loss", f.log_loss}};
  if (f.kl) result["kl"] = *f.kl;
  return result;
}

std::string retention_table(const Retention& r) {
  const auto row = [](const char* name, const Retention::Figures& f) {
    return fmt::format("{:>8}  {:>8.4f}  {:>8.4f}{}\n", name, f.accuracy, f.log_loss,
                       f.kl ? fmt::format("  {:>9.5f}", *f.kl) : "");
  };
  return fmt::format("Between the models known before ({}), on {} fresh data sets:\n",
                     fmt::join(r.models, ", "), r.data_sets) +
         fmt::format("{:>8}  {:>8}  {:>8}{}\n", "", "accuracy", "log-loss",
                     r.before.kl ? "  KL [nats]" : "") +
         row("before", r.before) + row("after", r.after);
}

void extend(ExtendVerb& o, const Call& call) {
  if (o.training.output.empty())
    throw Error(ErrorKind::usage, "extend needs -o FILE: where the new network goes (NAME.occam)");
  require_writable(o.training.output);
  const auto old = std::make_shared<NetworkFile>(read_network_file(o.network));
  const Problem problem = load_problem(o.problem);
  TrainOptions& options = o.training.train;
  settle_defaults(problem, old.get(), options);
  call.apply(fields(options));

  ThreadPool pool(call.threads(), call.ranks());
  const auto progress = call.progress("steps");
  settle_head(old->config, given_to(call), options, *progress);
  progress->say(what_changes(*old, problem));
  AfterTraining after;
  std::string retained;
  after.record["extended"] = {{"fingerprint", old->fingerprint}, {"models", old->model_names}};
  if (o.retention > 0) {
    after.measure = [&](NetworkFile& file) {
      Comparator known(*old, pool), grown(file, pool);
      const std::optional<Retention> retention =
          measure_retention(known, grown, problem, call.seed(), o.retention, pool);
      if (!retention) return;
      file.record["extended"]["before"] = figures_json(retention->before);
      file.record["extended"]["after"] = figures_json(retention->after);
      retained = retention_table(*retention);
    };
  }
  o.training.seed = call.seed();
  run_training(o.training, problem, json::object(), old, pool, *progress, after);
  if (!retained.empty()) Call::print(retained);
}

}  // namespace

void register_extend(Verbs& verbs) {
  const auto o = std::make_shared<ExtendVerb>();
  verbs.add("extend", "Add models to a trained network")
      .about(R"(
        Trains a network for PROBLEM that begins with what NET knows. Models are matched by name:
        those that NET knows keep their evidence, new ones are added, and the old ones are simulated
        along, so that they are not forgotten. The same command tunes a network to changed priors.
        Takes a third of the problem's iterations, unless told otherwise, and says what became of
        the answers between the old models.
      )")
      .example("occam extend two.occam three_models.toml -o three.occam", "a third model for two.occam")
      .argument("NET", o->network, "the network to begin with (.occam), or the name of a ready-made one")
      .argument("PROBLEM", o->problem, "the problem with the models wanted: a built-in one or a file (.toml)")
      .output(o->training.output, "the network file to write (NAME.occam)")
      .options(fields(o->training.train))
      .options(own_fields(*o))
      .options(fields(o->training.scope))
      .options(run_fields(o->training))
      .options(fields(o->training.csv))
      .reads({"table"})
      .writes({"log"})
      .computes()
      .shares_work()
      .run([o](const Call& call) { extend(*o, call); });
}

}  // namespace occam
