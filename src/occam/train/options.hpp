// Options of a training run. Defaults are written here once; a problem's [train] table and the command line
// override them, in that order.
#pragma once

#include <cstdint>
#include <string>

#include "occam/core/fields.hpp"
#include "occam/nn/schedule.hpp"

namespace occam {

struct TrainOptions {
  std::int64_t iterations = 0;  // 0: until it is done
  double minutes = 0;
  double gain = 0.0002;
  std::int64_t most_iterations = 24000;
  std::int64_t first_look = 1000;
  std::int64_t batch = 0;  // 0: by the size of the data sets
  std::string link = "exp";
  double lambda = 0;
  double lambda_ramp = 0;
  std::string optimiser = "muon";
  double learning_rate = 7e-3;
  std::string schedule = "cosine";
  std::int64_t warmup = 200;
  double decay = 0.95;
  std::int64_t decay_steps = 1000;
  double clip = 5;
  double average = 0.999;
  double parameter_weight = 0.3;
  double parameter_fade = 0.7;
  std::int64_t replay = 1;
  std::int64_t validate_every = 500;
  std::int64_t validation_datasets = 0;
  std::int64_t patience = 0;
  std::int64_t restarts = 3;
  std::int64_t restart_after = 0;
  std::int64_t ensemble = 1;

  // Whether the run itself finds out when it is done.
  bool automatic() const { return iterations == 0 && minutes <= 0; }
  Schedule rate_schedule() const;
  // The step after which a run at chance is given up.
  std::int64_t chance_step(std::int64_t total) const;
};

Fields fields(TrainOptions& o);

}  // namespace occam
