// Ranks of four things. Exact: the numbers of all 24 orders are enough; the common order is summed over, its
// strength integrated; shares of favourites are conjugate (exponentials over their sum are uniform).
#include <occam/simulator.h>

#include "more.h"

namespace {

struct Order {
  int rank[4];
};

Order order(int number) {
  Order o{};
  std::vector<int> left = {0, 1, 2, 3};
  int base = 6;
  for (int i = 0; i < 4; ++i) {
    const auto at = left.begin() + number / base;
    o.rank[i] = *at;
    left.erase(at);
    number %= base;
    base /= i < 2 ? 3 - i : 1;
  }
  return o;
}

int swaps(const Order& x, const Order& y) {
  int count = 0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < i; ++j) count += (x.rank[i] < x.rank[j]) != (y.rank[i] < y.rank[j]);
  }
  return count;
}

// Probability of one order that is this many swaps away, times that of none.
double log_total(double strength) {
  double sum = 0;
  constexpr int kWays[] = {1, 3, 5, 6, 5, 3, 1};
  for (int k = 0; k < 7; ++k) sum += kWays[k] * std::exp(-strength * k);
  return std::log(sum);
}

}  // namespace

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  double weight[24], total = 0;
  for (int k = 0; k < 24; ++k) {
    const Order o = order(k);
    weight[k] = 1;
    if (p.is("order")) weight[k] = std::exp(-p["strength"] * swaps(o, order(static_cast<int>(p["which"]))));
    if (p.is("favourite")) {
      const double shares[] = {p["p_a"], p["p_b"], p["p_c"], p["p_d"]};
      for (int i = 0; i < 4; ++i) {
        if (o.rank[i] == 0) weight[k] = shares[i];
      }
    }
    total += weight[k];
  }
  for (long i = 0; i < out.n(); ++i) {
    double left = rng.uniform(0, total);
    int k = 0;
    while (k < 23 && left >= weight[k]) left -= weight[k++];
    const Order o = order(k);
    for (int column = 0; column < 4; ++column) out(i, column) = o.rank[column] + 1;
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  const double n = static_cast<double>(data.n());
  if (p.is("indifferent")) return -n * std::log(24.0);
  double first[4] = {}, away[24] = {};
  for (long i = 0; i < data.n(); ++i) {
    Order o{};
    for (int column = 0; column < 4; ++column) {
      o.rank[column] = static_cast<int>(data(i, column)) - 1;
      if (o.rank[column] == 0) ++first[column];
    }
    for (int k = 0; k < 24 && p.is("order"); ++k) away[k] += swaps(o, order(k));
  }
  if (p.is("favourite")) {
    double sum = std::lgamma(4.0) - std::lgamma(4 + n) - n * std::log(6.0);
    for (const double count : first) sum += std::lgamma(count + 1);
    return sum;
  }
  LogSum all;
  for (const double swapped : away) {
    all.add(-std::log(24.0) + log_integral(0, 15, 60 * FINE, [&](double s) {
      return std::log(2.0) - 2 * s - s * swapped - n * log_total(s);
    }));
  }
  return all.value();
}
