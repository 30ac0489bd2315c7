#include "occam/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unistd.h>

#include "occam/core/error.hpp"
#include "occam/core/version.hpp"
#include "occam/io/safetensors.hpp"
#include "occam/simulate/problem_file.hpp"
#include "occam/train/column_ranges.hpp"

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
// Parameter targets beyond so many standard deviations (heavy-tailed priors) are cut off.
constexpr double kLargestTarget = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Ragged<const float> view(const Batch& batch) {
  return {{batch.data().data(), batch.rows(), batch.columns(), batch.columns()},
          batch.offsets().data(),
          batch.size()};
}

double entropy(std::span<const double> p) {
  double sum = 0;
  for (const double x : p) sum -= x > 0 ? x * std::log(x) : 0;
  return sum;
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
  std::unique_ptr<BatchSource> source;
  Batch validation, sample;
  std::vector<double> parameter_mean, parameter_scale;

  // Saved in checkpoints.
  std::int64_t step = 0;
  std::int64_t total = 0;  // 0: not settled yet
  std::int64_t attempt = 0;
  std::int64_t stale = 0;  // validations without improvement
  double best_loss = INFINITY;
  std::int64_t best_step = 0;
  double last_validation = NAN;
  std::vector<float> weights, average, best;
  json history = json::array();
  std::vector<std::int64_t> failed;  // (J) draws that gave no usable data, over the batches used
  double seconds_before = 0;         // spent before the last resume

  // Not saved.
  std::vector<Batch> ring;
  std::vector<std::int64_t> ring_number;
  std::vector<double> losses;  // of the data sets of the present batch
  double loss_sum = 0;
  std::int64_t loss_count = 0;
  Clock::time_point start = Clock::now(), attempt_start = Clock::now(), last_checkpoint = Clock::now();
  std::int64_t resumed_at = 0;

  double seconds() const { return seconds_before + seconds_since(start); }
};

// The evidential loss, plus that of the auxiliary head.
class Trainer::Loss final : public BundleLoss<float> {
 public:
  Loss(const Trainer& trainer, const Batch& batch, double lambda, double parameter_weight,
       std::vector<double>& losses)
      : t_(trainer),
        batch_(batch),
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
      const EvidentialTerms terms = evidential_loss(link_, lambda_, f, truth, d, scratch);
      std::copy(d.begin(), d.end(), d_models.row(b));
      losses_[static_cast<std::size_t>(first + b)] = terms.log_loss + lambda_ * terms.kl;
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
      const double target = std::clamp((theta[p] - t_.s_->parameter_mean[p]) / t_.s_->parameter_scale[p],
                                       -kLargestTarget, kLargestTarget);
      d[p] = static_cast<float>(2 * parameter_weight_ * (predicted[p] - target) / present);
    }
  }

  const Trainer& t_;
  const Batch& batch_;
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
    s_->source = std::make_unique<SimulatedSource>(problem_, run_.seed, Purpose::train, options_.batch);
    s_->sample = simulate(Purpose::standardise, kStandardiseSets);
    s_->validation = simulate(Purpose::validate, options_.validation_datasets);
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
  s_->source =
      std::make_unique<TableSource>(run_.table, std::move(kept), problem_.J(), run_.seed, options_.batch);
}

void Trainer::build_network(const json& network_options) {
  NetworkConfig& config = s_->config;
  config.options.architecture = problem_.ordered() ? "sequence" : "set";
  config.set_options(problem_.network(), problem_.name());
  config.set_options(network_options, "network");
  config.channels = problem_.D();
  config.models = problem_.J();
  config.parameters = options_.parameter_weight > 0 ? problem_.P() : 0;
  config.standardisation = learn_standardisation(view(s_->sample));
  learn_parameter_scales(s_->sample);
  s_->network = std::make_unique<Network<float>>(config);
  s_->gradient = std::make_unique<BatchGradient<float>>(*s_->network, pool_);
  s_->ring.resize(options_.replay > 1 ? kReplayRing : 2);
  s_->ring_number.assign(s_->ring.size(), -1);
  s_->losses.resize(static_cast<std::size_t>(options_.batch));
  s_->failed.assign(static_cast<std::size_t>(problem_.J()), 0);
}

void Trainer::learn_parameter_scales(const Batch& sample) {
  const auto P = static_cast<std::size_t>(problem_.P());
  s_->parameter_mean.assign(P, 0.0);
  s_->parameter_scale.assign(P, 1.0);
  for (std::size_t p = 0; p < P; ++p) {
    std::vector<double> values;
    for (std::int64_t b = 0; b < sample.size(); ++b) {
      if (const double theta = sample.parameters(b)[p]; std::isfinite(theta)) values.push_back(theta);
    }
    if (values.empty()) continue;
    const double count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    s_->parameter_mean[p] = mean;
    if (squares > 0) s_->parameter_scale[p] = std::sqrt(squares / count);
  }
}

