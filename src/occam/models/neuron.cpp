// Neuron of Hodgkin-Huxley type with an M current (Pospischil et al. 2008), driven by a step of current:
//   C dV/dt = g_Na m^3 h (E_Na - V) + g_K n^4 (E_K - V) + g_M p (E_M - V) + g_L (E_L - V) + I(t) + noise,
//   dx/dt = a_x (1 - x) - b_x x  for x = m, h, n;   dp/dt = (p_inf - p) / tau_p.
// With E(z) = z / (exp(z) - 1) and w = V - V_T:
//   a_m = 1.28 E(-(w - 13) / 4)         b_m = 1.4 E((w - 40) / 5)
//   a_h = .128 exp(-(w - 17) / 18)      b_h = 4 / (1 + exp(-(w - 40) / 5))
//   a_n = .16 E(-(w - 15) / 5)          b_n = .5 exp(-(w - 10) / 40)
//   p_inf = 1 / (1 + exp(-(V + 35) / 10))
//   tau_p = tau_max / (3.3 exp((V + 35) / 20) + exp(-(V + 35) / 20)).
// Scheme: exponential Euler, V from the old gates, then the gates from the new V; sigma N(0, 1) / sqrt(dt) is
// added to the current at every step. It is stable for every step and all conductances that are not negative,
// and of second order in V, because the gates are half a step apart from it.
// Units: mV, ms, uA/cm2, uF/cm2, mS/cm2. Rows, in order of time, dt apart: v_mV. The size n is the
// duration T of the current in ms; a data set has (T + 20 ms) / dt + 1 rows, V(0) included.
// Problem neuron: M1 g_Na, g_K free; M2 also g_M; M3 also g_L; T ~ U{100..400} ms, one for each batch.
// Source: fourth study of Radev et al. 2021 (Amortized Bayesian model comparison with evidential deep
// learning) and its code. Differences: none; in the code (variant as_run) g_K of M3 is U(.1, 15).
#include "occam/models/neuron.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/models/neuron_reference.hpp"
#include "occam/models/neuron_series.hpp"
#include "occam/parallel/loop_device.hpp"
#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

// Rows that a device gets at a time, as far as whole series allow it: 4 bytes each.
constexpr std::int64_t kRowsOnDevice = 1 << 24;

class Neuron : public Family {
 public:
  std::string name() const override { return "neuron"; }
  std::string description() const override {
    return "voltage of a neuron of Hodgkin-Huxley type with M current, under a step of current";
  }
  std::vector<Column> columns() const override { return {{"v_mV", "membrane voltage [mV], dt_ms apart"}}; }
  std::vector<Parameter> parameters() const override {
    const auto conductance = [](const char* parameter, const char* description, const Prior& prior) {
      Parameter result{parameter, description};
      result.lower = 0.0;
      result.prior = prior;
      return result;
    };
    return {conductance("g_Na", "largest conductance of sodium [mS/cm2]", Prior::uniform(1.5, 30)),
            conductance("g_K", "largest conductance of potassium [mS/cm2]", Prior::uniform(0.3, 15)),
            conductance("g_M", "largest conductance of the M current [mS/cm2]", Prior::fixed(0.07)),
            conductance("g_L", "conductance of the leak [mS/cm2]", Prior::fixed(0.1))};
  }
  bool ordered() const override { return true; }

  Fields settings() override {
    return {field("dt_ms", c_.dt_ms, "time step, and time between two rows [ms]").above(0),
            field("current_uA", c_.current, "current while it is on [uA/cm2]"),
            field("quiet_ms", c_.quiet_ms, "time without current, before and after it [ms]").at_least(0),
            field("sigma_uA", c_.sigma, "noise of the current [uA/cm2 sqrt(ms)]").at_least(0),
            field("v_start_mV", c_.v_start, "voltage at the start, gates at their steady state [mV]"),
            field("capacitance_uF", c_.capacitance, "capacitance of the membrane [uF/cm2]").above(0),
            field("e_Na_mV", c_.e_Na, "reversal potential of sodium [mV]"),
            field("e_K_mV", c_.e_K, "reversal potential of potassium [mV]"),
            field("e_M_mV", c_.e_M, "reversal potential of the M current [mV]"),
            field("e_L_mV", c_.e_L, "reversal potential of the leak [mV]"),
            field("v_T_mV", c_.v_T, "moves the thresholds of the sodium and potassium gates [mV]"),
            field("tau_max_ms", c_.tau_max, "time scale of the M current [ms]").above(0)};
  }
  void configure() override { gates_ = neuron_reference::steady_gates(c_, c_.v_start); }

