// Rates of an enzyme by concentration, treated or not, for R's Puromycin. Exact: largest rates are conjugate
// but for their sign, quadrature over noise and concentrations at half of them.
#include <occam/simulator.h>

#include "../unseen/more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const bool treated = out.design(i, "treated") != 0;
    const double c = out.design(i, "conc");
    const double largest = p.has("largest") ? p["largest"] : p[treated ? "largest_1" : "largest_0"];
    const double half = p.has("half") ? p["half"] : p[treated ? "half_1" : "half_0"];
    out(i, "rate") = static_cast<float>(rng.normal(largest * c / (half + c), p["sd"]));
  }
  return true;
}

namespace {

double log_above_0(double mean, double sd) {  // probability that a normal value is
  const double z = mean / sd;
  return z < -10 ? -0.5 * z * z - std::log(-z) - 0.5 * std::log(2 * kPi)
                 : std::log(0.5 * std::erfc(-z / std::sqrt(2.0)));
}

struct Row {
  double conc, rate;
  bool treated;
};

struct Fit {  // of rates that are proportional to what the concentrations give
  double n = 0, xx = 0, xy = 0, yy = 0;
  void add(double x, double y) {
    ++n;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  double evidence(double sd) const {
    const double precision = xx / (sd * sd) + 1e-4, b = xy / (sd * sd) + 0.02;
    return -0.5 * n * std::log(2 * kPi * sd * sd) - 0.5 * (yy / (sd * sd) + 4 - b * b / precision) +
           0.5 * std::log(1e-4 / precision) + log_above_0(b / precision, 1 / std::sqrt(precision)) -
           log_above_0(200, 100);
  }
};

}  // namespace

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::vector<Row> rows;
  for (long i = 0; i < data.n(); ++i)
    rows.push_back({data(i, "conc"), data(i, "rate"), data(i, "treated") != 0});
  const auto prior = [](double log_half) { return log_normal(log_half, -2, 1); };
  // With log concentrations at half, of those who are not treated and those who are.
  const auto with = [&](double sd, std::array<double, 2> log_half, bool one, int only = -1) {
    const double half[2] = {std::exp(log_half[0]), std::exp(log_half[1])};
    Fit fit[2];
    for (const Row& row : rows) {
      if (only >= 0 && only != row.treated) continue;
      fit[one ? 0 : row.treated].add(row.conc / (half[row.treated] + row.conc), row.rate);
    }
    return fit[0].evidence(sd) + fit[1].evidence(sd);
  };
  const auto over_one = [&](double sd, bool one, int only = -1) {
    return log_integral_around<1>({-2.0}, [&](std::array<double, 1> x) {
      return prior(x[0]) + with(sd, {x[0], x[0]}, one, only);
    });
  };
  return log_integral(2.3 - 4.2, 2.3 + 4.2, 12 * FINE, [&](double log_sd) {
    const double sd = std::exp(log_sd);
    double sum = log_normal(log_sd, 2.3, 0.7);
    if (p.is("same")) {
      sum += over_one(sd, true);
    } else if (p.is("largest")) {
      sum += over_one(sd, false);
    } else if (p.is("both")) {
      sum += over_one(sd, false, 0) + over_one(sd, false, 1);
    } else {
      sum += log_integral_around<2>({-2.0, -2.0}, [&](std::array<double, 2> x) {
        return prior(x[0]) + prior(x[1]) + with(sd, x, true);
      });
    }
    return sum;
  });
}
