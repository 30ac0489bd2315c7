// Pairs of twins, half of them identical. Exact: sums and differences of a pair are independent; conjugate
// given the shares, over which quadrature goes.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double genes = 0, family = 0;
  if (p.is("genes")) genes = p["heritable"];
  if (p.is("family")) family = p["shared"];
  if (p.is("both")) {
    genes = p["related"] * p["by_genes"];
    family = p["related"] - genes;
  }
  const double sd = std::sqrt(p["variance"]);
  for (long i = 0; i < out.n(); ++i) {
    const bool identical = rng.bernoulli(0.5);
    const double r = family + (identical ? genes : genes / 2);
    const double sum = std::sqrt(1 + r) * rng.normal(), difference = std::sqrt(1 - r) * rng.normal();
    out(i, "identical") = identical;
    out(i, "first") = static_cast<float>(sd * (p["level"] + (sum + difference) / std::sqrt(2.0)));
    out(i, "second") = static_cast<float>(sd * (p["level"] + (sum - difference) / std::sqrt(2.0)));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double n[2] = {}, sum[2] = {}, sums[2] = {}, differences[2] = {};
  for (long i = 0; i < data.n(); ++i) {
    const int k = data(i, 0) == 1;
    const double s = (double(data(i, 1)) + data(i, 2)) / std::sqrt(2.0),
                 d = (double(data(i, 1)) - data(i, 2)) / std::sqrt(2.0);
    ++n[k];
    sum[k] += s;
    sums[k] += s * s;
    differences[k] += d * d;
  }
  const auto with = [&](double genes, double family) {
    double precision = 1, product = 0, squares = 0, log_det = 0;
    for (int k = 0; k < 2; ++k) {
      const double r = family + (k == 1 ? genes : genes / 2);
      // The level counts sqrt(2) times in a sum.
      precision += 2 * n[k] / (1 + r);
      product += std::sqrt(2.0) * sum[k] / (1 + r);
      squares += sums[k] / (1 + r) + differences[k] / (1 - r);
      log_det += n[k] * (std::log1p(r) + std::log1p(-r));
    }
    squares -= product * product / precision;
    return -0.5 * (log_det + std::log(precision)) + log_variance_evidence(2 * (n[0] + n[1]), squares, 4, 3);
  };
  // Shares near 1 leave no difference: there the likelihood is narrow.
  const auto over = [](int panels, auto f) {
    return log_integral(-12, 12, panels * FINE, [&](double x) {
      const double share = logistic(x);
      return -log1pexp(-x) - log1pexp(x) + f(share);
    });
  };
  if (p.is("neither")) return with(0, 0);
  if (p.is("genes")) return over(80, [&](double a) { return with(a, 0); });
  if (p.is("family")) return over(80, [&](double c) { return with(0, c); });
  return over(80, [&](double r) {
    return log_integral(0, 1, 10 * FINE, [&](double a) { return with(r * a, r - r * a); });
  });
}
