// The course of a training: how long it goes on, where it is judged, when it begins again, when it is done.
// What is decided stands in the TrainingProgress, which checkpoints keep.
#pragma once

#include <span>
#include <string>

#include "occam/core/progress.hpp"
#include "occam/engine/engine.hpp"
#include "occam/train/checkpoint.hpp"
#include "occam/train/options.hpp"

namespace occam {

class Course {
 public:
  // `chance` is the loss of answering with the model prior. `pass` is the number of steps after which a
  // training from a table sees its data sets again (0: they are simulated, and all are new). Such a training
  // learns them by heart sooner or later, so it is judged after a few passes already, and keeps the weights
  // of the least validation loss.
  Course(const TrainOptions& options, double chance, ProgressSink& progress, std::int64_t pass = 0);

  bool goes_on(const TrainingProgress& at) const { return at.total == 0 || at.step < at.total; }
  // The rates and weights of the step that is next.
  StepSettings settings(const TrainingProgress& at) const;

  // How many steps there are, as soon as that can be said: a run limited by time learns at the end of its
  // warm-up how many that is. Seconds are those spent so far.
  void settle_total(TrainingProgress& at, double seconds, double steps_per_s) const;

  bool at_chance_check(const TrainingProgress& at) const { return at.step == options_.chance_step(at.total); }
  bool validates(const TrainingProgress& at) const;
  // Whether a run that has learned nothing by now begins again; says so.
  bool restarts(const TrainingProgress& at, double validation_loss) const;
  void forget_looks(TrainingProgress& at) const;  // of an attempt that is given up

  // A run that finds out its end looks at itself after F, 2 F, 4 F, ... steps, at a rate that falls slowly:
  // the losses of the same data sets now and at the look before (empty: it is the first) say what doubling
  // the training gained, and what doubling it again would. Where that is too little, or at the most steps
  // there may be, the end begins, in which the rate falls to nothing. Sets the step of the next look, or of
  // the end. True where the training went astray since the look before: the end begins from the best weights.
  bool look(TrainingProgress& at, std::span<const double> now, std::span<const double> before,
            const std::vector<float>& weights) const;
  // Otherwise: keeps the weights if they are the best. True when there was no improvement for too long.
  bool judge_validation(TrainingProgress& at, double loss, const std::vector<float>& weights) const;
  // In the end, from the losses of the same data sets with the last weights and with the best: the last are
  // kept unless they are worse by more than chance. The least of many figures that chance has a part in is
  // often that of weights from before the rate had fallen.
  void keep_last(TrainingProgress& at, std::span<const double> last, std::span<const double> best,
                 const std::vector<float>& weights) const;

  // Why the answers of a network mean nothing whose training ended so, or nothing.
  std::string doubt(double best_loss) const;

 private:
  bool by_heart() const { return pass_ > 0; }
  std::int64_t often_enough(std::int64_t steps) const;
  std::string got_worse(const TrainingProgress& at, double loss, double by, double error) const;
  double share_done(const TrainingProgress& at) const;
  bool worth_doubling(TrainingProgress& at, std::span<const double> now,
                      std::span<const double> before) const;
  std::int64_t last_look() const;

  const TrainOptions& options_;
  double chance_;
  ProgressSink& progress_;
  std::int64_t pass_;
};

}  // namespace occam
