// Species of animals: partitions of Ewens, of Pitman and Yor, and of a Dirichlet distribution. Exact: in
// closed form, but for quadrature over one or two parameters and a sum over the number of species.
#include <occam/simulator.h>

#include "more.h"

bool simulate(const occam::Parameters& p, occam::Random& rng, occam::Rows& out) {
  const bool fixed = p.is("niches");
  const double tail = p.has("tail") ? p["tail"] : 0;
  std::vector<std::size_t> kinds;
  std::vector<double> counts(fixed ? static_cast<std::size_t>(p["number"]) : 0);
  for (long i = 0; i < out.n(); ++i) {
    std::vector<double> weights;
    for (const double count : counts) weights.push_back(fixed ? count + p["evenness"] : count - tail);
    if (!fixed) weights.push_back(p["diversity"] + tail * static_cast<double>(counts.size()));
    double u = 0;
    for (const double w : weights) u += w;
    u *= rng.uniform();
    std::size_t k = 0;
    while (k + 1 < weights.size() && u >= weights[k]) u -= weights[k++];
    if (k == counts.size()) counts.push_back(0);
    ++counts[k];
    kinds.push_back(k);
  }
  // Numbers that mean nothing, of the species that were seen.
  std::vector<std::size_t> seen, name(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) seen.push_back(k);
  }
  std::shuffle(seen.begin(), seen.end(), rng);
  for (std::size_t k = 0; k < seen.size(); ++k) name[seen[k]] = k + 1;
  for (long i = 0; i < out.n(); ++i) out(i, "species") = static_cast<float>(name[kinds[i]]);
  return true;
}

double log_evidence(const occam::Parameters& p, const occam::Data& data) {
  std::vector<double> counts;
  for (long i = 0; i < data.n(); ++i) {
    const auto k = static_cast<std::size_t>(data(i, 0));
    if (k > counts.size()) counts.resize(k);
    ++counts[k - 1];
  }
  std::erase(counts, 0.0);
  const double n = data.n(), species = static_cast<double>(counts.size());
  const auto neutral = [&](double tail) {
    double shapes = 0;
    for (const double c : counts) shapes += std::lgamma(c - tail) - std::lgamma(1 - tail);
    return log_integral(-4.5, 4.5, 5 * FINE, [&](double z) {
      const double diversity = std::exp(1.5 + 0.7 * z);
      double sum = log_normal(z, 0, 1) + shapes + std::lgamma(diversity + 1) - std::lgamma(diversity + n);
      for (double k = 1; k < species; ++k) sum += std::log(diversity + k * tail);
      return sum;
    });
  };
  if (p.is("neutral")) return neutral(0);
  if (p.is("rare")) {
    return log_integral(0, 1, 5 * FINE, [&](double tail) {
      return std::log(12 * tail * (1 - tail) * (1 - tail)) + neutral(tail);
    });
  }
  return log_integral(-5, 5, 6 * FINE, [&](double z) {
    const double evenness = std::exp(-0.3 + 0.6 * z);
    double shapes = 0;
    for (const double c : counts) shapes += std::lgamma(evenness + c) - std::lgamma(evenness);
    LogSum sum;
    for (double number = std::max(5.0, species); number <= 50; ++number) {
      sum.add(std::lgamma(number + 1) - std::lgamma(number - species + 1) + std::lgamma(number * evenness) -
              std::lgamma(number * evenness + n));
    }
    return log_normal(z, 0, 1) + shapes + sum.value() - std::log(46.0);
  });
}
