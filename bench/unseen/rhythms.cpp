// A sine of any period, or an autoregressive process of order 2 that swings. Exact: conjugate regressions,
// quadrature over frequency, and over what is kept of a swing.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double sd = std::sqrt(p["variance"]), w = p.is("noise") ? 0 : 2 * kPi * p["frequency"];
  double last = 0, before = 0;  // of a swing; it begins at rest
  for (long i = 0; i < out.n(); ++i) {
    double swing = rng.normal();
    if (p.is("clock")) swing += p["along"] * std::cos(w * i) + p["across"] * std::sin(w * i);
    if (p.is("wavering")) swing += 2 * p["kept"] * std::cos(w) * last - p["kept"] * p["kept"] * before;
    before = last;
    last = swing;
    out(i, 0) = static_cast<float>(20 + sd * (p["mean"] + swing));
  }
  return true;
}

// Sums of products of a value, the two before it and 1, over readings from the third on.
struct Lags {
  explicit Lags(const std::vector<double>& y) : first(y[0]), second(y[1]) {
    for (std::size_t t = 2; t < y.size(); ++t) {
      const double row[] = {y[t], y[t - 1], y[t - 2], 1};
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) products[i][j] += row[i] * row[j];
      }
    }
  }
  double first, second, products[4][4] = {};
};

double wavering(const Lags& lags, double n, double frequency, double kept) {
  const double a = 2 * kept * std::cos(2 * kPi * frequency), b = -kept * kept;
  const double weights[] = {1, -a, -b}, one = 1 - a - b;
  const double second = lags.second - a * lags.first;
  double yy = lags.first * lags.first + second * second, xy = lags.first + (1 - a) * second;
  double xx = 1 + (1 - a) * (1 - a) + one * one * lags.products[3][3];
  for (int i = 0; i < 3; ++i) {
    xy += one * weights[i] * lags.products[i][3];
    for (int j = 0; j < 3; ++j) yy += weights[i] * weights[j] * lags.products[i][j];
  }
  return -0.5 * std::log1p(4 * xx) + log_variance_evidence(n, yy - xy * xy / (xx + 0.25), 4, 3);
}

// Three predictors: 1, cosine and sine, which turn from row to row.
double clock(const std::vector<double>& y, double frequency, double sd) {
  const double c = std::cos(2 * kPi * frequency), s = std::sin(2 * kPi * frequency);
  double x[] = {1, 1, 0};
  const double prior[] = {2, sd, sd};
  double xx[3][3] = {}, xy[3] = {}, yy = 0;
  for (const double one : y) {
    for (int i = 0; i < 3; ++i) {
      xy[i] += x[i] * one;
      for (int j = 0; j <= i; ++j) xx[i][j] += x[i] * x[j];
    }
    yy += one * one;
    const double next = c * x[1] - s * x[2];
    x[2] = s * x[1] + c * x[2];
    x[1] = next;
  }
  std::vector<double> a(9), b(3);
  for (int i = 0; i < 3; ++i) {
    b[i] = xy[i] * prior[i];
    for (int j = 0; j <= i; ++j) a[i * 3 + j] = xx[i][j] * prior[i] * prior[j] + (i == j ? 1 : 0);
  }
  const double log_det = cholesky(a, 3);
  solve_lower(a, b);
  for (const double one : b) yy -= one * one;
  return -0.5 * log_det + log_variance_evidence(static_cast<double>(y.size()), yy, 4, 3);
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const int n = static_cast<int>(data.n());
  std::vector<double> y;
  for (long i = 0; i < data.n(); ++i) y.push_back(data(i, 0) - 20.0);
  const double low = 0.02, high = 0.45;
  if (p.is("noise")) return clock(y, low, 0);
  if (p.is("clock"))
    return log_integral(low, high, 3 * n * FINE, [&](double f) { return clock(y, f, 0.5); }) -
           std::log(high - low);
  const Lags lags(y);
  return log_integral(low, high, 40 * FINE,
                      [&](double f) {
                        return log_integral(0, 1, 12 * FINE, [&](double kept) {
                          return 5 * std::log(kept) + std::log1p(-kept) - log_beta(6, 2) +
                                 wavering(lags, n, f, kept);
                        });
                      }) -
         std::log(high - low);
}
