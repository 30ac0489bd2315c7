// Poisson counts around a deterministic epidemic. Exact: conjugate in the share of reports, quadrature over
// two or three parameters of the epidemic.
#include <occam/simulator.h>

#include "more.h"

// New cases of each day: three steps a day. No latency or halving where it is 0.
void epidemic(double reproduction, double infectious, double latency, double halved,
              std::vector<double>& cases) {
  constexpr int kSteps = 3;
  constexpr double kPopulation = 2000, h = 1.0 / kSteps;
  double well = kPopulation - 5, waiting = 0, ill = 5, contacts = 1;
  const double fade = halved > 0 ? std::exp2(-h / halved) : 1;
  const double rate = reproduction / infectious / kPopulation * h;
  const double leave = latency > 0 ? -std::expm1(-h / latency) : 1, recover = -std::expm1(-h / infectious);
  for (double& day : cases) {
    day = 0;
    for (int step = 0; step < kSteps; ++step) {
      const double caught = std::min(1.0, contacts * rate * ill) * well;
      well -= caught;
      waiting += caught;
      const double shown = waiting * leave;
      waiting -= shown;
      ill += shown - ill * recover;
      contacts *= fade;
      day += shown;
    }
  }
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  std::vector<double> cases(static_cast<std::size_t>(out.n()));
  epidemic(p["reproduction"], p["infectious"], p.has("latency") ? p["latency"] : 0,
           p.has("halved") ? p["halved"] : 0, cases);
  for (long i = 0; i < out.n(); ++i)
    out(i, 0) = static_cast<float>(rng.poisson(p["report"] * cases[static_cast<std::size_t>(i)]));
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::vector<double> cases(static_cast<std::size_t>(data.n()));
  double total = 0;
  for (long i = 0; i < data.n(); ++i) total += data(i, 0);
  // Of logarithms of reproduction, days, and latency or halving.
  const auto log_f = [&](double a, double b, double c) {
    const double third = std::exp(c);
    epidemic(std::exp(a), std::exp(b), p.is("seir") ? third : 0, p.is("caution") ? third : 0, cases);
    double sum = log_normal(a, 0.7, 0.25) + log_normal(b, 1.6, 0.3), expected = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      expected += cases[i];
      if (data(static_cast<long>(i), 0) > 0) sum += data(static_cast<long>(i), 0) * std::log(cases[i]);
    }
    return sum + std::lgamma(8 + total) - std::lgamma(8.0) - 8 * std::log(0.01) -
           (8 + total) * std::log(expected + 100);
  };
  // The best of a coarse grid is where it begins.
  const double mean = p.is("seir") ? 1.2 : 2.8, sd = p.is("seir") ? 0.3 : 0.4;
  const int thirds = p.is("sir") ? 0 : 2;
  std::array<double, 3> start = {0.7, 1.6, mean};
  double best = -1e300;
  for (int i = -2; i <= 2; ++i) {
    for (int j = -2; j <= 2; ++j) {
      for (int k = -thirds; k <= thirds; ++k) {
        const double a = 0.7 + 0.25 * i, b = 1.6 + 0.3 * j, c = mean + sd * k;
        const double here = log_f(a, b, c) - 0.5 * k * k;
        if (here > best) best = here, start = {a, b, c};
      }
    }
  }
  if (p.is("sir"))
    return log_integral_around<2>({start[0], start[1]},
                                  [&](std::array<double, 2> at) { return log_f(at[0], at[1], mean); });
  return log_integral_around<3>(start, [&](std::array<double, 3> at) {
    return log_f(at[0], at[1], at[2]) + log_normal(at[2], mean, sd);
  });
}
