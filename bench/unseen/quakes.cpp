// Times of events until the last of N, which depend on those before or on the time. Exact: the rate is
// conjugate, or quadrature over two or three parameters.
#include <map>
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  // Between events the rate is a constant and something that fades, so that it is highest at the start.
  const double fading = p.has("fading") ? p["fading"] : 0;
  double day = 0, more = p.has("excess") ? p["rate"] * p["excess"] : 0;
  for (long i = 0; i < out.n(); ++i) {
    bool found = false;
    while (!found) {
      const double highest = p["rate"] + more, wait = rng.exponential(highest);
      day += wait;
      more *= std::exp(-fading * wait);
      found = rng.uniform() * highest < p["rate"] + more;
    }
    out(i, "day") = day;
    if (p.has("children")) more += p["children"] * fading;
  }
  return true;
}

// log of a product of rates, from products of ten.
template <class F>
static double log_product(std::size_t n, F rate) {
  double sum = 0, product = 1;
  for (std::size_t i = 0; i < n; ++i) {
    product *= rate(i);
    if (i % 10 == 9 || i + 1 == n) {
      sum += std::log(product);
      product = 1;
    }
  }
  return sum;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const std::size_t n = data.n();
  std::vector<double> day(n);
  for (std::size_t i = 0; i < n; ++i) day[i] = data(i, 0);
  // The rate, gamma(3, scale), where all depends on it but for a known shape.
  const auto conjugate = [&](double area, double scale) {
    return log_rate_evidence(area, static_cast<double>(n), 3, scale);
  };
  if (p.is("steady")) return conjugate(day.back(), 0.2);
  // What is left of one unit from the start, or from each event before, at the times of events.
  std::map<double, std::vector<double>>
      known;  // few values, for the lattice is straight in the last parameter
  const auto left = [&](double fading) -> const std::vector<double>& {
    std::vector<double>& result = known[fading];
    if (result.empty()) {
      result.resize(n);
      double more = p.is("fading") ? 1 : 0;
      for (std::size_t i = 0; i < n; ++i) {
        result[i] = more *= std::exp(-fading * (day[i] - (i > 0 ? day[i - 1] : 0)));
        if (p.is("aftershocks")) ++more;
      }
    }
    return result;
  };
  if (p.is("fading")) {
    return log_integral_around<2>(
        {1, -2.5},
        [&](std::array<double, 2> at) {
          const double excess = std::exp(at[0]), fading = std::exp(at[1]);
          const std::vector<double>& shape = left(fading);
          return log_normal(at[0], 1, 0.7) + log_normal(at[1], -2.5, 0.7) +
                 log_product(n, [&](std::size_t i) { return 1 + excess * shape[i]; }) +
                 conjugate(day.back() + excess / fading * (1 - shape.back()), 0.15);
        },
        0.25);
  }
  return log_integral_around<3>(
      {-1.2, 0, 0},
      [&](std::array<double, 3> at) {
        const double rate = std::exp(at[0]), children = logistic(at[1]), fading = std::exp(at[2]);
        const std::vector<double>& shape = left(fading);
        const double area = rate * day.back() + children * (static_cast<double>(n - 1) - shape.back());
        return log_gamma_log(at[0], 3, 0.1) + log_beta_logit(at[1], 2, 2) + log_normal(at[2], 0, 0.7) - area +
               log_product(n, [&](std::size_t i) { return rate + children * fading * shape[i]; });
      },
      0.45);
}
