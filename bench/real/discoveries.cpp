// Counts of a series of years, for R's discoveries. Exact: rates are conjugate; a sum over the years of
// change, quadrature over scatter and growth.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto n = static_cast<double>(out.n());
  const double first = p.is("change") ? 1 + std::floor(p["where"] * (n - 1)) : 0;
  for (long i = 0; i < out.n(); ++i) {
    const auto year = static_cast<double>(i);
    double rate = p.is("change") ? (year < first ? p["before"] : p["after"]) : p["rate"];
    if (p.is("scattered")) rate *= rng.gamma(p["size"], 1 / p["size"]);
    if (p.is("trend")) rate *= std::exp(p["growth"] * (year / (n - 1) - 0.5));
    out(i, 0) = static_cast<float>(rng.poisson(rate));
  }
  return true;
}

// Without the factorials of the counts.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto n = static_cast<double>(data.n());
  std::vector<double> years;  // with so many discoveries
  double sum = 0;
  for (long i = 0; i < data.n(); ++i) {
    const auto count = static_cast<std::size_t>(data(i, 0));
    if (years.size() <= count) years.resize(count + 1);
    ++years[count];
    sum += data(i, 0);
  }
  if (p.is("steady")) return log_rate_evidence(n, sum, 2, 2);
  if (p.is("change")) {
    LogSum total;
    double before = 0;
    for (long k = 1; k < data.n(); ++k) {
      before += data(k - 1, 0);
      const auto first = static_cast<double>(k);
      total.add(log_rate_evidence(first, before, 2, 2) + log_rate_evidence(n - first, sum - before, 2, 2));
    }
    return total.value() - std::log(n - 1);
  }
  if (p.is("trend")) {
    return log_integral_around<1>({0.0}, [&](std::array<double, 1> growth) {
      double weights = 0, slope = 0;
      for (long i = 0; i < data.n(); ++i) {
        const double t = static_cast<double>(i) / (n - 1) - 0.5;
        weights += std::exp(growth[0] * t);
        slope += data(i, 0) * t;
      }
      return log_normal(growth[0], 0, 1) + growth[0] * slope + log_rate_evidence(weights, sum, 2, 2);
    });
  }
  return log_integral_around<2>({std::log((sum + 1) / n), 1.0}, [&](std::array<double, 2> x) {
    const double rate = std::exp(x[0]), size = std::exp(x[1]);
    double total = log_gamma_log(x[0], 2, 2) + log_normal(x[1], 1, 1) +
                   n * size * (x[1] - std::log(size + rate)) + sum * (x[0] - std::log(size + rate));
    for (std::size_t count = 1; count < years.size(); ++count) {
      if (years[count] > 0)
        total += years[count] * (std::lgamma(size + static_cast<double>(count)) - std::lgamma(size));
    }
    return total;
  });
}