  std::int64_t max_rows(std::int64_t n) const override {
    const double rows = std::round((static_cast<double>(n) + 2.0 * c_.quiet_ms) / c_.dt_ms) + 1.0;
    if (rows > 1e9) {
      throw Error(ErrorKind::bad_config, "neuron: {} ms in steps of {} ms are {} rows, more than 1e9", n,
                  c_.dt_ms, rows);
    }
    return static_cast<std::int64_t>(rows);
  }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    SimulationRequest request{theta, n, &rng, out, 0};
    simulate_many({&request, 1});
    return request.rows;
  }

  void simulate_many(std::span<SimulationRequest> requests) const override {
    std::vector<NeuronSeries> series;
    series.reserve(requests.size());
    for (const SimulationRequest& request : requests) series.push_back(prepared(request));
    simulate_neurons(c_, gates_, series);
    for (std::size_t i = 0; i < requests.size(); ++i) judge(series[i], requests[i]);
  }

  bool has_device_code() const override { return true; }
  void simulate_many_on(LoopDevice& device, std::span<SimulationRequest> requests) const override {
    while (!requests.empty()) {
      std::size_t count = 0;
      std::int64_t rows = 0;
      while (count < requests.size() && (count == 0 || rows + max_rows(requests[count].n) <= kRowsOnDevice)) {
        rows += max_rows(requests[count++].n);
      }
      run_on(device, requests.first(count), rows);
      requests = requests.subspan(count);
    }
  }

  std::vector<Disturbance> disturbances() const override {
    const double dt_ms = c_.dt_ms;
    return {{"sign_flip", "from 0.5 on, the voltage with the other sign", "", 0, 1,
             [](double strength, Rng&, MutableData data) {
               if (strength < 0.5) return;
               for (float& v : data.values()) v = -v;
             },
             nullptr},
            {"hum", "mains hum of 50 Hz with this amplitude", "mV", 0, 20,
             [dt_ms](double amplitude, Rng& rng, MutableData data) {
               const double phase = 2.0 * std::numbers::pi * rng.uniform();
               for (std::int64_t i = 0; i < data.n; ++i) {
                 const double t_s = static_cast<double>(i) * dt_ms / 1000.0;
                 data.at(i, 0) +=
                     static_cast<float>(amplitude * std::sin(2.0 * std::numbers::pi * 50.0 * t_s + phase));
               }
             },
             nullptr},
            {"drift", "a baseline that rises evenly, by this much in all", "mV", 0, 40,
             [](double by, Rng&, MutableData data) {
               for (std::int64_t i = 0; i < data.n; ++i)
                 data.at(i, 0) +=
                     static_cast<float>(by * static_cast<double>(i) / static_cast<double>(data.n));
             },
             nullptr},
            {"g_K_low", "g_Na = 4 mS/cm2 and g_K this small, beyond the priors below 0.3", "mS/cm2", 2, 0.05,
             nullptr, [](const Model& model, double g_K) {
               return with_priors(model, {{"g_Na", Prior::fixed(4)}, {"g_K", Prior::fixed(g_K)}});
             }}};
  }

 private:
  NeuronSeries prepared(const SimulationRequest& request) const {
    NeuronSeries result;
    std::copy_n(request.theta.begin(), result.g.size(), result.g.begin());
    for (std::uint32_t& word : result.seed) word = request.rng->bits32();
    result.rows = max_rows(request.n);
    result.on = std::llround(c_.quiet_ms / c_.dt_ms);
    result.off = std::llround((c_.quiet_ms + static_cast<double>(request.n)) / c_.dt_ms);
    result.out = request.out.data();
    return result;
  }

  // A voltage that is not finite stays so.
  static void judge(const NeuronSeries& series, SimulationRequest& request) {
    request.rows = std::isfinite(series.out[series.rows - 1]) ? series.rows : 0;
  }

  void run_on(LoopDevice& device, std::span<SimulationRequest> requests, std::int64_t rows) const {
    const LoopDevice::Turn lane(device);
    const auto count = static_cast<std::int64_t>(requests.size());
    auto* const head = reinterpret_cast<NeuronsHead*>(lane->input(NeuronsHead::bytes(count)));
    head->steps = neuron_steps(c_, gates_);
    std::vector<NeuronSeries> series;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const NeuronSeries& own = series.emplace_back(prepared(requests[i]));
      const NeuronNoise noise(own.seed);
      NeuronInput& input = head->series_array()[i];
      for (std::size_t k = 0; k < 4; ++k) {
        input.g[k] = static_cast<float>(own.g[k]);
        input.seed[k] = noise.s[k];
      }
      input.rows = static_cast<std::int32_t>(own.rows);
      input.on = static_cast<std::int32_t>(own.on);
      input.off = static_cast<std::int32_t>(own.off);
      input.first = first;
      first += own.rows;
    }
    static constexpr DeviceLoop kLoop = {[](const std::byte* in, std::byte* out, std::int64_t items) {
                                           for (std::int64_t item = 0; item < items; ++item)
                                             reinterpret_cast<const NeuronsHead*>(in)->run(
                                                 item, reinterpret_cast<float*>(out));
                                         },
                                         launch_neurons};
    const auto* v = reinterpret_cast<const float*>(
        lane->run(kLoop, count, static_cast<std::size_t>(rows) * sizeof(float)));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      std::copy_n(v, series[i].rows, series[i].out);
      v += series[i].rows;
      judge(series[i], requests[i]);
    }
  }

  NeuronConstants c_;
  std::array<double, 4> gates_{};  // m, h, n, p at the start
};

