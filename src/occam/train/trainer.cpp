#include "occam/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/nn/muon.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/checkpoint.hpp"
#include "occam/train/column_ranges.hpp"
#include "occam/train/warm_start.hpp"

namespace occam {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Data sets that set the standardisation, and the few of them that become golden inputs.
constexpr std::int64_t kStandardiseSets = 1000;
constexpr std::int64_t kGoldenSets = 4;
constexpr std::int64_t kSetsPerSize = 20;
// Batches kept for replay: each is used again only after the others, not at once.
constexpr std::int64_t kReplayRing = 16;
// A validation loss this much (in nats) below chance counts as having learned something.
constexpr double kChanceMargin = 0.01;
// One that is not even this much below is of a network whose answers mean nothing.
constexpr double kNothingLearned = 0.001;
// Parameter targets beyond so many standard deviations (heavy-tailed priors) are cut off.
constexpr double kLargestTarget = 5;
// Samples of a head that draws any, in a validation: enough to judge a run by.
constexpr std::int64_t kValidationSamples = 100;
// Data sets that judge a run of given length; those that find out its end, which needs smaller errors; and
// the values they may hold at most, since they stay in memory.
constexpr std::int64_t kValidationSets = 2000;
constexpr std::int64_t kEndSets = 16000;
constexpr double kMostValidationValues = 2e7;

// Steps of about so many rows make good use of the time: larger ones learn from more data sets than they need
// to, in smaller ones the optimiser costs as much as the gradient.
constexpr double kRowsPerStep = 32768;
constexpr std::int64_t kDearBatch = 128;

double mean_rows(const Batch& sample) {
  return static_cast<double>(sample.view().x.rows) /
         static_cast<double>(std::max<std::int64_t>(sample.size(), 1));
}

// A power of two.
std::int64_t batch_for_rows(double rows) {
  std::int64_t batch = 64;
  while (batch < 512 && static_cast<double>(2 * batch) * rows <= 1.5 * kRowsPerStep) batch *= 2;
  return batch;
}

// How many data sets judge a run; `sample` says how large they are.
std::int64_t validation_sets(const TrainOptions& options, const Batch& sample) {
  if (options.validation_datasets > 0) return options.validation_datasets;
  if (!options.automatic()) return kValidationSets;
  const double values = mean_rows(sample) * static_cast<double>(sample.columns());
  return std::clamp(static_cast<std::int64_t>(kMostValidationValues / values), kValidationSets, kEndSets);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double entropy(std::span<const double> p) {
  double sum = 0;
  for (const double x : p) sum -= x > 0 ? x * std::log(x) : 0;
  return sum;
}

// The first member is what a single run gives.
std::uint64_t member_seed(const TrainRun& run) {
  return run.seed + static_cast<std::uint64_t>(run.member) * 0x9e3779b97f4a7c15u;
}

Link link_of(const TrainOptions& options) {
  const auto& names = link_names();
  return static_cast<Link>(std::find(names.begin(), names.end(), options.link) - names.begin());
}

}  // namespace

// What training changes, and what it needs at hand.
struct Trainer::State {
  NetworkConfig config;
  std::unique_ptr<Network<float>> network;
  std::unique_ptr<BatchGradient<float>> gradient;
  std::unique_ptr<Adam<float>> adam;
  std::unique_ptr<Muon<float>> muon;  // none: Adam updates all weights
  std::unique_ptr<BatchSource> source;
  Batch validation, sample;
  std::vector<double> parameter_mean, parameter_scale;
  std::vector<ColumnInput> parameter_inputs;  // how parameters become targets

  TrainingProgress at;  // saved in checkpoints

  // Not saved.
  std::vector<Batch> ring;
  std::vector<std::int64_t> ring_number;
  std::vector<double> losses;  // of the data sets of the present batch
  Clock::time_point start = Clock::now(), attempt_start = Clock::now(), last_checkpoint = Clock::now();
  std::int64_t resumed_at = 0;     // the step at which this attempt went on in this process
  bool checkpoint_failed = false;  // the last time
  std::string fault;               // why the training ended before its time

  double seconds_before = 0;  // spent before the last resume

