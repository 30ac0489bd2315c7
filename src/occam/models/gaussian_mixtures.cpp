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
    const auto [t, width] = peak();
    const double top = log_integrand(t);
    const double low = t - reach(t, -width, top);
    const double high = t + reach(t, width, top);
    const auto height = [&](double at) { return std::exp(log_integrand(at) - top); };
    int cells = 24;
    double h = (high - low) / cells;
    double sum = 0.0;
    for (int i = 0; i <= cells; ++i) sum += height(low + i * h);
    // Halve the step until two rules agree to 1e-6. Each halving at least squares the error, so that of the
    // last rule is below 1e-12. The limit is never met by an analytic integrand; it bounds the time spent on
    // NaN.
    for (double before = sum * h; cells < (1 << 16); cells *= 2) {
      for (int i = 0; i < cells; ++i) sum += height(low + (i + 0.5) * h);
      h *= 0.5;
      if (std::fabs(sum * h - before) <= 1e-6 * sum * h) break;
      before = sum * h;
    }
    return std::log(sum * h) + top + log_scale_ - log_beta(a_, b_);
  }

 private:
  double log_integrand(double t) const {
    // The logs and values of w and v from one exponential and one logarithm.
    const double small = std::exp(-std::fabs(t));
    const double log_larger = -std::log1p(small);
    const double log_smaller = log_larger - std::fabs(t);
    const double larger = 1.0 / (1.0 + small);
    const double log_w = t > 0.0 ? log_larger : log_smaller;
    const double log_v = t > 0.0 ? log_smaller : log_larger;
    double log_product = 0.0;
    if (std::fabs(t) < 40.0) {
      const double smaller = small * larger;
      log_product = log_of_product(t > 0.0 ? larger : smaller, t > 0.0 ? smaller : larger, -log_smaller);
    } else {  // too small for products
      for (const double ratio : log_ratio_) {
        log_product += log_add(log_w + std::min(ratio, 0.0), log_v - std::max(ratio, 0.0));
      }
    }
    return a_ * log_w + b_ * log_v + log_product;
  }

  // sum_i log(w f1_i + v f0_i), with few logarithms: products of as many factors as cannot underflow, each
  // factor being at least exp(-least).
  double log_of_product(double w, double v, double least) const {
    const std::size_t n = f0_.size();
    const auto chunk = static_cast<std::size_t>(700.0 / least);
    double total = 0.0;
    for (std::size_t begin = 0; begin < n; begin += chunk) {
      total += std::log(product(w, v, begin, std::min(n, begin + chunk)));
    }
    return total;
  }

  double product(double w, double v, std::size_t begin, std::size_t end) const {
    constexpr std::size_t kLanes = 8;  // independent factors, for SIMD
    std::array<double, kLanes> lanes;
    lanes.fill(1.0);
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::size_t k = 0; k < kLanes; ++k) lanes[k] *= w * f1_[i + k] + v * f0_[i + k];
    }
    for (; i < end; ++i) lanes[0] *= w * f1_[i] + v * f0_[i];
    double all = 1.0;
    for (const double lane : lanes) all *= lane;
    return all;
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

  // How far from t, in the direction of `width`, the integrand has fallen by 38 nats: what lies beyond is
  // below 1e-16 of the whole. A Gaussian gets there at 8.7 widths.
  double reach(double t, double width, double top) const {
    double distance = 8.8 * width;
    while (log_integrand(t + distance) > top - 38.0) distance *= 1.25;
    return std::fabs(distance);
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
