#include "occam/pipeline/training_run.hpp"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/io/same_file.hpp"
#include "occam/io/temporary.hpp"
#include "occam/simulate/cuda/cuda_loops.hpp"
#include "occam/simulate/own/own_family.hpp"
#include "occam/train/ensemble.hpp"

namespace occam {
namespace {

using nlohmann::json;

// Every line is there as soon as it is written, so that a run can be watched; a resumed run goes on where it
// was. A log that cannot be written any more ends with a warning, not with the training.
class TrainingLog {
 public:
  // Error(io) when it cannot be opened.
  TrainingLog(std::string path, bool resume, ProgressSink& progress)
      : path_(std::move(path)),
        file_(std::fopen(path_.c_str(), resume ? "ae" : "we"), std::fclose),
        progress_(progress) {
    if (file_ == nullptr)
      throw Error(ErrorKind::io, "cannot write the log '{}': {}", path_, std::strerror(errno));
  }

  void add(const TrainEvent& e) {
    if (!failure_.empty()) return;
    json line = {{"step", e.step},
                 {"total", e.total},
                 {"loss", e.loss},
                 {"validation_loss", e.validation_loss},
                 {"data_sets_per_s", e.data_sets_per_s},
                 {"seconds", e.seconds}};
    if (e.member > 0) line["member"] = e.member;
    if (std::fputs((line.dump() + "\n").c_str(), file_.get()) >= 0 && std::fflush(file_.get()) == 0) return;
    failure_ =
        fmt::format("cannot write the log '{}' from step {} on: {}", path_, e.step, std::strerror(errno));
    progress_.warn(failure_ + "; the training goes on");
  }

  // Why it is not complete; empty where it is.
  const std::string& failure() const { return failure_; }

 private:
  std::string path_, failure_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  ProgressSink& progress_;
};

// A network learns the shares of the models in its table as their prior probabilities.
std::shared_ptr<const ReferenceTable> read_table(const std::string& path, const CsvFormat& csv,
                                                 const Problem& problem, ProgressSink& progress) {
  auto table = std::make_shared<const ReferenceTable>(ReferenceTable::read(path, problem, csv, &progress));
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
    progress.warn(
        fmt::format("{}: {:.3g} % of the data sets are of model '{}', whose prior probability is {:.3g} %; "
                    "answers and Bayes factors will be biased by that: make the shares equal to the model "
                    "prior (prior_probability in the problem file)",
                    path, 100 * count[j] / K, problem.model_names()[j], 100 * p));
  }
  return table;
}

// Of a table, what trained the network is the reference, and what was set aside sets the rate of false
// alarms.
void add_scope(const ScopeOptions& options, const Problem& problem, const ReferenceTable* table,
               const std::string& device, std::uint64_t seed, ThreadPool& pool, ProgressSink& progress,
               NetworkFile& file) {
  constexpr std::size_t kFewest = 100;
  Comparator comparator(file, pool, device);
  if (table == nullptr) {
    put_scope(build_scope(comparator, problem, options, seed, progress), file);
    return;
  }
  std::vector<std::int64_t> reference, calibration;
  for (std::int64_t k = 0; k < table->size(); ++k) {
    auto& rows = ReferenceTable::held_out(k) ? calibration : reference;
    const std::int64_t most = ReferenceTable::held_out(k) ? options.calibration : options.reference;
    if (static_cast<std::int64_t>(rows.size()) < most) rows.push_back(k);
  }
  if (calibration.size() < kFewest || reference.size() < kFewest) {
    progress.warn(
        fmt::format("no scope reference: of {} data sets in the table {} were set aside, and {} are needed",
                    table->size(), calibration.size(), kFewest));
    return;
  }
  put_scope(build_scope(comparator, table->all(), reference, calibration, problem.ordered(), options.time,
                        progress),
            file);
}

// The first thing after a training, before anything else can go wrong.
void write_trained(const std::string& output, const NetworkFile& file) {
  try {
    write_network_file(output, file);
  } catch (const Error& error) {
    if (!has_checkpoint(checkpoint_of(output))) throw;
    throw Error(error.kind(), "{}; what was trained is in {}: make room, and continue with --resume",
                error.what(), checkpoint_of(output));
  }
}

// Adds what comes after the training and writes the network again. If that fails, the one of before stays.
void complete(const std::string& output, const Problem& problem, const NetworkFile& file,
              const std::function<void()>& add) {
  try {
    add();
    write_network_file(output, file);
  } catch (const Error& error) {
    throw Error(error.kind(),
                "{}; the network is in {} and can be used, without a scope reference; what was trained is "
                "kept: continue with --resume, or give it a reference with `occam scope {} -o FILE{}`",
                error.what(), output, output, simulator_files(problem).empty() ? "" : " --problem FILE.toml")
        .with_detail(error.detail());
  }
}

}  // namespace

