// Four series, each on its own value before; in a ring also on that of the one beside it, or with news that
// have a common part. Exact: regressions, quadrature over the noise (and the common share). The first row is
// alike in all models.
#include <occam/simulator.h>

#include "more.h"

constexpr int kElectrodes = 4;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double memory = p["memory"], sd = std::sqrt(p["variance"]);
  const double drive = p.is("ring") ? p["drive"] : 0, share = p.is("common") ? p["share"] : 0;
  for (long t = 0; t < out.n(); ++t) {
    const double common = rng.normal();
    for (int i = 0; i < kElectrodes; ++i) {
      if (t == 0) {
        out(t, i) = 12 * rng.normal();
        continue;
      }
      const double news = sd * (std::sqrt(share) * common + std::sqrt(1 - share) * rng.normal());
      out(t, i) = memory * out(t - 1, i) + drive * out(t - 1, (i + 1) % kElectrodes) + news;
      if (std::abs(out(t, i)) > 1e6) return false;  // hardly ever
    }
  }
  return true;
}

static double log_prior(double log_variance) {
  return 3 * std::log(200.0) - std::lgamma(3.0) - 3 * log_variance - 200 * std::exp(-log_variance);
}

// Sums of squares and products of a series and the one before it, less half of which it is taken to be.
struct Products {
  double xx = 0, xy = 0, yy = 0;
  void add(double x, double y) {
    xx += x * x;
    xy += x * (y - 0.5 * x);
    yy += (y - 0.5 * x) * (y - 0.5 * x);
  }
};

// The sum of all four has news of a variance of 1 + 3 share, what is orthogonal to it of 1 - share.
static double log_common(const occam::Data& data) {
  Products sum, rest;
  for (long t = 1; t < data.n(); ++t) {
    double before = 0, now = 0;
    for (int i = 0; i < kElectrodes; ++i) {
      before += data(t - 1, i) / 2;
      now += data(t, i) / 2;
      rest.add(data(t - 1, i), data(t, i));
    }
    Products own;
    own.add(before, now);
    sum.xx += own.xx, sum.xy += own.xy, sum.yy += own.yy;
    rest.xx -= own.xx, rest.xy -= own.xy, rest.yy -= own.yy;
  }
  const double m = data.n() - 1;
  return log_integral_around<2>({5, -1}, [&](std::array<double, 2> x) {
    const double variance = std::exp(x[0]), share = 0.3 * logistic(x[1]);
    const double of_sum = 1 / (variance * (1 + 3 * share)), of_rest = 1 / (variance * (1 - share));
    const double xx = sum.xx * of_sum + rest.xx * of_rest, xy = sum.xy * of_sum + rest.xy * of_rest;
    const double yy = sum.yy * of_sum + rest.yy * of_rest, prior = 0.15 * 0.15;
    return log_prior(x[0]) + log_beta_logit(x[1], 1, 1) - 2 * m * (std::log(2 * M_PI) + x[0]) -
           m / 2 * (std::log1p(3 * share) + 3 * std::log1p(-share)) - yy / 2 +
           xy * xy / (2 * (xx + 1 / prior)) - std::log1p(prior * xx) / 2;
  });
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  if (p.is("common")) return log_common(data);
  Sums<2> sums;
  for (long t = 1; t < data.n(); ++t) {
    for (int i = 0; i < kElectrodes; ++i) {
      const double own = data(t - 1, i),
                   beside = p.is("ring") ? double(data(t - 1, (i + 1) % kElectrodes)) : 0;
      sums.add({own, beside}, data(t, i) - 0.5 * own);
    }
  }
  return log_integral_around<1>({5}, [&](std::array<double, 1> x) {
    return log_prior(x[0]) + sums.evidence(std::exp(x[0] / 2), {0.15, p.is("ring") ? 0.1 : 0});
  });
}
