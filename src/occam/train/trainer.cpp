#include "occam/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <unistd.h>
#include <utility>

#include "occam/core/error.hpp"
#include "occam/data/precision.hpp"
#include "occam/train/batches.hpp"
#include "occam/train/checkpoint.hpp"
#include "occam/train/course.hpp"
#include "occam/train/parameter_targets.hpp"
#include "occam/train/record.hpp"
#include "occam/train/training_data.hpp"
#include "occam/train/warm_start.hpp"

namespace occam {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Samples of a head that draws any, in a validation: enough to judge a run by.
constexpr std::int64_t kValidationSamples = 100;
// Data sets of a validation, where no number is asked for; the end of a cycle is judged by all there are.
constexpr std::int64_t kValidationSets = 2000;
// Steps after which an engine is asked what came of them: it need not be waited for at each.
constexpr std::int64_t kReportEvery = 64;
// With more models than this a network gets wider (chosen on the 50 models of exact-zoo/fifty-peaks).
constexpr std::int64_t kFewModels = 16;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double entropy(std::span<const double> p) {
  double sum = 0;
  for (const double x : p) sum -= x > 0 ? x * std::log(x) : 0;
  return sum;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The first member is what a single run gives.
std::uint64_t member_seed(const TrainRun& run) {
  return run.seed + static_cast<std::uint64_t>(run.member) * 0x9e3779b97f4a7c15u;
}

Link link_of(const TrainOptions& options) {
  const auto& names = link_names();
  return static_cast<Link>(std::find(names.begin(), names.end(), options.link) - names.begin());
}

LearningPlan plan_of(const TrainOptions& options, const TrainRun& run) {
  LearningPlan plan;
  plan.link = link_of(options);
  plan.optimiser = options.optimiser == "muon" ? Optimiser::muon : Optimiser::adam;
  plan.clip = options.clip;
  plan.average = options.average;
  plan.seed = member_seed(run);
  return plan;
}

}  // namespace

// What training changes, and what it needs at hand.
struct Trainer::State {
  TrainingData data;
  NetworkConfig config;
  std::unique_ptr<Network<float>> network;
  LearningPlan plan;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<BatchFeed> batches;
  std::unique_ptr<Course> course;

  TrainingProgress at;  // saved in checkpoints

