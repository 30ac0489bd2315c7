// What a training run has to remember to go on where it stopped, and the file it leaves: a safetensors file
// with weights, averaged weights, optimiser state, and everything else as text.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/engine/engine.hpp"

namespace occam {

struct TrainingProgress {
  std::int64_t step = 0;
  std::int64_t total = 0;  // 0: not settled yet
  std::int64_t attempt = 0;
  std::int64_t stale = 0;  // validations without improvement
  double best_loss = INFINITY;
  std::int64_t best_step = 0;
  double last_validation = NAN;
  double beyond_few = 0;  // loss of all data sets of the validation minus that of the few asked every time
  double loss_sum = 0;    // since the last validation
  std::int64_t loss_count = 0;
  double seconds = 0;  // spent so far
  nlohmann::json history = nlohmann::json::array();
  nlohmann::json looks = nlohmann::json::array();  // [steps, loss, gain since the look before, its error]
  bool ending = false;                             // the rate falls; `total` is the end, not the next look
  std::vector<std::int64_t> failed;  // (J) draws that gave no usable data, over the batches used
  double expected_gain = -1;         // of twice the training, in nats; below 0: not known yet
  std::vector<float> best;           // weights; empty before the first validation
};

// `identity` says which run this is: only a run with the same one may go on from it. Its members are named in
// messages, such as {"seed": 1, "training options": {...}}.
void write_checkpoint(const std::string& path, const nlohmann::json& identity,
                      const TrainingProgress& progress, const LearningState& state,
                      const ParameterLayout& layout);

// `models` is the number J. Error(bad_config) for a file that is no checkpoint, is damaged, was made by
// another version of the program, or belongs to another run.
TrainingProgress read_checkpoint(const std::string& path, const nlohmann::json& identity,
                                 const ParameterLayout& layout, std::int64_t models, LearningState& state);

}  // namespace occam