std::string checkpoint_of(const std::string& output) {
  return output + ".checkpoint";
}

Fields run_fields(TrainingCommand& o) {
  return {
      field("table", o.table,
            "train from this file of simulated data sets (.npz, .csv, .tsv) instead of simulating; several "
            "with commas between"),
      field("log", o.log,
            "write one JSON object per validation to this file; of an ensemble with its `member`"),
      field("resume", o.resume, "continue from the checkpoint that an interrupted run left"),
      field("checkpoint_minutes", o.checkpoint_minutes, "time between two checkpoints").above(0),
      field("record_timing", o.record_timing,
            "put wall time and rate into the network file (which then differs from run to run)"),
      device_field(o.device),
  };
}

void settle_defaults(const Problem& problem, const NetworkFile* old, TrainOptions& options) {
  constexpr std::int64_t kFewerSteps = 3;  // for a network that knows most of what it needs
  if (old != nullptr) options.link = link_names()[static_cast<std::size_t>(old->link)];
  set_fields(fields(options), problem.train(), problem.name() + " [train]");
  if (old == nullptr) return;
  options.ensemble = static_cast<std::int64_t>(old->members.size());
  if (options.iterations > 0)
    options.iterations = std::max<std::int64_t>(1, options.iterations / kFewerSteps);
}

void settle_head(const NetworkConfig& config, const std::function<bool(const char*)>& given,
                 TrainOptions& options, ProgressSink& progress) {
  if (config.head_kind().concentrations) return;
  for (const char* name : {"link", "lambda", "lambda_ramp"}) {
    if (!given(name)) continue;
    throw Error(ErrorKind::usage, "{} is an option of the head {}; the head {} has no concentrations",
                field(name, options.lambda, "").flag(), kDefaultHead, config.options.head);
  }
  const TrainOptions standard;
  if (options.link != standard.link || options.lambda != standard.lambda) {
    progress.say(fmt::format("the problem's link and lambda are left out: the head {} has no concentrations",
                             config.options.head));
  }
  options.link = standard.link;
  options.lambda = standard.lambda;
  options.lambda_ramp = standard.lambda_ramp;
}

void run_training(const TrainingCommand& o, const Problem& problem, const json& network,
                  std::shared_ptr<const NetworkFile> start, ThreadPool& pool, ProgressSink& progress,
                  const AfterTraining& after) {
  const std::string& output = o.output;
  refuse_clashes(problem_inputs(problem),
                 {{"-o", output}, {"its checkpoint", checkpoint_of(output)}, {"--log", o.log}});
  const OutputLock lock(output);
  simulate_beside(o.device, pool);
  TrainRun run;
  run.seed = o.seed;
  run.device = o.device;
  run.start = std::move(start);
  run.checkpoint = checkpoint_of(output);
  run.checkpoint_minutes = o.checkpoint_minutes;
  run.resume = o.resume;
  run.keep_checkpoint = true;  // until the file is written: what follows the training can be interrupted, too
  run.record_timing = o.record_timing;
  if (o.resume && !has_checkpoint(run.checkpoint)) {
    progress.warn(fmt::format("there is no checkpoint {}; starting from the beginning", run.checkpoint));
  }
  if (!o.resume && has_checkpoint(run.checkpoint)) {
    throw Error(
        ErrorKind::usage,
        "{} holds an interrupted training of {}: go on with it with --resume, or remove it to begin anew",
        run.checkpoint, output);
  }
  if (!o.table.empty()) run.table = read_table(o.table, o.csv, problem, progress);
  std::shared_ptr<TrainingLog> log;
  if (!o.log.empty() && writes_files()) {
    log = std::make_shared<TrainingLog>(o.log, o.resume, progress);
    run.log = [log](const TrainEvent& event) { log->add(event); };
  }
  NetworkFile file = train_ensemble(problem, network, o.train, run, pool, progress);
  progress.say(fmt::format("validation loss {:.4f} (chance {:.4f}) after {} steps",
                           file.record["validation_loss"].get<double>(), chance_loss(problem),
                           file.record["steps"].get<std::int64_t>()));
  if (!after.record.is_null()) file.record.update(after.record);
  write_trained(output, file);
  if (after.measure || o.scope.reference > 0) {
    complete(output, problem, file, [&] {
      if (after.measure) after.measure(file);
      if (o.scope.reference > 0)
        add_scope(o.scope, problem, run.table.get(), o.device, o.seed, pool, progress, file);
    });
  }
  forget_checkpoints(run.checkpoint, o.train.ensemble);
  pool.ranks().any(false);  // written by one rank, and there for all when this ends
  progress.say("wrote " + output);
  if (log && !log->failure().empty()) {
    throw Error(ErrorKind::io, "{} is written and complete, but the log is not: {}", output, log->failure());
  }
}

}  // namespace occam
