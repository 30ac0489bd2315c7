// Three series, each on its own value before and perhaps on another's. Exact: three regressions, quadrature
// over their noise. The first row is alike in all models.
#include <occam/simulator.h>

#include "more.h"

static const char* kNames[] = {"v1", "v5", "ppc"};

// Which region drives region i, or -1.
static int driver(const occam::Parameters& p, int i) {
  if (p.is("chain")) return i - 1;
  if (p.is("fork")) return i == 0 ? -1 : 0;
  if (p.is("feedback")) return i == 2 ? -1 : i + 1;
  return -1;
}

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const double memory[] = {p["v1_memory"], p["v5_memory"], p["ppc_memory"]};
  const double sd[] = {std::sqrt(p["v1_variance"]), std::sqrt(p["v5_variance"]),
                       std::sqrt(p["ppc_variance"])};
  for (long t = 0; t < out.n(); ++t) {
    bool first = true;
    for (int i = 0; i < 3; ++i) {
      if (t == 0) {
        out(t, kNames[i]) = 0.6 * rng.normal();
        continue;
      }
      double mean = memory[i] * out(t - 1, kNames[i]);
      if (const int from = driver(p, i); from >= 0) {
        mean += p[first ? "first" : "second"] * out(t - 1, kNames[from]);
        first = false;
      }
      out(t, kNames[i]) = mean + sd[i] * rng.normal();
      if (std::abs(out(t, kNames[i])) > 1e3) return false;  // hardly ever
    }
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const int from = driver(p, i);
    Sums<2> sums;
    for (long t = 1; t < data.n(); ++t) {
      const double own = data(t - 1, i);
      sums.add({own, from < 0 ? 0.0 : double(data(t - 1, from))}, data(t, i) - 0.5 * own);
    }
    sum += log_integral_around<1>({-1.2}, [&](std::array<double, 1> x) {
      const double variance = std::exp(x[0]);
      return -std::lgamma(4.0) - 4 * x[0] - 1 / variance +
             sums.evidence(std::sqrt(variance), {0.15, from < 0 ? 0 : 0.25});
    });
  }
  return sum;
}
