// Linear regression on a design:  y_i = intercept + slope x_i + curve x_i^2 + sigma e_i,  e_i ~ N(0, 1).
// Rows: x (design), y. Without a given design x ~ U(-2, 2), anew in every row.
// Exact evidence given x, for fixed sigma and coefficients that are fixed or normal: with r = y - X m, m the
// prior means, V their covariance, A = V^-1 + X'X / sigma^2 and b = X'r / sigma^2,
//   -N/2 log(2 pi sigma^2) - 1/2 log|V| - 1/2 log|A| - 1/2 (r'r / sigma^2 - b'A^-1 b)
// (for instance Bishop 2006, Pattern Recognition and Machine Learning, section 3.5).
// Problem regression: no effect of x, a straight line, or a parabola; sigma = 1, N ~ U{5..60}, x as above.
#include <array>
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "occam/simulate/catalogue.hpp"
#include "occam/simulate/design.hpp"

namespace occam {
namespace {

constexpr std::size_t kCoefficients = 3;

class LinearRegression : public Family {
 public:
  std::string name() const override { return "linear-regression"; }
  std::string description() const override { return "y on a given x: a constant, a line or a parabola"; }
  std::vector<Column> columns() const override {
    return {{"x", "predictor, as set by the experimenter", Role::design}, {"y", "observed value"}};
  }
  std::vector<Parameter> parameters() const override {
    const auto coefficient = [](const char* name, const char* description, const Prior& prior) {
      Parameter parameter{name, description};
      parameter.prior = prior;
      return parameter;
    };
    Parameter sigma = coefficient("sigma", "standard deviation of y around its mean", Prior::fixed(1));
    sigma.lower = 0.0;
    sigma.lower_open = true;
    return {coefficient("intercept", "mean of y at x = 0", Prior::normal(0, 1)),
            coefficient("slope", "of y on x", Prior::fixed(0)),
            coefficient("curve", "of y on the square of x", Prior::fixed(0)), sigma};
  }
  bool takes_design() const override { return true; }

  std::int64_t simulate(std::span<const double> theta, std::int64_t n, Rng& rng,
                        std::span<float> out) const override {
    SimulationRequest request{theta, n, &rng, out};
    simulate_many({&request, 1});
    return request.rows;
  }

  void simulate_many(std::span<SimulationRequest> requests) const override {
    for (SimulationRequest& request : requests) {
      const std::span<const double> theta = request.theta;
      for (std::int64_t i = 0; i < request.n; ++i) {
        float* row = request.out.data() + 2 * i;
        if (!request.designed) row[0] = static_cast<float>(request.rng->uniform(-2, 2));
        const double x = row[0];
        row[1] =
            static_cast<float>(theta[0] + x * (theta[1] + x * theta[2]) + theta[3] * request.rng->normal());
      }
      request.rows = request.n;
    }
  }

  std::optional<double> log_evidence(std::span<const Prior> priors, DataView data) const override {
    if (!priors[kCoefficients].is_fixed()) return std::nullopt;
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < kCoefficients; ++k) {
      if (priors[k].kind() == PriorKind::normal) {
        free.push_back(k);
      } else if (!priors[k].is_fixed()) {
        return std::nullopt;
      }
    }
    const double sigma = priors[kCoefficients].argument(0);
    std::array<std::array<double, kCoefficients>, kCoefficients> A{};
    std::array<double, kCoefficients> b{};
    double log_det = 0;  // of V, then of V A
    for (std::size_t k = 0; k < free.size(); ++k) {
      const double sd = priors[free[k]].argument(1);
      A[k][k] = 1 / (sd * sd);
      log_det += 2 * std::log(sd);
    }
    double squares = 0;
    for (std::int64_t i = 0; i < data.n; ++i) {
      const double x = data.at(i, 0);
      const std::array<double, kCoefficients> powers = {1, x, x * x};
      double r = data.at(i, 1);
      for (std::size_t k = 0; k < kCoefficients; ++k) r -= priors[k].argument(0) * powers[k];
      r /= sigma;
      squares += r * r;
      for (std::size_t k = 0; k < free.size(); ++k) {
        b[k] += powers[free[k]] * r / sigma;
        for (std::size_t l = 0; l < free.size(); ++l)
          A[k][l] += powers[free[k]] * powers[free[l]] / (sigma * sigma);
      }
    }
    // Gaussian elimination: A is positive definite, so that no pivot vanishes.
    for (std::size_t k = 0; k < free.size(); ++k) {
      log_det += std::log(A[k][k]);
      squares -= b[k] * b[k] / A[k][k];
      for (std::size_t l = k + 1; l < free.size(); ++l) {
        const double factor = A[l][k] / A[k][k];
        for (std::size_t m = k; m < free.size(); ++m) A[l][m] -= factor * A[k][m];
        b[l] -= factor * b[k];
      }
    }
    return -0.5 * static_cast<double>(data.n) * std::log(2 * std::numbers::pi * sigma * sigma) -
           0.5 * (log_det + squares);
  }

  std::vector<Disturbance> disturbances() const override {
    return {{"shift", "all y larger by this much", "", 0, 10,
             [](double by, Rng&, MutableData data) {
               for (std::int64_t i = 0; i < data.n; ++i) data.at(i, 1) += static_cast<float>(by);
             },
             nullptr},
            {"outliers", "a share of the y with ten times the distance from zero", "", 0, 0.5,
             [](double share, Rng& rng, MutableData data) {
               change_share(share, rng, data, [&](std::int64_t row) { data.at(row, 1) *= 10.0f; });
             },
             nullptr}};
  }
};

ProblemSpec regression() {
  const auto family = make_family("linear-regression");
  ProblemSpec spec;
  spec.size = SizeDistribution::uniform(5, 60);
  spec.design = make_design({{"x", "uniform(-2, 2)"}}, family->columns());
  const Prior effect = Prior::normal(0, 1);
  spec.models = {Model("constant", family), Model("line", family, {{"slope", effect}}),
                 Model("parabola", family, {{"slope", effect}, {"curve", effect}})};
  return spec;
}

}  // namespace

void register_regression(Catalogue& catalogue) {
  catalogue.families.add("linear-regression", [] { return std::make_unique<LinearRegression>(); });
  catalogue.problems.add(
      "regression",
      {{{"", "Does y depend on x, and if so, along a straight line or a curve? x is set by the experimenter",
         regression}}});
}

}  // namespace occam
