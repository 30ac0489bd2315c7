// Fights among 4 to 7 animals, each of which is in one at least. Exact: sums over who dominates in each pair,
// over orders (one after the other from the top, by sets of those above) and over all of them; quadrature.
#include <numeric>
#include <occam/simulator.h>

#include "more.h"

constexpr int kMost = 7;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const int animals = static_cast<int>(rng.integer(4, kMost));
  int rank[kMost];
  std::iota(rank, rank + animals, 0);
  std::shuffle(rank, rank + animals, rng);
  bool above[kMost][kMost];
  for (int a = 0; a < animals; ++a) {
    for (int b = 0; b < a; ++b) {
      above[a][b] = p.is("pairs") ? rng.bernoulli(0.5) : rank[a] < rank[b];
      above[b][a] = !above[a][b];
    }
  }
  for (long i = 0; i < out.n(); ++i) {
    const int a = i < animals ? static_cast<int>(i) : static_cast<int>(rng.integer(0, animals - 1));
    const int b = static_cast<int>((a + rng.integer(1, animals - 1)) % animals);
    double chance = 0.5;
    if (p.has("sure")) chance = above[a][b] ? p["sure"] : 1 - p["sure"];
    if (p.has("steep")) chance = logistic(p["steep"] * (rank[b] - rank[a]));
    out(i, "first") = static_cast<float>(a + 1);
    out(i, "second") = static_cast<float>(b + 1);
    out(i, "won") = rng.bernoulli(chance);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double wins[kMost][kMost] = {};  // of the one over the other
  int animals = 0;
  for (long i = 0; i < data.n(); ++i) {
    const int a = static_cast<int>(data(i, 0)) - 1, b = static_cast<int>(data(i, 1)) - 1;
    animals = std::max({animals, a + 1, b + 1});
    if (data(i, 2) > 0.5)
      ++wins[a][b];
    else
      ++wins[b][a];
  }
  if (p.is("chance")) return -static_cast<double>(data.n()) * std::log(2.0);
  if (p.is("pairs")) {
    return log_integral(0.5, 1, 12 * FINE, [&](double sure) {
      double sum = std::log(2.0);
      for (int a = 0; a < animals; ++a) {
        for (int b = 0; b < a; ++b) {
          LogSum either;
          either.add(wins[a][b] * std::log(sure) + wins[b][a] * std::log(1 - sure));
          either.add(wins[b][a] * std::log(sure) + wins[a][b] * std::log(1 - sure));
          sum += either.value() - std::log(2.0);
        }
      }
      return sum;
    });
  }
  if (p.is("order")) {
    return log_integral(0.5, 1, 12 * FINE, [&](double sure) {
      std::vector<LogSum> above(1 << animals);
      above[0].add(0);
      for (int set = 0; set + 1 < 1 << animals; ++set) {
        const double here = above[set].value();
        for (int next = 0; next < animals; ++next) {
          if (set >> next & 1) continue;
          double sum = here;
          for (int a = 0; a < animals; ++a) {
            if (set >> a & 1) sum += wins[a][next] * std::log(sure) + wins[next][a] * std::log(1 - sure);
          }
          above[set | 1 << next].add(sum);
        }
      }
      return std::log(2.0) + above.back().value() - std::lgamma(animals + 1.0);
    });
  }
  // Fights won and lost by the higher of two, by how far they are apart in an order.
  struct Apart {
    double won[kMost] = {}, lost[kMost] = {};
  };
  std::vector<Apart> orders;
  std::vector<int> order(static_cast<std::size_t>(animals));
  std::iota(order.begin(), order.end(), 0);
  do {
    orders.emplace_back();
    for (int low = 0; low < animals; ++low) {
      for (int high = 0; high < low; ++high) {
        orders.back().won[low - high] += wins[order[high]][order[low]];
        orders.back().lost[low - high] += wins[order[low]][order[high]];
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return log_integral(0, 6, 20 * FINE, [&](double steep) {
    double won[kMost], lost[kMost];
    for (int d = 1; d < animals; ++d) won[d] = -log1pexp(-steep * d), lost[d] = -log1pexp(steep * d);
    LogSum sum;
    for (const Apart& one : orders) {
      double log_likelihood = 0;
      for (int d = 1; d < animals; ++d) log_likelihood += one.won[d] * won[d] + one.lost[d] * lost[d];
      sum.add(log_likelihood);
    }
    return sum.value() - std::lgamma(animals + 1.0) + std::log(steep / 0.16) - steep / 0.4;
  });
}