  double seconds() const { return seconds_before + seconds_since(start); }
  // Of the present attempt, in this process.
  double steps_per_s() const {
    return static_cast<double>(at.step - resumed_at) / seconds_since(attempt_start);
  }
};

// The loss of the head, plus that of the parameter estimates.
class Trainer::Loss final : public BundleLoss<float> {
 public:
  Loss(const Trainer& trainer, const Batch& batch, double lambda, double parameter_weight,
       std::vector<double>& losses)
      : t_(trainer),
        batch_(batch),
        evidential_(trainer.s_->config.head_kind().concentrations),
        link_(link_of(trainer.options_)),
        lambda_(lambda),
        parameter_weight_(parameter_weight),
        losses_(losses) {}

  void bundle(std::int64_t first, const Network<float>::Tape& tape, Matrix<float> d_models,
              Matrix<float> d_parameters) override {
    const auto J = static_cast<std::size_t>(tape.models.columns);
    thread_local std::vector<double> memory;
    memory.resize(5 * J);
    const std::span<double> f(memory.data(), J), d(memory.data() + J, J),
        scratch(memory.data() + 2 * J, 3 * J);
    for (std::int64_t b = 0; b < tape.models.rows; ++b) {
      const std::int64_t truth = batch_.models()[static_cast<std::size_t>(first + b)];
      std::copy_n(tape.models.row(b), J, f.begin());
      double& loss = losses_[static_cast<std::size_t>(first + b)];
      if (evidential_) {
        const EvidentialTerms terms = evidential_loss(link_, lambda_, f, truth, d, scratch);
        loss = terms.log_loss + lambda_ * terms.kl;
        keep_moving(f, d);
      } else {
        loss = softmax_loss(f, truth, d) + (tape.penalty != nullptr ? tape.penalty[b] : 0);
      }
      std::copy(d.begin(), d.end(), d_models.row(b));
      if (d_parameters.data != nullptr)
        parameters(first + b, truth, tape.parameters.row(b), d_parameters.row(b));
    }
  }

 private:
  // Mean squared error over the parameters that the true model has.
  void parameters(std::int64_t b, std::int64_t truth, const float* predicted, float* d) const {
    const auto theta = batch_.parameters(b);
    const auto mask = t_.problem_.mask(truth);
    std::fill_n(d, theta.size(), 0.0f);
    const double present = std::accumulate(mask.begin(), mask.end(), 0.0);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      if (mask[p] == 0 || std::isnan(theta[p])) continue;
      const double tamed = t_.s_->parameter_inputs[p](theta[p]);
      const double target = std::clamp((tamed - t_.s_->parameter_mean[p]) / t_.s_->parameter_scale[p],
                                       -kLargestTarget, kLargestTarget);
      d[p] = static_cast<float>(2 * parameter_weight_ * (predicted[p] - target) / present);
    }
  }

  const Trainer& t_;
  const Batch& batch_;
  bool evidential_;
  Link link_;
  double lambda_, parameter_weight_;
  std::vector<double>& losses_;
};

Trainer::Trainer(Problem problem, json network_options, TrainOptions options, TrainRun run, ThreadPool& pool,
                 ProgressSink& progress)
    : problem_(std::move(problem)),
      options_(std::move(options)),
      run_(std::move(run)),
      pool_(pool),
      progress_(progress),
      s_(std::make_unique<State>()) {
  open_sources();
  build_network(network_options);
}

Trainer::~Trainer() = default;

// Where a whole batch shares one N, sizes must vary within these data sets all the same: small batches.
Batch Trainer::simulate(Purpose purpose, std::int64_t count) {
  SimulatorOptions options;
  options.batch = kSetsPerSize;
  Batch batch;
  Simulator(problem_, run_.seed, purpose, options).simulate_range(0, count, pool_, batch);
  return batch;
}

void Trainer::open_sources() {
  if (!run_.table) {
    s_->sample = simulate(Purpose::standardise, kStandardiseSets);
    settle_batch();
    s_->source =
        std::make_unique<SimulatedSource>(problem_, member_seed(run_), Purpose::train, options_.batch);
    s_->validation = simulate(Purpose::validate, validation_sets(options_, s_->sample));
    return;
  }
  // A tenth of the table, spread over it, is set aside to judge the run.
  const std::int64_t size = run_.table->size();
  if (size < 20) throw Error(ErrorKind::bad_data, "a table of {} data sets is too small to train from", size);
  std::vector<std::int64_t> kept, aside;
  for (std::int64_t k = 0; k < size; ++k) (ReferenceTable::held_out(k) ? aside : kept).push_back(k);
  gather(run_.table->all(), aside, problem_.J(), s_->validation);
  const std::vector<std::int64_t> first(kept.begin(),
                                        kept.begin() + std::min<std::int64_t>(kStandardiseSets, kept.size()));
  gather(run_.table->all(), first, problem_.J(), s_->sample);
  settle_batch();
  s_->source = std::make_unique<TableSource>(run_.table, std::move(kept), problem_.J(), member_seed(run_),
                                             options_.batch);
}

