// Evidence accumulation with Lévy noise. In each trial a decision variable x runs between two boundaries:
//   z ~ U(zr +- szr/2),  v ~ N(v_condition, sv),  t ~ U(t0 +- st0/2);   x = a z at first
//   x += v dt + dt^(1/alpha) / sqrt(2) S_alpha   until x <= 0 (response 0) or x >= a (response 1)
//   rt = steps dt + t, or (steps - u) dt + t with u uniform in 0 to 1                             [s]
// S_alpha is standard symmetric alpha-stable; alpha = 2 is the diffusion model with unit noise, exactly
// sqrt(dt) N(0, 1). Rows: condition (1 or 2), response, rt. The condition is a design column: it may be
// given, and without a design there are n trials of condition 1, then n of condition 2. A trial without a
// decision in max_steps steps is drawn again from its start, as a laboratory leaves out trials without an
// answer; the same for every parameter. A data set one of whose trials fails to end 100 times in a row gives
// no usable data. Problem decision-making: six nested models, N ~ U{1..600} trials with any share of the
// conditions; its variants have N ~ U{1..300} trials in each. Source: third study of Radev et al. 2021
// (Amortized Bayesian model comparison with evidential deep learning), Table 1, where alpha = 0 stands for
// Gaussian noise; the model is that of Voss et al. 2019. Differences: N is drawn for every data set, there
// for every batch; there a trial that does not end counts as decided.
#include "occam/models/decision_making.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/core/stop.hpp"
#include "occam/models/decision_trial.hpp"
#include "occam/parallel/loop_device.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/design.hpp"

namespace occam {
namespace {

constexpr std::int64_t kColumns = 3;
// A table of the noise takes about as long as the formula takes for this many trials.
constexpr std::int64_t kTrialsForTable = 8;
// Trials that a device gets at a time, as far as whole data sets allow it: 16 bytes each.
constexpr std::int64_t kTrialsOnDevice = 1 << 20;

struct Settings {
  double dt_s = 0.001;
  std::int64_t max_steps = 5000;
  bool continuous_time = false;
};

enum Index { kV1, kV2, kA, kT0, kZr, kAlpha, kSt0, kSv, kSzr };

std::int64_t trials_of(const SimulationRequest& request) {
  return request.designed ? request.n : 2 * request.n;
}

bool in_first_condition(const SimulationRequest& request, std::int64_t trial) {
  return request.designed ? request.out[static_cast<std::size_t>(kColumns * trial)] == 1.0f
                          : trial < request.n;
}

LevyNoise levy_noise(const SimulationRequest& request, const Settings& settings) {
  const double alpha = request.theta[kAlpha];
  return {alpha, std::pow(settings.dt_s, 1.0 / alpha) / std::sqrt(2.0)};
}

// Without the noise.
TrialSet trial_set(const SimulationRequest& request, const Settings& settings, double root_dt) {
  const std::span<const double> theta = request.theta;
  TrialSet set;
  set.v[0] = theta[kV1];
  set.v[1] = theta[kV2];
  set.sv = theta[kSv];
  set.a = theta[kA];
  set.zr = theta[kZr];
  set.szr = theta[kSzr];
  set.t0 = theta[kT0];
  set.st0 = theta[kSt0];
  set.dt = settings.dt_s;
  set.root_dt = root_dt;
  set.max_steps = static_cast<float>(settings.max_steps);
  set.gaussian = theta[kAlpha] == 2.0;
  set.continuous_time = settings.continuous_time;
  return set;
}

void write_row(const SimulationRequest& request, std::int64_t trial, float response, float rt) {
  float* row = request.out.data() + kColumns * trial;
  if (!request.designed) row[0] = in_first_condition(request, trial) ? 1.0f : 2.0f;
  row[1] = response;
  row[2] = rt;
}

enum class Noise { gaussian, levy_formula, levy_table };

// The tables of the data sets under way. Each has a number, and is overwritten when nothing uses it any more.
class Tables {
 public:
  static constexpr std::int32_t kNone = -1;