  // Not saved.
  NetworkAnswers answers;
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

namespace {

// Where models are many, what tells them apart is, too: a wider summary, more blocks of products, finer
// waves.
json widths_for(const Problem& problem) {
  if (problem.J() <= kFewModels) return json::object();
  const std::int64_t summary = std::min<std::int64_t>(256, (problem.J() + 15) / 16 * 16);
  return {{"summary", summary}, {"post_width", 2 * summary}, {"moment_blocks", 8}, {"waves", kMoreWaves}};
}

}  // namespace

NetworkConfig network_for(const Problem& problem, const json& options) {
  NetworkConfig config;
  config.options.architecture = problem.ordered() ? "sequence" : "set";
  config.set_options(widths_for(problem), problem.name());
  if (problem.ordered()) config.options.growth = false;
  config.set_options(problem.network(), problem.name());
  config.set_options(options, "network");
  return config;
}

namespace {

// Statistics of labels and places are so many that, times N as well, steps were too large for them: trainings
// of series of several columns went astray after some thousand, and those of one, or of sets whose rows
// belong together, were better without, too (bench/unseen). What columns say of each other is little beside
// it.
void settle_growth(NetworkConfig& config, const Problem& problem, const json& options) {
  if (problem.network().contains("growth") || options.contains("growth")) return;
  const Structure& structure = config.statistics.structure;
  if (!structure.labels.columns.empty() || !structure.places.columns.empty()) config.options.growth = false;
}

}  // namespace

double chance_loss(const Problem& problem) {
  return entropy(problem.model_prior());
}

Trainer::Trainer(Problem problem, json network_options, TrainOptions options, TrainRun run, ThreadPool& pool,
                 ProgressSink& progress)
    : problem_(std::move(problem)),
      options_(std::move(options)),
      run_(std::move(run)),
      pool_(pool),
      progress_(progress),
      s_(std::make_unique<State>()) {
  s_->data =
      open_training_data(problem_, run_.table, run_.seed, member_seed(run_), options_, pool_, progress_);
  build_network(network_options);
  warn_of_lost_digits();
  s_->engine = make_engine(run_.device, s_->config, pool_);
  s_->batches = make_batches(std::move(s_->data.source), options_.replay, pool_);
  s_->course = std::make_unique<Course>(options_, chance_loss(problem_), progress_, s_->data.pass);
  s_->at.failed.assign(static_cast<std::size_t>(problem_.J()), 0);
}

Trainer::~Trainer() = default;

void Trainer::build_network(const json& network_options) {
  NetworkConfig& config = s_->config;
  if (run_.start) {
    check_warm_start(*run_.start, problem_);
    config = run_.start->config;
  } else {
    config = network_for(problem_, network_options);
    config.channels = problem_.D();
    config.missing = places_of(problem_.missing());
    config.learn_input(s_->data.sample.view(), problem_.ordered(), label_groups(problem_.columns()),
                       columns_of(problem_.columns(), Role::design));
    settle_growth(config, problem_, network_options);
  }
  check_head_options();
  config.models = problem_.J();
  config.parameters = options_.parameter_weight > 0 ? problem_.P() : 0;
  s_->plan = plan_of(options_, run_);
  s_->plan.targets = learn_targets(problem_, s_->data.sample, config.options.inputs == "robust");
  if (run_.start) keep_scales(*run_.start, problem_, s_->plan.targets);
  s_->network = std::make_unique<Network<float>>(config);
  if (s_->network->fewest_sets() > 1 && options_.batch < 2) {
    throw Error(ErrorKind::usage,
                "the head {} compares the data sets of a batch with each other: --batch at least 2",
                config.options.head);
  }
}

void Trainer::warn_of_lost_digits() const {
  for (const CoarseColumn& coarse : coarse_columns(s_->data.sample.view())) {
    progress_.warn(fmt::format(
        "column '{}' has values of about {:.3g}, which are kept in steps of {:.3g} (single precision), and "
        "those "
        "of a data set differ by little more or not at all: let the simulator, and the data, leave out what "
        "all have in "
        "common",
        problem_.columns()[static_cast<std::size_t>(coarse.column)].name, coarse.value, coarse.step));
  }
}

void Trainer::check_head_options() const {
  const NetworkConfig& config = s_->config;
  if (config.head_kind().concentrations) return;
  if (options_.lambda == 0 && link_of(options_) == Link::exp) return;
  throw Error(ErrorKind::usage, "link and lambda belong to the head {}; the head {} has neither",
              kDefaultHead, config.options.head);
}

NetworkFile Trainer::train() {
  begin();
  while (s_->course->goes_on(s_->at)) {
    stop_if_asked();
    step();
    if (!s_->fault.empty()) break;
    settle_total();
    if (s_->course->validates(s_->at) && !judge()) break;
    show_progress();
    if (checkpoint_is_due()) try_checkpoint();
  }
  return finished();
}

// By the clock of rank 0: all ranks have a part in it.
bool Trainer::checkpoint_is_due() {
  if (run_.checkpoint.empty()) return false;
  bool due = seconds_since(s_->last_checkpoint) > 60 * run_.checkpoint_minutes;
  pool_.ranks().broadcast_values(std::span(&due, 1));
  return due;
}

void Trainer::begin() {
  // Rank 0 says whether there is one: it alone writes them.
  bool there = run_.resume && !run_.checkpoint.empty() && access(run_.checkpoint.c_str(), F_OK) == 0;
  pool_.ranks().broadcast_values(std::span(&there, 1));
  if (there) {
    load_checkpoint();
  } else {
    begin_attempt(0);
  }
  settle_total();
}

void Trainer::begin_attempt(std::int64_t attempt) {
  s_->at.attempt = attempt;
  s_->at.step = 0;
  s_->course->forget_looks(s_->at);
  std::vector<float> weights(static_cast<std::size_t>(s_->network->weight_count()));
  s_->network->layout().initialise<float>(weights, member_seed(run_), static_cast<std::uint64_t>(attempt));
  if (run_.start) grow_weights(*run_.start, start_member(run_), problem_, *s_->network, weights);
  s_->engine->learn(s_->plan, fresh_state(std::move(weights), s_->plan.optimiser), 0);
  s_->attempt_start = Clock::now();
  s_->resumed_at = 0;
}

void Trainer::load_checkpoint() {
  LearningState state;
  s_->at = read_checkpoint(run_.checkpoint, run_identity(problem_, options_, run_, s_->config),
                           s_->network->layout(), problem_.J(), state);
  s_->engine->learn(s_->plan, std::move(state), s_->at.step);
  s_->attempt_start = Clock::now();
  s_->resumed_at = s_->at.step;
  s_->seconds_before = s_->at.seconds;
  progress_.say(fmt::format("continuing from step {}", s_->at.step));
}

void Trainer::stop_if_asked() {
  if (!progress_.stop_requested()) return;
  const bool saved = try_checkpoint();
  throw Error(saved ? ErrorKind::interrupted : ErrorKind::io, "stopped at step {}{}", s_->at.step,
              run_.checkpoint.empty() ? "" : after_checkpoint(saved));
}

void Trainer::step() {
  try {
    s_->engine->step(*s_->batches, s_->course->settings(s_->at));
  } catch (const Error& error) {
    // A simulator that fails after hours must not cost those hours.
    if (error.kind() == ErrorKind::internal || run_.checkpoint.empty() || s_->at.step == 0) throw;
    const bool saved = try_checkpoint();
    throw Error(error.kind(), "{}; what was learned until step {} is {}", error.what(), s_->at.step,
                saved ? "kept: continue with --resume" : "not kept: the checkpoint could not be written")
        .with_detail(error.detail());
  }
  ++s_->at.step;
  if (s_->at.step % kReportEvery == 0 || s_->course->validates(s_->at)) take_report();
}

void Trainer::take_report() {
  const StepReport& report = s_->engine->take_report();
  for (const double loss : report.losses) s_->at.loss_sum += loss;
  s_->at.loss_count += static_cast<std::int64_t>(report.losses.size());
  for (std::size_t j = 0; j < report.failed.size(); ++j) s_->at.failed[j] += report.failed[j];
  if (!report.fault || !s_->fault.empty()) return;
  s_->at.step = *report.fault;
  end_at_fault();
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
  s_->at.best = s_->engine->state().average;
}

// Of a validation. Whoever asks for more data sets in a run of a given length wants less chance in it.
std::int64_t Trainer::judged_sets() const {
  const std::int64_t all = s_->data.validation.size();
  const bool asked = options_.validation_datasets > 0 && !options_.automatic();
  return asked ? all : std::min(kValidationSets, all);
}

// By a few data sets, with what these were off when all were asked: at first, and at every look of the
// course.
double Trainer::validate() {
  const std::vector<float>& weights = s_->engine->state().average;
  const double few = mean_of(validation_losses(weights, judged_sets()));
  TrainingProgress& at = s_->at;
  if (options_.automatic() && at.history.empty()) {
    const double all = mean_of(validation_losses(weights, s_->data.validation.size()));
    if (std::isfinite(all - few)) at.beyond_few = all - few;
  }
  return few + at.beyond_few;
}

std::vector<double> Trainer::validation_losses(const std::vector<float>& weights, std::int64_t sets) {
  const Batch& data = s_->data.validation;
  Ragged<const float> view = data.view();
  view.sets = sets;
  view.x.rows = view.offsets[sets];
  s_->engine->answer(weights, view, kValidationSamples, s_->answers);
  const auto J = static_cast<std::size_t>(problem_.J());
  std::vector<double> losses(static_cast<std::size_t>(sets)), f(J), d(J), scratch(3 * J);
  for (std::size_t b = 0; b < losses.size(); ++b) {
    const std::int64_t truth = data.models()[b];
    if (!s_->answers.log_p.empty()) {
      losses[b] = -s_->answers.log_p[b * J + static_cast<std::size_t>(truth)];
      continue;
    }
    std::copy_n(s_->answers.models.begin() + static_cast<std::ptrdiff_t>(b * J), J, f.begin());
    losses[b] = evidential_loss(s_->plan.link, 0, f, truth, d, scratch).log_loss;
  }
  return losses;
}

bool Trainer::judge() {
  TrainingProgress& at = s_->at;
  const double loss = validate();
  at.last_validation = loss;
  if (s_->course->at_chance_check(at) && at.step < at.total && !run_.start &&
      s_->course->restarts(at, loss)) {
    begin_attempt(at.attempt + 1);
    settle_total();
    return true;
  }
  if (run_.log) {
    const double rate = static_cast<double>(options_.batch) * s_->steps_per_s();
    run_.log({at.step, at.total, at.loss_sum / static_cast<double>(std::max<std::int64_t>(at.loss_count, 1)),
              loss, rate, s_->seconds()});
  }
  at.history.push_back({at.step, loss});
  at.loss_sum = 0;
  at.loss_count = 0;
  return judge_length(loss);
}

bool Trainer::judge_length(double loss) {
  TrainingProgress& at = s_->at;
  const std::vector<float>& weights = s_->engine->state().average;
  if (!options_.automatic()) {
    const bool stops = s_->course->judge_validation(at, loss, weights);
    if ((stops || at.step == at.total) && at.best_step != at.step) {
      const std::int64_t sets = judged_sets();
      s_->course->keep_last(at, validation_losses(weights, sets), validation_losses(at.best, sets), weights);
    }
    return !stops;
  }
  if (at.step < at.total) return true;
  const std::int64_t sets = s_->data.validation.size();
  const std::vector<double> now = validation_losses(weights, sets);
  const std::vector<double> before =
      at.best.empty() ? std::vector<double>() : validation_losses(at.best, sets);
  if (s_->course->look(at, now, before, weights)) go_back();
  return true;
}

// To the best weights, without the momentum that led away from them.
void Trainer::go_back() {
  LearningState state = s_->engine->state();
  state.weights = state.average = s_->at.best;
  std::fill(state.first_moment.begin(), state.first_moment.end(), 0.0f);
  std::fill(state.momentum.begin(), state.momentum.end(), 0.0f);
  s_->engine->learn(s_->plan, std::move(state), s_->at.step);
}

// By the clock of rank 0.
void Trainer::settle_total() {
  double clock[] = {s_->seconds(), s_->steps_per_s()};
  if (options_.minutes > 0 && s_->at.total == 0) pool_.ranks().broadcast_values(std::span<double>(clock));
  s_->course->settle_total(s_->at, clock[0], clock[1]);
}

// Only figures that exist, so that one that is not a number would be seen.
void Trainer::show_progress() {
  const TrainingProgress& at = s_->at;
  fmt::memory_buffer note;  // on the stack: this runs after every step
  const auto end = std::back_inserter(note);
  if (at.loss_count > 0)
    fmt::format_to(end, "loss {:.4f}  ", at.loss_sum / static_cast<double>(at.loss_count));
  if (!at.history.empty()) fmt::format_to(end, "validation {:.4f}  ", at.last_validation);
  if (at.expected_gain >= 0) fmt::format_to(end, "twice as long: {:.4f} less  ", at.expected_gain);
  fmt::format_to(end, "{:.0f} data sets/s", static_cast<double>(options_.batch) * s_->steps_per_s());
  progress_.update(at.step, at.total, {note.data(), note.size()});
}

std::string Trainer::doubt() const {
  return s_->fault.empty() ? s_->course->doubt(s_->at.best_loss) : s_->fault;
}

NetworkFile Trainer::finished() {
  if (s_->at.best.empty()) s_->at.best = s_->engine->state().average;
  if (run_.keep_checkpoint) try_checkpoint();
  report_failures();
  if (const std::string remark = s_->engine->remark(); !remark.empty()) progress_.say(remark);
  const std::string doubt = this->doubt();
  if (!doubt.empty()) {
    progress_.warn(
        fmt::format("the network is of no use: {}. Its file says so, and so will its answers. {}", doubt,
                    s_->fault.empty() ? "Do the models differ at all? `occam simulate` shows what they make; "
                                        "longer training (--iterations) may help"
                                      : "Try a smaller --learning-rate"));
  }
  NetworkFile file =
      trained_network(problem_, options_, run_, s_->network->config(), s_->plan, s_->data, s_->at, doubt);
  if (run_.record_timing) {
    file.record["seconds"] = s_->seconds();
    file.record["threads"] = pool_.threads();
    if (!pool_.ranks().is_alone()) file.record["ranks"] = pool_.ranks().size();
    file.record["device"] = run_.device;
    file.record["data_sets_per_s"] = static_cast<double>(s_->at.step * options_.batch) / s_->seconds();
  }
  return file;
}

void Trainer::report_failures() {
  for (std::size_t j = 0; j < s_->at.failed.size(); ++j) {
    if (s_->at.failed[j] == 0) continue;
    progress_.warn(fmt::format("model '{}': {} draws gave no usable data and were drawn again",
                               problem_.model_names()[j], s_->at.failed[j]));
  }
}

// A checkpoint that cannot be written (a full disk) is no reason to end a training that goes well.
bool Trainer::try_checkpoint() {
  s_->last_checkpoint = Clock::now();
  if (run_.checkpoint.empty()) return true;
  take_report();
  s_->at.seconds = s_->seconds();
  try {
    write_checkpoint(run_.checkpoint, run_identity(problem_, options_, run_, s_->config), s_->at,
                     s_->engine->state(), s_->network->layout());
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

}  // namespace occam