ProblemSpec neuron(double lowest_g_K_of_M3) {
  const auto family = make_family("neuron");
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(100, 400);
  spec.one_n_per_batch = true;
  // The convolutions need 85 rows, 16.8 ms at the default step: less than the quiet time alone.
  spec.network = std::make_shared<const nlohmann::json>(nlohmann::json{{"architecture", "sequence"},
                                                                       {"inputs", "plain"},
                                                                       {"growth", false},
                                                                       {"statistics", false},
                                                                       {"lstm", 64},
                                                                       {"window", 0},
                                                                       {"filters", {64, 64, 128, 128, 128}},
                                                                       {"kernels", {5, 5, 3, 3, 2}},
                                                                       {"strides", {2, 3, 2, 3, 2}},
                                                                       {"pooling", "max"},
                                                                       {"post_width", 128},
                                                                       {"post_layers", 2}});
  spec.train = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"optimiser", "adam"}, {"batch", 32}, {"iterations", 20000}, {"learning_rate", 5e-4}});
  spec.abc = std::make_shared<const nlohmann::json>(nlohmann::json{
      {"summary", "sketch"}, {"populations", 8}, {"population_size", 1000}, {"min_acceptance", 0.01}});
  const Prior g_M = Prior::uniform(0.005, 0.3);
  const Prior g_L = Prior::uniform(0.01, 0.18);
  spec.models = {
      Model("M1", family), Model("M2", family, {{"g_M", g_M}}),
      Model("M3", family, {{"g_K", Prior::uniform(lowest_g_K_of_M3, 15)}, {"g_M", g_M}, {"g_L", g_L}})};
  return spec;
}

}  // namespace

void register_neuron(Catalogue& catalogue) {
  catalogue.families.add("neuron", [] { return std::make_unique<Neuron>(); });
  catalogue.problems.add(
      "neuron", {{{"", "Which conductances vary between the neurons that a voltage was recorded from?",
                   [] { return neuron(0.3); }},
                  {"as_run", "The same with g_K of M3 from 0.1 on, as in the code of the published study",
                   [] { return neuron(0.1); }}}});
}

}  // namespace occam