  // A new one, with one user.
  std::int32_t add(const LevyNoise& noise) {
    const auto free = static_cast<std::size_t>(std::ranges::find(users_, 0) - users_.begin());
    if (free == users_.size()) {
      users_.push_back(0);
      tables_.emplace_back();
    }
    tables_[free].fill(noise);
    return take(static_cast<std::int32_t>(free));
  }
  std::int32_t take(std::int32_t table) {
    if (table != kNone) ++users_[static_cast<std::size_t>(table)];
    return table;
  }
  void leave(std::int32_t table) {
    if (table != kNone) --users_[static_cast<std::size_t>(table)];
  }
  const LevyLine* lines() const { return tables_.front().angle; }

 private:
  std::vector<LevyTable> tables_;
  std::vector<int> users_;  // of each
};

// The trials of many data sets, each data set with its parameters.
class Trials : public WalkQueue {
 public:
  Trials(std::span<SimulationRequest> requests, const Settings& settings)
      : requests_(requests),
        settings_(settings),
        root_dt_(std::sqrt(settings.dt_s)),
        sets_(requests.size()) {}

  // The queue gives out the data sets with this noise.
  void start(Noise noise) {
    noise_ = noise;
    current_ = -1;
    trial_ = trials_ = 0;
  }

  bool exchange(Walk& walk) override {
    end_if_stopped();  // walks may be of millions of steps, and there are thousands
    if (walk.request >= 0 && !finish(walk)) return true;
    while (next_trial(walk)) {
      set_up(walk);
      // A walk may also start on a boundary, should zr and szr allow it.
      if (!walk.decided()) return true;
      finish(walk);
    }
    return false;
  }

  const LevyLine* tables() const override { return noise_ == Noise::levy_table ? tables_.lines() : nullptr; }

 private:
  static Noise noise_of(const SimulationRequest& request) {
    if (request.theta[kAlpha] == 2.0) return Noise::gaussian;
    return trials_of(request) < kTrialsForTable ? Noise::levy_formula : Noise::levy_table;
  }

  // Moves on to the next trial of this data set or of the next one; false at the end.
  bool next_trial(Walk& walk) {
    tables_.leave(std::exchange(walk.table, Tables::kNone));
    while (trial_ == trials_) {
      if (++current_ == static_cast<std::int64_t>(requests_.size())) {
        --current_;
        return false;
      }
      SimulationRequest& request = requests_[static_cast<std::size_t>(current_)];
      if (noise_of(request) != noise_) continue;
      begin_data_set(request);
    }
    const std::uint32_t* seed = &seeds_[static_cast<std::size_t>(3 * trial_)];
    walk.rng = {seed[0], seed[1], seed[2], 1};
    walk.request = current_;
    walk.trial = trial_++;
    walk.redrawn = 0;
    walk.table = tables_.take(table_);
    return true;
  }

  // All seeds are drawn now, so that the stream ends at the same place whatever becomes of the trials.
  void begin_data_set(SimulationRequest& request) {
    trial_ = 0;
    trials_ = trials_of(request);
    request.rows = trials_;
    set_of(current_) = trial_set(request, settings_, root_dt_);
    seeds_.resize(static_cast<std::size_t>(3 * trials_));
    for (std::uint32_t& seed : seeds_) seed = request.rng->bits32();
    if (noise_ == Noise::gaussian) return;
    levy_ = levy_noise(request, settings_);
    if (noise_ == Noise::levy_formula) return;
    tables_.leave(table_);
    table_ = tables_.add(levy_);
  }

  void set_up(Walk& walk) {
    const SimulationRequest& request = requests_[static_cast<std::size_t>(walk.request)];
    set_up_walk(set_of(walk.request), in_first_condition(request, walk.trial), walk);
    if (noise_ != Noise::gaussian && walk.redrawn == 0) walk.levy = levy_;
  }

  TrialSet& set_of(std::int64_t request) { return sets_[static_cast<std::size_t>(request)]; }

  // Writes the row of a decided walk. An undecided one starts again: then the answer is false.
  bool finish(Walk& walk) {
    SimulationRequest& request = requests_[static_cast<std::size_t>(walk.request)];
    while (!walk.decided()) {
      if (request.rows == 0 || ++walk.redrawn > kMaxRedraws) {
        request.rows = 0;  // no usable data; leave out the trials that have not begun
        if (walk.request == current_) trial_ = trials_;
        return true;
      }
      set_up(walk);
      if (!walk.decided()) return false;
    }
    write_row(request, walk.trial, walk.y > 0.0f ? 1.0f : 0.0f, response_time(set_of(walk.request), walk));
    return true;
  }

