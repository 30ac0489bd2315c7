// Checkpoints with structure-aware changes: what is accepted has to fit the run that reads it.
#include "edits.hpp"
#include "occam/io/test_support.hpp"
#include "occam/train/checkpoint.hpp"
#include "samples.hpp"

namespace {

using namespace occam;
using namespace occam::fuzz;

const Network<float>& network() {
  static const Network<float> sample(sample_network(0).config);
  return sample;
}

const nlohmann::json& identity() {
  static const nlohmann::json run = {{"seed", 1}, {"training options", {{"batch", 8}, {"rate", 0.001}}}};
  return run;
}

Safetensors sample() {
  TrainingProgress progress;
  progress.step = 7;
  progress.total = 20;
  progress.best_loss = 0.5;
  progress.best_step = 5;
  progress.history = {{{"step", 5}, {"loss", 0.5}}};
  progress.failed = {0, 3};
  progress.best = sample_network(0).members[0];
  const LearningState state = fresh_state(progress.best, Optimiser::adam);
  const occam::testing_support::TemporaryFolder folder;
  write_checkpoint(folder / "c.checkpoint", identity(), progress, state, network().layout());
  return read_safetensors(folder / "c.checkpoint");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Safetensors original = sample();
  static Scratch file(".checkpoint");
  Choices choices(data, size);
  Safetensors contents = original;
  edit(contents, choices);
  seal(contents);
  const std::string& path = file.holding(safetensors_bytes(contents));
  LearningState state;
  TrainingProgress progress;
  const bool sound = accepted({ErrorKind::bad_config}, [&] {
    progress = read_checkpoint(path, identity(), network().layout(), 2, state);
  });
  if (!sound) return 0;
  const auto weights = static_cast<std::size_t>(network().weight_count());
  require(state.weights.size() == weights && state.average.size() == weights, "as many weights as there are");
  require(progress.best.empty() || progress.best.size() == weights, "as many best weights as there are");
  require(state.first_moment.size() == weights && state.second_moment.size() == weights,
          "a moment for each weight");
  require(progress.step >= 0 && progress.total >= 0 && progress.best_step >= 0, "steps are counted from 0");
  require(progress.failed.empty() || progress.failed.size() == 2, "failed draws of each model");
  return 0;
}
