// Mixture of two bivariate Gaussians with unit covariance:  with probability `weight` around mu1, else mu0.
// The weight is drawn once per data set, the component once per observation. Rows: x, y.
// Problem gaussian-mixtures: 400 models on a 20 x 20 grid, mu0 on linspace(-10, 0)^2 and mu1 on linspace(0,
// 10)^2 (variant as_run: linspace(0, 5)^2) at the same grid index; weight ~ Beta(30, 30); N ~ U{1..250}.
// Source: supplement of Radev et al. 2021 (Amortized Bayesian model comparison with evidential deep learning)
// and its code. Differences: N is drawn for every data set, there for every batch.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/special.hpp"

namespace occam {
namespace {

// The marginal likelihood over the weight w ~ Beta(a, b), by the trapezoid rule in t = logit(w):
//   p(x) = 1/B(a,b) * integral of w^a v^b prod_i [w f1(x_i) + v f0(x_i)] dt,   v = 1 - w.
// The integrand is a mixture of Beta(a + k, b + N - k) densities, k = 0..N. Its logarithm is concave in w, so
// it has one peak, and all of it lies between the points where it has fallen far enough. It is analytic for
// |Im t| < pi, so the error falls exponentially with the number of nodes.
class WeightIntegral {
 public:
  WeightIntegral(double a, double b, std::int64_t n) : a_(a), b_(b) {
    for (auto* values : {&f0_, &f1_, &log_ratio_}) values->reserve(static_cast<std::size_t>(n));
  }

  // Adds one observation by its log densities. The larger is taken out, so that f0 and f1 lie in [0, 1].
  void add(double log_f0, double log_f1) {
    const double ratio = log_f1 - log_f0;
    const double smaller = std::exp(-std::fabs(ratio));
    f0_.push_back(ratio > 0.0 ? smaller : 1.0);
    f1_.push_back(ratio > 0.0 ? 1.0 : smaller);
    log_ratio_.push_back(ratio);
    log_scale_ += std::max(log_f0, log_f1);
  }

  // log p(x).
  double log_value() const {
    const auto [top, low, high] = range();
    std::int64_t cells = 24;
    double h = (high - low) / static_cast<double>(cells);
    double sum = sum_of_heights(low, h, cells + 1, top);
    // Halve the step until two rules agree to 1e-6. Each halving at least squares the error, so that of the
    // last rule is below 1e-12; the limit is never met.
    for (double before = sum * h; cells < (1 << 16); cells *= 2) {
      sum += sum_of_heights(low + 0.5 * h, h, cells, top);
      h *= 0.5;
      if (!(std::fabs(sum * h - before) > 1e-6 * sum * h)) break;  // NaN ends it too
      before = sum * h;
    }
    return std::log(sum * h) + top + log_scale_ - log_beta(a_, b_);
  }

 private:
  static constexpr std::size_t kNodes = 8;  // evaluated side by side, for SIMD

  // The sum of exp(log integrand - top) at `count` nodes from `first` on, h apart.
  double sum_of_heights(double first, double h, std::int64_t count, double top) const {
    double sum = 0.0;
    for (std::int64_t begin = 0; begin < count; begin += kNodes) {
      std::array<double, kNodes> nodes;
      for (std::size_t k = 0; k < kNodes; ++k)
        nodes[k] = first + static_cast<double>(begin + static_cast<std::int64_t>(k)) * h;
      const std::array<double, kNodes> logs = log_integrands(nodes);
      const std::int64_t end = std::min<std::int64_t>(kNodes, count - begin);
      for (std::int64_t k = 0; k < end; ++k) sum += std::exp(logs[static_cast<std::size_t>(k)] - top);
    }
    return sum;
  }