  std::span<SimulationRequest> requests_;
  Settings settings_;
  double root_dt_;
  std::vector<TrialSet> sets_;  // of the requests that have begun
  Noise noise_ = Noise::gaussian;
  std::int64_t current_ = -1;  // data set whose trials are given out
  std::int64_t trial_ = 0;     // the next of them
  std::int64_t trials_ = 0;
  std::vector<std::uint32_t> seeds_;  // (trials, 3) of the current data set
  LevyNoise levy_;                    // of the current data set
  std::int32_t table_ = Tables::kNone;
  Tables tables_;
};

// The loop of trials of some data sets for a device, in the order in which it had best begin them.
class TrialsLoop {
 public:
  TrialsLoop(std::span<SimulationRequest> requests, const Settings& settings) : requests_(requests) {
    for (const SimulationRequest& request : requests_) {
      sets_.push_back(trial_set(request, settings, std::sqrt(settings.dt_s)));
      if (!sets_.back().gaussian) sets_.back().levy = levy_noise(request, settings);
      trials_ += trials_of(request);
    }
    order_.resize(requests_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t k, std::size_t l) {
      return expected_length(sets_[k]) > expected_length(sets_[l]);
    });
  }

  std::int64_t trials() const { return trials_; }
  std::size_t bytes() const {
    return TrialsHead::bytes(static_cast<std::int64_t>(requests_.size()), trials_);
  }

  void write(std::byte* to) const {
    auto* const head = reinterpret_cast<TrialsHead*>(to);
    *head = {static_cast<std::int64_t>(requests_.size()), trials_};
    std::copy(sets_.begin(), sets_.end(), head->set_array());
    TrialInput* input = head->trial_array();
    for (const std::size_t k : order_) {
      const SimulationRequest& request = requests_[k];
      for (std::int64_t trial = 0; trial < trials_of(request); ++trial, ++input) {
        for (std::uint32_t& word : input->seed) word = request.rng->bits32();
        input->set_and_condition =
            static_cast<std::uint32_t>(2 * k) + (in_first_condition(request, trial) ? 1u : 0u);
      }
    }
  }

  void read(const TrialOutput* output) {
    for (const std::size_t k : order_) {
      SimulationRequest& request = requests_[k];
      request.rows = trials_of(request);
      for (std::int64_t trial = 0; trial < trials_of(request); ++trial, ++output) {
        if (output->response < 0.0f) request.rows = 0;
        write_row(request, trial, output->response, output->rt);
      }
    }
  }

 private:
  std::span<SimulationRequest> requests_;
  std::vector<TrialSet> sets_;
  std::vector<std::size_t> order_;
  std::int64_t trials_ = 0;
};

// Runs the trials of some data sets on a device: all of them, since none waits for another there.
void run_trials_on(LoopDevice& device, std::span<SimulationRequest> requests, const Settings& settings) {
  TrialsLoop loop(requests, settings);
  const LoopDevice::Turn lane(device);
  loop.write(lane->input(loop.bytes()));
  static constexpr DeviceLoop kLoop = {[](const std::byte* in, std::byte* out, std::int64_t items) {
                                         for (std::int64_t item = 0; item < items; ++item) {
                                           reinterpret_cast<TrialOutput*>(out)[item] =
                                               reinterpret_cast<const TrialsHead*>(in)->run(item);
                                         }
                                       },
                                       launch_trials};
  loop.read(reinterpret_cast<const TrialOutput*>(
      lane->run(kLoop, loop.trials(), static_cast<std::size_t>(loop.trials()) * sizeof(TrialOutput))));
}

class LevyAccumulator : public Family {
 public:
  std::string name() const override { return "levy-accumulator"; }
  std::string description() const override {
    return "two-choice response times: evidence accumulation with Gaussian or Lévy noise";
  }
  std::vector<Column> columns() const override {
    return {{"condition", "1 or 2", Role::design},
            {"response", "1 for the upper boundary, 0 for the lower"},
            {"rt", "response time [s]"}};
  }
  std::vector<Parameter> parameters() const override {
    return {drift("v1", "mean drift in condition 1 [1/s]", Prior::uniform(0, 6)),
            drift("v2", "mean drift in condition 2 [1/s]", Prior::uniform(-6, 0)),
            {"a", "distance between the boundaries", 0.0, kInfinity, Prior::uniform(0.6, 3), true},
            {"t0", "mean non-decision time [s]", 0.0, kInfinity, Prior::uniform(0.2, 1.5)},
            {"zr", "mean starting point, as a part of a", 0.0, 1.0, Prior::fixed(0.5)},
            {"alpha", "stability of the noise: 2 Gaussian, 1 Cauchy", 1.0, 2.0, Prior::fixed(2)},
            {"st0", "range of the non-decision time [s]", 0.0, kInfinity, Prior::fixed(0)},
            {"sv", "standard deviation of the drift [1/s]", 0.0, kInfinity, Prior::fixed(0)},
            {"szr", "range of the starting point, as a part of a", 0.0, 1.0, Prior::fixed(0)}};
  }

