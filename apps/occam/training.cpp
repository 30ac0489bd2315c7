#include "training.hpp"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/io/file.hpp"
#include "occam/train/ensemble.hpp"

namespace occam {
namespace {

using nlohmann::json;

std::string checkpoint_of(const std::string& output) {
  return output + ".checkpoint";
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

}  // namespace

Fields run_fields(TrainingCommand& o) {
  return {
      field("table", o.table, "train from this npz file of simulated data sets instead of simulating"),
      field("log", o.log, "write one JSON object per validation to this file"),
      field("resume", o.resume, "continue from the checkpoint that an interrupted run left"),
      field("checkpoint_minutes", o.checkpoint_minutes, "time between two checkpoints").above(0),
      field("record_timing", o.record_timing,
            "put wall time and rate into the network file (which then differs from run to run)"),
  };
}

NetworkFile run_training(const TrainingCommand& o, const Problem& problem, const json& network,
                         std::shared_ptr<const NetworkFile> start, const std::string& output,
                         const Call& call, ThreadPool& pool, ProgressSink& progress) {
  TrainRun run;
  run.seed = call.seed();
  run.start = std::move(start);
  run.checkpoint = checkpoint_of(output);
  run.checkpoint_minutes = o.checkpoint_minutes;
  run.resume = o.resume;
  run.record_timing = o.record_timing;
  if (o.resume && !has_checkpoint(run.checkpoint)) {
    progress.say(fmt::format("there is no checkpoint {}; starting from the beginning", run.checkpoint));
  }
  if (!o.table.empty()) run.table = std::make_shared<ReferenceTable>(ReferenceTable::read(o.table, problem));
  std::shared_ptr<AtomicFile> log;
  if (!o.log.empty()) {
    log = std::make_shared<AtomicFile>(o.log);
    run.log = log_to(log);
  }
  try {
    NetworkFile file = train_ensemble(problem, network, o.train, run, pool, progress);
    progress.say(fmt::format("validation loss {:.4f} (chance {:.4f}) after {} steps",
                             file.record["validation_loss"].get<double>(), chance_loss(problem),
                             file.record["steps"].get<std::int64_t>()));
    if (log) log->commit();
    if (o.scope.reference > 0) {
      Comparator comparator(file, pool);
      put_scope(build_scope(comparator, problem, o.scope, call.seed(), progress), file);
    }
    return file;
  } catch (...) {
    if (log) log->commit();  // what was logged until then is worth keeping
    throw;
  }
}

void forget_checkpoint(const TrainingCommand& o, const std::string& output) {
  forget_checkpoints(checkpoint_of(output), o.train.ensemble);
}

}  // namespace occam
