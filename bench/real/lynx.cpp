// Stationary autoregressions, a cycle, and both. Exact: mean and cycle are conjugate given sd,
// autocorrelations and period, over which quadrature goes; for periods as fine as it has to be.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double r = p.has("r") ? p["r"] : 0, r_2 = p.has("r_2") ? p["r_2"] : 0, sd = p["sd"];
  const double sine = p.has("period") ? p["sine"] : 0, cosine = p.has("period") ? p["cosine"] : 0;
  const double turn = p.has("period") ? 2 * kPi / p["period"] : 0;
  double last = 0, before = 0;
  for (long i = 0; i < out.n(); ++i) {
    double noise;
    if (i == 0) {
      noise = sd / std::sqrt((1 - r * r) * (1 - r_2 * r_2)) * rng.normal();
    } else if (i == 1) {
      noise = r * last + sd / std::sqrt(1 - r_2 * r_2) * rng.normal();
    } else {
      noise = r * (1 - r_2) * last + r_2 * before + sd * rng.normal();
    }
    before = last;
    last = noise;
    const double at = turn * static_cast<double>(i);
    out(i, 0) = static_cast<float>(p["mean"] + sine * std::sin(at) + cosine * std::cos(at) + noise);
  }
  return true;
}

namespace {

constexpr std::size_t kColumns = 4;  // 1, cos, sin, y

// Sums of products of columns: of a row with itself, with the row before, and of the first and the last row.
struct Products {
  double own[kColumns][kColumns] = {}, lagged[kColumns][kColumns] = {}, ends[kColumns][kColumns] = {}, n = 0;

  Products(const occam::Data& data, double turn) : n(static_cast<double>(data.n())) {
    double before[kColumns] = {}, c = 1, s = 0;
    const double cos = std::cos(turn), sin = std::sin(turn);
    for (long t = 0; t < data.n(); ++t) {
      const double row[kColumns] = {1, c, s, data(t, 0) - 3.0};
      for (std::size_t i = 0; i < kColumns; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          own[i][j] += row[i] * row[j];
          lagged[i][j] += row[i] * before[j] + row[j] * before[i];
          if (t == 0 || t == data.n() - 1) ends[i][j] += row[i] * row[j];
        }
      }
      for (std::size_t i = 0; i < kColumns; ++i) before[i] = row[i];
      const double next = c * cos - s * sin;
      s = s * cos + c * sin;
      c = next;
    }
  }

  // log evidence given autocorrelation r and sd, with a cycle or only a mean.
  double evidence(double r, double sd, bool cycle) const {
    const std::size_t k = cycle ? 3 : 1;
    const double prior[3] = {0.5, 0.4, 0.4};
    double a[kColumns][kColumns], log_det = 0;
    for (std::size_t i = 0; i < kColumns; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        a[i][j] = ((1 + r * r) * own[i][j] - r * lagged[i][j] - r * r * ends[i][j]) / (sd * sd);
    }
    // Cholesky of the k rows that are in it, in units of their priors, then of y.
    const std::size_t in[kColumns] = {0, cycle ? 1u : 3u, 2, 3};
    double l[kColumns][kColumns];
    for (std::size_t i = 0; i <= k; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum =
            a[in[i]][in[j]] * (i < k ? prior[i] : 1) * (j < k ? prior[j] : 1) + (i == j && i < k ? 1 : 0);
        for (std::size_t m = 0; m < j; ++m) sum -= l[i][m] * l[j][m];
        if (i == k) {
          l[i][j] = i == j ? sum : sum / l[j][j];  // squares that are left
        } else {
          l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
        }
      }
      if (i < k) log_det += std::log(l[i][i]);
    }
    return -log_det - 0.5 * l[k][k] - n * (std::log(sd) + 0.5 * std::log(2 * kPi)) +
           0.5 * std::log(1 - r * r);
  }
};

