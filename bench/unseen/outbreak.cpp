// Chains of infection in households (Reed and Frost), of which the final size is known. Exact: final sizes
// have probabilities that are polynomials in q = 1 - p, of which the beta distribution knows the mean;
// quadrature over p, or over mean and precision.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  for (long i = 0; i < out.n(); ++i) {
    const long all = static_cast<long>(out.design(i, "size")) - 1;
    if (p.is("community")) {
      out(i, "infected") = rng.binomial(all, p["risk"]);
      continue;
    }
    double contact = p.has("contact") ? p["contact"] : 0;
    if (p.has("mean")) contact = rng.beta(p["mean"] * p["precision"], (1 - p["mean"]) * p["precision"]);
    long susceptible = all, cases = 1;
    while (cases > 0 && susceptible > 0) {
      cases = rng.binomial(susceptible, 1 - std::pow(1 - contact, static_cast<double>(cases)));
      susceptible -= cases;
    }
    out(i, "infected") = all - susceptible;
  }
  return true;
}

constexpr int kDegrees = 26;
using Polynomial = std::array<double, kDegrees>;  // in q

// P(m of s infected in the end) = choose(s, m) P(m of m) q^((s - m)(m + 1)), and they sum to one.
struct FinalSizes {
  Polynomial of[6][6] = {};
  FinalSizes() {
    for (int s = 0; s <= 5; ++s) {
      of[s][s][0] = 1;
      for (int m = 0; m < s; ++m) {
        const double ways = std::round(std::exp(log_choose(s, m)));
        const int shift = (s - m) * (m + 1);
        for (int k = 0; k + shift < kDegrees; ++k) of[s][m][k + shift] = ways * of[m][m][k];
        for (int k = 0; k < kDegrees; ++k) of[s][s][k] -= of[s][m][k];
      }
    }
  }
};

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  static const FinalSizes sizes;
  double count[6][6] = {}, infected = 0, spared = 0;
  for (long i = 0; i < data.n(); ++i) {
    const int s = static_cast<int>(data(i, 0)) - 1, m = static_cast<int>(data(i, 1));
    ++count[s][m];
    infected += m;
    spared += s - m;
  }
  if (p.is("community")) {
    double sum = log_beta(2 + infected, 6 + spared) - log_beta(2, 6);
    for (int s = 1; s <= 5; ++s) {
      for (int m = 0; m <= s; ++m) sum += count[s][m] * log_choose(s, m);
    }
    return sum;
  }
  // Of all final sizes, given the means of powers of q.
  const auto likelihood = [&](const Polynomial& q) {
    double sum = 0;
    for (int s = 1; s <= 5; ++s) {
      for (int m = 0; m <= s; ++m) {
        if (count[s][m] == 0) continue;
        double probability = 0;
        for (int k = 0; k < kDegrees; ++k) probability += sizes.of[s][m][k] * q[k];
        sum += count[s][m] * std::log(std::max(probability, 1e-14));
      }
    }
    return sum;
  };
  Polynomial q;
  q[0] = 1;
  if (p.is("household")) {
    return log_integral_around<1>({-1}, [&](std::array<double, 1> x) {
      for (int k = 1; k < kDegrees; ++k) q[k] = q[k - 1] * logistic(-x[0]);
      return log_beta_logit(x[0], 2, 6) + likelihood(q);
    });
  }
  return log_integral_around<2>({-1, 1}, [&](std::array<double, 2> x) {
    const double precision = std::exp(x[1]), b = precision * logistic(-x[0]);
    for (int k = 1; k < kDegrees; ++k) q[k] = q[k - 1] * (b + k - 1) / (precision + k - 1);
    return log_beta_logit(x[0], 2, 6) + log_normal(x[1], 1, 0.5) + likelihood(q);
  });
}
