// Series with an exponential or a power law in their autocorrelation. Exact: Durbin-Levinson recursion,
// conjugate mean and variance, quadrature over what is left.
#include <occam/simulator.h>

#include "more.h"

// Coefficients of the best prediction of each value from all before, one row after the other, and its
// variance.
template <class Use>
void predictions(const std::vector<double>& correlation, Use use) {
  const std::size_t n = correlation.size();
  std::vector<double> phi, last;
  double variance = correlation[0];
  use(phi, variance);
  for (std::size_t k = 1; k < n; ++k) {
    last = phi;
    double partial = correlation[k];
    for (std::size_t j = 0; j < last.size(); ++j) partial -= last[j] * correlation[k - 1 - j];
    partial /= variance;
    phi.resize(k);
    for (std::size_t j = 0; j + 1 < k; ++j) phi[j] = last[j] - partial * last[k - 2 - j];
    phi[k - 1] = partial;
    variance *= 1 - partial * partial;
    use(phi, variance);
  }
}

static std::vector<double> correlation(const occam::Parameters& p, double value, std::size_t n) {
  std::vector<double> r(n, 0.0);
  r[0] = 1;
  for (std::size_t k = 1; k < n; ++k) {
    const auto lag = static_cast<double>(k);
    if (p.is("short")) r[k] = r[k - 1] * value;
    if (p.is("long")) r[k] = r[k - 1] * (lag - 1 + value) / (lag - value);
  }
  return r;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double value = p.is("short") ? p["carried"] : p.is("long") ? p["order"] : 0;
  std::vector<double> x;
  predictions(correlation(p, value, out.n()), [&](const std::vector<double>& phi, double variance) {
    double mean = 0;
    for (std::size_t j = 0; j < phi.size(); ++j) mean += phi[j] * x[x.size() - 1 - j];
    x.push_back(mean + std::sqrt(variance) * rng.normal());
  });
  for (long i = 0; i < out.n(); ++i) out(i, "x") = std::sqrt(p["variance"]) * (p["level"] + x[i]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const auto n = static_cast<std::size_t>(data.n());
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = data(static_cast<long>(i), "x");
  const auto given = [&](double value) {
    double ones = 0, cross = 0, squares = 0, log_det = 0;
    std::size_t at = 0;
    predictions(correlation(p, value, n), [&](const std::vector<double>& phi, double variance) {
      double one = 1, here = x[at];
      for (std::size_t j = 0; j < phi.size(); ++j) {
        one -= phi[j];
        here -= phi[j] * x[at - 1 - j];
      }
      ones += one * one / variance;
      cross += one * here / variance;
      squares += here * here / variance;
      log_det += std::log(variance);
      ++at;
    });
    // The level has the prior variance 1, in units of the variance.
    return -0.5 * log_det - 0.5 * std::log1p(ones) +
           log_variance_evidence(static_cast<double>(n), squares - cross * cross / (1 + ones), 3, 2);
  };
  if (p.is("none")) return given(0);
  const double low = p.is("short") ? 0.1 : 0.05, high = p.is("short") ? 0.9 : 0.45;
  return log_integral(low, high, 6 * FINE, given) - std::log(high - low);
}