// From a table, where the same data sets come again and again, and from programs, which take most of the
// time, more at once would only be fewer steps. (How long a simulation takes must not decide it: then the
// same command would not give the same network.)
void Trainer::settle_batch() {
  if (options_.batch > 0) return;
  options_.batch = batch_for_rows(mean_rows(s_->sample));
  const auto dear = [](const Model& model) { return model.family().dear(); };
  if (run_.table || std::any_of(problem_.models().begin(), problem_.models().end(), dear))
    options_.batch = std::min(options_.batch, kDearBatch);
}

NetworkConfig network_for(const Problem& problem, const json& options) {
  NetworkConfig config;
  config.options.architecture = problem.ordered() ? "sequence" : "set";
  config.set_options(problem.network(), problem.name());
  config.set_options(options, "network");
  return config;
}

void Trainer::build_network(const json& network_options) {
  NetworkConfig& config = s_->config;
  if (run_.start) {
    check_warm_start(*run_.start, problem_);
    config = run_.start->config;
  } else {
    config = network_for(problem_, network_options);
    config.channels = problem_.D();
    config.missing = places_of(problem_.missing());
    config.learn_input(s_->sample.view(), problem_.ordered());
  }
  check_head_options();
  config.models = problem_.J();
  config.parameters = options_.parameter_weight > 0 ? problem_.P() : 0;
  learn_parameter_scales(s_->sample);
  s_->network = std::make_unique<Network<float>>(config);
  if (s_->network->fewest_sets() > 1 && options_.batch < 2) {
    throw Error(ErrorKind::usage,
                "the head {} compares the data sets of a batch with each other: --batch at least 2",
                config.options.head);
  }
  s_->gradient = std::make_unique<BatchGradient<float>>(*s_->network, pool_);
  s_->ring.resize(options_.replay > 1 ? kReplayRing : 2);
  s_->ring_number.assign(s_->ring.size(), -1);
  s_->losses.resize(static_cast<std::size_t>(options_.batch));
  s_->at.failed.assign(static_cast<std::size_t>(problem_.J()), 0);
}

void Trainer::check_head_options() const {
  const NetworkConfig& config = s_->config;
  if (config.head_kind().concentrations) return;
  if (options_.lambda == 0 && link_of(options_) == Link::exp) return;
  throw Error(ErrorKind::usage, "link and lambda belong to the head {}; the head {} has neither",
              kDefaultHead, config.options.head);
}

void Trainer::learn_parameter_scales(const Batch& sample) {
  const auto P = static_cast<std::size_t>(problem_.P());
  s_->parameter_mean.assign(P, 0.0);
  s_->parameter_scale.assign(P, 1.0);
  s_->parameter_inputs.assign(P, {});
  for (std::size_t p = 0; p < P; ++p) {
    std::vector<double> values;
    for (std::int64_t b = 0; b < sample.size(); ++b) {
      if (const double theta = sample.parameters(b)[p]; std::isfinite(theta)) values.push_back(theta);
    }
    if (values.empty()) continue;
    ColumnInput& input = s_->parameter_inputs[p];
    if (s_->config.options.inputs == "robust") {
      input = learn_transformation({values.begin(), values.end()});
      for (double& value : values) value = input(value);
    }
    const double count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    s_->parameter_mean[p] = mean;
    if (squares > 0) s_->parameter_scale[p] = std::sqrt(squares / count);
  }
  if (run_.start) {
    keep_scales(*run_.start, problem_, s_->parameter_mean, s_->parameter_scale, s_->parameter_inputs);
  }
}

