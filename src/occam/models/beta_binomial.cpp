// Coin tosses:  x_i ~ Bernoulli(theta).  Rows: x, 1 (success) or 0.
// Exact evidence with K successes in N: B(a + K, b + N - K) / B(a, b) under theta ~ Beta(a, b).
// Problem beta-binomial: theta ~ Beta(1, 1) against Beta(30, 30), N ~ U{1..100}.
// Source: first study of Radev et al. 2021 (Amortized Bayesian model comparison with evidential deep
// learning). Differences: N is drawn for every data set, there for every batch.
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "occam/core/error.hpp"
#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/special.hpp"

namespace occam {
namespace {

class Bernoulli : public Family {
 public:
  std::string name() const override { return "bernoulli"; }
  std::string description() const override { return "independent successes and failures"; }
  std::vector<Column> columns() const override { return {{"x", "1 for a success, 0 for a failure"}}; }
  std::vector<Parameter> parameters() const override {
    return {{"theta", "probability of a success", 0.0, 1.0, Prior::beta(1.0, 1.0)}};
  }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    for (std::int64_t i = 0; i < n; ++i) out[i] = rng.uniform() < theta[0] ? 1.0f : 0.0f;
    return n;
  }

  // Known for beta priors, uniform(0, 1) and a fixed theta.
  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override {
    const Prior& prior = priors[0];
    const double n = static_cast<double>(data.n);
    if (prior.is_fixed()) {
      const double k = successes(data);
      const auto term = [](double count, double p) { return count == 0.0 ? 0.0 : count * std::log(p); };
      return term(k, prior.argument(0)) + term(n - k, 1.0 - prior.argument(0));
    }
    double a = 1.0;
    double b = 1.0;
    if (prior.kind() == PriorKind::beta) {
      a = prior.argument(0);
      b = prior.argument(1);
    } else if (prior != Prior::uniform(0.0, 1.0)) {
      return std::nullopt;
    }
    const double k = successes(data);
    return log_beta(a + k, b + n - k) - log_beta(a, b);
  }

  std::vector<Disturbance> disturbances() const override {
    return {{"autocorrelation", "each toss repeats the one before with this probability", "", 0, 1,
             [](double rho, Rng& rng, MutableData data) {
               for (std::int64_t i = 1; i < data.n; ++i) {
                 if (rng.uniform() < rho) data.at(i, 0) = data.at(i - 1, 0);
               }
             },
             nullptr}};
  }

 private:
  static double successes(DataView data) {
    double k = 0.0;
    for (const float x : data.values()) {
      if (x != 0.0f && x != 1.0f) {
        throw Error(ErrorKind::bad_data, "x = {} is neither 0 nor 1, as family 'bernoulli' needs", x);
      }
      k += x;
    }
    return k;
  }
};

ProblemSpec beta_binomial() {
  const auto family = make_family("bernoulli");
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(1, 100);
  // Measured: 0.0002 nats from the exact posterior; wider networks are slower, not closer.
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
      nlohmann::json{{"optimiser", "adam"}, {"batch", 64}, {"iterations", 6000}, {"learning_rate", 2e-3}});
  // Given N, the mean is all that the data say: with epsilon 0 the answer is exact but for its noise.
  spec.abc = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"summary", "moments order=1"}, {"scale", false}, {"min_epsilon", 0.0}});
  spec.models = {Model("flat", family, {{"theta", Prior::beta(1, 1)}}),
                 Model("fair", family, {{"theta", Prior::beta(30, 30)}})};
  return spec;
}

}  // namespace

void register_beta_binomial(Catalogue& catalogue) {
  catalogue.families.add("bernoulli", [] { return std::make_unique<Bernoulli>(); });
  catalogue.problems.add("beta-binomial",
                         {{{"", "Is a coin nearly fair, or could its bias be anything?", beta_binomial}}});
}

}  // namespace occam
