// Two standard normal variables with correlation rho:  x_i ~ N(0, 1),  y_i = rho x_i + sqrt(1 - rho^2) e_i,
// e_i ~ N(0, 1).  Rows: x, y. Either may be missing.
// Exact evidence for a fixed rho and for rho ~ U(-1, 1). A row of which one value is missing contributes the
// normal density of the other. For the n rows that have both, with z = atanh(rho),
//   log of the integral over z of  1/2 (1 - rho^2) prod_i N(x_i, y_i | rho),
//   sum_i (x_i^2 - 2 rho x_i y_i + y_i^2) / (1 - rho^2) = sum (x - y)^2 / (2 (1 - rho))
//                                                       + sum (x + y)^2 / (2 (1 + rho)),
// whose integrand is smooth and falls off fast on both sides: the trapezoidal rule converges exponentially.
// Problem correlation: independent (rho = 0) against correlated (rho ~ U(-1, 1)), N ~ U{5..100}.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"

namespace occam {
namespace {

constexpr double kFurthest = 18;  // of z: 1 - rho is 4e-16 there

// Normal log density of two variables at once, but for what depends on the data.
double normal_constant(double count) {
  return -0.5 * count * std::log(2 * std::numbers::pi);
}

// What the data say: of rows with both values, and of single ones.
struct Moments {
  double rows = 0, differences = 0, sums = 0;  // sums of (x - y)^2 and (x + y)^2
  double values = 0, squares = 0;              // of rows with one value

  explicit Moments(DataView data) {
    for (std::int64_t i = 0; i < data.n; ++i) {
      const double x = data.at(i, 0), y = data.at(i, 1);
      if (std::isnan(x) && std::isnan(y)) continue;
      if (std::isnan(x) || std::isnan(y)) {
        const double there = std::isnan(x) ? y : x;
        ++values;
        squares += there * there;
        continue;
      }
      ++rows;
      differences += (x - y) * (x - y);
      sums += (x + y) * (x + y);
    }
  }
  double log_single() const { return normal_constant(values) - 0.5 * squares; }
  // Given 1 - rho and 1 + rho, each to full precision.
  double log_pairs(double below, double above) const {
    return normal_constant(2 * rows) - 0.5 * rows * std::log(below * above) -
           0.25 * (differences / below + sums / above);
  }
};

class BivariateNormal : public Family {
 public:
  std::string name() const override { return "bivariate-normal"; }
  std::string description() const override { return "two standard normal variables with a correlation"; }
  std::vector<Column> columns() const override { return {{"x", "first value"}, {"y", "second value"}}; }
  std::vector<Parameter> parameters() const override {
    return {{"rho", "correlation of x and y", -1.0, 1.0, Prior::uniform(-1.0, 1.0)}};
  }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    const double rest = std::sqrt(std::max(0.0, 1 - theta[0] * theta[0]));
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = rng.normal();
      out[2 * i] = static_cast<float>(x);
      out[2 * i + 1] = static_cast<float>(theta[0] * x + rest * rng.normal());
    }
    return n;
  }

  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override {
    const Prior& prior = priors[0];
    const bool fixed = prior.is_fixed() && std::fabs(prior.argument(0)) < 1;
    if (!fixed && prior != Prior::uniform(-1.0, 1.0)) return std::nullopt;
    const Moments moments(data);
    if (moments.rows == 0) return moments.log_single();
    if (fixed) return moments.log_single() + moments.log_pairs(1 - prior.argument(0), 1 + prior.argument(0));
    return moments.log_single() + log_integral(moments);
  }
  bool marginalises() const override { return true; }

  std::vector<Disturbance> disturbances() const override {
    return {{"scale", "all y larger by this factor, less one", "", 0, 4,
             [](double by, Rng&, MutableData data) {
               for (std::int64_t i = 0; i < data.n; ++i) data.at(i, 1) *= static_cast<float>(1 + by);
             },
             nullptr},
            {"outliers", "a share of the y with ten times the distance from zero", "", 0, 0.5,
             [](double share, Rng& rng, MutableData data) {
               change_share(share, rng, data, [&](std::int64_t row) { data.at(row, 1) *= 10.0f; });
             },
             nullptr}};
  }

 private:
  static double log_integral(const Moments& moments) {
    // The integrand is about 1 / sqrt(n) wide.
    const double step = 0.25 / std::sqrt(moments.rows + 4);
    const auto steps = static_cast<std::int64_t>(kFurthest / step);
    std::vector<double> terms;
    for (std::int64_t k = -steps; k <= steps; ++k) {
      const double z = static_cast<double>(k) * step;
      const double below = 2 / (1 + std::exp(2 * z)), above = 2 / (1 + std::exp(-2 * z));
      terms.push_back(std::log(0.5 * below * above) + moments.log_pairs(below, above));
    }
    const double largest = *std::max_element(terms.begin(), terms.end());
    double sum = 0;
    for (const double term : terms) sum += std::exp(term - largest);
    return largest + std::log(sum * step);
  }
};

ProblemSpec correlation() {
  const auto family = make_family("bivariate-normal");
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(5, 100);
  spec.models = {Model("independent", family, {{"rho", Prior::fixed(0)}}), Model("correlated", family)};
  return spec;
}

}  // namespace

void register_correlation(Catalogue& catalogue) {
  catalogue.families.add("bivariate-normal", [] { return std::make_unique<BivariateNormal>(); });
  catalogue.problems.add("correlation", {{{"", "Are two variables correlated?", correlation}}});
}

}  // namespace occam
