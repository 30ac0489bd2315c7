#include "occam/train/options.hpp"

#include <algorithm>

#include "occam/nn/loss.hpp"

namespace occam {

Schedule TrainOptions::rate_schedule() const {
  Schedule result;
  const auto& names = schedule_names();
  result.kind = static_cast<ScheduleKind>(std::find(names.begin(), names.end(), schedule) - names.begin());
  result.rate = learning_rate;
  result.warmup = warmup;
  result.decay = decay;
  result.decay_steps = decay_steps;
  if (automatic()) result.kind = ScheduleKind::open;
  return result;
}

std::int64_t TrainOptions::chance_step(std::int64_t total) const {
  if (restart_after > 0) return restart_after;
  if (automatic()) return warmup + 2000;
  return warmup + std::clamp<std::int64_t>(total / 10, 300, 2000);
}

Fields fields(TrainOptions& o) {
  return {
      field("iterations", o.iterations, "training steps (0: until twice as many would gain too little)")
          .at_least(0),
      field("minutes", o.minutes, "train for about so long instead of a number of steps (0: no limit)")
          .at_least(0),
      field("gain", o.gain, "nats that twice the training has to be expected to gain, to go on").above(0),
      field("most_iterations", o.most_iterations, "steps at most, where their number is not given")
          .at_least(1),
      field("first_look", o.first_look, "steps before the first look at what twice as many gain")
          .at_least(10),
      field("batch", o.batch,
            "simulated data sets per step (0: as many as their size allows, 64 to 512, and 128 at most from "
            "a table or a program)")
          .at_least(0)
          .at_most(1 << 20),
      field("link", o.link, "how outputs become concentrations").one_of(link_names()),
      field("lambda", o.lambda, "weight of the KL term that pulls towards total uncertainty").at_least(0),
      field("lambda_ramp", o.lambda_ramp, "share of the training over which lambda grows from 0")
          .at_least(0)
          .at_most(1),
      field("optimiser", o.optimiser, "muon, or adam for all weights").one_of({"muon", "adam"}),
      field("learning_rate", o.learning_rate, "step size after the warm-up").above(0),
      field("schedule", o.schedule, "how the step size falls").one_of(schedule_names()),
      field("warmup", o.warmup, "steps over which the step size grows from 0").at_least(0),
      field("decay", o.decay, "staircase: factor").above(0).at_most(1),
      field("decay_steps", o.decay_steps, "staircase: steps between two factors").at_least(1),
      field("clip", o.clip, "largest norm of a gradient (0: no limit)").at_least(0),
      field("average", o.average, "decay of the averaged weights, which are what is kept")
          .at_least(0)
          .at_most(0.999999),
      field("parameter_weight", o.parameter_weight, "weight of predicting the parameters beside the model")
          .at_least(0),
      field("parameter_fade", o.parameter_fade,
            "share of the training after which that weight has faded to 0")
          .above(0)
          .at_most(1),
      field("replay", o.replay, "how often each simulated batch is used").at_least(1).at_most(10000),
      field("validate_every", o.validate_every, "steps between two validations").at_least(1),
      field("validation_datasets", o.validation_datasets,
            "simulated data sets that judge the run (0: as many as its end asks for)")
          .at_least(0),
      field("patience", o.patience, "stop after so many validations without improvement (0: never)")
          .at_least(0),
      field("restarts", o.restarts, "how often a run that stays at chance begins again")
          .at_least(0)
          .at_most(100),
      field("restart_after", o.restart_after, "steps after which a run at chance is given up (0: chosen)")
          .at_least(0),
      field("ensemble", o.ensemble,
            "networks to train into one file, from different initial weights and data")
          .at_least(1)
          .at_most(64),
  };
}

}  // namespace occam