void Trainer::begin_attempt(std::int64_t attempt) {
  s_->attempt = attempt;
  s_->step = 0;
  s_->weights.assign(static_cast<std::size_t>(s_->network->weight_count()), 0.0f);
  s_->network->layout().initialise<float>(s_->weights, run_.seed, static_cast<std::uint64_t>(attempt));
  s_->average = s_->weights;
  AdamOptions adam;
  adam.clip_norm = options_.clip;
  s_->adam = std::make_unique<Adam<float>>(s_->network->weight_count(), adam);
  s_->attempt_start = Clock::now();
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

void Trainer::step(std::int64_t step) {
  const double done = progress(step, options_.warmup, s_->total);
  const double ramp = options_.lambda_ramp > 0 ? std::min(1.0, done / options_.lambda_ramp) : 1.0;
  const double fade = std::max(0.0, 1 - done / options_.parameter_fade);
  const Batch& batch = batch_for(step);
  if (options_.replay <= 1 || step / kReplayRing % options_.replay == 0) {  // its first use
    for (std::size_t j = 0; j < s_->failed.size(); ++j) s_->failed[j] += batch.failed_draws()[j];
  }

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
  s_->gradient->run(s_->weights.data(), view(batch), loss, 1.0 / static_cast<double>(batch.size()), side);
  if (ahead) {
    s_->source->finish();
    s_->ring_number[slot] = next;
  }

  const double mean =
      std::accumulate(s_->losses.begin(), s_->losses.end(), 0.0) / static_cast<double>(batch.size());
  if (!std::isfinite(mean) || !std::isfinite(s_->gradient->squared_norm())) {
    save_checkpoint();
    throw Error(
        ErrorKind::internal, "the loss is not finite at step {}; try a smaller --learning-rate{}", step,
        run_.checkpoint.empty() ? ""
                                : fmt::format(" (the weights before that step are in {})", run_.checkpoint));
  }
  s_->loss_sum += mean;
  ++s_->loss_count;
  Adam<float>& adam = *s_->adam;
  adam.begin(options_.rate_schedule().at(step, s_->total), s_->gradient->squared_norm());
  const auto size = s_->network->weight_count();
  pool_.for_each(adam.chunks(), [&](std::int64_t chunk, int) {
    adam.update_chunk(chunk, s_->gradient->gradient().data(), s_->weights.data());
    average_chunk(chunk, size, options_.average, step, s_->weights.data(), s_->average.data());
  });
}

double Trainer::validate() {
  const Batch& data = s_->validation;
  std::vector<double> losses(static_cast<std::size_t>(data.size()));
  const Link link = link_of(options_);
  s_->gradient->forward(s_->average.data(), view(data),
                        [&](std::int64_t first, const Network<float>::Tape& tape) {
                          std::vector<double> f(static_cast<std::size_t>(tape.models.columns)), d(f.size()),
                              scratch(3 * f.size());
                          for (std::int64_t b = 0; b < tape.models.rows; ++b) {
                            std::copy_n(tape.models.row(b), f.size(), f.begin());
                            const std::int64_t truth = data.models()[static_cast<std::size_t>(first + b)];
                            losses[static_cast<std::size_t>(first + b)] =
                                evidential_loss(link, 0, f, truth, d, scratch).log_loss;
                          }
                        });
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

double Trainer::chance_loss() const {
  return entropy(problem_.model_prior());
}

bool Trainer::should_restart(double validation_loss) {
  if (validation_loss < chance_loss() - kChanceMargin) return false;
  if (s_->attempt >= options_.restarts) {
    progress_.say(fmt::format(
        "still at chance after step {} (validation loss {:.4f}); going on, since {} restarts did not help",
        s_->step, validation_loss, options_.restarts));
    return false;
  }
  progress_.say(
      fmt::format("still at chance after step {} (validation loss {:.4f}): restarting from another "
                  "initialisation ({} of {})",
                  s_->step, validation_loss, s_->attempt + 1, options_.restarts));
  return true;
}

// A run limited by time learns at the end of its warm-up how many steps that is.
void Trainer::settle_total() {
  if (s_->total > 0) return;
  if (options_.minutes <= 0) {
    s_->total = options_.iterations;
    return;
  }
  if (s_->step < std::max<std::int64_t>(options_.warmup, 1)) return;
  const double per_step = seconds_since(s_->attempt_start) / static_cast<double>(s_->step);
  const double left = 60 * options_.minutes - s_->seconds();
  s_->total = s_->step + std::max<std::int64_t>(1, static_cast<std::int64_t>(0.97 * left / per_step));
  progress_.say(
      fmt::format("{:.2f} ms per step: {} steps in {} minutes (the same result again: --iterations {})",
                  1e3 * per_step, s_->total, options_.minutes, s_->total));
}

NetworkFile Trainer::train() {
  if (run_.resume && !run_.checkpoint.empty() && access(run_.checkpoint.c_str(), F_OK) == 0) {
    load_checkpoint();
  } else {
    begin_attempt(0);
  }
  settle_total();
  while (s_->total == 0 || s_->step < s_->total) {
    if (progress_.stop_requested()) {
      save_checkpoint();
      throw Error(ErrorKind::interrupted, "stopped at step {}{}", s_->step,
                  run_.checkpoint.empty() ? "" : "; continue with --resume");
    }
    try {
      step(s_->step);
    } catch (const Error& error) {
      // A simulator that fails after hours must not cost those hours. (A loss that is not finite has its own
      // checkpoint.)
      if (error.kind() == ErrorKind::internal || run_.checkpoint.empty() || s_->step == 0) throw;
      save_checkpoint();
      throw Error(error.kind(), "{}; what was learned until step {} is kept: continue with --resume",
                  error.what(), s_->step)
          .with_detail(error.detail());
    }
    ++s_->step;
    settle_total();
    const bool chance_check = s_->step == options_.chance_step(s_->total);
    if (s_->step % options_.validate_every == 0 || s_->step == s_->total || chance_check) {
      const double loss = validate();
      s_->last_validation = loss;
      if (chance_check && s_->step < s_->total && should_restart(loss)) {
        begin_attempt(s_->attempt + 1);
        continue;
      }
      const double rate =
          static_cast<double>(options_.batch * (s_->step - s_->resumed_at)) / seconds_since(s_->start);
      if (run_.log) {
        run_.log({s_->step, s_->total,
                  s_->loss_sum / static_cast<double>(std::max<std::int64_t>(s_->loss_count, 1)), loss, rate,
                  s_->seconds()});
      }
      s_->history.push_back({s_->step, loss});
      s_->loss_sum = 0;
      s_->loss_count = 0;
      if (loss < s_->best_loss) {
        s_->best_loss = loss;
        s_->best_step = s_->step;
        s_->best = s_->average;
        s_->stale = 0;
      } else if (++s_->stale == options_.patience && options_.patience > 0) {
        progress_.say(fmt::format("no improvement in {} validations: stopping at step {}", options_.patience,
                                  s_->step));
        break;
      }
    }
    const double present = s_->loss_count > 0 ? s_->loss_sum / static_cast<double>(s_->loss_count) : NAN;
    progress_.update(
        s_->step, s_->total,
        fmt::format(
            "loss {:.4f}  validation {:.4f}  {:.0f} data sets/s", present, s_->last_validation,
            static_cast<double>(options_.batch * (s_->step - s_->resumed_at)) / seconds_since(s_->start)));
    if (!run_.checkpoint.empty() && seconds_since(s_->last_checkpoint) > 60 * run_.checkpoint_minutes) {
      save_checkpoint();
    }
  }
  if (s_->best.empty()) s_->best = s_->average;
  report_failures();
  return finished();
}

void Trainer::report_failures() {
  for (std::size_t j = 0; j < s_->failed.size(); ++j) {
    if (s_->failed[j] == 0) continue;
    progress_.say(fmt::format("model '{}': {} draws gave no usable data and were drawn again",
                              problem_.model_names()[j], s_->failed[j]));
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
  for (const Model& model : problem_.models()) {
    low = std::min(low, model.family().max_rows(problem_.size().low()));
    high = std::max(high, model.family().max_rows(problem_.size().high()));
  }
  return {low, high};
}

NetworkFile Trainer::finished() const {
  NetworkFile file;
  file.config = s_->network->config();
  file.link = link_of(options_);
  file.weights = s_->best;
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
  for (std::int64_t j = 0; j < problem_.J(); ++j) {
    file.parameter_mask.emplace_back(problem_.mask(j).begin(), problem_.mask(j).end());
  }
  std::tie(file.smallest_n, file.largest_n) = trained_sizes();
  file.ranges = column_ranges({&s_->sample, &s_->validation});
  TrainOptions copy = options_;
  file.record = {{"options", fields_json(fields(copy))},
                 {"seed", run_.seed},
                 {"steps", s_->step},
                 {"total", s_->total},
                 {"attempts", s_->attempt + 1},
                 {"best_step", s_->best_step},
                 {"validation_loss", s_->best_loss},
                 {"validation_history", s_->history},
                 {"data_sets", s_->step * options_.batch / options_.replay},
                 {"failed_draws", s_->failed},
                 {"source", run_.table ? "table" : "simulation"},
                 {"program", std::string("occam ") + kVersion}};
  if (run_.table) file.record["table"] = run_.table->fingerprint();
  if (run_.record_timing) {
    file.record["seconds"] = s_->seconds();
    file.record["data_sets_per_s"] = static_cast<double>(s_->step * options_.batch) / s_->seconds();
  }
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(kGoldenSets, s_->sample.size())));
  std::iota(first.begin(), first.end(), 0);
  Batch golden;
  gather(s_->sample, first, problem_.J(), golden);
  file.golden = make_golden(file, view(golden));
  return file;
}

void Trainer::save_checkpoint() {
  s_->last_checkpoint = Clock::now();
  if (run_.checkpoint.empty()) return;
  TrainOptions copy = options_;
  Safetensors contents;
  const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(nullptr); };
  contents.metadata = {{"format", "occam-checkpoint"},
                       {"format_version", "1"},
                       {"state", json{{"options", fields_json(fields(copy))},
                                      {"network", s_->config.json()},
                                      {"fingerprint", problem_.fingerprint()},
                                      {"seed", run_.seed},
                                      {"step", s_->step},
                                      {"total", s_->total},
                                      {"attempt", s_->attempt},
                                      {"stale", s_->stale},
                                      {"best_loss", number(s_->best_loss)},
                                      {"best_step", s_->best_step},
                                      {"last_validation", number(s_->last_validation)},
                                      {"loss_sum", s_->loss_sum},
                                      {"loss_count", s_->loss_count},
                                      {"history", s_->history},
                                      {"failed", s_->failed},
                                      {"seconds", s_->seconds()}}
                                     .dump()}};
  const ParameterLayout& layout = s_->network->layout();
  add_tensors(contents, layout, s_->weights, "weights/");
  add_tensors(contents, layout, s_->average, "average/");
  add_tensors(contents, layout, s_->adam->first_moment(), "m/");
  add_tensors(contents, layout, s_->adam->second_moment(), "v/");
  if (!s_->best.empty()) add_tensors(contents, layout, s_->best, "best/");
  write_safetensors(run_.checkpoint, contents);
}

