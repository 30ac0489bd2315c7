// Measurements of 8 to 40 people. Exact: conjugate given the spread; for two kinds by sums over a lattice of
// where either is, and quadrature over the share.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kPeople = 40;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto people = rng.integer(8, kPeople);
  double own[kPeople];
  for (double& one : own) {
    one = p["level"];
    if (p.is("degrees")) one += p["spread"] * rng.normal();
    if (p.is("kinds") && rng.bernoulli(p["share"])) one += p["gap"];
  }
  for (long i = 0; i < out.n(); ++i) {
    const auto k = rng.integer(0, people - 1);
    out(i, "person") = static_cast<float>(k + 1);
    out(i, "score") = static_cast<float>(rng.normal(own[k], 1));
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  struct Person {
    double n = 0, sum = 0;
  };
  std::vector<Person> people(kPeople);
  double within = 0;  // log likelihood of all at their own means
  for (long i = 0; i < data.n(); ++i) {
    Person& one = people[static_cast<std::size_t>(data(i, 0)) - 1];
    ++one.n;
    one.sum += data(i, 1);
    within += log_normal(data(i, 1), 0, 1);
  }
  std::erase_if(people, [](const Person& one) { return one.n == 0; });
  for (const Person& one : people) within += one.sum * one.sum / one.n / 2 + 0.5 * std::log(2 * kPi / one.n);
  if (!p.is("kinds")) {
    const auto with = [&](double spread) {
      double weights = 1, sum = 0, all = within;  // of the level
      for (const Person& one : people) {
        const double variance = 1 / one.n + spread * spread, mean = one.sum / one.n;
        weights += 1 / variance;
        sum += mean / variance;
        all += log_normal(mean, 0, std::sqrt(variance));
      }
      return all + sum * sum / weights / 2 - 0.5 * std::log(weights);
    };
    if (p.is("alike")) return with(0);
    return log_integral(0, 6, 12 * FINE, [&](double s) {
      return log_gamma_log(std::log(s), 4, 0.27) - std::log(s) + with(s);
    });
  }
  const double step = 0.05 / FINE;
  constexpr int kLevels = 180 * FINE, kGaps = 200 * FINE;  // -4.5 to 4.5, and 0 to 10 above
  std::vector<std::vector<double>> at;  // likelihood of a person's mean, by where it should be
  for (const Person& one : people) {
    at.emplace_back();
    for (int u = 0; u < kLevels + kGaps; ++u)
      at.back().push_back(std::exp(log_normal(one.sum / one.n, -4.5 + u * step, std::sqrt(1 / one.n))));
  }
  return within + log_integral(0, 1, 2 * FINE, [&](double share) {
           LogSum sum;
           std::vector<double> product(kLevels), scale(kLevels);
           for (int gap = 1; gap < kGaps; ++gap) {
             const double prior =
                 log_gamma_log(std::log(gap * step), 4, 0.6) - std::log(gap * step) + 2 * std::log(step);
             std::fill(product.begin(), product.end(), 1.0);
             std::fill(scale.begin(), scale.end(), 0.0);
             for (std::size_t k = 0; k < at.size(); ++k) {
               for (int u = 0; u < kLevels; ++u)
                 product[u] *= (1 - share) * at[k][u] + share * at[k][u + gap] + 1e-100;
               if (k % 3 < 2) continue;
               for (int u = 0; u < kLevels; ++u) {
                 if (product[u] > 1e-60) continue;
                 scale[u] += std::log(product[u]);
                 product[u] = 1;
               }
             }
             for (int u = 0; u < kLevels; ++u) {
               if (scale[u] > -300)
                 sum.add(prior + std::log(product[u]) + scale[u] + log_normal(-4.5 + u * step, 0, 1));
             }
           }
           return std::log(6 * share * (1 - share)) + sum.value();
         });
}
