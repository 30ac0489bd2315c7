#include "occam/train/course.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace occam {
namespace {

// A validation loss this much (in nats) below chance counts as having learned something.
constexpr double kChanceMargin = 0.01;
// One that is not even this much below is of a network whose answers mean nothing.
constexpr double kNothingLearned = 0.001;

// Passes through a table before its training is judged, and between two validations: small tables are known
// by heart after some ten.
constexpr std::int64_t kPasses = 8;

// Mean of `before` - `now`, and its standard error: they are of the same data sets.
struct Gain {
  double mean = 0, error = 0;
};

Gain gain_of(std::span<const double> now, std::span<const double> before) {
  const auto count = static_cast<double>(now.size());
  Gain gain;
  for (std::size_t b = 0; b < before.size(); ++b) gain.mean += (before[b] - now[b]) / count;
  double squares = 0;
  for (std::size_t b = 0; b < before.size(); ++b) squares += std::pow(before[b] - now[b] - gain.mean, 2);
  gain.error = std::sqrt(squares) / count;
  return gain;
}

// By more than two standard errors: one time in forty where nothing differs. So is what is not a number.
bool clearly_worse(const Gain& gain) {
  return !(gain.mean >= -2 * gain.error);
}

// By more than three: one time in 740 of nothing but chance. A training that goes on from there seldom finds
// back.
bool astray(const Gain& gain) {
  return !(gain.mean >= -3 * gain.error);
}

double mean_loss(std::span<const double> values) {
  double sum = 0;
  for (const double one : values) sum += one;
  return sum / static_cast<double>(values.size());
}

// The steps before the end begins, or those so far.
std::int64_t open_steps(const TrainingProgress& at) {
  return at.ending ? std::llround(kOpenShare * static_cast<double>(at.total)) : at.step;
}

void keep_best(TrainingProgress& at, double loss, const std::vector<float>& weights) {
  at.best = weights;
  at.best_loss = loss;
  at.best_step = at.step;
}

}  // namespace

Course::Course(const TrainOptions& options, double chance, ProgressSink& progress, std::int64_t pass)
    : options_(options), chance_(chance), progress_(progress), pass_(pass) {}

std::int64_t Course::often_enough(std::int64_t steps) const {
  return by_heart() ? std::clamp<std::int64_t>(kPasses * pass_, 1, steps) : steps;
}

// Where a run finds out its end: as if that were to begin at once.
double Course::share_done(const TrainingProgress& at) const {
  if (!options_.automatic()) return occam::progress(at.step, options_.warmup, at.total);
  const auto open = static_cast<double>(std::max<std::int64_t>(1, open_steps(at)));
  const double begun = kOpenShare * std::max(0.0, 1 - static_cast<double>(options_.first_look) / open);
  const double end =
      (static_cast<double>(at.step) - open) / std::max(1.0, static_cast<double>(at.total) - open);
  return at.ending ? begun + (1 - begun) * end : begun;
}

StepSettings Course::settings(const TrainingProgress& at) const {
  const double done = share_done(at);
  const double ramp = options_.lambda_ramp > 0 ? std::min(1.0, done / options_.lambda_ramp) : 1.0;
  const double fade = std::max(0.0, 1 - done / options_.parameter_fade);
  return {.step = at.step,
          .rate = options_.rate_schedule().at(at.step, options_.automatic() && !at.ending ? 0 : at.total),
          .lambda = options_.lambda * ramp,
          .parameter_weight = options_.parameter_weight * fade};
}

void Course::settle_total(TrainingProgress& at, double seconds, double steps_per_s) const {
  if (at.total > 0) return;
  if (options_.automatic()) {
    at.total = std::min(often_enough(options_.first_look), last_look());
    return;
  }
  if (options_.minutes <= 0) {
    at.total = options_.iterations;
    return;
  }
  if (at.step < std::max<std::int64_t>(options_.warmup, 1)) return;
  const double left = 60 * options_.minutes - seconds;
  at.total = at.step + std::max<std::int64_t>(1, static_cast<std::int64_t>(0.97 * left * steps_per_s));
  progress_.say(
      fmt::format("{:.2f} ms per step: {} steps in {} minutes (the same result again: --iterations {})",
                  1e3 / steps_per_s, at.total, options_.minutes, at.total));
}

bool Course::validates(const TrainingProgress& at) const {
  return at.step % often_enough(options_.validate_every) == 0 || at.step == at.total || at_chance_check(at);
}

bool Course::restarts(const TrainingProgress& at, double validation_loss) const {
  // What has learned a table by heart is at chance again, and has learned something before.
  if ((by_heart() ? std::min(validation_loss, at.best_loss) : validation_loss) < chance_ - kChanceMargin)
    return false;
  if (at.attempt >= options_.restarts) {
    progress_.warn(fmt::format(
        "still at chance after step {} (validation loss {:.4f}); going on, since {} restarts did not help",
        at.step, validation_loss, options_.restarts));
    return false;
  }
  progress_.say(
      fmt::format("still at chance after step {} (validation loss {:.4f}): restarting from another "
                  "initialisation ({} of {})",
                  at.step, validation_loss, at.attempt + 1, options_.restarts));
  return true;
}

