// Patients of 3 to 12 centres, which differ in how many of their cases are severe, in whom they treat and in
// how many recover. Exact: given the effects a centre's likelihood is tabulated by the log odds of its mild
// cases, of which level and spread say how they are distributed; quadrature over all of these.
#include <occam/simulator.h>

#include "more.h"

constexpr std::size_t kCentres = 12;

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const auto centres = rng.integer(3, kCentres);
  const double confounding = rng.uniform(0, 3);
  double odds[kCentres], severe_share[kCentres], eager[kCentres];
  for (std::size_t c = 0; c < kCentres; ++c) {
    odds[c] = p["level"] + p["spread"] * rng.normal();
    severe_share[c] = rng.beta(3, 3);
    eager[c] = rng.normal();
  }
  for (long i = 0; i < out.n(); ++i) {
    const auto centre = rng.integer(1, centres), c = centre - 1;
    const bool severe = rng.bernoulli(severe_share[c]);
    const bool treated = rng.bernoulli(logistic(eager[c] + (severe ? 0.5 : -0.5) * confounding));
    double z = odds[c];
    if (severe && p.has("severity")) z += p["severity"];
    if (treated && p.has("effect") && (severe || p.is("treatment"))) z += p["effect"];
    out(i, "centre") = static_cast<float>(centre);
    out(i, "treated") = treated;
    out(i, "severe") = severe;
    out(i, "recovered") = rng.bernoulli(logistic(z));
  }
  return true;
}

namespace {

constexpr int kOdds = 52 * FINE, kLevels = 40 * FINE, kSpreads = 8 * FINE, kNodes = kLevels * kSpreads;
constexpr int kBlock = 64;  // of nodes that are summed at a time

// Where log odds are tabulated, and how probable they are for every level and spread.
struct Tables {
  std::vector<double> odds, density, prior;  // (kOdds), (kNodes / kBlock, kOdds, kBlock), (kNodes)
  Tables() : odds(kOdds), density(kOdds * kNodes), prior(kNodes) {
    for (int u = 0; u < kOdds; ++u) odds[u] = 0.4 + 13 * ((u + 0.5) / kOdds - 0.5);
    for (int j = 0; j < kNodes; ++j) {
      const double z = 8 * ((j % kLevels + 0.5) / kLevels - 0.5);
      const double y = 8 * ((j / kLevels + 0.5) / kSpreads - 0.5);
      const double level = 0.4 + 0.8 * z, spread = std::exp(-0.5 + 0.35 * y);
      prior[j] = std::exp(log_normal(z, 0, 1) + log_normal(y, 0, 1)) * 64 / kNodes;
      for (int u = 0; u < kOdds; ++u)
        density[(j / kBlock * kOdds + u) * kBlock + j % kBlock] =
            std::exp(log_normal(odds[u], level, spread)) * 13 / kOdds;
    }
  }
};

}  // namespace

// Without what all models have in common: who is severe, and who is treated.
double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  static const Tables tables;
  // Mild and severe cases, without and with the treatment.
  double yes[kCentres][4] = {}, all[kCentres][4] = {}, patients[kCentres] = {};
  for (long i = 0; i < data.n(); ++i) {
    const auto c = static_cast<std::size_t>(data(i, 0)) - 1;
    const auto cell = static_cast<std::size_t>(2 * data(i, 2) + data(i, 1));
    ++patients[c];
    ++all[c][cell];
    if (data(i, 3) > 0.5) ++yes[c][cell];
  }
  std::vector<double> no_odds(4 * kOdds), likelihood(kOdds), product(kNodes);
  const auto with = [&](double severity, double effect) {
    const double shift[] = {0, p.is("treatment") ? effect : 0, severity, severity + effect};
    for (int k = 0; k < 4; ++k) {
      for (int u = 0; u < kOdds; ++u) no_odds[k * kOdds + u] = log1pexp(tables.odds[u] + shift[k]);
    }
    product = tables.prior;
    double sum = 0;
    for (std::size_t c = 0; c < kCentres; ++c) {
      if (patients[c] == 0) continue;
      double best = -1e300;
      for (int u = 0; u < kOdds; ++u) {
        double l = 0;
        for (int k = 0; k < 4; ++k)
          l += yes[c][k] * (tables.odds[u] + shift[k]) - all[c][k] * no_odds[k * kOdds + u];
        likelihood[u] = l;
        best = std::max(best, l);
      }
      sum += best;
      int first = 0, last = kOdds - 1;  // of those that are not negligible
      while (likelihood[first] < best - 35) ++first;
      while (likelihood[last] < best - 35) --last;
      for (int u = first; u <= last; ++u) likelihood[u] = std::exp(likelihood[u] - best);
      for (int block = 0; block < kNodes; block += kBlock) {
        double centre[kBlock] = {};
        for (int u = first; u <= last; ++u) {
          const double* density = tables.density.data() + block * kOdds + u * kBlock;
          for (int j = 0; j < kBlock; ++j) centre[j] += likelihood[u] * density[j];
        }
        for (int j = 0; j < kBlock; ++j) product[block + j] *= centre[j];
      }
    }
    double total = 0;
    for (const double one : product) total += one;
    return sum + std::log(total);
  };
  if (p.is("nothing")) return with(0, 0);
  const auto prior = [](double severity) { return log_normal(severity, -0.8, 0.7); };
  if (p.is("severity")) {
    return log_integral_around<1>({-0.8},
                                  [&](std::array<double, 1> x) { return prior(x[0]) + with(x[0], 0); });
  }
  return log_integral_around<2>(
      {-0.8, 0.6},
      [&](std::array<double, 2> x) { return prior(x[0]) + log_normal(x[1], 0.6, 0.6) + with(x[0], x[1]); },
      0.8);
}
