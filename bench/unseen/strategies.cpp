// Answers of 8 to 30 people. Exact: conjugate for each person given how they differ, over which quadrature
// goes.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kPeople = 30;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto people = rng.integer(8, kPeople);
  double share[kPeople];
  for (double& one : share) {
    one = p.is("alike")     ? p["mean"]
          : p.is("degrees") ? rng.beta(p["precision"] * p["mean"], p["precision"] * (1 - p["mean"]))
                            : p[rng.bernoulli(p["share"]) ? "worse" : "better"];
  }
  for (long i = 0; i < out.n(); ++i) {
    const auto person = rng.integer(1, people);
    out(i, "person") = static_cast<float>(person);
    out(i, "right") = rng.bernoulli(share[person - 1]);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  double right[kPeople + 1] = {}, wrong[kPeople + 1] = {}, all_right = 0, all_wrong = 0;
  for (long i = 0; i < data.n(); ++i) {
    const bool is = data(i, "right") > 0.5;
    const int k = static_cast<int>(data(i, "person"));
    (is ? right : wrong)[k] += 1;
    (is ? all_right : all_wrong) += 1;
  }
  if (p.is("alike")) return log_beta(2 + all_right, 2 + all_wrong) - log_beta(2.0, 2.0);
  if (p.is("degrees")) {
    const double start = std::log((all_right + 1) / (all_wrong + 1));
    return log_integral_around<2>({start, 1.5}, [&](std::array<double, 2> x) {
      const double a = std::exp(x[1]) * logistic(x[0]), b = std::exp(x[1]) * logistic(-x[0]);
      double sum = log_beta_logit(x[0], 4, 4) + log_normal(x[1], 1.5, 0.6);
      for (std::size_t k = 1; k <= kPeople; ++k)
        if (right[k] + wrong[k] > 0) sum += log_beta(a + right[k], b + wrong[k]) - log_beta(a, b);
      return sum;
    });
  }
  // Two ways to name the strategies may both be likely: all of it on a grid of log odds.
  constexpr int kNodes = 40 * FINE, kShares = 20 * FINE;
  const auto odds = [](int i) { return 9 * ((i + 0.5) / kNodes - 0.5); };
  LogSum sum;
  std::vector<double> log_worse(kNodes * (kPeople + 1)), log_better(kNodes * (kPeople + 1));
  for (int i = 0; i < kNodes; ++i) {
    for (std::size_t k = 1; k <= kPeople; ++k)
      log_worse[i * (kPeople + 1) + k] = -right[k] * log1pexp(-odds(i)) - wrong[k] * log1pexp(odds(i));
  }
  for (int i = 0; i < kNodes; ++i) {
    for (int j = 0; j < kNodes; ++j) {
      const double prior = log_beta_logit(odds(i), 4, 8) + log_beta_logit(odds(j), 8, 4);
      if (prior < -25) continue;
      double products[kShares];
      double most = 0;
      std::fill(std::begin(products), std::end(products), 1.0);
      for (std::size_t k = 1; k <= kPeople; ++k) {
        if (right[k] + wrong[k] == 0) continue;
        const double a = log_worse[i * (kPeople + 1) + k], b = log_worse[j * (kPeople + 1) + k],
                     top = std::max(a, b);
        const double wa = std::exp(a - top), wb = std::exp(b - top);
        most += top;
        for (int s = 0; s < kShares; ++s) {
          const double share = (s + 0.5) / kShares;
          products[s] *= share * wa + (1 - share) * wb;
        }
      }
      double all = 0;
      for (int s = 0; s < kShares; ++s) {
        const double share = (s + 0.5) / kShares;
        all += products[s] * 30 * share * share * (1 - share) * (1 - share) / kShares;
      }
      if (all > 0) sum.add(prior + most + std::log(all) + 2 * std::log(9.0 / kNodes));
    }
  }
  return sum.value();
}