void Course::forget_looks(TrainingProgress& at) const {
  if (!options_.automatic()) return;
  at.total = 0;
  at.looks = nlohmann::json::array();
  at.ending = false;
  at.best.clear();
  at.best_loss = INFINITY;
  at.expected_gain = -1;
}

std::int64_t Course::last_look() const {
  return std::max<std::int64_t>(1, std::llround(kOpenShare * static_cast<double>(options_.most_iterations)));
}

bool Course::look(TrainingProgress& at, std::span<const double> now, std::span<const double> before,
                  const std::vector<float>& weights) const {
  const Gain gain = gain_of(now, before);
  const double loss = mean_loss(now);
  // What has learned nothing yet has nothing to lose.
  const bool worse = by_heart() ? !(gain.mean >= -gain.error) : astray(gain);
  const bool lost = !before.empty() && at.best_loss < chance_ - kChanceMargin && worse;
  const bool more = !at.ending && worth_doubling(at, now, before) && !lost;
  at.looks.push_back({at.step, loss, gain.mean, gain.error});
  if (std::isfinite(loss - at.last_validation)) at.beyond_few += loss - at.last_validation;
  at.last_validation = loss;
  const bool better = at.ending && !by_heart() ? !clearly_worse(gain) : gain.mean > 0;
  if (before.empty() || better) keep_best(at, loss, weights);
  if (lost && by_heart()) progress_.say(got_worse(at, loss, -gain.mean, gain.error));
  if (lost && !by_heart()) progress_.warn(got_worse(at, loss, -gain.mean, gain.error));
  if (at.ending) return false;
  at.ending = !more || at.total >= last_look();
  at.total = at.ending ? std::llround(static_cast<double>(at.step) / kOpenShare)
                       : std::min(2 * at.total, last_look());
  return lost;
}

std::string Course::got_worse(const TrainingProgress& at, double loss, double by, double error) const {
  return fmt::format(
      "{}: after step {} the validation loss is {:.4f}, {:.4f} (+- {:.4f}) more than after step {}; {}. {} "
      "do "
      "better",
      by_heart() ? "the network begins to learn the table by heart" : "the training got worse", at.step, loss,
      by, error, at.best_step,
      at.ending ? "the weights of that step are kept" : "going back to that step, for the last ones",
      by_heart() ? "A larger table would" : "A smaller --learning-rate may");
}

// Gains shrink from look to look by a factor that is half a guess, half what was seen.
bool Course::worth_doubling(TrainingProgress& at, std::span<const double> now,
                            std::span<const double> before) const {
  if (before.empty()) return true;
  const Gain gain = gain_of(now, before);
  const double loss = mean_loss(now);
  double shrinking = 0.5;
  if (at.looks.size() > 1) {
    const double last = at.looks.back()[2].get<double>();
    if (last > gain.error) shrinking = std::sqrt(0.5 * std::clamp(gain.mean / last, 0.25, 1.0));
  }
  // A gain within its own error may be as large as the error.
  at.expected_gain = std::max(gain.error, gain.mean) * shrinking;
  // One standard error more is what ends it: to end too soon costs more than to go on in vain.
  const double possible = (std::max(gain.mean, 0.0) + gain.error) * shrinking;
  const bool more = loss > chance_ - kChanceMargin || possible > options_.gain;
  progress_.say(fmt::format(
      "step {}: validation loss {:.4f}, doubling the training gained {:.4f} (+- {:.4f}); doubling "
      "it again is expected to gain {:.4f}{}",
      at.step, loss, gain.mean, gain.error, at.expected_gain,
      !more ? fmt::format(", less than {} within its error: the last steps begin", options_.gain)
      : at.expected_gain > options_.gain ? ""
                                         : fmt::format(", perhaps {:.4f}", possible)));
  return more;
}

bool Course::judge_validation(TrainingProgress& at, double loss, const std::vector<float>& weights) const {
  if (loss < at.best_loss) {
    keep_best(at, loss, weights);
    at.stale = 0;
    return false;
  }
  if (++at.stale != options_.patience || options_.patience == 0) return false;
  progress_.say(
      fmt::format("no improvement in {} validations: stopping at step {}", options_.patience, at.step));
  return true;
}

void Course::keep_last(TrainingProgress& at, std::span<const double> last, std::span<const double> best,
                       const std::vector<float>& weights) const {
  const Gain gain = gain_of(last, best);
  if (by_heart() ? gain.mean > 0 : !clearly_worse(gain)) keep_best(at, mean_loss(last), weights);
}

std::string Course::doubt(double best_loss) const {
  if (best_loss < chance_ - kNothingLearned) return "";
  return fmt::format("it learned nothing in training (validation loss {:.4f}, chance {:.4f})", best_loss,
                     chance_);
}

}  // namespace occam
