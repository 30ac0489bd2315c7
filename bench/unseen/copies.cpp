// Levels are normal(0, 1). Exact: sums over where breaks are, one after the other where there are many, and
// quadrature over their rate.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const long n = out.n();
  const double base = rng.normal(), other = rng.normal();
  long from = n, to = n;  // where the other level is
  if (p.is("break")) from = static_cast<long>(rng.integer(1, n - 1));
  if (p.is("piece")) {
    do {
      from = static_cast<long>(rng.integer(1, n - 1));
      to = static_cast<long>(rng.integer(1, n - 1));
    } while (from >= to);
  }
  double level = base;
  for (long i = 0; i < n; ++i) {
    if (p.is("pieces")) {
      if (i > 0 && rng.bernoulli(p["rate"])) level = rng.normal();
    } else {
      level = i >= from && i < to ? other : base;
    }
    out(i, 0) = static_cast<float>(level + rng.normal());
  }
  return true;
}

// Without the density of the values around 0, which all models share.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const long n = data.n();
  std::vector<double> sum(1);
  for (long i = 0; i < n; ++i) sum.push_back(sum.back() + data(i, 0));
  const auto piece = [](double rows, double total) {
    return 0.5 * (total * total / (1 + rows) - std::log(1 + rows));
  };
  const auto with = [&](long from, long to) {  // another level from one row to before another
    const double rows = static_cast<double>(to - from), total = sum[to] - sum[from];
    return piece(rows, total) + piece(static_cast<double>(n) - rows, sum[n] - total);
  };
  if (p.is("even")) return piece(static_cast<double>(n), sum[n]);
  LogSum all;
  if (p.is("break")) {
    for (long from = 1; from < n; ++from) all.add(with(from, n));
    return all.value() - std::log(n - 1.0);
  }
  if (p.is("piece")) {
    for (long from = 1; from < n; ++from) {
      for (long to = from + 1; to < n; ++to) all.add(with(from, to));
    }
    return all.value() - std::log((n - 1.0) * (n - 2.0) / 2);
  }
  std::vector<double> gain(
      static_cast<std::size_t>(n * (n + 1)));  // of a piece from one row to before another
  for (long from = 0; from < n; ++from) {
    for (long to = from + 1; to <= n; ++to)
      gain[from * (n + 1) + to] = std::exp(piece(static_cast<double>(to - from), sum[to] - sum[from]));
  }
  return log_integral(0, 1, 10 * FINE, [&](double root) {  // the rate is its square
    const double rate = root * root;
    std::vector<double> before(static_cast<std::size_t>(n + 1), 0.0), stays(before);  // up to a row
    for (long k = 0; k <= n; ++k) stays[k] = std::pow(1 - rate, std::max(0L, k - 1));
    before[0] = 1;
    for (long to = 1; to <= n; ++to) {
      for (long from = 0; from < to; ++from)
        before[to] += before[from] * (from > 0 ? rate : 1) * stays[to - from] * gain[from * (n + 1) + to];
    }
    return std::log(before[n]) + 0.5 * std::log(rate) + 29 * std::log1p(-rate) - log_beta(1.5, 30) +
           std::log(2 * root);
  });
}
