// Immigration and death: those that stay are binomial, those that come Poisson, in pairs, or in bursts.
// Exact: sums over how many stayed, quadrature over two parameters. The first count is Poisson of mean 6 in
// all models.
#include <occam/simulator.h>

#include "more.h"

constexpr double kSize = 0.7;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double x = rng.poisson(6);
  for (long i = 0; i < out.n(); ++i) {
    out(i, "copies") = x;
    double stayed = 0;
    for (int k = 0; k < x; ++k) stayed += rng.uniform() < p["stay"] ? 1 : 0;
    const double made = p["made"];
    x = stayed + (p.is("single")  ? rng.poisson(made)
                  : p.is("pairs") ? 2 * rng.poisson(made / 2)
                                  : rng.poisson(rng.gamma(kSize) * made / kSize));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  // Each pair of neighbours once.
  std::vector<std::array<int, 3>> steps;
  int most = 0;
  for (long i = 0; i + 1 < data.n(); ++i) {
    const int from = static_cast<int>(data(i, "copies")), to = static_cast<int>(data(i + 1, "copies"));
    if (p.is("pairs") && from == 0 && to % 2 == 1) return -1e300;  // no such step
    most = std::max({most, from, to});
    bool known = false;
    for (auto& step : steps) {
      if (step[0] == from && step[1] == to) ++step[2], known = true;
    }
    if (!known) steps.push_back({from, to, 1});
  }
  std::vector<double> factorial(most + 2), come(most + 1), powers(most + 1), rest(most + 1);
  for (int k = 0; k <= most + 1; ++k) factorial[k] = std::lgamma(k + 1.0);
  return log_integral_around<2>({0.7, 1}, [&](std::array<double, 2> x) {
    const double stay = logistic(x[0]), made = std::exp(x[1]);
    for (int k = 0; k <= most; ++k) {
      const double k2 = k / 2;
      come[k] =
          p.is("single") ? std::exp(k * std::log(made) - made - factorial[k])
          : p.is("pairs")
              ? (k % 2 == 0 ? std::exp(k2 * std::log(made / 2) - made / 2 - factorial[k / 2]) : 0)
              : std::exp(std::lgamma(k + kSize) - std::lgamma(kSize) - factorial[k] +
                         kSize * std::log(kSize / (kSize + made)) + k * std::log(made / (kSize + made)));
      powers[k] = std::pow(stay, k);
      rest[k] = std::pow(1 - stay, k);
    }
    double result = log_beta_logit(x[0], 6, 3) + log_gamma_log(x[1], 3, 1);
    for (const auto& [from, to, count] : steps) {
      double sum = 0;
      for (int k = 0; k <= std::min(from, to); ++k)
        sum += std::exp(factorial[from] - factorial[k] - factorial[from - k]) * powers[k] * rest[from - k] *
               come[to - k];
      result += count * std::log(sum);
    }
    return result;
  });
}
