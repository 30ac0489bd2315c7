// Growth of five trees. Exact: coefficients are conjugate given the noise, the spread between trees and tau,
// over which quadrature goes.
#include <occam/simulator.h>

#include "../unseen/more.h"

constexpr std::size_t kTrees = 5;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double own[kTrees];
  for (double& one : own) {
    one = p.has("slope") ? p["slope"] : p["growth"];
    if (p.is("lines")) one += p["slope_sd"] * rng.normal();
    if (p.is("curves")) one += p["growth_sd"] * rng.normal();
  }
  for (long i = 0; i < out.n(); ++i) {
    const double age = out.design(i, "age");
    const double x = p.has("tau") ? 1 - std::exp(-age / p["tau"]) : age;
    const double mean = p["start"] + own[static_cast<std::size_t>(out.design(i, "tree")) - 1] * x;
    out(i, "circumference") = static_cast<float>(rng.normal(mean, p["sd"]));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const bool curve = p.is("curve") || p.is("curves");
  const auto sums_of = [&](double tau) {
    Sums<2 + kTrees> sums;
    for (long i = 0; i < data.n(); ++i) {
      const double age = data(i, "age"), x = curve ? 1 - std::exp(-age / tau) : age / 1000;
      std::array<double, 2 + kTrees> row = {1, x};
      row[1 + static_cast<std::size_t>(data(i, "tree"))] = x;
      sums.add(row, data(i, "circumference") - 15.0 - (curve ? 200 : 120) * x);
    }
    return sums;
  };
  const auto with = [&](const auto& sums, double log_sd, double spread) {
    std::array<double, 2 + kTrees> sd = {10, curve ? 60.0 : 50.0};
    for (std::size_t k = 0; k < kTrees; ++k) sd[2 + k] = spread;
    return log_normal(log_sd, 2.1, 0.5) + sums.evidence(std::exp(log_sd), sd);
  };
  const auto prior = [](double log_spread, double sd) {
    return log_half_normal(std::exp(log_spread), sd) + log_spread;
  };
  if (p.is("line") || p.is("lines")) {
    const auto sums = sums_of(0);
    if (p.is("line"))
      return log_integral_around<1>({2.1}, [&](std::array<double, 1> x) { return with(sums, x[0], 0); });
    return log_integral_around<2>({2.1, 3.0}, [&](std::array<double, 2> x) {
      return prior(x[1], 30) + with(sums, x[0], std::exp(x[1]));
    });
  }
  if (p.is("curve")) {
    return log_integral_around<2>({2.1, 6.9}, [&](std::array<double, 2> x) {
      return log_normal(x[1], 6.9, 0.5) + with(sums_of(std::exp(x[1])), x[0], 0);
    });
  }
  return log_integral_around<3>({2.1, 6.9, 3.0}, [&](std::array<double, 3> x) {
    return log_normal(x[1], 6.9, 0.5) + prior(x[2], 40) + with(sums_of(std::exp(x[1])), x[0], std::exp(x[2]));
  });
}