// Stationary autoregression of second order: mean and products by hand, the first two rows by themselves.
double second_order(const std::vector<double>& y, double r, double r_2, double sd) {
  double one_one = 0, one_y = 0, y_y = 0;
  const auto add = [&](double weight, double x, double value) {
    one_one += weight * x * x;
    one_y += weight * x * value;
    y_y += weight * value * value;
  };
  const double a = r * (1 - r_2), b = r_2, left = 1 - r_2 * r_2;
  add((1 - r * r) * left, 1, y[0]);
  add(left, 1 - r, y[1] - r * y[0]);
  for (std::size_t t = 2; t < y.size(); ++t) add(1, 1 - a - b, y[t] - a * y[t - 1] - b * y[t - 2]);
  const double v = sd * sd, precision = 1 + 0.25 * one_one / v, z = 0.5 * one_y / v;
  return -0.5 * std::log(precision) - 0.5 * (y_y / v - z * z / precision) + 0.5 * std::log(1 - r * r) +
         std::log(left) - static_cast<double>(y.size()) * (std::log(sd) + 0.5 * std::log(2 * kPi));
}

// log of the integral by Gauss-Legendre, halved where halves say something else.
template <class F>
double refined(double low, double high, double whole, double& largest, F log_f, int depth = 0) {
  const double middle = 0.5 * (low + high);
  const double left = log_integral(low, middle, 1, log_f), right = log_integral(middle, high, 1, log_f);
  LogSum sum;
  sum.add(left);
  sum.add(right);
  largest = std::max(largest, sum.value());
  if (depth > 12 || sum.value() < largest - 25 || std::abs(sum.value() - whole) < 1e-5 / FINE)
    return sum.value();
  LogSum both;
  both.add(refined(low, middle, left, largest, log_f, depth + 1));
  both.add(refined(middle, high, right, largest, log_f, depth + 1));
  return both.value();
}

}  // namespace

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  // On the real line: 2 atanh of an autocorrelation that is uniform has a logistic distribution.
  const auto logistic_density = [](double x) { return -log1pexp(x) - log1pexp(-x); };
  const auto r_of = [](double x) { return std::tanh(x / 2); };
  const auto log_sd = [](double x) { return log_normal(x, -1.4, 0.5); };
  if (p.is("second")) {
    std::vector<double> y;
    for (long t = 0; t < data.n(); ++t) y.push_back(data(t, 0) - 3.0);
    return log_integral_around<3>({0.0, 0.0, -1.4}, [&](std::array<double, 3> x) {
      return logistic_density(x[0]) + logistic_density(x[1]) + log_sd(x[2]) +
             second_order(y, r_of(x[0]), r_of(x[1]), std::exp(x[2]));
    });
  }
  const auto over_noise = [&](const Products& products, bool cycle) {
    if (p.is("cycle")) {
      return log_integral_around<1>(
          {-1.4},
          [&](std::array<double, 1> x) { return log_sd(x[0]) + products.evidence(0, std::exp(x[0]), cycle); },
          0.8);
    }
    return log_integral_around<2>(
        {0.0, -1.4},
        [&](std::array<double, 2> x) {
          return logistic_density(x[0]) + log_sd(x[1]) + products.evidence(r_of(x[0]), std::exp(x[1]), cycle);
        },
        0.8);
  };
  if (p.is("first")) return over_noise(Products(data, 0), false);
  // Over frequencies; a peak is as wide as 1 / n.
  const auto at = [&](double frequency) {
    return over_noise(Products(data, 2 * kPi * frequency), true) - std::log(15 * frequency * frequency);
  };
  const double low = 0.05, high = 0.2;
  const int panels = static_cast<int>(std::ceil((high - low) * static_cast<double>(data.n()))) * FINE;
  std::vector<double> first;
  double largest = -1e300;
  const double width = (high - low) / panels;
  for (int k = 0; k < panels; ++k) {
    first.push_back(log_integral(low + k * width, low + (k + 1) * width, 1, at));
    largest = std::max(largest, first.back());
  }
  LogSum sum;
  for (int k = 0; k < panels; ++k) {
    const double value = first[static_cast<std::size_t>(k)];
    sum.add(value < largest - 30 ? value
                                 : refined(low + k * width, low + (k + 1) * width, value, largest, at));
  }
  return sum.value();
}
