// occam train: simulate from all models of a problem and train one network that tells them apart.
#include <cmath>
#include <memory>
#include <sstream>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/trainer.hpp"
#include "verb.hpp"

namespace occam {
namespace {

using nlohmann::json;

struct TrainVerb {
  std::string problem, output;
  TrainOptions train;
  std::string network, log, table;
  bool resume = false;
  bool record_timing = false;
  double checkpoint_minutes = 5;
};

Fields run_fields(TrainVerb& o) {
  return {
      field("network", o.network,
            "network options, such as \"inv_width=128 pooling=attention\" (see docs/networks.md)"),
      field("table", o.table,
            "train from this file of simulated data sets (.npz, .csv, .tsv) instead of simulating"),
      field("log", o.log, "write one JSON object per validation to this file"),
      field("resume", o.resume, "continue from the checkpoint that an interrupted run left"),
      field("checkpoint_minutes", o.checkpoint_minutes, "time between two checkpoints").above(0),
      field("record_timing", o.record_timing,
            "put wall time and rate into the network file (which then differs from run to run)"),
  };
}

// "a=1 b=text c=[1,2]" as a JSON object.
json parse_options(const std::string& text) {
  json options = json::object();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "--network: '{}' is not KEY=VALUE", word);
    }
    const std::string value = word.substr(equals + 1);
    const json parsed = json::parse(value, nullptr, false);
    options[word.substr(0, equals)] = parsed.is_discarded() ? json(value) : parsed;
  }
  return options;
}

std::function<void(const TrainEvent&)> log_to(std::shared_ptr<AtomicFile> file) {
  return [file](const TrainEvent& e) {
    const json line = {{"step", e.step},
                       {"total", e.total},
                       {"loss", e.loss},
                       {"validation_loss", e.validation_loss},
                       {"data_sets_per_s", e.data_sets_per_s},
                       {"seconds", e.seconds}};
    file->write(line.dump() + "\n");
  };
}

// A network learns the shares of the models in its table as their prior probabilities.
std::shared_ptr<const ReferenceTable> read_table(const std::string& path, const Problem& problem,
                                                 ProgressSink& progress) {
  auto table = std::make_shared<const ReferenceTable>(ReferenceTable::read(path, problem));
  std::vector<double> count(static_cast<std::size_t>(problem.J()), 0.0);
  for (const std::int32_t model : table->all().models()) count[static_cast<std::size_t>(model)] += 1;
  const auto K = static_cast<double>(table->size());
  for (std::size_t j = 0; j < count.size(); ++j) {
    const double p = problem.model_prior()[j];
    if (count[j] == 0) {
      throw Error(ErrorKind::bad_data, "{}: it holds no data set of model '{}'", path,
                  problem.model_names()[j]);
    }
    if (std::abs(count[j] - K * p) <= 5 * std::sqrt(K * p * (1 - p))) continue;
    progress.say(
        fmt::format("{}: {:.3g} % of the data sets are of model '{}', whose prior probability is {:.3g} %; "
                    "answers and Bayes factors will be biased by that: make the shares equal to the model "
                    "prior (prior_probability in the problem file)",
                    path, 100 * count[j] / K, problem.model_names()[j], 100 * p));
  }
  return table;
}

void train(TrainVerb& o, const Call& call) {
  if (o.output.empty())
    throw Error(ErrorKind::usage, "train needs -o FILE: where the network goes (NAME.occam)");
  require_writable(o.output);
  const Problem problem = load_problem(o.problem);
  set_fields(fields(o.train), problem.train(), problem.name() + " [train]");
  call.apply(fields(o.train));  // the command line has the last word

  const auto progress = call.progress("steps");
  TrainRun run;
  run.seed = call.seed();
  run.checkpoint = o.output + ".checkpoint";
  run.checkpoint_minutes = o.checkpoint_minutes;
  run.resume = o.resume;
  run.record_timing = o.record_timing;
  if (o.resume && access(run.checkpoint.c_str(), F_OK) != 0) {
    progress->say(fmt::format("there is no checkpoint {}; starting from the beginning", run.checkpoint));
  }
  if (!o.table.empty()) run.table = read_table(o.table, problem, *progress);
  std::shared_ptr<AtomicFile> log;
  if (!o.log.empty()) {
    log = std::make_shared<AtomicFile>(o.log);
    run.log = log_to(log);
  }
  ThreadPool pool(call.threads());
  Trainer trainer(problem, parse_options(o.network), o.train, run, pool, *progress);
  try {
    const NetworkFile file = trainer.train();
    write_network_file(o.output, file);
    unlink(run.checkpoint.c_str());
    progress->say(fmt::format("validation loss {:.4f} (chance {:.4f}) after {} steps; wrote {}",
                              file.record["validation_loss"].get<double>(), trainer.chance_loss(),
                              file.record["steps"].get<std::int64_t>(), o.output));
  } catch (...) {
    if (log) log->commit();  // what was logged until then is worth keeping
    throw;
  }
  if (log) log->commit();
}

}  // namespace

void register_train(Verbs& verbs) {
  const auto o = std::make_shared<TrainVerb>();
  verbs.add("train", "Train a network for a problem")
      .about(
          "Simulates data sets from all models of PROBLEM and trains one network that turns a data set of "
          "any size "
          "into posterior model probabilities. The network goes to one file, for `occam compare`. Defaults "
          "come from "
          "the problem. Ctrl-C leaves a checkpoint that --resume continues.")
      .example("occam train beta-binomial -o coins.occam", "train with the problem's defaults")
      .example("occam train my_problem.toml -o my.occam --minutes 10", "train for about ten minutes")
      .example("occam train my_problem.toml -o my.occam --table simulated.csv",
               "train from data sets that another program simulated")
      .argument("PROBLEM", o->problem, "a built-in problem (see `occam models`) or a problem file (.toml)")
      .output(o->output, "the network file to write (NAME.occam)")
      .options(fields(o->train))
      .options(run_fields(*o))
      .computes()
      .run([o](const Call& call) { train(*o, call); });
}

}  // namespace occam
