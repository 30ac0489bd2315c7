// Continuous values of which many are exactly 0 or 100. Exact: quadrature over two parameters; shares of the
// ends are conjugate where they are parameters.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    double z = rng.normal();
    if (p.is("wild")) z /= std::sqrt(rng.gamma(1.5) * 2 / 3);
    const double x = p["centre"] + p["spread"] * z;
    if (!p.is("ends"))
      out(i, "answer") = std::clamp(x, 0.0, 100.0);
    else if (rng.uniform() < p["at_end"])
      out(i, "answer") = rng.uniform() < p["upper"] ? 100 : 0;
    else
      out(i, "answer") = std::clamp(100 * logistic(x), 1e-4, 99.9999);  // not rounded to an end
  }
  return true;
}

// Student's t with three degrees of freedom: the share below t.
static double below_t(double t) {
  const double u = t / std::sqrt(3.0);
  return t < -100 ? 2 * std::sqrt(3.0) / (kPi * -t * t * t) : 0.5 + (u / (1 + u * u) + std::atan(u)) / kPi;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double low = 0, high = 0, sum = 0, squares = 0, jacobian = 0;
  std::vector<double> x;
  for (long i = 0; i < data.n(); ++i) {
    const double one = data(i, "answer");
    low += one <= 0;
    high += one >= 100;
    if (one <= 0 || one >= 100) continue;
    x.push_back(p.is("ends") ? std::log(one / (100 - one)) : one);
    if (p.is("ends")) jacobian += std::log(100 / (one * (100 - one)));
    sum += x.back();
    squares += x.back() * x.back();
  }
  const auto m = static_cast<double>(x.size());
  const auto normal = [&](double centre, double log_spread) {  // of all values between the ends
    return -0.5 * std::exp(-2 * log_spread) * (squares - 2 * centre * sum + m * centre * centre) -
           m * (log_spread + 0.5 * std::log(2 * kPi));
  };
  if (p.is("ends")) {
    const double ends = low + high;
    const double shares =
        log_beta(2 + ends, 6 + m) - log_beta(2, 6) + log_beta(3 + high, 2 + low) - log_beta(3, 2);
    return shares + jacobian + log_integral_around<2>({0.4, 0}, [&](std::array<double, 2> at) {
             return log_normal(at[0], 0.4, 0.7) + log_normal(at[1], 0, 0.4) + normal(at[0], at[1]);
           });
  }
  // The centre in units of 25, so that steps towards the mode are as long as those of the other parameter.
  return log_integral_around<2>({2.4, 3.2}, [&](std::array<double, 2> at) {
    const double centre = 25 * at[0], spread = std::exp(at[1]);
    const double down = -centre / spread, up = (centre - 100) / spread;
    double result = log_normal(at[0], 2.4, 1) + log_normal(at[1], p.is("wild") ? 3.0 : 3.4, 0.4);
    if (p.is("censored")) {
      if (low > 0) result += low * std::log(0.5 * std::erfc(-down / std::sqrt(2.0)));
      if (high > 0) result += high * std::log(0.5 * std::erfc(-up / std::sqrt(2.0)));
      return result + normal(centre, at[1]);
    }
    if (low > 0) result += low * std::log(below_t(down));
    if (high > 0) result += high * std::log(below_t(up));
    for (const double one : x) {
      const double z = (one - centre) / spread;
      result -= 2 * std::log1p(z * z / 3);
    }
    return result + m * (std::log(2 / (kPi * std::sqrt(3.0))) - at[1]);
  });
}