void Trainer::begin_attempt(std::int64_t attempt) {
  s_->at.attempt = attempt;
  s_->at.step = 0;
  s_->at.weights.assign(static_cast<std::size_t>(s_->network->weight_count()), 0.0f);
  s_->network->layout().initialise<float>(s_->at.weights, member_seed(run_),
                                          static_cast<std::uint64_t>(attempt));
  if (run_.start) grow_weights(*run_.start, start_member(), problem_, *s_->network, s_->at.weights);
  s_->at.average = s_->at.weights;
  if (options_.automatic()) {  // what was found out of another attempt does not count
    s_->at.total = 0;
    s_->at.cycles = json::array();
    s_->at.best.clear();
    s_->at.best_loss = INFINITY;
    s_->at.expected_gain = -1;
  }
  AdamOptions adam;
  adam.clip_norm = options_.clip;
  s_->adam = std::make_unique<Adam<float>>(s_->network->weight_count(), adam);
  if (options_.optimiser == "muon") {
    s_->muon = std::make_unique<Muon<float>>(s_->network->layout());
    s_->at.momentum.assign(s_->at.weights.size(), 0.0f);
  }
  s_->attempt_start = Clock::now();
  s_->resumed_at = 0;
}

// With replay, blocks of kReplayRing batches are passed through several times.
std::int64_t Trainer::batch_number(std::int64_t step) const {
  if (options_.replay <= 1) return step;
  const std::int64_t block = step / (kReplayRing * options_.replay);
  return block * kReplayRing + step % kReplayRing;
}

Batch& Trainer::batch_for(std::int64_t step) {
  const std::int64_t number = batch_number(step);
  const auto slot = static_cast<std::size_t>(number) % s_->ring.size();
  if (s_->ring_number[slot] != number) {
    s_->source->prepare(number, s_->ring[slot]);
    pool_.for_each(s_->source->task_count(), [&](std::int64_t task, int) { s_->source->run_task(task); });
    s_->source->finish();
    s_->ring_number[slot] = number;
  }
  return s_->ring[slot];
}

// Of the present cycle, where a run finds out its end.
double Trainer::share_done(std::int64_t step) const {
  if (!options_.automatic()) return progress(step, options_.warmup, s_->at.total);
  const Cycle cycle = cycle_of(step, options_.first_cycle);
  return static_cast<double>(step - cycle.first) / static_cast<double>(cycle.last - cycle.first);
}

bool Trainer::step(std::int64_t step) {
  const double done = share_done(step);
  const double ramp = options_.lambda_ramp > 0 ? std::min(1.0, done / options_.lambda_ramp) : 1.0;
  const double fade = std::max(0.0, 1 - done / options_.parameter_fade);
  const Batch& batch = batch_for(step);
  // The next batch is simulated by the same threads, in the same loop.
  const std::int64_t next = batch_number(step + 1);
  const auto slot = static_cast<std::size_t>(next) % s_->ring.size();
  const bool ahead = s_->ring_number[slot] != next && &s_->ring[slot] != &batch;
  SideTasks side;
  if (ahead) {
    s_->source->prepare(next, s_->ring[slot]);
    s_->ring_number[slot] = -1;
    side = {s_->source->task_count(), [&](std::int64_t task) { s_->source->run_task(task); }};
  }
  Loss loss(*this, batch, options_.lambda * ramp, options_.parameter_weight * fade, s_->losses);
  const PassNoise noise{member_seed(run_), static_cast<std::uint64_t>(step * options_.batch)};
  s_->gradient->run(s_->at.weights.data(), batch.view(), loss, 1.0 / static_cast<double>(batch.size()), side,
                    &noise);
  if (ahead) {
    s_->source->finish();
    s_->ring_number[slot] = next;
  }

  const double mean =
      std::accumulate(s_->losses.begin(), s_->losses.end(), 0.0) / static_cast<double>(batch.size());
  if (!std::isfinite(mean) || !std::isfinite(s_->gradient->squared_norm())) return false;
  // From here on nothing fails: a step that does is not half counted when it is made again.
  if (options_.replay <= 1 || step / kReplayRing % options_.replay == 0) {  // its first use
    for (std::size_t j = 0; j < s_->at.failed.size(); ++j) s_->at.failed[j] += batch.failed_draws()[j];
  }
  s_->at.loss_sum += mean;
  ++s_->at.loss_count;
  Adam<float>& adam = *s_->adam;
  adam.begin(options_.rate_schedule().at(step, s_->at.total), s_->gradient->squared_norm());
  const auto size = s_->network->weight_count();
  float* const gradient = s_->gradient->gradient().data();
  float* const weights = s_->at.weights.data();
  if (s_->muon) {
    const double rate = options_.rate_schedule().at(step, s_->at.total);
    pool_.for_each(s_->muon->matrices(), [&](std::int64_t matrix, int) {
      s_->muon->update(matrix, rate, gradient, s_->at.momentum.data(), weights);
    });
  }
  pool_.for_each(adam.chunks(), [&](std::int64_t chunk, int) {
    adam.update_chunk(chunk, gradient, weights);
    average_chunk(chunk, size, options_.average, step, weights, s_->at.average.data());
  });
  return true;
}