  Fields settings() override {
    // Steps are counted in floats, which hold whole numbers up to 2^24.
    return {
        field("dt_s", settings_.dt_s, "time step [s]").above(0),
        field("max_steps", settings_.max_steps, "steps after which a trial is drawn again")
            .at_least(1)
            .at_most(1 << 24),
        field("continuous_time", settings_.continuous_time,
              "decisions fall anywhere within their last step, so that no grid of times tells models without "
              "st0 from those with it")};
  }
  // Problems from before this setting are what they were.
  nlohmann::json identity() const override {
    nlohmann::json identity = settings_json();
    if (!settings_.continuous_time) identity.erase("continuous_time");
    return identity;
  }

  bool takes_design() const override { return true; }
  std::int64_t max_rows(std::int64_t n) const override { return 2 * n; }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    SimulationRequest request{theta, n, &rng, out};
    simulate_many({&request, 1});
    return request.rows;
  }

  void simulate_many(std::span<SimulationRequest> requests) const override {
    Trials trials(requests, settings_);
    const auto last = static_cast<float>(settings_.max_steps);
    trials.start(Noise::gaussian);
    run_gaussian_walks(trials, last);
    for (const Noise noise : {Noise::levy_formula, Noise::levy_table}) {
      trials.start(noise);
      run_levy_walks(trials, last);
    }
  }

  bool has_device_code() const override { return true; }
  void simulate_many_on(LoopDevice& device, std::span<SimulationRequest> requests) const override {
    while (!requests.empty()) {
      std::size_t count = 0;
      std::int64_t trials = 0;
      while (count < requests.size() &&
             (count == 0 || trials + trials_of(requests[count]) <= kTrialsOnDevice)) {
        trials += trials_of(requests[count++]);
      }
      run_trials_on(device, requests.first(count), settings_);
      requests = requests.subspan(count);
    }
  }