  std::array<double, kNodes> log_integrands(const std::array<double, kNodes>& t) const {
    std::array<double, kNodes> result;
    std::array<double, kNodes> w;
    std::array<double, kNodes> v;
    double least = 0.0;  // no factor w f1 + v f0 is below exp(-least)
    for (std::size_t k = 0; k < kNodes; ++k) {
      // The logs and values of w and v from one exponential and one logarithm.
      const double small = std::exp(-std::fabs(t[k]));
      const double larger = 1.0 / (1.0 + small);
      const double log_larger = -std::log1p(small);
      const double log_smaller = log_larger - std::fabs(t[k]);
      w[k] = t[k] > 0.0 ? larger : small * larger;
      v[k] = t[k] > 0.0 ? small * larger : larger;
      result[k] = t[k] > 0.0 ? a_ * log_larger + b_ * log_smaller : a_ * log_smaller + b_ * log_larger;
      least = std::max(least, -log_smaller);
    }
    if (least < 45.0) {
      add_log_products(w, v, least, result);
    } else {  // too small for products
      for (std::size_t k = 0; k < kNodes; ++k) result[k] += log_likelihood(t[k]);
    }
    return result;
  }

  // Adds sum_i log(w f1_i + v f0_i), with few logarithms: of products of as many factors as cannot underflow.
  void add_log_products(const std::array<double, kNodes>& w, const std::array<double, kNodes>& v,
                        double least, std::array<double, kNodes>& result) const {
    const std::size_t n = f0_.size();
    const auto chunk = static_cast<std::size_t>(700.0 / least);
    for (std::size_t begin = 0; begin < n; begin += chunk) {
      const std::size_t end = std::min(n, begin + chunk);
      std::array<double, kNodes>
          even;  // two chains of products: multiplying one number has to wait for the last
      std::array<double, kNodes> odd;
      even.fill(1.0);
      odd.fill(1.0);
      std::size_t i = begin;
      for (; i + 2 <= end; i += 2) {
        for (std::size_t k = 0; k < kNodes; ++k) even[k] *= w[k] * f1_[i] + v[k] * f0_[i];
        for (std::size_t k = 0; k < kNodes; ++k) odd[k] *= w[k] * f1_[i + 1] + v[k] * f0_[i + 1];
      }
      if (i < end) {
        for (std::size_t k = 0; k < kNodes; ++k) even[k] *= w[k] * f1_[i] + v[k] * f0_[i];
      }
      for (std::size_t k = 0; k < kNodes; ++k) result[k] += std::log(even[k] * odd[k]);
    }
  }

  // sum_i log(w f1_i + v f0_i) in logarithms throughout, for any t = logit(w).
  double log_likelihood(double t) const {
    const double softplus = std::max(t, 0.0) + std::log1p(std::exp(-std::fabs(t)));
    double total = 0.0;
    for (const double ratio : log_ratio_) {
      total += log_add(t - softplus + std::min(ratio, 0.0), -softplus - std::max(ratio, 0.0));
    }
    return total;
  }

  // Where the integrand is largest, to a small part of its width 1 / sqrt(-second derivative): Newton's steps
  // for  (a + sum_i r_i) - (a + b + N) w = 0,  r_i the probability that observation i is of component 1,
  // kept between the peaks of the first and the last Beta of the mixture.
  std::array<double, 2> peak() const {
    const double n = static_cast<double>(f0_.size());
    const double total = a_ + b_ + n;
    double low = std::log(a_ / (b_ + n));
    double high = std::log((a_ + n) / b_);
    double t = 0.5 * (low + high);
    double width = 2.0 / std::sqrt(total);
    for (int step = 0; step < 60; ++step) {
      const double w = 1.0 / (1.0 + std::exp(-t));
      const double v = 1.0 / (1.0 + std::exp(t));
      const auto [members, doubt] = memberships(w, v);
      const double slope = a_ + members - total * w;
      const double curvature = total * w * v - doubt;
      (slope > 0.0 ? low : high) = t;
      if (curvature > 0.0) width = 1.0 / std::sqrt(curvature);
      const double newton = curvature > 0.0 ? t + slope / curvature : low - 1.0;
      const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
      const double moved = std::fabs(next - t);
      t = next;
      if (moved < 0.05 * width) break;
    }
    return {t, width};
  }

