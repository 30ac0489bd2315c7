// Logistic margins, joined by the copulas of Frank, Clayton or Gumbel. Exact: their densities, quadrature
// over one parameter.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto put = [&](long i, int column, double u) {
    out(i, column) = static_cast<float>(50 + 10 * (std::log(u) - std::log1p(-u)));
  };
  for (long i = 0; i < out.n(); ++i) {
    double u = rng.uniform(1e-12, 1), v = rng.uniform(1e-12, 1);
    if (p.is("throughout")) {
      const double a = p["frank"];
      v = -std::log1p(v * std::expm1(-a) / (v + (1 - v) * std::exp(-a * u))) / a;
    } else if (p.is("small")) {
      const double a = p["clayton"];
      v = std::pow((std::pow(v, -a / (1 + a)) - 1) * std::pow(u, -a) + 1, -1 / a);
    } else if (p.is("large")) {
      // By a positive stable variable (Kanter's form), which both share.
      const double a = 1 / (1 + p["gumbel"]), angle = kPi * u;
      const double log_stable = std::log(std::sin(a * angle)) - std::log(std::sin(angle)) / a +
                                (1 - a) / a * (std::log(std::sin((1 - a) * angle)) - std::log(-std::log(v)));
      u = std::exp(-std::exp(a * (std::log(-std::log(rng.uniform(1e-12, 1))) - log_stable)));
      v = std::exp(-std::exp(a * (std::log(-std::log(rng.uniform(1e-12, 1))) - log_stable)));
    }
    put(i, 0, std::clamp(u, 1e-12, 1 - 1e-12));
    put(i, 1, std::clamp(v, 1e-12, 1 - 1e-12));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("unrelated")) return 0;
  std::vector<double> x, y;  // logits
  for (long i = 0; i < data.n(); ++i) {
    x.push_back((data(i, 0) - 50.0) / 10);
    y.push_back((data(i, 1) - 50.0) / 10);
  }
  const auto over = [&](double mean, auto log_density) {
    return log_integral(mean - 3.6, mean + 3.6, 20 * FINE, [&](double log_a) {
      const double a = std::exp(log_a);
      double sum = log_normal(log_a, mean, 0.6);
      for (std::size_t i = 0; i < x.size(); ++i) sum += log_density(a, x[i], y[i]);
      return sum;
    });
  };
  if (p.is("throughout")) {
    return over(1, [](double a, double s, double t) {
      const double u = logistic(s), v = logistic(t);
      const double one = std::exp(-a * u) * -std::expm1(-a * v),
                   other = std::exp(-a * v) * -std::expm1(-a * (1 - v));
      return std::log(-a * std::expm1(-a)) - a * (u + v) - 2 * std::log(one + other);
    });
  }
  if (p.is("small")) {
    return over(-0.3, [](double a, double s, double t) {
      const double u = -log1pexp(-s), v = -log1pexp(-t);  // logarithms
      return std::log1p(a) - (1 + a) * (u + v) -
             (2 + 1 / a) * std::log(std::exp(-a * u) + std::expm1(-a * v));
    });
  }
  return over(-0.8, [](double excess, double s, double t) {
    const double a = 1 + excess, u = log1pexp(-s), v = log1pexp(-t);  // minus the logarithms
    const double log_sum = std::log(std::pow(u, a) + std::pow(v, a)), reach = std::exp(log_sum / a);
    return u + v - reach + excess * std::log(u * v) + (2 / a - 2) * log_sum + std::log1p(excess / reach);
  });
}