  // Rows: condition, response, rt.
  std::vector<Disturbance> disturbances() const override {
    using Data = MutableData;
    return {{"shift", "all response times later by this much", "s", 0, 5,
             [](double by, Rng&, Data data) {
               for (std::int64_t i = 0; i < data.n; ++i) data.at(i, 2) += static_cast<float>(by);
             },
             nullptr},
            {"scale", "all response times longer by this many percent", "%", 0, 400,
             [](double percent, Rng&, Data data) {
               for (std::int64_t i = 0; i < data.n; ++i)
                 data.at(i, 2) *= static_cast<float>(1.0 + percent / 100.0);
             },
             nullptr},
            {"round", "response times rounded to multiples of this", "s", 0, 0.5,
             [](double step, Rng&, Data data) {
               for (std::int64_t i = 0; i < data.n; ++i)
                 data.at(i, 2) = static_cast<float>(std::round(data.at(i, 2) / step) * step);
             },
             nullptr},
            {"flip", "a share of the responses turned into the other", "", 0, 1,
             [](double share, Rng& rng, Data data) {
               change_share(share, rng, data, [&](std::int64_t i) { data.at(i, 1) = 1.0f - data.at(i, 1); });
             },
             nullptr},
            {"contaminants", "a share of the trials replaced by guesses: any response, rt from 0 to 5 s", "",
             0, 1,
             [](double share, Rng& rng, Data data) {
               change_share(share, rng, data, [&](std::int64_t i) {
                 data.at(i, 1) = rng.uniform() < 0.5 ? 0.0f : 1.0f;
                 data.at(i, 2) = static_cast<float>(rng.uniform(0.0, 5.0));
               });
             },
             nullptr},
            {"fast_drift", "drifts of this size, beyond the priors from 6 on", "1/s", 6, 14, nullptr,
             [](const Model& model, double v) {
               return with_priors(model, {{"v1", Prior::fixed(v)}, {"v2", Prior::fixed(-v)}});
             }},
            {"wide_threshold", "boundaries this far apart, beyond the priors from 3 on", "", 3, 6, nullptr,
             [](const Model& model, double a) {
               return with_priors(model, {{"a", Prior::fixed(a)}});
             }}};
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  static Parameter drift(std::string name, std::string description, Prior prior) {
    Parameter parameter{std::move(name), std::move(description)};
    parameter.prior = std::move(prior);
    return parameter;
  }

  Settings settings_;
};

// As published: n trials in each of two conditions. The priors are those of st0 in models 4, 5 and 6.
ProblemSpec six_accumulators(const Prior& st0_4, const Prior& st0_5, const Prior& st0_6,
                             const nlohmann::json& settings = nlohmann::json::object()) {
  const auto family = make_family("levy-accumulator", settings, "decision-making");
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(1, 300);
  // Predicting the parameters beside the model carries the training off its plateau at chance.
  spec.network = std::make_shared<const nlohmann::json>(nlohmann::json{{"modules", 2},
                                                                       {"moments", 0},
                                                                       {"inputs", "plain"},
                                                                       {"growth", false},
                                                                       {"statistics", false},
                                                                       {"inv_width", 96},
                                                                       {"after_width", 96},
                                                                       {"after_layers", 2},
                                                                       {"equiv_width", 64},
                                                                       {"post_width", 128},
                                                                       {"summary", 32}});
  spec.train = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"optimiser", "adam"}, {"iterations", 20000}, {"batch", 128}, {"learning_rate", 2e-3}});
  // A simulation takes a tenth of a millisecond or more.
  spec.abc = std::make_shared<const nlohmann::json>(nlohmann::json{{"summary", "sketch"},
                                                                   {"populations", 8},
                                                                   {"population_size", 1000},
                                                                   {"min_acceptance", 0.01},
                                                                   {"kernel_width", 2}});
  Model::NamedPriors priors;
  const auto add = [&](const char* name) { spec.models.emplace_back(name, family, priors); };
  add("M1");
  priors.emplace_back("zr", Prior::uniform(0.3, 0.7));
  add("M2");
  priors.emplace_back("alpha", Prior::uniform(1, 2));
  add("M3");
  priors.emplace_back("st0", st0_4);
  add("M4");
  priors.back().second = st0_5;
  priors.emplace_back("sv", Prior::uniform(0, 2));
  add("M5");
  priors[2].second = st0_6;
  priors.emplace_back("szr", Prior::uniform(0, 0.6));
  add("M6");
  return spec;
}

// Table 1 of the paper.
ProblemSpec balanced(const nlohmann::json& settings = nlohmann::json::object()) {
  const Prior st0 = Prior::uniform(0, 0.4);
  return six_accumulators(st0, st0, st0, settings);
}

// The same for experiments as they are: n trials in all, of which any share may be of either condition.
ProblemSpec any_design() {
  ProblemSpec spec = balanced({{"continuous_time", true}});
  spec.size = SizeDistribution::uniform(1, 600);
  spec.design = make_design({{"condition", {{"levels", {1, 2}}, {"shares", "any"}}}},
                            spec.models.front().family().columns());
  return spec;
}

}  // namespace

void register_decision_making(Catalogue& catalogue) {
  catalogue.families.add("levy-accumulator", [] { return std::make_unique<LevyAccumulator>(); });
  catalogue.problems.add(
      "decision-making",
      {{{"", "Which of six nested accumulators made these response times? Bias, Lévy noise and variability",
         any_design},
        {"balanced",
         "The six accumulators, n trials in each of the two conditions, as in the published study",
         [] { return balanced(); }},
        {"as_run",
         "The six accumulators with the priors of st0 as in the code of the published study; rt may be "
         "negative",
         [] {
           return six_accumulators(Prior::uniform(0, 0.6), Prior::uniform(0.2, 1.5), Prior::uniform(0, 0.4));
         }}}});
}

}  // namespace occam