void Trainer::load_checkpoint() {
  const Safetensors contents = read_safetensors(run_.checkpoint);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::bad_config, "{}: {}; remove it or train without --resume", run_.checkpoint, why);
  };
  const auto format = contents.metadata.find("format");
  if (format == contents.metadata.end() || format->second != "occam-checkpoint")
    refuse("this is not a checkpoint");
  try {
    const json state = json::parse(contents.metadata.at("state"));
    if (state.at("fingerprint") != problem_.fingerprint()) refuse("it belongs to another problem");
    if (state.at("seed") != run_.seed)
      refuse(fmt::format("it was made with --seed {}", state.at("seed").dump()));
    TrainOptions copy = options_;
    if (state.at("options") != fields_json(fields(copy))) refuse("it was made with other training options");
    if (state.at("network") != s_->config.json()) refuse("it was made for another network");
    begin_attempt(state.at("attempt").get<std::int64_t>());
    s_->step = s_->resumed_at = state.at("step").get<std::int64_t>();
    s_->total = state.at("total").get<std::int64_t>();
    s_->stale = state.at("stale").get<std::int64_t>();
    s_->best_loss = state.at("best_loss").is_null() ? INFINITY : state.at("best_loss").get<double>();
    s_->best_step = state.at("best_step").get<std::int64_t>();
    s_->last_validation =
        state.at("last_validation").is_null() ? NAN : state.at("last_validation").get<double>();
    s_->loss_sum = state.at("loss_sum").get<double>();
    s_->loss_count = state.at("loss_count").get<std::int64_t>();
    s_->history = state.at("history");
    s_->failed = state.at("failed").get<std::vector<std::int64_t>>();
    s_->failed.resize(static_cast<std::size_t>(problem_.J()));
    s_->seconds_before = state.at("seconds").get<double>();
  } catch (const json::exception& error) {
    refuse(fmt::format("its contents are not usable ({})", error.what()));
  } catch (const std::out_of_range&) {
    refuse("its contents are not usable");
  }
  const ParameterLayout& layout = s_->network->layout();
  s_->weights = take_tensors(contents, layout, "weights/", run_.checkpoint);
  s_->average = take_tensors(contents, layout, "average/", run_.checkpoint);
  s_->adam->first_moment() = take_tensors(contents, layout, "m/", run_.checkpoint);
  s_->adam->second_moment() = take_tensors(contents, layout, "v/", run_.checkpoint);
  s_->adam->set_step(s_->step);
  if (std::isfinite(s_->best_loss)) s_->best = take_tensors(contents, layout, "best/", run_.checkpoint);
  progress_.say(fmt::format("continuing from step {}", s_->step));
}

}  // namespace occam