// What was learned before the loss went astray is kept, if it answers at all; its file says what happened.
void Trainer::end_at_fault() {
  s_->fault = fmt::format("its loss was not finite at step {} of the training", s_->at.step);
  if (!s_->at.best.empty()) return;
  s_->at.best_loss = validate();
  if (!std::isfinite(s_->at.best_loss)) {
    throw Error(ErrorKind::bad_config, "the loss is not finite at step {}; try a smaller --learning-rate",
                s_->at.step);
  }
  s_->at.best_step = s_->at.step;
  s_->at.best = s_->at.average;
}

double Trainer::validate() {
  const std::vector<double> losses =
      validation_losses(s_->at.average, std::min(kValidationSets, s_->validation.size()));
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

std::vector<double> Trainer::validation_losses(const std::vector<float>& weights, std::int64_t sets) {
  const Batch& data = s_->validation;
  std::vector<double> losses(static_cast<std::size_t>(sets));
  const Link link = link_of(options_);
  Ragged<const float> view = data.view();
  view.sets = sets;
  view.x.rows = view.offsets[sets];
  s_->gradient->answer(weights.data(), view, kValidationSamples,
                       [&](std::int64_t first, const Network<float>::Tape& tape, const HeadAnswer& answer) {
                         std::vector<double> f(static_cast<std::size_t>(tape.models.columns)), d(f.size()),
                             scratch(3 * f.size());
                         for (std::int64_t b = 0; b < tape.models.rows; ++b) {
                           const std::int64_t truth = data.models()[static_cast<std::size_t>(first + b)];
                           double& loss = losses[static_cast<std::size_t>(first + b)];
                           if (answer.log_p.data != nullptr) {
                             loss = -answer.log_p.row(b)[truth];
                             continue;
                           }
                           std::copy_n(tape.models.row(b), f.size(), f.begin());
                           loss = evidential_loss(link, 0, f, truth, d, scratch).log_loss;
                         }
                       });
  return losses;
}

// At the end of a cycle, on the same data sets as after the one before: what did doubling the training gain,
// and what would doubling it again? Gains shrink from cycle to cycle by a factor that is half a guess, half
// what was seen. True if it is worth going on.
bool Trainer::judge_cycle() {
  TrainingProgress& at = s_->at;
  const std::int64_t sets = s_->validation.size();
  const std::vector<double> now = validation_losses(at.average, sets);
  const std::vector<double> before = at.best.empty() ? now : validation_losses(at.best, sets);
  const auto count = static_cast<double>(now.size());
  double loss = 0, gain = 0, squares = 0;
  for (std::size_t b = 0; b < now.size(); ++b) {
    loss += now[b] / count;
    gain += (before[b] - now[b]) / count;
  }
  for (std::size_t b = 0; b < now.size(); ++b) squares += std::pow(before[b] - now[b] - gain, 2);
  const double error = std::sqrt(squares) / count;
  const bool first = at.best.empty();
  double shrinking = 0.5;
  if (at.cycles.size() > 1) {
    const double last = at.cycles.back()[2].get<double>();
    if (last > error) shrinking = std::sqrt(0.5 * std::clamp(gain / last, 0.25, 1.0));
  }
  // A gain within its own error may be as large as the error.
  const double expected = std::max(error, gain) * shrinking;
  at.cycles.push_back({at.step, loss, first ? 0 : gain, error});
  at.last_validation = loss;
  if (first || gain > 0) {
    at.best = at.average;
    at.best_loss = loss;
    at.best_step = at.step;
  }
  if (first) return true;
  at.expected_gain = expected;
  const bool chance = loss > chance_loss(problem_) - kChanceMargin;
  const bool more = chance || expected > options_.gain;
  progress_.say(fmt::format(
      "step {}: validation loss {:.4f}, doubling the training gained {:.4f} (+- {:.4f}); doubling "
      "it again is expected to gain {:.4f}{}",
      at.step, loss, gain, error, expected, more ? "" : fmt::format(", less than {}: done", options_.gain)));
  return more;
}

double chance_loss(const Problem& problem) {
  return entropy(problem.model_prior());
}

bool Trainer::should_restart(double validation_loss) {
  if (run_.start || validation_loss < chance_loss(problem_) - kChanceMargin) return false;
  if (s_->at.attempt >= options_.restarts) {
    progress_.warn(fmt::format(
        "still at chance after step {} (validation loss {:.4f}); going on, since {} restarts did not help",
        s_->at.step, validation_loss, options_.restarts));
    return false;
  }
  progress_.say(
      fmt::format("still at chance after step {} (validation loss {:.4f}): restarting from another "
                  "initialisation ({} of {})",
                  s_->at.step, validation_loss, s_->at.attempt + 1, options_.restarts));
  return true;
}

// A run limited by time learns at the end of its warm-up how many steps that is.
void Trainer::settle_total() {
  if (s_->at.total > 0) return;
  if (options_.automatic()) {
    s_->at.total = std::min(cycle_of(s_->at.step, options_.first_cycle).last, options_.most_iterations);
    return;
  }
  if (options_.minutes <= 0) {
    s_->at.total = options_.iterations;
    return;
  }
  if (s_->at.step < std::max<std::int64_t>(options_.warmup, 1)) return;
  const double per_step = 1 / s_->steps_per_s();
  const double left = 60 * options_.minutes - s_->seconds();
  s_->at.total = s_->at.step + std::max<std::int64_t>(1, static_cast<std::int64_t>(0.97 * left / per_step));
  progress_.say(
      fmt::format("{:.2f} ms per step: {} steps in {} minutes (the same result again: --iterations {})",
                  1e3 * per_step, s_->at.total, options_.minutes, s_->at.total));
}

// Only figures that exist, so that one that is not a number would be seen.
std::string Trainer::progress_note() const {
  const TrainingProgress& at = s_->at;
  std::string note;
  if (at.loss_count > 0)
    note += fmt::format("loss {:.4f}  ", at.loss_sum / static_cast<double>(at.loss_count));
  if (!at.history.empty()) note += fmt::format("validation {:.4f}  ", at.last_validation);
  if (at.expected_gain >= 0) note += fmt::format("twice as long: {:.4f} less  ", at.expected_gain);
  return note + fmt::format("{:.0f} data sets/s", static_cast<double>(options_.batch) * s_->steps_per_s());
}

NetworkFile Trainer::train() {
  if (run_.resume && !run_.checkpoint.empty() && access(run_.checkpoint.c_str(), F_OK) == 0) {
    load_checkpoint();
  } else {
    begin_attempt(0);
  }
  settle_total();
  while (s_->at.total == 0 || s_->at.step < s_->at.total) {
    if (progress_.stop_requested()) {
      const bool saved = try_checkpoint();
      throw Error(saved ? ErrorKind::interrupted : ErrorKind::io, "stopped at step {}{}", s_->at.step,
                  run_.checkpoint.empty() ? "" : after_checkpoint(saved));
    }
    bool finite = true;
    try {
      finite = step(s_->at.step);
    } catch (const Error& error) {
      // A simulator that fails after hours must not cost those hours.
      if (error.kind() == ErrorKind::internal || run_.checkpoint.empty() || s_->at.step == 0) throw;
      const bool saved = try_checkpoint();
      throw Error(error.kind(), "{}; what was learned until step {} is {}", error.what(), s_->at.step,
                  saved ? "kept: continue with --resume" : "not kept: the checkpoint could not be written")
          .with_detail(error.detail());
    }
    if (!finite) {
      end_at_fault();
      break;
    }
    ++s_->at.step;
    settle_total();
    const bool chance_check = s_->at.step == options_.chance_step(s_->at.total);
    if (s_->at.step % options_.validate_every == 0 || s_->at.step == s_->at.total || chance_check) {
      const double loss = validate();
      s_->at.last_validation = loss;
      if (chance_check && s_->at.step < s_->at.total && should_restart(loss)) {
        begin_attempt(s_->at.attempt + 1);
        settle_total();
        continue;
      }
      const double rate = static_cast<double>(options_.batch) * s_->steps_per_s();
      if (run_.log) {
        run_.log({s_->at.step, s_->at.total,
                  s_->at.loss_sum / static_cast<double>(std::max<std::int64_t>(s_->at.loss_count, 1)), loss,
                  rate, s_->seconds()});
      }
      s_->at.history.push_back({s_->at.step, loss});
      s_->at.loss_sum = 0;
      s_->at.loss_count = 0;
      if (options_.automatic()) {
        if (s_->at.step == s_->at.total && judge_cycle() && 2 * s_->at.total <= options_.most_iterations)
          s_->at.total *= 2;
      } else if (loss < s_->at.best_loss) {
        s_->at.best_loss = loss;
        s_->at.best_step = s_->at.step;
        s_->at.best = s_->at.average;
        s_->at.stale = 0;
      } else if (++s_->at.stale == options_.patience && options_.patience > 0) {
        progress_.say(fmt::format("no improvement in {} validations: stopping at step {}", options_.patience,
                                  s_->at.step));
        break;
      }
    }
    progress_.update(s_->at.step, s_->at.total, progress_note());
    if (!run_.checkpoint.empty() && seconds_since(s_->last_checkpoint) > 60 * run_.checkpoint_minutes) {
      try_checkpoint();
    }
  }
  if (s_->at.best.empty()) s_->at.best = s_->at.average;
  if (run_.keep_checkpoint) try_checkpoint();
  report_failures();
  if (const std::string doubt = this->doubt(); !doubt.empty()) {
    progress_.warn(
        fmt::format("the network is of no use: {}. Its file says so, and so will its answers. {}", doubt,
                    s_->fault.empty() ? "Do the models differ at all? `occam simulate` shows what they make; "
                                        "longer training (--iterations) may help"
                                      : "Try a smaller --learning-rate"));
  }
  return finished();
}

void Trainer::report_failures() {
  for (std::size_t j = 0; j < s_->at.failed.size(); ++j) {
    if (s_->at.failed[j] == 0) continue;
    progress_.warn(fmt::format("model '{}': {} draws gave no usable data and were drawn again",
                               problem_.model_names()[j], s_->at.failed[j]));
  }
}

// In rows, which a reader of the file will compare its own data with, not in the N asked for. A simulator may
// write fewer rows than N allows.
std::pair<std::int64_t, std::int64_t> Trainer::trained_sizes() const {
  std::int64_t low = s_->sample[0].n;
  std::int64_t high = low;
  for (const Batch* batch : {&s_->sample, &s_->validation}) {
    for (std::int64_t b = 0; b < batch->size(); ++b) {
      low = std::min(low, (*batch)[b].n);
      high = std::max(high, (*batch)[b].n);
    }
  }
  if (run_.table) return {low, high};
  const auto [smallest, largest] = problem_.sizes();
  for (std::int64_t j = 0; j < problem_.J(); ++j) {
    low = std::min(low, problem_.max_rows(j, smallest));
    high = std::max(high, problem_.max_rows(j, largest));
  }
  return {low, high};
}

std::string Trainer::doubt() const {
  if (!s_->fault.empty()) return s_->fault;
  const double chance = chance_loss(problem_);
  if (s_->at.best_loss < chance - kNothingLearned) return "";
  return fmt::format("it learned nothing in training (validation loss {:.4f}, chance {:.4f})",
                     s_->at.best_loss, chance);
}

NetworkFile Trainer::finished() const {
  NetworkFile file;
  file.config = s_->network->config();
  file.link = link_of(options_);
  file.members = {s_->at.best};
  file.problem_name = problem_.name();
  file.problem = problem_toml(problem_);
  file.fingerprint = problem_.fingerprint();
  file.ordered = problem_.ordered();
  for (const Column& column : problem_.columns()) file.columns.push_back(column.name);
  file.model_names = problem_.model_names();
  file.model_prior.assign(problem_.model_prior().begin(), problem_.model_prior().end());
  file.parameter_names = problem_.parameter_names();
  file.parameter_mean = s_->parameter_mean;
  file.parameter_scale = s_->parameter_scale;
  const auto tamed = [](const ColumnInput& input) { return input.transformation != Transformation::none; };
  if (std::any_of(s_->parameter_inputs.begin(), s_->parameter_inputs.end(), tamed))
    file.parameter_inputs = s_->parameter_inputs;
  for (std::int64_t j = 0; j < problem_.J(); ++j) {
    file.parameter_mask.emplace_back(problem_.mask(j).begin(), problem_.mask(j).end());
  }
  std::tie(file.smallest_n, file.largest_n) = trained_sizes();
  file.ranges = column_ranges({&s_->sample, &s_->validation});
  std::vector<bool> design;
  for (const Column& column : problem_.columns()) design.push_back(column.role == Role::design);
  file.design = DesignProfile::learn({s_->sample.view(), s_->validation.view()}, file.columns, design,
                                     file.config.missing);
  TrainOptions copy = options_;
  file.record = {{"options", fields_json(fields(copy))},
                 {"seed", run_.seed},
                 {"steps", s_->at.step},
                 {"total", s_->at.total},
                 {"attempts", s_->at.attempt + 1},
                 {"best_step", s_->at.best_step},
                 {"validation_loss", s_->at.best_loss},
                 {"validation_history", s_->at.history},
                 {"cycles", s_->at.cycles},
                 {"data_sets", s_->at.step * options_.batch / options_.replay},
                 {"failed_draws", s_->at.failed},
                 {"source", run_.table ? "table" : "simulation"},
                 {"program", std::string("occam ") + kVersion}};
  if (const std::string doubt = this->doubt(); !doubt.empty()) file.record["doubt"] = doubt;
  if (s_->at.expected_gain >= 0) file.record["expected_gain"] = s_->at.expected_gain;
  if (run_.table) file.record["table"] = run_.table->fingerprint();
  if (run_.start) file.record["start"] = weight_checksum(run_.start->members[start_member()]);
  if (run_.record_timing) {
    file.record["seconds"] = s_->seconds();
    file.record["threads"] = pool_.threads();
    file.record["data_sets_per_s"] = static_cast<double>(s_->at.step * options_.batch) / s_->seconds();
  }
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(kGoldenSets, s_->sample.size())));
  std::iota(first.begin(), first.end(), 0);
  Batch golden;
  gather(s_->sample, first, problem_.J(), golden);
  file.golden = make_golden(file, golden.view());
  return file;
}

