// One-sample test:  x_i ~ N(mu, sigma^2).  Rows: x.
// Exact evidence for fixed sigma and mu ~ N(m, s^2): the data are jointly normal with mean m and covariance
// sigma^2 I + s^2 11', hence  -N/2 log(2 pi sigma^2) - 1/2 log(1 + N s^2/sigma^2)
//   - [sum (x - xbar)^2 + (xbar - m)^2 N / (1 + N s^2/sigma^2)] / (2 sigma^2).
// Problem one-sample: mu = 0 against mu ~ N(0, 1), sigma = 1, N ~ U{20..29}.
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

class Normal : public Family {
 public:
  std::string name() const override { return "normal"; }
  std::string description() const override { return "independent Gaussian observations"; }
  std::vector<Column> columns() const override { return {{"x", "observed value"}}; }
  std::vector<Parameter> parameters() const override {
    Parameter sigma{"sigma", "standard deviation"};
    sigma.lower = 0.0;
    sigma.lower_open = true;
    sigma.prior = Prior::fixed(1.0);
    Parameter mu{"mu", "mean"};
    mu.prior = Prior::normal(0.0, 1.0);
    return {mu, sigma};
  }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(theta[0] + theta[1] * rng.normal());
    return n;
  }

  // Known for a fixed sigma with a fixed or normal mu.
  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override {
    const Prior& mu = priors[0];
    if (!priors[1].is_fixed() || (!mu.is_fixed() && mu.kind() != PriorKind::normal)) return std::nullopt;
    if (data.n == 0) return 0.0;
    const double sigma = priors[1].argument(0);
    const double n = static_cast<double>(data.n);
    const double spread = mu.is_fixed() ? 0.0 : mu.argument(1) / sigma;
    double mean = 0.0;
    for (const float x : data.values()) mean += x;
    mean /= n;
    double squares = 0.0;
    for (const float x : data.values()) squares += (x - mean) * (x - mean);
    const double shrink = 1.0 + n * spread * spread;
    const double off = mean - mu.argument(0);
    return -0.5 * n * std::log(2.0 * std::numbers::pi * sigma * sigma) - 0.5 * std::log(shrink) -
           (squares + off * off * n / shrink) / (2.0 * sigma * sigma);
  }

  std::vector<Disturbance> disturbances() const override {
    return {{"shift", "all values larger by this much", "", 0, 10,
             [](double by, Rng&, MutableData data) {
               for (float& x : data.values()) x += static_cast<float>(by);
             },
             nullptr},
            {"outliers", "a share of the values with ten times the distance from zero", "", 0, 0.5,
             [](double share, Rng& rng, MutableData data) {
               change_share(share, rng, data, [&](std::int64_t row) { data.at(row, 0) *= 10.0f; });
             },
             nullptr},
            {"scale", "all values larger by this many percent", "%", 0, 400,
             [](double percent, Rng&, MutableData data) {
               for (float& x : data.values()) x *= static_cast<float>(1.0 + percent / 100.0);
             },
             nullptr}};
  }
};

ProblemSpec one_sample() {
  const auto family = make_family("normal");
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(20, 29);
  // As for beta-binomial: a small network suffices.
  spec.network = std::make_shared<const nlohmann::json>(nlohmann::json{{"modules", 2},
                                                                       {"moments", 0},
                                                                       {"inputs", "plain"},
                                                                       {"growth", false},
                                                                       {"direct", false},
                                                                       {"inv_width", 32},
                                                                       {"after_width", 32},
                                                                       {"after_layers", 2},
                                                                       {"equiv_width", 32},
                                                                       {"post_width", 32}});
  spec.train = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"optimiser", "adam"}, {"batch", 64}, {"iterations", 4000}, {"learning_rate", 2e-3}});
  // The mean is sufficient: both models have the same known standard deviation.
  spec.abc = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"summary", "moments order=1"}, {"scale", false}, {"min_epsilon", 0.02}});
  spec.models = {Model("null", family, {{"mu", Prior::fixed(0)}}),
                 Model("effect", family, {{"mu", Prior::normal(0, 1)}})};
  return spec;
}

}  // namespace

void register_one_sample(Catalogue& catalogue) {
  catalogue.families.add("normal", [] { return std::make_unique<Normal>(); });
  catalogue.problems.add("one-sample",
                         {{{"", "Is the mean of Gaussian data zero, or is there an effect?", one_sample}}});
}

}  // namespace occam