  // sum_i r_i and sum_i r_i (1 - r_i), r_i = w f1_i / (w f1_i + v f0_i).
  std::array<double, 2> memberships(double w, double v) const {
    constexpr std::size_t kLanes = 4;
    std::array<double, kLanes> members{};
    std::array<double, kLanes> doubts{};
    const auto count = [&](std::size_t i, std::size_t lane) {
      const double r = w * f1_[i] / (w * f1_[i] + v * f0_[i]);
      members[lane] += r;
      doubts[lane] += r * (1.0 - r);
    };
    std::size_t i = 0;
    for (; i + kLanes <= f0_.size(); i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) count(i + lane, lane);
    }
    for (; i < f0_.size(); ++i) count(i, 0);
    return {members[0] + members[1] + members[2] + members[3], doubts[0] + doubts[1] + doubts[2] + doubts[3]};
  }

  // The log integrand at its peak, and the points on both sides where it has fallen by 38 nats: what lies
  // beyond is below 1e-16 of the whole. A Gaussian gets there at 8.7 widths; the other tails are longer.
  std::array<double, 3> range() const {
    const auto [t, width] = peak();
    double top = 0.0;
    std::array<double, 2> reach{};
    for (double distance = 8.8 * width; reach[0] == 0.0 || reach[1] == 0.0; distance *= 1.25 * 1.25 * 1.25) {
      std::array<double, kNodes> nodes{t, t};
      for (std::size_t k = 2; k < kNodes; ++k) {  // three distances, to the left and to the right
        nodes[k] = t + (k % 2 == 0 ? -distance : distance) * std::pow(1.25, static_cast<double>(k / 2 - 1));
      }
      const std::array<double, kNodes> logs = log_integrands(nodes);
      top = logs[0];
      for (std::size_t k = 2; k < kNodes; ++k) {
        double& side = reach[k % 2];
        if (side == 0.0 && !(logs[k] > top - 38.0)) side = std::fabs(nodes[k] - t);
      }
    }
    return {top, t - reach[0], t + reach[1]};
  }

  double a_;
  double b_;
  double log_scale_ = 0.0;
  std::vector<double> f0_;  // (N) densities, the larger of the two scaled to 1
  std::vector<double> f1_;
  std::vector<double> log_ratio_;
};

class GaussianMixture : public Family {
 public:
  std::string name() const override { return "gaussian-mixture"; }
  std::string description() const override { return "two bivariate Gaussians with unit covariance"; }
  std::vector<Column> columns() const override {
    return {{"x", "first coordinate"}, {"y", "second coordinate"}};
  }
  std::vector<Parameter> parameters() const override {
    return {mean("mu0_x", "mean of component 0, first coordinate"),
            mean("mu0_y", "mean of component 0, second coordinate"),
            mean("mu1_x", "mean of component 1, first coordinate"),
            mean("mu1_y", "mean of component 1, second coordinate"),
            {"weight", "probability of component 1", 0.0, 1.0, Prior::beta(30.0, 30.0)}};
  }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    const double weight = theta[4];
    for (std::int64_t i = 0; i < n; ++i) {
      const double* mu = rng.uniform() < weight ? &theta[2] : &theta[0];
      out[2 * i] = static_cast<float>(mu[0] + rng.normal());
      out[2 * i + 1] = static_cast<float>(mu[1] + rng.normal());
    }
    return n;
  }

  // Known for fixed means with a beta, uniform(0, 1) or fixed weight.
  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override {
    for (std::size_t i = 0; i < 4; ++i) {
      if (!priors[i].is_fixed()) return std::nullopt;
    }
    const Prior& weight = priors[4];
    const bool flat = weight == Prior::uniform(0.0, 1.0);
    if (!weight.is_fixed() && !flat && weight.kind() != PriorKind::beta) return std::nullopt;
    if (data.n == 0) return 0.0;
    if (weight.is_fixed())
      return log_likelihood(priors, std::log(weight.argument(0)), std::log1p(-weight.argument(0)), data);
    WeightIntegral integral(flat ? 1.0 : weight.argument(0), flat ? 1.0 : weight.argument(1), data.n);
    for (std::int64_t i = 0; i < data.n; ++i) {
      integral.add(log_density(priors, 0, data, i), log_density(priors, 2, data, i));
    }
    return integral.log_value();
  }