// Where more members are wanted than there are to start from, they share them.
std::size_t Trainer::start_member() const {
  return static_cast<std::size_t>(run_.member) % run_.start->members.size();
}

json Trainer::identity() const {
  TrainOptions copy = options_;
  return {{"problem", problem_.fingerprint()},
          {"seed", run_.seed},
          {"member of the ensemble", run_.member},
          {"set of training options", fields_json(fields(copy))},
          {"network", s_->config.json()},
          {"network to start from", run_.start ? weight_checksum(run_.start->members[start_member()]) : ""}};
}

// A checkpoint that cannot be written (a full disk) is no reason to end a training that goes well.
bool Trainer::try_checkpoint() {
  s_->last_checkpoint = Clock::now();
  if (run_.checkpoint.empty()) return true;
  s_->at.seconds = s_->seconds();
  try {
    write_checkpoint(run_.checkpoint, identity(), s_->at, *s_->adam, s_->network->layout());
    s_->checkpoint_failed = false;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    if (!std::exchange(s_->checkpoint_failed, true)) {
      progress_.warn(fmt::format("no checkpoint at step {}: {}", s_->at.step, error.what()));
    }
  }
  return !s_->checkpoint_failed;
}

std::string Trainer::after_checkpoint(bool saved) const {
  if (saved) return "; continue with --resume";
  return fmt::format(
      "; what was learned since the last checkpoint is lost, since it could not be written{}",
      access(run_.checkpoint.c_str(), F_OK) == 0 ? "; --resume continues from the one before" : "");
}

void Trainer::load_checkpoint() {
  begin_attempt(0);
  s_->at = read_checkpoint(run_.checkpoint, identity(), *s_->adam, s_->network->layout(), problem_.J());
  s_->resumed_at = s_->at.step;
  s_->seconds_before = s_->at.seconds;
  progress_.say(fmt::format("continuing from step {}", s_->at.step));
}

}  // namespace occam
