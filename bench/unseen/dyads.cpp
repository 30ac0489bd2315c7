// Answers about some of all ordered pairs of up to 15 people. Exact: counts of pairs, or beta-binomial counts
// of people, with quadrature over one or two parameters.
#include <occam/simulator.h>

#include "more.h"

constexpr long kPeople = 15;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  long least = 6;
  while (least * (least - 1) < out.n()) ++least;
  const long people = static_cast<long>(rng.integer(static_cast<std::uint64_t>(least), kPeople));
  std::vector<std::pair<long, long>> pairs;
  for (long a = 0; a < people; ++a) {
    for (long b = 0; b < people; ++b) {
      if (a != b) pairs.emplace_back(a, b);
    }
  }
  double own[kPeople];
  for (double& one : own) {
    one = p["share"];
    if (p.has("precision")) one = rng.beta(p["share"] * p["precision"], (1 - p["share"]) * p["precision"]);
  }
  int said[kPeople][kPeople];
  for (auto& row : said) std::fill(std::begin(row), std::end(row), -1);
  for (long i = 0; i < out.n(); ++i) {
    const auto k = static_cast<std::size_t>(
        rng.integer(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(pairs.size() - 1)));
    std::swap(pairs[static_cast<std::size_t>(i)], pairs[k]);
    const auto [a, b] = pairs[static_cast<std::size_t>(i)];
    said[a][b] = rng.bernoulli(own[p.is("popular") ? b : a]);
    if (p.is("mutual") && said[b][a] >= 0 && rng.bernoulli(p["returned"])) said[a][b] = said[b][a];
    out(i, "from") = static_cast<float>(a + 1);
    out(i, "to") = static_cast<float>(b + 1);
    out(i, "friend") = static_cast<float>(said[a][b]);
  }
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  int said[kPeople][kPeople];
  for (auto& row : said) std::fill(std::begin(row), std::end(row), -1);
  double yes = 0, no = 0;
  std::vector<double> named(kPeople), passed(kPeople);  // of each who may be named, or who names
  for (long i = 0; i < data.n(); ++i) {
    const auto a = static_cast<std::size_t>(data(i, 0)) - 1, b = static_cast<std::size_t>(data(i, 1)) - 1;
    const bool is = data(i, 2) > 0.5;
    said[a][b] = is;
    (is ? yes : no) += 1;
    (is ? named : passed)[p.is("popular") ? b : a] += 1;
  }
  if (p.is("chance")) return log_beta(2 + yes, 3 + no) - log_beta(2, 3);
  if (!p.is("mutual")) {
    return log_integral_around<2>({-0.4, 1.2}, [&](std::array<double, 2> at) {
      const double share = logistic(at[0]), precision = std::exp(at[1]);
      double sum = log_beta_logit(at[0], 2, 3) + log_normal(at[1], 1.2, 0.6);
      for (std::size_t k = 0; k < kPeople; ++k) {
        sum += log_beta(share * precision + named[k], (1 - share) * precision + passed[k]) -
               log_beta(share * precision, (1 - share) * precision);
      }
      return sum;
    });
  }
  double both = 0, neither = 0, one = 0, alone_yes = 0, alone_no = 0;
  for (std::size_t a = 0; a < kPeople; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const int there = said[a][b], back = said[b][a];
      if (there < 0 && back < 0) continue;
      if (there < 0 || back < 0) {
        (std::max(there, back) == 1 ? alone_yes : alone_no) += 1;
      } else {
        (there != back ? one : there == 1 ? both : neither) += 1;
      }
    }
  }
  return log_integral_around<2>({-0.4, 0.0}, [&](std::array<double, 2> at) {
    const double share = logistic(at[0]), returned = logistic(at[1]), rest = 1 - returned;
    return log_beta_logit(at[0], 2, 3) + log_beta_logit(at[1], 2, 2) + (both + alone_yes) * std::log(share) +
           (neither + alone_no) * std::log1p(-share) + both * std::log(returned + rest * share) +
           neither * std::log(returned + rest * (1 - share)) + one * std::log(share * (1 - share) * rest);
  });
}