  std::vector<Disturbance> disturbances() const override {
    return {{"shift", "both coordinates of all points larger by this much", "", 0, 20,
             [](double by, Rng&, MutableData data) {
               for (float& x : data.values()) x += static_cast<float>(by);
             },
             nullptr},
            {"outliers", "a share of the points anywhere in the square from -20 to 20", "", 0, 1,
             [](double share, Rng& rng, MutableData data) {
               change_share(share, rng, data, [&](std::int64_t row) {
                 data.at(row, 0) = static_cast<float>(rng.uniform(-20.0, 20.0));
                 data.at(row, 1) = static_cast<float>(rng.uniform(-20.0, 20.0));
               });
             },
             nullptr}};
  }

 private:
  static Parameter mean(std::string name, std::string description) {
    Parameter parameter{std::move(name), std::move(description)};
    parameter.prior = Prior::fixed(0.0);
    return parameter;
  }

  // log N(x_i; mu, I), mu being the two fixed priors from `first` on.
  static double log_density(std::span<const Prior> priors, std::size_t first, DataView data, std::int64_t i) {
    const double dx = data.at(i, 0) - priors[first].argument(0);
    const double dy = data.at(i, 1) - priors[first + 1].argument(0);
    return -0.5 * (dx * dx + dy * dy) - std::log(2.0 * std::numbers::pi);
  }

  static double log_likelihood(std::span<const Prior> priors, double log_w, double log_v, DataView data) {
    double total = 0.0;
    for (std::int64_t i = 0; i < data.n; ++i) {
      total += log_add(log_v + log_density(priors, 0, data, i), log_w + log_density(priors, 2, data, i));
    }
    return total;
  }
};

// Model x07_y12 has its means at the 7th place of the grid in x and the 12th in y.
ProblemSpec grid_of_mixtures(double last_mu1) {
  constexpr int kSide = 20;
  const auto family = make_family("gaussian-mixture");
  const auto mu0 = [](int i) { return Prior::fixed(-10.0 + 10.0 * i / (kSide - 1)); };
  const auto mu1 = [&](int i) { return Prior::fixed(last_mu1 * i / (kSide - 1)); };
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(1, 250);
  // Measured: sums beside means tell many models apart; the mixture weight is not worth predicting.
  spec.network = std::make_shared<const nlohmann::json>(nlohmann::json{{"modules", 2},
                                                                       {"moments", 0},
                                                                       {"inputs", "plain"},
                                                                       {"growth", false},
                                                                       {"statistics", false},
                                                                       {"inv_width", 64},
                                                                       {"after_width", 64},
                                                                       {"after_layers", 2},
                                                                       {"equiv_width", 64},
                                                                       {"post_width", 128},
                                                                       {"summary", 64}});
  spec.train = std::make_shared<const nlohmann::json>(nlohmann::json{{"optimiser", "adam"},
                                                                     {"batch", 64},
                                                                     {"iterations", 30000},
                                                                     {"learning_rate", 2e-3},
                                                                     {"parameter_weight", 0}});
  // Many models need many particles; a candidate should often try another model.
  spec.abc = std::make_shared<const nlohmann::json>(
      nlohmann::json{{"summary", "quantiles count=9"}, {"population_size", 4000}, {"stay", 0.5}});
  for (int ix = 0; ix < kSide; ++ix) {
    for (int iy = 0; iy < kSide; ++iy) {
      spec.models.emplace_back(fmt::format("x{:02}_y{:02}", ix + 1, iy + 1), family,
                               Model::NamedPriors{{"mu0_x", mu0(ix)},
                                                  {"mu0_y", mu0(iy)},
                                                  {"mu1_x", mu1(ix)},
                                                  {"mu1_y", mu1(iy)},
                                                  {"weight", Prior::beta(30, 30)}});
    }
  }
  return spec;
}

}  // namespace

void register_gaussian_mixtures(Catalogue& catalogue) {
  catalogue.families.add("gaussian-mixture", [] { return std::make_unique<GaussianMixture>(); });
  catalogue.problems.add(
      "gaussian-mixtures",
      {{{"", "Which of 400 places on a grid do the two components of a Gaussian mixture have?",
         [] { return grid_of_mixtures(10.0); }},
        {"as_run",
         "The 400 mixtures with the second component on [0, 5], as in the code of the published study",
         [] { return grid_of_mixtures(5.0); }}}});
}

}  // namespace occam
