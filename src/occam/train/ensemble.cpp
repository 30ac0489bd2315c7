#include "occam/train/ensemble.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/io/file.hpp"

namespace occam {
namespace {

std::string checkpoint_of(const std::string& path, std::int64_t member) {
  return path.empty() || member == 0 ? path : fmt::format("{}{}", path, member);
}

// The golden inputs stay those of the first member; outputs follow member by member.
void join(NetworkFile& all, const NetworkFile& next) {
  all.members.push_back(next.members[0]);
  all.golden.outputs.insert(all.golden.outputs.end(), next.golden.outputs.begin(), next.golden.outputs.end());
  all.record["data_sets"] =
      all.record["data_sets"].get<std::int64_t>() + next.record["data_sets"].get<std::int64_t>();
  all.record["member_losses"].push_back(next.record["validation_loss"]);
}

}  // namespace

NetworkFile train_ensemble(const Problem& problem, const nlohmann::json& network_options,
                           const TrainOptions& options, const TrainRun& run, ThreadPool& pool,
                           ProgressSink& progress) {
  NetworkFile file;
  for (std::int64_t k = 0; k < options.ensemble; ++k) {
    TrainRun member = run;
    member.member = k;
    member.checkpoint = checkpoint_of(run.checkpoint, k);
    member.keep_checkpoint = run.keep_checkpoint || options.ensemble > 1;
    if (options.ensemble > 1) progress.say(fmt::format("member {} of {}", k + 1, options.ensemble));
    if (options.ensemble > 1 && run.log) {
      member.log = [&run, k](TrainEvent event) {
        event.member = k + 1;
        run.log(event);
      };
    }
    NetworkFile next = Trainer(problem, network_options, options, member, pool, progress).train();
    if (options.ensemble > 1) {
      progress.say(fmt::format("member {}: validation loss {:.4f}", k + 1,
                               next.record["validation_loss"].get<double>()));
    }
    if (k > 0) {
      join(file, next);
      continue;
    }
    file = std::move(next);
    if (options.ensemble > 1) file.record["member_losses"] = {file.record["validation_loss"]};
  }
  return file;
}

bool has_checkpoint(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

void forget_checkpoints(const std::string& path, std::int64_t members) {
  if (!writes_files()) return;
  for (std::int64_t k = 0; k < members; ++k) unlink(checkpoint_of(path, k).c_str());
}

}  // namespace occam
